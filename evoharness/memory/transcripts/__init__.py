"""What is said in a video: where it is taken from, and how a segment keeps it."""

from evoharness.memory.transcripts.captions import read_captions, sidecar
from evoharness.memory.transcripts.cues import Cue, Transcript, cues_of, transcript_of
from evoharness.memory.transcripts.sources import TranscriptSource, caption_file, transcript_for

__all__ = [
    "Cue",
    "Transcript",
    "TranscriptSource",
    "caption_file",
    "cues_of",
    "read_captions",
    "sidecar",
    "transcript_for",
    "transcript_of",
]
