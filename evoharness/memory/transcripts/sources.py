"""Which source a transcript comes from."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Literal

from evoharness.memory.transcripts.captions import read_captions, sidecar
from evoharness.memory.transcripts.cues import NO_TRANSCRIPT, Cue, Transcript, in_order
from evoharness.memory.transcripts.subtitle_stream import read_subtitles
from evoharness.models.backbone import Backbone, Refused, Unparsed
from evoharness.models.perception_tasks import Transcribe
from evoharness.records.interval import Interval
from evoharness.video import Video, has_sound

TranscriptSource = Literal["off", "auto", "sidecar", "stream", "model"]
LONGEST_S = 300.0
"""No more sound is given to a model at once: ten megabytes, uncompressed."""
UNHEARD = "stretch of sound that was not transcribed"


def transcript_for(
    video: Video, source: TranscriptSource, backbone: Backbone, spans: Sequence[Interval]
) -> Transcript:
    """What is said in a video, by that source; `none` where the source has nothing.

    `auto` takes the caption file, else the subtitles in the file, and never a model, which may cost money.
    `spans`: the segments, in order; sound is given to a model in stretches that end where segments end.
    """
    if source in ("auto", "sidecar") and (file := sidecar(video.path)) is not None:
        found = read_captions(file)
        if found.cues or source == "sidecar":
            return found
    if source in ("auto", "stream"):
        return read_subtitles(video.path, video.index.pts[0] * video.index.seconds_per_unit)
    return _heard(video, backbone, spans) if source == "model" else NO_TRANSCRIPT


def caption_file(video: Path, source: TranscriptSource) -> Path | None:
    """The file beside a video that bears on its transcript; None when none does."""
    return sidecar(video) if source in ("auto", "sidecar") else None


def _heard(video: Video, backbone: Backbone, spans: Sequence[Interval]) -> Transcript:
    """What a model hears. A stretch that it refuses, or answers unreadably, is counted and left out."""
    if not has_sound(video.path):
        return NO_TRANSCRIPT
    cues: list[Cue] = []
    losses: Counter[str] = Counter()
    for stretch in _stretches(spans):
        try:
            task = Transcribe(path=video.path, key=video.info.content_hash, span=stretch)
            lines = backbone.run(task).output.lines
        except (Refused, Unparsed):
            losses[UNHEARD] += 1
            continue
        for line in lines:
            text = " ".join(line.text.split())
            if text:
                start = min(max(line.interval.start, stretch.start), stretch.end)
                cues.append(Cue(start, min(max(line.interval.end, start), stretch.end), text))
    return Transcript(source=f"model {backbone.id}", cues=in_order(cues), losses=dict(losses))


def _stretches(spans: Sequence[Interval]) -> list[Interval]:
    """The spans joined as long as they fit in one call; one that does not is cut evenly."""
    joined: list[Interval] = []
    for span in spans:
        if joined and span.end - joined[-1].start <= LONGEST_S:
            joined[-1] = Interval(start=joined[-1].start, end=span.end)
            continue
        pieces = max(1, -int(-span.duration // LONGEST_S))
        cuts = [span.start + span.duration * n / pieces for n in range(pieces)] + [span.end]
        joined += [Interval(start=a, end=b) for a, b in pairwise(cuts)]
    return joined
