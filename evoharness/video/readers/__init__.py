"""Decoding one file, in whichever way is right for it."""

from evoharness.video.readers.choice import Nature, choose_reader
from evoharness.video.readers.protocol import Box, Losses, Reader, ReaderFailed, Wanted

__all__ = ["Box", "Losses", "Nature", "Reader", "ReaderFailed", "Wanted", "choose_reader"]
