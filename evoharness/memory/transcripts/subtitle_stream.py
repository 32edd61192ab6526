"""Subtitles inside a video file."""

from pathlib import Path
from typing import Any

from evoharness.memory.transcripts.captions import plain
from evoharness.memory.transcripts.cues import (
    BEYOND,
    LONG,
    MOST_CUES,
    NO_TRANSCRIPT,
    Cue,
    Transcript,
    cut,
    in_order,
)
from evoharness.video.container import beyond_opening, damage, open_container, packets_of

UNDECODABLE = "subtitle that cannot be decoded"
UNTIMED = "subtitle without a time"
LONGEST_S = 30.0
"""What is said for longer has no end of its own: it is taken to last as long as reading it takes."""
SECONDS_A_WORD = 0.4


def read_subtitles(path: Path, begins: float) -> Transcript:
    """The text of the file's own subtitles; `none` when it has none that are text (pictures are not read).

    Of several streams the one marked as default counts, then an English one, then the first. `begins`:
    presentation time of the first picture, which is second 0 everywhere else.
    """
    try:
        with open_container(path) as container:
            stream = _pick(container)
            return NO_TRANSCRIPT if stream is None else _read(container, stream, begins)
    except beyond_opening():
        return NO_TRANSCRIPT


def _pick(container: Any) -> Any | None:
    import av

    def is_text(stream: Any) -> bool:
        context = stream.codec_context
        return context is not None and bool(context.codec.text_sub)

    def rank(stream: Any) -> tuple[bool, bool, int]:
        default = bool(stream.disposition & av.stream.Disposition.default)
        english = str(stream.metadata.get("language", "")).startswith("en")
        return not default, not english, stream.index

    return min((s for s in container.streams if s.type == "subtitle" and is_text(s)), key=rank, default=None)


def _read(container: Any, stream: Any, begins: float) -> Transcript:
    cues: list[Cue] = []
    losses: dict[str, int] = {}
    unit = float(stream.time_base)

    def lost(kind: str) -> None:
        losses[kind] = losses.get(kind, 0) + 1

    for number, packet in enumerate(packets_of(container, stream)):
        if number >= MOST_CUES:
            lost(BEYOND)
            continue
        try:
            texts = [_text(part) for part in stream.codec_context.decode2(packet) or ()]
        except damage():
            lost(UNDECODABLE)
            continue
        text, is_whole = cut(" ".join(text for text in texts if text))
        if not is_whole:
            lost(LONG)
        if not text:
            continue
        if packet.pts is None:
            lost(UNTIMED)
            continue
        start = max(0.0, packet.pts * unit - begins)
        length = (packet.duration or 0) * unit
        if not 0 < length <= LONGEST_S:
            length = min(LONGEST_S, SECONDS_A_WORD * len(text.split()))
        cues.append(Cue(round(start, 3), round(start + length, 3), text))
    name = stream.codec_context.codec.canonical_name
    return Transcript(source=f"stream {stream.index} ({name})", cues=in_order(cues), losses=losses)


def _text(part: Any) -> str:
    dialogue = getattr(part, "dialogue", b"")
    return plain(dialogue.decode("utf-8", "replace") if isinstance(dialogue, bytes) else str(dialogue))
