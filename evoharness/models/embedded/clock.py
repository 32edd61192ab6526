"""Times as people write them: 1:05, 65 s, about 2 minutes, from 10 to 20 seconds."""

import re
from dataclasses import dataclass

_UNIT = r"(?:seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h)"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?"
_AMOUNT = r"\d+(?:\.\d+)?"
_TIME = re.compile(
    rf"(?P<clock>(?<![\d:]){_CLOCK}(?![\d:]))"
    rf"|(?P<compound>(?<![\w.:]){_AMOUNT}\s*(?:h|hours?|m|mins?|minutes?)\b(?:\s*(?:and\s*)?{_AMOUNT}\s*{_UNIT}\b)+)"
    rf"|(?P<amount>(?<![\w.:]){_AMOUNT})\s*-?\s*(?P<unit>{_UNIT})\b",
    re.IGNORECASE,
)
_BARE_RANGE = re.compile(
    rf"(?<![\w.:])(?P<start>{_AMOUNT})\s*(?:-|–|—|to|and|until)\s*(?P<end>{_AMOUNT})\s*(?P<unit>{_UNIT})\b",
    re.IGNORECASE,
)
_JOIN = re.compile(r"\s*(?:-|–|—|to|and|until|till|through)\s*", re.IGNORECASE)
_LEAD = re.compile(
    rf"^\s*[\[(]?\s*(?P<start>{_CLOCK}|{_AMOUNT})\s*(?:s|sec|seconds)?"
    rf"(?:\s*(?:-|–|—|to|\.\.)\s*(?P<end>{_CLOCK}|{_AMOUNT})\s*(?:s|sec|seconds)?)?\s*(?P<close>[\])]\s*:?|:|\s-)\s+"
    r"(?=\S)",
    re.IGNORECASE,
)
_PER_UNIT = {"s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class TimeMention:
    """One time, or one range of times, in a text."""

    start: float
    """Seconds."""
    end: float
    """Seconds; equal to `start` for an instant."""
    position: tuple[int, int]
    """Where in the text it stands."""

    @property
    def middle(self) -> float:
        """Seconds."""
        return (self.start + self.end) / 2


def clock_seconds(text: str) -> float:
    """Seconds of `1:05`, `1:02:03` or a plain number."""
    seconds = 0.0
    for part in text.split(":"):
        seconds = seconds * 60 + float(part)
    return seconds


def _amount(value: str, unit: str) -> float:
    return float(value) * _PER_UNIT[unit[0].lower()]


def _instants(text: str) -> list[TimeMention]:
    found: list[TimeMention] = []
    for match in _TIME.finditer(text):
        if match["clock"]:
            seconds = clock_seconds(match["clock"])
        elif match["compound"]:
            parts = re.findall(rf"({_AMOUNT})\s*({_UNIT})\b", match["compound"], re.IGNORECASE)
            seconds = sum(_amount(value, unit) for value, unit in parts)
        else:
            seconds = _amount(match["amount"], match["unit"])
        found.append(TimeMention(seconds, seconds, match.span()))
    return found


def read_times(text: str) -> list[TimeMention]:
    """Every time in a text, in order; two times joined by a dash, `to` or `and` are one range."""
    mentions = []
    for match in _BARE_RANGE.finditer(text):
        start, end = _amount(match["start"], match["unit"]), _amount(match["end"], match["unit"])
        if start <= end:
            mentions.append(TimeMention(start, end, match.span()))
    taken = [mention.position for mention in mentions]
    for mention in _instants(text):
        if not any(mention.position[0] < end and start < mention.position[1] for start, end in taken):
            mentions.append(mention)
    mentions.sort(key=lambda mention: mention.position)
    joined: list[TimeMention] = []
    for mention in mentions:
        last = joined[-1] if joined else None
        if (
            last is not None
            and last.start == last.end <= mention.start == mention.end
            and _JOIN.fullmatch(text[last.position[1] : mention.position[0]])
        ):
            joined[-1] = TimeMention(last.start, mention.end, (last.position[0], mention.position[1]))
        else:
            joined.append(mention)
    return joined


def leading_time(line: str) -> tuple[TimeMention | None, str]:
    """The time that a line opens with, as in `[12.0-15.5] …` or `1:05: …`, and the rest of the line."""
    match = _LEAD.match(line)
    if match is None:
        return None, line
    bare = not match["end"] and ":" not in match["start"] and not match["close"].startswith(("]", ")"))
    if bare:
        return None, line
    start = clock_seconds(match["start"])
    end = clock_seconds(match["end"]) if match["end"] else start
    if end < start:
        return None, line
    return TimeMention(start, end, match.span()), line[match.end() :]
