"""evoharness: harnesses of video agents that improve themselves from unlabeled videos."""

__version__ = "0.1.0"
