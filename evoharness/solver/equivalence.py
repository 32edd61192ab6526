"""When two harnesses must answer alike: what bears on an answer, and what cannot."""

import hashlib
import json
import re

from evoharness.harness import Harness

_CALL = re.compile(r"\bctx\s*\.\s*(\w+)\s*\(")
_PLAIN = frozenset({"look", "similar", "find", "answer", "remaining"})
"""Calls that read no parameter but the frame cap, as long as no frames are handed to them."""


def behaviour(harness: Harness, duration: float) -> str:
    """Identity (hexadecimal) of all that bears on answers about videos of `duration` seconds.

    That is the strategy that the route leads to, what memory it may use, skills, tools and tool policy,
    and the parameters. A parameter that the source does not name is left out when neither skills nor
    calls of `ctx` could bring the host to use it. Harnesses with the same identity give the same answers,
    for the same model; others may.
    """
    route = harness.route(duration)
    source = harness.strategies[route.strategy]
    values = harness.parameters.model_dump(mode="json")
    plain = set(_CALL.findall(source)) <= _PLAIN and "frames=" not in source.replace("max_frames=", "")
    if plain and not harness.skills and not harness.tools:
        values = {name: value for name, value in values.items() if name == "frame_cap" or name in source}
    parts = [route.strategy, source, route.memory, values, harness.skills, harness.tools, harness.tool_policy]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
