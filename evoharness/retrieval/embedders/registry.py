"""Embedders by name: those here, and those that other packages register."""

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from evoharness.errors import UserError
from evoharness.retrieval.embedders.base import Embedder
from evoharness.retrieval.embedders.wordllama import WordLlamaEmbedder

ENTRY_POINTS = "evoharness.embedders"
"""Group under which a package offers embedders: name → callable that takes the embedder's options."""
SETTINGS = ("model", "api_base", "key")
"""Options that are settings of their own: `embedder.model`, not `embedder.options.model`."""


def make_embedder(name: str, *, cache_dir: Path | None = None, **options: Any) -> Embedder:
    """The embedder of that name; UserError lists the known ones when there is none, or names what fails.

    `cache_dir`: where vectors that cost money or time are kept; None: nowhere.
    """
    makers: dict[str, Callable[[], Callable[..., Embedder]]] = {
        "wordllama": lambda: WordLlamaEmbedder,
        "sentence_transformers": _sentence_transformers,
        "litellm": _litellm,
    }
    keeping = {"cache_dir": cache_dir} if name in ("sentence_transformers", "litellm") else {}
    for point in entry_points(group=ENTRY_POINTS):
        makers.setdefault(point.name, point.load)
    if name not in makers:
        raise UserError(f"no embedder is called {name!r}; there are: {', '.join(sorted(makers))}")
    make = makers[name]()
    _check_names(name, make, options)
    try:
        return make(**keeping, **options)
    except TypeError as error:
        raise UserError(
            f"embedder {name!r} cannot be made with options {sorted(options)}: {error}"
        ) from error


def embedder_names() -> list[str]:
    """Every name that `make_embedder` takes."""
    offered = {point.name for point in entry_points(group=ENTRY_POINTS)}
    return sorted({"wordllama", "sentence_transformers", "litellm", *offered})


def _check_names(name: str, make: Callable[..., Embedder], options: Mapping[str, Any]) -> None:
    """UserError for an option that this embedder does not have, with those that it has."""
    try:
        parameters = signature(make).parameters.values()
    except (TypeError, ValueError):  # written in another language: only a call can tell
        return
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters):
        return
    taken = [parameter.name for parameter in parameters]
    for option in options:
        if option in taken:
            continue
        if option in SETTINGS:
            raise UserError(f"embedder.{option} is not taken: embedder.name={name} has no such setting")
        own = [each for each in taken if each not in (*SETTINGS, "cache_dir", "calls")]
        raise UserError(
            f"embedder.options.{option} is not taken: the options of embedder.name={name} are "
            f"{', '.join(own) or 'none'}"
        )


def _sentence_transformers() -> Callable[..., Embedder]:
    from evoharness.retrieval.embedders.sentence_transformers import SentenceTransformersEmbedder

    return SentenceTransformersEmbedder


def _litellm() -> Callable[..., Embedder]:
    from evoharness.retrieval.embedders.hosted import HostedEmbedder

    return HostedEmbedder
