"""A stub of what strategies and tools are given: every call by its real name, with a canned reply.

For trying a source without a video or a model. Replies have the shapes of real ones and depend on nothing
but the arguments, so a run against the stub gives the same result every time.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, create_model

from evoharness.records.tool import MEMORY_READS
from evoharness.sandbox.result import HostApi, HostCallError, HostMethod

QUESTION: dict[str, Any] = {
    "text": "What happens after the valve is closed?",
    "options": ["The pump stops", "The lamp turns green", "Nothing happens", "The tank is empty"],
    "q": "What happens after the valve is closed?",
}
"""The question that a strategy is given; `q` is `text` again, as short trial sources call it."""

DURATION = 600.0
SIGNATURES = {
    "remaining": "",
    "look": "spans? fps? max_frames? detail? prompt?",
    "localize": "query",
    "frame": "time prompt? box?",
    "search": "query k? kind?",
    "summary": "",
    "super_events": "",
    "segments": "ids?",
    "records": "segment_id",
    "between": "start end",
    "enumerate": "query min_cosine? max_results?",
    "transcript": "start end",
    "knowledge": "query type? k?",
    "tool": "name arguments?",
    "decide": "evidence? tools?",
    "call": "name arguments?",
    "reason": "prompt evidence?",
    "verify": "claim evidence? frames?",
    "similar": "a texts",
    "find": "pattern text",
    "answer": "evidence? frames? sample?",
}
"""Every call of `ctx` with its arguments in order; those with `?` may be left out."""

TRIAL_SIGNATURES = {"sample_frames": "start? end? n?", "ask_vlm": "prompt?"}
"""Calls that the real `ctx` does not have, and short trial sources make."""

_MOST_MATCHES = 100
_VALVE = {"start": 12.0, "end": 15.5, "text": "a hand closes the valve"}
_LAMP = {"start": 21.0, "end": 24.0, "text": "the lamp turns green"}
_EVENT = {**_VALVE, "id": "s0000/e0000", "kind": "event", "segment": "s0000", "score": 0.81}
_NEXT = {**_LAMP, "id": "s0000/e0001", "kind": "event", "segment": "s0000", "score": 0.64}
_SEGMENT = {"id": "s0000", "start": 0.0, "end": 60.0, "text": "somebody closes a valve; a lamp turns green"}
_RECORDED = {
    **_VALVE,
    "id": "s0000/e0000",
    "kind": "performs",
    "subject": "hand",
    "object": "valve",
    "action": "closes the valve",
}
_THING = {
    "id": "s0000/n0000",
    "kind": "object",
    "name": "valve",
    "attributes": ["red"],
    "place": "left",
    "start": 12.0,
    "end": 12.0,
    "text": "red valve",
}
_WORDS = {
    "id": "s0000/t0000",
    "words": "OPEN",
    "start": 1.0,
    "end": 9.0,
    "text": 'the text "OPEN" is shown',
}
_PARAMETERS: dict[str, Any] = {
    "overview_fps": 1.0,
    "overview_detail": "normal",
    "frame_cap": 192,
    "chunk_s": 300.0,
    "detail_fps": 2.0,
    "detail_detail": "large",
    "detail_intervals": 6,
    "detail_interval_s": 60.0,
    "detail_padding_s": 5.0,
    "detail_merge_gap_s": 2.0,
    "search_results": 6,
    "retained_segments": 2,
    "memory_text_chars": 6000,
    "memory_rounds": 3,
    "replay_intervals": 3,
    "replay_fps": 1.0,
    "replay_detail": "large",
    "replay_frame_cap": 192,
    "replay_padding_s": 24.0,
    "replay_window_s": 60.0,
    "orchestrator_steps": 8,
}


def stub_context() -> HostApi:
    """`ctx` of a strategy: all calls, parameters, the length of the video."""
    data = {
        "params": dict(_PARAMETERS),
        "video": {"duration": DURATION},
        "memory": {"items": [dict(_EVENT), dict(_NEXT)]},
    }
    replies = _replies()
    signatures = SIGNATURES | TRIAL_SIGNATURES
    return HostApi({name: _method(name, text, replies[name]) for name, text in signatures.items()}, data)


def stub_memory() -> HostApi:
    """`memory` of a tool: reads only."""
    replies = _replies()
    return HostApi({name: _method(name, SIGNATURES[name], replies[name]) for name in MEMORY_READS})


def _method(name: str, signature: str, reply: Callable[[Any], Any]) -> HostMethod:
    return HostMethod(reply, _arguments(name, signature))


@cache
def _arguments(name: str, signature: str) -> type[BaseModel]:
    fields: dict[str, Any] = {
        argument.removesuffix("?"): (Any, None if argument.endswith("?") else ...)
        for argument in signature.split()
    }
    return create_model(name.title(), __config__=ConfigDict(extra="forbid"), **fields)


def _replies() -> dict[str, Callable[[Any], Any]]:
    decisions = iter(({"stop": False, "tool": "search", "arguments": {"query": QUESTION["text"]}},))
    stop = {"stop": True, "tool": "", "arguments": {}}
    observed = [{**_VALVE, "found": True}, {**_LAMP, "found": True}]
    span = {"start": 12.0, "end": 24.0}
    answer = {"choice": 1, "text": QUESTION["options"][1], "scores": [0.1, 0.7, 0.1, 0.1]}
    replies: dict[str, Any] = {
        "remaining": {"frames": 4000, "calls": 60, "seconds": 600.0},
        "look": {"observations": observed, "candidates": [span], "frames": ["f0000", "f0001"], "unread": 0},
        "localize": {"timeline": observed, "window": span, "unread": 0},
        "frame": {"start": 12.0, "end": 12.0, "text": _VALVE["text"], "frame": "f0000"},
        "search": [_EVENT, _NEXT],
        "summary": {"text": _SEGMENT["text"]},
        "super_events": [{**_SEGMENT, "id": "p0000", "label": "closing", "segments": ["s0000"]}],
        "segments": [_SEGMENT],
        "records": {
            **_SEGMENT,
            "transcript": "",
            "events": [_RECORDED],
            "entities": [_THING],
            "texts": [_WORDS],
            "relations": [{"source": "s0000/e0000", "target": "s0000/e0001", "kind": "before"}],
        },
        "between": [_EVENT, _NEXT],
        "enumerate": [_EVENT, _NEXT],
        "transcript": [],
        "knowledge": [{"text": "A valve stops a flow.", "source": "stub", "type": ""}],
        "reason": {"text": _LAMP["text"]},
        "verify": {"supported": True, "confidence": 0.8, "text": "it is seen"},
        "answer": answer,
        "sample_frames": ["f0000", "f0001"],
        "ask_vlm": _LAMP["text"],
    }
    found = {name: _always(value) for name, value in replies.items()}
    return found | {
        "tool": _no_tool,
        "decide": lambda _: next(decisions, stop),
        "call": lambda asked: _called(found, asked.name),
        "similar": lambda asked: [round(1 / (2 + place), 6) for place in range(_length(asked.texts))],
        "find": _find,
    }


def _always(value: Any) -> Callable[[Any], Any]:
    return lambda _: value


def _no_tool(asked: Any) -> Any:
    raise HostCallError(f"no such tool {str(asked.name)[:40]!r} (there is: none)")


def _called(replies: dict[str, Callable[[Any], Any]], name: Any) -> Any:
    if not isinstance(name, str) or name not in replies:
        raise HostCallError(f"there is no tool {str(name)[:40]!r} here")
    return replies[name](None)


def _length(texts: Any) -> int:
    if not isinstance(texts, list):
        raise HostCallError("texts is a list")
    return min(len(texts), 2000)


def _find(asked: Any) -> list[dict[str, Any]]:
    import re2

    if not (isinstance(asked.pattern, str) and isinstance(asked.text, str)) or len(asked.pattern) > 500:
        raise HostCallError("find takes a pattern of at most 500 characters and a text")
    options = re2.Options()
    options.log_errors = False
    try:
        pattern = re2.compile(asked.pattern, options)
    except re2.error as error:
        raise HostCallError(f"not a regular expression (RE2): {error}") from error
    matches: list[dict[str, Any]] = []
    for match in pattern.finditer(asked.text):
        if len(matches) == _MOST_MATCHES:
            break
        matches.append({"text": match.group(), "start": match.start(), "end": match.end()})
    return matches
