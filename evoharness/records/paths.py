"""From what a user typed, or did not type, to a path."""

import os
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


def default_cache() -> str:
    """`$EVOHARNESS_CACHE`, else `evoharness` in the user's cache folder."""
    own = os.environ.get("EVOHARNESS_CACHE")
    if own:
        return own
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return str(Path(base).expanduser() / "evoharness")
