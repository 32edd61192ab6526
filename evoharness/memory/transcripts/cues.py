"""What is said, with its times; and the text that a segment keeps of it."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from evoharness.records.base import Record
from evoharness.records.interval import Interval

TOUCHING_S = 0.2
"""Cues so close to each other count as one after the other."""
MOST_CUES = 50_000
"""Of one source: more than a day of speech has."""
MOST_LETTERS = 2_000
"""Of one cue."""
MOST_REPEATED = 100
"""Words that captions which roll repeat, where they do not repeat a whole cue."""
BEYOND = "caption beyond the first 50,000"
LONG = "caption longer than 2,000 letters, cut"
_LINE = re.compile(r"^\[(\d+\.\d)-(\d+\.\d)\] (.*)$")


class Cue(NamedTuple):
    """Words that are said during a stretch of time."""

    start: float
    end: float
    text: str


class Transcript(Record):
    """What one source says is said in a video."""

    source: str
    """Where it comes from: `sidecar talk.srt`, `stream 2 (mov_text)`, `model …`; `none`."""
    cues: tuple[Cue, ...] = ()
    """In order of time."""
    losses: dict[str, int] = {}
    """How often each kind of damage was met."""


NO_TRANSCRIPT = Transcript(source="none")


def cut(text: str) -> tuple[str, bool]:
    """The text, ended where it gets too long to be a caption, and whether that is all of it."""
    return (text, True) if len(text) <= MOST_LETTERS else (text[:MOST_LETTERS].rstrip(), False)


def in_order(cues: Iterable[Cue]) -> tuple[Cue, ...]:
    """Cues by time, without what is said twice.

    Captions that roll repeat the line before: of a cue that begins with the end of the one that it touches
    or overlaps, only what is new is kept. The same words twice in a row are one cue.
    """
    kept: list[Cue] = []
    shown = ""
    for cue in sorted(cues):
        before = kept[-1] if kept else None
        if before is None or cue.start > before.end + TOUCHING_S:
            kept.append(cue)
            shown = cue.text
            continue
        new = _new_words(shown, cue.text)
        shown = cue.text
        if new:
            kept.append(cue._replace(text=new))
        else:
            kept[-1] = before._replace(end=max(before.end, cue.end))
    return tuple(kept)


def _new_words(before: str, after: str) -> str:
    """What `after` says beyond the words at the end of `before` that it begins with.

    One or two words may well be said again: only three in a row, or a whole cue, count as repeated.
    """
    old, new = before.split(), after.split()
    if old == new:
        return ""
    most = min(len(old), len(new))
    for count in (most, *range(min(most - 1, MOST_REPEATED), 0, -1)):
        if old[-count:] == new[:count]:
            whole = count in (len(old), len(new))
            return " ".join(new[count:]) if count >= 3 or (whole and count >= 2) else after
    return after


def transcript_of(cues: Iterable[Cue], span: Interval) -> str:
    """The cues that begin inside a segment, one a line: `[12.0-14.5] words`; the end belongs to the next."""
    lines = [
        f"[{cue.start:.1f}-{cue.end:.1f}] {cue.text}" for cue in cues if span.start <= cue.start < span.end
    ]
    return "\n".join(lines)


def cues_of(transcript: str) -> Sequence[Cue]:
    """The cues in a segment's transcript; a line without times is left out."""
    matches = (_LINE.match(line) for line in transcript.splitlines())
    return [Cue(float(m[1]), float(m[2]), m[3]) for m in matches if m is not None]
