"""Backbones by name: the built-in one, and those that other packages register."""

from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evoharness.errors import UserError
from evoharness.models.backbone import Backbone

if TYPE_CHECKING:
    from evoharness.retrieval import Embedder

GROUP = "evoharness.backbones"
"""Entry-point group; an entry point is a function `(embedder, cache_dir, **options) -> Backbone`."""
LITELLM = "litellm"
"""The backbone that calls models of any provider through LiteLLM."""


def make_backbone(name: str, *, embedder: "Embedder", cache_dir: Path | None, **options: Any) -> Backbone:
    """The backbone of that name: `embedded`, `embedded-no-ocr`, `litellm`, or one that a package registers.

    Raises UserError when there is none of that name, or when it does not take these options.
    """
    factory = _factories().get(name)
    if factory is None:
        raise UserError(f"no backbone {name!r}: choose one of {', '.join(backbone_names())}")
    try:
        return factory(embedder, cache_dir, **options)
    except TypeError as error:
        raise UserError(
            f"backbone {name!r} cannot be made with options {sorted(options)}: {error}"
        ) from error


def backbone_names() -> list[str]:
    """Every name that `make_backbone` takes."""
    return sorted(_factories())


def _factories() -> dict[str, Callable[..., Backbone]]:
    factories: dict[str, Callable[..., Backbone]] = {
        "embedded": _embedded,
        "embedded-no-ocr": _embedded_no_ocr,
        LITELLM: _litellm,
    }
    for point in entry_points(group=GROUP):
        factories.setdefault(point.name, _Loaded(point.load))
    return factories


class _Loaded:
    """A factory that is imported when it is called."""

    def __init__(self, load: Callable[[], Callable[..., Backbone]]) -> None:
        self._load = load

    def __call__(self, *arguments: Any, **options: Any) -> Backbone:
        return self._load()(*arguments, **options)


def _embedded(embedder: "Embedder", cache_dir: Path | None, *, ocr: bool = True) -> Backbone:
    from evoharness.models.embedded import EmbeddedBackbone

    return EmbeddedBackbone(embedder, cache_dir, ocr)


def _embedded_no_ocr(embedder: "Embedder", cache_dir: Path | None) -> Backbone:
    return _embedded(embedder, cache_dir, ocr=False)


def _litellm(embedder: "Embedder", cache_dir: Path | None, **options: Any) -> Backbone:  # noqa: ARG001
    from evoharness.models.hosting import HostedBackbone
    from evoharness.models.settings import hosted_settings

    return HostedBackbone(hosted_settings(options), cache_dir)
