"""From what a user typed to a path."""

from pathlib import Path


def as_path(text: str) -> Path:
    """The path that was typed: as it is when it exists, else with `~` as the user's folder."""
    path = Path(text)
    if text.startswith("~") and not path.exists():
        try:
            return path.expanduser()
        except RuntimeError:  # `~name` with nobody of that name: an ordinary file name
            return path
    return path
