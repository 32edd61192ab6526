"""Messages: whatever arrives is one message or a typed error, before the deadline."""

import contextlib
import json
import socket
import struct
import time
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evoharness.sandbox.confined import framing

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(JSON)
def test_a_message_arrives_as_it_was_sent(message: object) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        framing.send(ours, message)
        assert framing.receive(theirs, time.monotonic() + 1) == json.loads(json.dumps(message))


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.binary(max_size=40), st.booleans())
def test_hostile_bytes_end_as_a_typed_error(data: bytes, framed: bool) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(struct.pack(">I", len(data)) + data if framed else data)
        theirs.shutdown(socket.SHUT_WR)
        with contextlib.suppress(framing.FramingError, framing.Closed, framing.Late):
            framing.receive(ours, time.monotonic() + 1)


@pytest.mark.parametrize(
    "data",
    [
        struct.pack(">I", 0xFFFFFFF0) + b"{}",
        struct.pack(">I", 10) + b"{}",
        struct.pack(">I", 2)[:3],
        struct.pack(">I", 3) + b"NaN",
        struct.pack(">I", 4) + b"\xff\xfe\xfd\xfc",
        struct.pack(">I", 200_000) + b"[" * 200_000,
        struct.pack(">I", 100) + b"[" * 50 + b"]" * 50,
    ],
)
def test_malformed_frames(pair: Pair, data: bytes) -> None:
    ours, theirs = pair
    ours.setblocking(True)
    theirs.sendall(data)
    theirs.shutdown(socket.SHUT_WR)
    with pytest.raises(framing.FramingError):
        framing.receive(ours, time.monotonic() + 1)


def test_silence_ends_at_the_deadline(pair: Pair) -> None:
    ours, theirs = pair
    theirs.sendall(b"\0\0")
    started = time.monotonic()
    with pytest.raises(framing.Late):
        framing.receive(ours, started + 0.1)
    assert time.monotonic() - started < 0.5
