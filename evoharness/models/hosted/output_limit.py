"""How many tokens a model gives at most, read from how it refuses to be asked for more."""

import re
from dataclasses import dataclass

NAMES = ("max_tokens", "max_completion_tokens", "max_output_tokens")
"""What the limit of an answer is called."""
LEAST = 256
"""Tokens; a smaller number is not the limit of a model, and where less is left of the context, it is the
request that is too large."""
_UNKNOWN = re.compile(
    r"unsupported|not supported|does not support|unknown param|unrecogni|extra inputs|deprecated|instead",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"max[_ ](?:completion[_ ]|output[_ ]|new[_ ])?tokens|maxOutputTokens|(?:completion|output) tokens"
    r"|in the completion",
    re.IGNORECASE,
)
_COUNT = r"(\d{1,3}(?:,\d{3})+|\d{1,9})"
_LASTING = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\[\s*\d+\s*,\s*{_COUNT}\s*[\])]",
        rf"(?:range|between|from)\b[^.]{{0,40}}?\b\d+\s*(?:\(\w+\)\s*)?(?:to|and|-|–)\s*{_COUNT}",
        rf"at most\s+{_COUNT}\s+(?:completion|output)?\s*tokens",
        rf"(?:less than or equal to|not (?:be )?(?:exceed|greater than|larger than|more than)|at most|up to"
        rf"|<=|≤)\s*[`'\"]?{_COUNT}",
        rf"\d\s*>\s*{_COUNT}\b(?!\s*-)",
        rf"(?:maximum|limit)[^.\d]{{0,60}}?(?:is|of|:)\s*[`'\"]?{_COUNT}",
    )
)
_CONTEXT = re.compile(
    rf"(?:context (?:length|window|size)|max_model_len)[^\d]{{0,24}}{_COUNT}", re.IGNORECASE
)
_GIVEN = re.compile(
    rf"{_COUNT}\s*(?:tokens\s*)?(?:in the (?:messages|prompt|input)|(?:input|prompt) tokens)",
    re.IGNORECASE,
)
_LARGE = re.compile(
    r"too (?:large|big|high|many|long)|exceed|greater|larger|more than|at most|less than|range"
    r"|between|maximum|cannot be|must be|> ?\d",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class OutputLimit:
    """The most tokens that an answer may be asked to have."""

    tokens: int
    lasting: bool
    """It is the model's own, not what this one request leaves of the context."""


def output_limit(said: str, asked: int) -> OutputLimit | None:
    """The limit that a refusal of `asked` tokens tells; None when the refusal is about something else.

    Where no number is told, or none below what was asked for, it is half of that.
    """
    if not _ABOUT.search(said) or not _LARGE.search(said) or _UNKNOWN.search(said):
        return None
    context, given = _CONTEXT.search(said), _GIVEN.search(said)
    if context is not None:
        if given is None:
            return None
        left = _number(context[1]) - _number(given[1])
        return OutputLimit(left, lasting=False) if LEAST <= left < asked else None
    for pattern in _LASTING:
        for match in pattern.finditer(said):
            most = _number(match[1]) - said.startswith(" (exclusive)", match.end())
            if LEAST <= most < asked:
                return OutputLimit(most, lasting=True)
    return OutputLimit(asked // 2, lasting=False) if asked >= 2 else None


def _number(written: str) -> int:
    return int(written.replace(",", ""))
