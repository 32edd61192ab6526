"""JSON messages over a socket: four bytes of length (big endian), then UTF-8 JSON.

The length is read and checked before anything is allocated for it, and every read has a deadline.
"""

import json
import socket
import struct
import time
from typing import Any, NoReturn

LARGEST = 1 << 20
"""Bytes of the largest frame that either side accepts from code it does not trust."""
DEEPEST = 40
"""Levels of nesting that are read."""


class FramingError(Exception):
    """The other side sent something that is no message."""


class Closed(Exception):
    """The other side has gone."""


class Late(Exception):
    """Nothing complete arrived before the deadline."""


def send(connection: socket.socket, message: Any, deadline: float | None = None) -> None:
    """Send one message; `deadline` is a time of `time.monotonic`. Raises Closed or Late."""
    body = json.dumps(message, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
    _expect(connection, deadline)
    try:
        connection.sendall(struct.pack(">I", len(body)) + body)
    except TimeoutError as error:
        raise Late from error
    except OSError as error:
        raise Closed from error


def receive(connection: socket.socket, deadline: float | None = None, largest: int = LARGEST) -> Any:
    """Read one message. Raises FramingError, Closed or Late; never reads past one message."""
    length = struct.unpack(">I", _exactly(connection, 4, deadline))[0]
    if length > largest:
        raise FramingError(f"a message of {length} bytes; {largest} is the most")
    body = _exactly(connection, length, deadline, started=True)
    try:
        message = json.loads(body.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise FramingError(f"not a JSON message: {type(error).__name__}") from error
    if _deeper(message, DEEPEST):
        raise FramingError(f"nested more than {DEEPEST} levels")
    return message


def _exactly(connection: socket.socket, count: int, deadline: float | None, started: bool = False) -> bytes:
    chunks: list[bytes] = []
    missing = count
    while missing:
        _expect(connection, deadline)
        try:
            chunk = connection.recv(min(missing, 1 << 16))
        except TimeoutError as error:
            raise Late from error
        except OSError as error:
            raise Closed from error
        if not chunk:
            if started or chunks:
                raise FramingError("the message ends too early")
            raise Closed
        chunks.append(chunk)
        missing -= len(chunk)
    return b"".join(chunks)


def _expect(connection: socket.socket, deadline: float | None) -> None:
    if deadline is None:  # the socket is a blocking one, and stays it
        return
    left = deadline - time.monotonic()
    if left <= 0:
        raise Late
    connection.settimeout(left)


def _deeper(value: Any, levels: int) -> bool:
    layer = [value]
    for _ in range(levels):
        layer = [
            inner
            for outer in layer
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not layer:
            return False
    return True


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
