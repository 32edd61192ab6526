"""A file that is no video."""

from pathlib import Path

from evoharness.errors import UserError


class NotAVideo(UserError):
    """The file has no pictures that could be read; says so in one line, with the reason."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason

    def __reduce__(self) -> tuple[type["NotAVideo"], tuple[Path, str]]:
        return type(self), (self.path, self.reason)
