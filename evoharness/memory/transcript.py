"""What is said in a video: cues of a sidecar, and the text that a segment keeps of them."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from evoharness.records.interval import Interval

_CLOCK = r"(?:(\d+):)?(\d{1,2}):(\d{1,2})(?:[,.](\d{1,3}))?"
_TIMES = re.compile(rf"^\s*{_CLOCK}\s*-->\s*{_CLOCK}")
_MARKUP = re.compile(r"<[^>]{0,80}>|\{\\[^}]{0,80}\}")
_LINE = re.compile(r"^\[(\d+\.\d)-(\d+\.\d)\] (.*)$")


class Cue(NamedTuple):
    """Words that are said during a stretch of time."""

    start: float
    end: float
    text: str


def sidecar(video: Path) -> Path | None:
    """The `.srt` beside a video, under the same name; None when there is none."""
    path = video.with_suffix(".srt")
    return path if path.is_file() else None


def read_srt(path: Path) -> list[Cue]:
    """Cues of an SRT file in order of time; what is not a cue is passed over, whatever it is."""
    cues = []
    current: tuple[float, float] | None = None
    said: list[str] = []
    for line in [*path.read_bytes().decode("utf-8-sig", "replace").splitlines(), ""]:
        times = _TIMES.match(line)
        if times is not None or not line.strip():
            if current is not None and said:
                cues.append(Cue(*current, " ".join(said)))
            current, said = (_seconds(times) if times else None), []
        elif current is not None:
            text = " ".join(_MARKUP.sub("", line).split())
            if text:
                said.append(text)
    return sorted(cues)


def _seconds(times: "re.Match[str]") -> tuple[float, float]:
    part = [group or "0" for group in times.groups()]
    start, end = (
        int(h) * 3600 + int(m) * 60 + int(s) + int(ms.ljust(3, "0")) / 1000
        for h, m, s, ms in (part[:4], part[4:])
    )
    return start, max(start, end)


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
