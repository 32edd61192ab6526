"""JSON messages over a socket: four bytes of length (big endian), then UTF-8 JSON.

The length is read and checked before anything is allocated for it, every read has a deadline, and what
arrives is plain data: finite numbers, whole numbers of 64 bits, Unicode text, bounded nesting.
"""

import json
import math
import socket
import struct
import time
from typing import Any, NoReturn

LARGEST = 1 << 20
"""Bytes of the largest message that the host accepts from code it does not trust."""
LARGEST_FROM_HOST = 64 << 20
"""Bytes of the largest message that a run accepts from the host."""
DEEPEST = 40
"""Levels of nesting that are read."""
LARGEST_ANSWER = 64 << 10
"""Bytes of the JSON of the largest answer."""
DEEPEST_VALUE = 20
"""Levels of nesting of an answer or an argument."""
LARGEST_INTEGER = 2**63 - 1
"""The largest whole number, either side of zero, that crosses."""
LONGEST_PRINTS = 16 << 10
"""Characters of printing that are kept."""
LONGEST_MESSAGE = 500
"""Characters of an error, in either direction."""

ENDED = struct.Struct(">?idQ")
"""What the fork server says of a child: whether it ended, wait status, CPU seconds, peak resident bytes."""


class FramingError(Exception):
    """The other side sent something that is no message."""


class Closed(Exception):
    """The other side has gone."""


class Late(Exception):
    """Nothing complete arrived before the deadline."""


def send(connection: socket.socket, message: Any, deadline: float | None = None) -> None:
    """Send one message; `deadline` is a time of `time.monotonic`. Raises Closed or Late."""
    send_body(connection, encoded(message), deadline)


def encoded(message: Any) -> bytes:
    """The JSON of a message; text that is no Unicode is replaced. ValueError for what is no JSON."""
    return json.dumps(message, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")


def send_body(connection: socket.socket, body: bytes, deadline: float | None = None) -> None:
    """Send a message that is JSON already."""
    _expect(connection, deadline)
    try:
        connection.sendall(struct.pack(">I", len(body)) + body)
    except TimeoutError as error:
        raise Late from error
    except OSError as error:
        raise Closed from error


def receive(connection: socket.socket, deadline: float | None = None, largest: int = LARGEST) -> Any:
    """Read one message. Raises FramingError, Closed or Late; never reads past one message."""
    return decoded(receive_body(connection, deadline, largest))


def receive_body(connection: socket.socket, deadline: float | None = None, largest: int = LARGEST) -> bytes:
    """Read what should be the JSON of one message. Raises FramingError, Closed or Late."""
    length = struct.unpack(">I", _exactly(connection, 4, deadline))[0]
    if length > largest:
        raise FramingError(f"a message of {length} bytes; {largest} is the most")
    return _exactly(connection, length, deadline, started=True)


def decoded(body: bytes) -> Any:
    """The message in its JSON; FramingError when it is none, or no plain data."""
    try:
        message = json.loads(
            body.decode(), parse_constant=_no_constant, parse_float=_finite, parse_int=_small_integer
        )
        if b"\\" in body:  # an escape can spell half of a surrogate pair, which is no text
            json.dumps(message, ensure_ascii=False).encode()
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


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number that is not finite")
    return number


def _small_integer(digits: str) -> int:
    number = int(digits)
    if abs(number) > LARGEST_INTEGER:
        raise ValueError("a whole number of more than 64 bits")
    return number
