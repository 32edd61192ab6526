"""Embedders by name: those here, and those that other packages register."""

from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, cast

from evoharness.errors import UserError
from evoharness.retrieval.embedders.base import Embedder
from evoharness.retrieval.embedders.wordllama import WordLlamaEmbedder

ENTRY_POINTS = "evoharness.embedders"
"""Group under which a package offers embedders: name → callable that takes the embedder's options."""


def make_embedder(name: str, *, cache_dir: Path | None = None, **options: Any) -> Embedder:
    """The embedder of that name; UserError lists the known ones when there is none, or names what fails.

    `cache_dir`: where vectors that cost money or time are kept; None: nowhere.
    """
    makers: dict[str, Callable[..., Embedder]] = {
        "wordllama": WordLlamaEmbedder,
        "sentence_transformers": lambda **options: _sentence_transformers(cache_dir, **options),
        "litellm": lambda **options: _litellm(cache_dir, **options),
    }
    for point in entry_points(group=ENTRY_POINTS):
        makers.setdefault(point.name, lambda load=point.load, **options: cast(Embedder, load()(**options)))
    if name not in makers:
        raise UserError(f"no embedder is called {name!r}; there are: {', '.join(sorted(makers))}")
    try:
        return makers[name](**options)
    except TypeError as error:
        raise UserError(
            f"embedder {name!r} cannot be made with options {sorted(options)}: {error}"
        ) from error


def embedder_names() -> list[str]:
    """Every name that `make_embedder` takes."""
    offered = {point.name for point in entry_points(group=ENTRY_POINTS)}
    return sorted({"wordllama", "sentence_transformers", "litellm", *offered})


def _sentence_transformers(cache_dir: Path | None, **options: Any) -> Embedder:
    from evoharness.retrieval.embedders.sentence_transformers import SentenceTransformersEmbedder

    return SentenceTransformersEmbedder(cache_dir=cache_dir, **options)


def _litellm(cache_dir: Path | None, **options: Any) -> Embedder:
    from evoharness.retrieval.embedders.hosted import HostedEmbedder

    return HostedEmbedder(cache_dir=cache_dir, **options)
