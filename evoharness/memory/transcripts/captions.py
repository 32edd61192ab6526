"""Caption files: SubRip (`.srt`) and WebVTT (`.vtt`), as they are found in the wild.

The two differ in little, and files of one kind often bear the marks of the other: one reader takes both.
"""

import codecs
import html
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from evoharness.memory.transcripts.cues import BEYOND, LONG, MOST_CUES, Cue, Transcript, cut, in_order

ENDINGS = (".srt", ".vtt")
MOST_BYTES = 10_000_000
"""No more of a file is read: hours of captions are some hundred kilobytes."""
BEYOND_BYTES = "captions beyond the first 10 MB of the file"
UNREADABLE = "caption without readable times"
BACKWARDS = "caption that ends before it begins"
_CLOCK = r"(?:(\d{1,4}):)?(\d{1,3}):(\d{1,2})(?:[,.](\d{1,9}))?"
_TIMES = re.compile(rf"^{_CLOCK}-->{_CLOCK}")
_SPACES = re.compile(r"\s*([:,.]|-->)\s*")
_LOOKS_TIMED = re.compile(r"^[\s\d:;.,]*\d[\s\d:;.,]*-->|-->\s*\d+\s*:")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]{1,60})>")
_MARKUP = re.compile(r"<[^>]{0,200}>|\{\\[^}]{0,200}\}")
_COUNTER = re.compile(r"^\d{1,6}$")


def read_captions(path: Path) -> Transcript:
    """The cues of a caption file; what is no cue is passed over, damaged ones and those beyond what any video
    can need are counted, nothing raises but OSError."""
    losses: Counter[str] = Counter()
    with path.open("rb") as file:
        text = _decoded(file.read(MOST_BYTES))
        losses.update([BEYOND_BYTES] if file.read(1) else [])
    cues = in_order(_cues(text, losses))
    return Transcript(source=f"sidecar {path.name}", cues=cues, losses=dict(losses))


def plain(text: str) -> str:
    """One line without markup: `<v Ann>` becomes `Ann: `, entities become characters."""
    spoken = _MARKUP.sub("", _VOICE.sub(lambda found: f"{found[1].strip()}: ", text))
    readable = html.unescape(spoken).replace("\u200e", "").replace("\u200f", "").replace("\ufeff", "")
    return " ".join(readable.replace("\\N", " ").replace("\\h", " ").split())


def _decoded(data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # Cut off in a character at the very end: still UTF-8. Else the old code page of most such files.
        if error.start >= len(data) - 3:
            return data.decode("utf-8-sig", "ignore")
        return data.decode("cp1252", "replace")


def _cues(text: str, losses: "Counter[str]") -> Iterator[Cue]:
    times: tuple[float, float] | None = None
    said: list[str] = []
    lines = [*re.split(r"\r\n|\r|\n", text), ""]
    found = 0
    for number, line in enumerate(lines):
        if found >= MOST_CUES and "-->" in line:
            yield from _cue(times, said, losses)
            losses[BEYOND] += sum("-->" in each for each in lines[number:])
            return
        if "-->" in line and (_LOOKS_TIMED.search(line) or times is None):
            # A counter directly above belongs to this cue, where no blank line ended the one before.
            if times is not None and len(said) > 1 and _COUNTER.match(said[-1]):
                said.pop()
            yield from _cue(times, said, losses)
            said = []
            times = _read_times(line, losses)
            found += 1
        elif not line.strip():
            yield from _cue(times, said, losses)
            times, said = None, []
        elif times is not None:
            said.append(line)


def _cue(times: tuple[float, float] | None, said: list[str], losses: "Counter[str]") -> Iterator[Cue]:
    if times is None:
        return
    text, is_whole = cut(plain(" ".join(said)))
    if not is_whole:
        losses[LONG] += 1
    if text:
        yield Cue(*times, text)


def _read_times(line: str, losses: "Counter[str]") -> tuple[float, float] | None:
    match = _TIMES.match(_SPACES.sub(r"\1", line.strip()))
    if match is None:
        losses[UNREADABLE] += 1
        return None
    part = [group or "0" for group in match.groups()]
    start, end = (
        int(hours) * 3600 + int(minutes) * 60 + int(seconds) + float(f"0.{fraction}")
        for hours, minutes, seconds, fraction in (part[:4], part[4:])
    )
    if end < start:
        losses[BACKWARDS] += 1
        end = start
    return round(start, 3), round(end, 3)


def sidecar(video: Path) -> Path | None:
    """The caption file beside a video: `talk.srt` or `talk.vtt`, else one with a language, `talk.en.srt`.

    English comes before other languages, these in order of their names; None when there is none.
    """
    stem = video.stem.casefold()
    try:
        beside = [path for path in video.parent.iterdir() if path.suffix.casefold() in ENDINGS]
    except OSError:
        return None
    ranked = []
    for path in beside:
        name = path.stem.casefold()
        between = name.removeprefix(stem)
        if not name.startswith(stem) or (between and not re.fullmatch(r"\.[a-z0-9_-]{1,12}", between)):
            continue
        english = between.startswith((".en", ".eng"))
        rank = (bool(between), not english, ENDINGS.index(path.suffix.casefold()), path.name)
        ranked.append((rank, path))
    files = (path for _, path in sorted(ranked) if path.is_file())
    return next(files, None)
