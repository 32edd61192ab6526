"""Pixels addressed in seconds: probe a file, find files, fit a level of detail, read, cut into scenes."""

from evoharness.video.detail import fit
from evoharness.video.errors import NotAVideo
from evoharness.video.find import FoundVideos, SkippedFile, find_videos
from evoharness.video.probe import probe
from evoharness.video.readers import Losses, Reader
from evoharness.video.sampled import SegmentPictures, Thumbnail, sampled, thumbnail
from evoharness.video.sampling import sample_times, scattered_times
from evoharness.video.scenes import SceneSettings, scenes
from evoharness.video.sound import as_wav, has_sound, sound_of
from evoharness.video.survey import Survey, surveyed
from evoharness.video.video import Video

__all__ = [
    "FoundVideos",
    "Losses",
    "NotAVideo",
    "Reader",
    "SceneSettings",
    "SegmentPictures",
    "SkippedFile",
    "Survey",
    "Thumbnail",
    "Video",
    "as_wav",
    "find_videos",
    "fit",
    "has_sound",
    "probe",
    "sample_times",
    "sampled",
    "scattered_times",
    "scenes",
    "sound_of",
    "surveyed",
    "thumbnail",
]
