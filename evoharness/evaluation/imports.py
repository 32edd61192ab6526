"""Everything that jobs import on their way, imported at once: by the one thread that there still is."""

import pkgutil
from contextlib import suppress
from importlib import import_module

ROOMS = (
    "retrieval",
    "video",
    "models",
    "providers",
    "sandbox",
    "harness",
    "memory",
    "knowledge",
    "scoring",
    "solver",
    "evaluation",
    "questioner",
)
"""Rooms whose code runs in jobs."""
APART = ("evoharness.models.embedded", "evoharness.sandbox.confined", "evoharness.sandbox.attacks")
"""Packages that jobs do not import: what computes answers here, and what runs in processes of its own."""
LIBRARIES = ("numpy", "av", "faiss", "bm25s", "networkx")


def import_for_jobs(embedded: bool) -> None:
    """Import the rooms and the libraries that jobs use; `embedded`: the backbone computes in this process.

    What is not installed is left to whoever needs it and says so, and litellm to the first call: answers
    from the cache do without it.
    """
    for name in LIBRARIES:
        with suppress(ImportError):
            import_module(name)
    apart = APART[1:] if embedded else APART
    for room in ROOMS:
        _import_all(f"evoharness.{room}", apart)


def _import_all(name: str, apart: tuple[str, ...]) -> None:
    if name in apart or name.endswith(".__main__"):
        return
    try:
        module = import_module(name)
    except ImportError:
        return
    for below in pkgutil.iter_modules(getattr(module, "__path__", [])):
        _import_all(f"{name}.{below.name}", apart)
