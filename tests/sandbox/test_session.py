"""The host's side of the framing: whatever a run sends ends as a kind, before its deadline."""

import json
import socket
import struct
import threading
import time
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from evoharness.sandbox import HostApi, HostMethod, ProcessSandbox, SandboxLimits
from evoharness.sandbox.confined import framing
from evoharness.sandbox.result import KINDS, REPORTED
from evoharness.sandbox.session import Session
from tests.sandbox.test_framing import JSON

SECONDS = 0.15
LIMITS = SandboxLimits(own_seconds=SECONDS, host_calls=3)


class Echo(BaseModel):
    n: int


class Text(BaseModel):
    text: str


def conducted(sent: bytes, ends: bool = True, api: HostApi | None = None) -> tuple[str, dict[str, Any]]:
    """Kind and end of a session whose run sends these bytes, and then closes or says nothing more."""
    ours, theirs = socket.socketpair()
    session = Session(ours, api or HostApi({"echo": HostMethod(lambda a: a.n, Echo)}), LIMITS)

    def send() -> None:
        try:
            theirs.sendall(sent)
            if ends:
                theirs.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the host had enough

    with ours, theirs:
        sender = threading.Thread(target=send)
        sender.start()
        started = time.monotonic()
        kind, end = session.conduct({"verb": "run"})
        assert time.monotonic() - started < SECONDS + 2
        ours.close()
        theirs.close()
        sender.join()
    assert kind in KINDS
    assert len(str(end.get("message", ""))) <= framing.LONGEST_MESSAGE
    return kind, end


def frame(message: Any) -> bytes:
    body = json.dumps(message).encode()
    return struct.pack(">I", len(body)) + body


FINISHED = frame({"end": {"kind": "finished", "value": 1}})


@settings(deadline=None)
@given(st.integers(1, len(FINISHED) - 1), st.integers(0, 3))
def test_a_truncated_message_is_a_violation(cut: int, calls: int) -> None:
    before = frame({"call": "echo", "arguments": {"n": 1}}) * calls
    assert conducted(before + FINISHED[:cut])[0] == "protocol_violation"


@settings(deadline=None, max_examples=15)
@given(st.integers(0, len(FINISHED) - 1))
def test_a_message_that_stops_half_way_ends_at_the_deadline(cut: int) -> None:
    assert conducted(FINISHED[:cut], ends=False)[0] == "wall_timeout"


@settings(deadline=None)
@given(st.integers(framing.LARGEST + 1, 2**32 - 1), st.binary(max_size=100), st.booleans())
def test_an_oversized_message_is_a_violation_whether_it_comes_or_not(
    length: int, body: bytes, ends: bool
) -> None:
    assert conducted(struct.pack(">I", length) + body, ends)[0] == "protocol_violation"


@settings(deadline=None)
@given(st.integers(framing.DEEPEST, 300_000), st.sampled_from(["[", '{"a":', '[{"end":']))
def test_a_nested_message_is_a_violation(depth: int, opening: str) -> None:
    body = (opening * depth)[: framing.LARGEST].encode()
    assert conducted(struct.pack(">I", len(body)) + body)[0] == "protocol_violation"
    closed = ("[" * depth + "]" * depth)[: framing.LARGEST].encode()
    assert conducted(struct.pack(">I", len(closed)) + closed)[0] == "protocol_violation"


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=60))
@example(b'{"end": {"kind": "finished", "value": 1e999}}')
@example(b'{"end": {"kind": "finished", "value": NaN}}')
@example(b'{"end": {"kind": "finished", "value": "\\ud800"}}')
@example(b'{"end": {"kind": "finished", "value": 9223372036854775808}}')
@example(b'{"end": {"kind": "finished", "value": ' + b"9" * 5000 + b"}}")
@example(b'{"end": {"kind": "finished", "line": -1}}')
@example(b'{"end": {"kind": "cpu_time_exceeded"}}')
@example(b'{"end": {"kind": "SandboxUnavailable"}}')
@example(b'{"end": {"value": 1}}')
@example(b'{"end": []}')
@example(b'{"call": "echo"}')
@example(b'{"call": {"a": 1}, "arguments": {}}')
@example(b'{"call": "echo", "arguments": [1]}')
def test_a_malformed_message_is_a_violation(body: bytes) -> None:
    assert conducted(struct.pack(">I", len(body)) + body)[0] == "protocol_violation"


@settings(deadline=None, max_examples=300)
@given(JSON | st.fixed_dictionaries({"end": JSON}) | st.fixed_dictionaries({"call": JSON, "arguments": JSON}))
def test_any_json_ends_as_a_kind(message: Any) -> None:
    kind, _ = conducted(frame(message))
    if not (isinstance(message, dict) and ("call" in message or "end" in message)):
        assert kind == "protocol_violation"


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=400))
def test_any_bytes_end_as_a_kind(sent: bytes) -> None:
    kind, _ = conducted(sent)
    assert kind in {"protocol_violation", "worker_crashed"}


@pytest.mark.parametrize("kind", sorted(set(KINDS) - REPORTED))
def test_what_only_the_host_can_see_cannot_be_reported(kind: str) -> None:
    assert conducted(frame({"end": {"kind": kind}}))[0] == "protocol_violation"


@pytest.mark.parametrize("value", ["x" * (framing.LARGEST_ANSWER + 1), [0] * framing.LARGEST_ANSWER])
def test_an_answer_too_large_is_a_violation(value: Any) -> None:
    assert conducted(frame({"end": {"kind": "finished", "value": value}}))[0] == "protocol_violation"


def test_what_is_kept_of_an_end_is_bounded() -> None:
    end = {"kind": "strategy_error", "message": "m" * 10**5, "prints": "p" * 10**5}
    kind, kept = conducted(frame({"end": end}))
    assert kind == "strategy_error"
    assert (len(kept["message"]), len(kept["prints"])) == (framing.LONGEST_MESSAGE, framing.LONGEST_PRINTS)


def test_fuel_beyond_the_budget_is_not_believed() -> None:
    _, kept = conducted(frame({"end": {"kind": "finished", "fuel": 10**18}}))
    assert kept["fuel"] == LIMITS.steps + 1


def test_a_call_of_very_many_arguments_is_a_violation() -> None:
    arguments = {str(number): 1 for number in range(70_000)}
    assert conducted(frame({"call": "echo", "arguments": arguments}))[0] == "protocol_violation"


def test_a_flood_of_calls_ends_at_the_budget() -> None:
    flood = frame({"call": "echo", "arguments": {"n": 1}}) * 1000
    assert conducted(flood)[0] == "host_call_budget_exceeded"


def test_many_large_calls_end_at_the_budget() -> None:
    sandbox = ProcessSandbox()
    api = HostApi({"keep": HostMethod(lambda _: None, Text)})
    source = "def strategy(ctx, question):\n    while True:\n        ctx.keep('x' * 900_000)\n"
    result = sandbox.run(source, "strategy", {"question": 1}, api, SandboxLimits())
    sandbox.close()
    assert (result.kind, result.calls) == ("host_call_budget_exceeded", 9)
    assert "sent more than 8 MB" in result.message


def test_a_reply_too_large_is_an_error_of_the_call() -> None:
    sandbox = ProcessSandbox()
    api = HostApi({"much": HostMethod(lambda _: "x" * (9 << 20))})
    source = (
        "def strategy(ctx, question):\n    try:\n        ctx.much()\n"
        "    except HostCallError as error:\n        return str(error)\n"
    )
    result = sandbox.run(source, "strategy", {"question": 1}, api, SandboxLimits())
    sandbox.close()
    assert result.value == "much: the reply is larger than 8 MB; ask for less"
