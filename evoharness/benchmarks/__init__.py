"""Question sets as files."""

from evoharness.benchmarks.question_files import (
    QuestionFileError,
    attach_videos,
    read_questions,
    write_questions,
)

__all__ = ["QuestionFileError", "attach_videos", "read_questions", "write_questions"]
