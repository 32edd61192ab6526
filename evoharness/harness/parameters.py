"""The parameters λ of a harness: Table 6, with a unit and bounds for each."""

from typing import Any, Literal, Self

from pydantic import Field

from evoharness.records.base import Record
from evoharness.records.frame import Detail


def _number(initial: float, low: float, high: float, unit: str) -> Any:
    return Field(default=initial, ge=low, le=high, json_schema_extra={"unit": unit})


def _detail(initial: Detail) -> Any:
    return Field(default=initial, json_schema_extra={"unit": "detail level"})


class Parameters(Record):
    """Values that strategies read as `ctx.params`; only what is declared here can be proposed.

    Initial values are those of Table 6 (`orchestrator_steps` bounds MedClaw's loop, whose paper gives
    no number). Values out of bounds raise a ValueError that names the parameter.
    """

    overview_fps: float = _number(1.0, 0.05, 4.0, "frames/s")
    """Sampling rate of overviews and of coarse chunk inspection."""
    overview_detail: Detail = _detail(Detail.NORMAL)
    """Detail of overviews and of coarse chunk inspection."""
    frame_cap: int = _number(192, 8, 512, "frames")
    """Most frames in one visual model call."""
    chunk_s: float = _number(300.0, 30.0, 1800.0, "s")
    """Length of a chunk on the chunked path."""
    detail_fps: float = _number(2.0, 0.1, 8.0, "frames/s")
    """Sampling rate of a closer look."""
    detail_detail: Detail = _detail(Detail.LARGE)
    """Detail of a closer look."""
    detail_intervals: int = _number(6, 0, 20, "intervals")
    """Most intervals that get a closer look."""
    detail_interval_s: float = _number(60.0, 2.0, 300.0, "s")
    """Longest interval of a closer look."""
    detail_padding_s: float = _number(5.0, 0.0, 60.0, "s")
    """Context added on each side of a candidate interval."""
    detail_merge_gap_s: float = _number(2.0, 0.0, 60.0, "s")
    """Candidate intervals at most this far apart are looked at as one."""
    search_results: int = _number(6, 1, 30, "results")
    """Results asked of each memory search."""
    retained_segments: int = _number(2, 1, 10, "segments")
    """Segments whose records become the initial text on the memory path."""
    memory_text_chars: int = _number(6000, 500, 20000, "characters")
    """Budget of the initial text on the memory path."""
    memory_rounds: int = _number(3, 0, 10, "rounds")
    """Most memory-tool decisions before the replay."""
    replay_intervals: int = _number(3, 0, 10, "intervals")
    """Most intervals replayed as frames on the memory path."""
    replay_fps: float = _number(1.0, 0.1, 8.0, "frames/s")
    """Sampling rate of a replay."""
    replay_detail: Detail = _detail(Detail.LARGE)
    """Detail of a replay."""
    replay_frame_cap: int = _number(192, 8, 512, "frames")
    """Frames shared by all replayed intervals."""
    replay_padding_s: float = _number(24.0, 0.0, 120.0, "s")
    """Context added on each side of a matched node before the replay."""
    replay_window_s: float = _number(60.0, 5.0, 300.0, "s")
    """Longest window of a replay."""
    orchestrator_steps: int = _number(8, 1, 20, "steps")
    """Most actions of the reason-act loop (equation 1 of MedClaw)."""

    def changed(self, **values: Any) -> Self:
        """A checked copy with other values; ValueError for an unknown name or a value out of bounds."""
        return self.model_validate({**self.model_dump(), **values})


class ParameterSpec(Record):
    """What a proposer may know about one parameter."""

    name: str
    kind: Literal["integer", "number", "choice"]
    unit: str
    doc: str
    initial: float | int | str
    low: float | None = None
    """Smallest allowed value; None for choices."""
    high: float | None = None
    """Largest allowed value; None for choices."""
    choices: tuple[str, ...] = ()
    """Allowed values in ascending order; empty for numbers."""


def parameter_specs() -> tuple[ParameterSpec, ...]:
    """Every parameter with its type, unit, bounds and meaning, in the order of declaration."""
    specs = []
    for name, field in Parameters.model_fields.items():
        extra = field.json_schema_extra
        unit = str(extra["unit"]) if isinstance(extra, dict) else ""
        common = {"name": name, "unit": unit, "doc": field.description or ""}
        if field.annotation is Detail:
            choices = tuple(level.value for level in Detail)
            spec = ParameterSpec(**common, kind="choice", initial=field.default.value, choices=choices)
        else:
            bounds = {type(limit).__name__: limit for limit in field.metadata}
            spec = ParameterSpec(
                **common,
                kind="integer" if field.annotation is int else "number",
                initial=field.default,
                low=bounds["Ge"].ge,
                high=bounds["Le"].le,
            )
        specs.append(spec)
    return tuple(specs)
