"""The tools that `ctx.decide` may choose from, and what the host runs when one was chosen."""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from evoharness.harness import Parameters
from evoharness.models.reasoning_tasks import ToolChoice
from evoharness.sandbox import HostCallError, NoArguments
from evoharness.solver import arguments as given

VIDEO_TOOLS = (
    ToolChoice(
        name="localize",
        purpose="find when an event happens: a timeline of the whole video and the window of the event",
        arguments={"query": "text: the event to find"},
    ),
    ToolChoice(
        name="look",
        purpose="watch one stretch of the video closely",
        arguments={"start": "seconds", "end": "seconds", "prompt": "text: what to look for"},
    ),
    ToolChoice(
        name="frame",
        purpose="study a single frame",
        arguments={"time": "seconds", "prompt": "text: what to look for"},
    ),
    ToolChoice(
        name="crop_frame",
        purpose="study a region of a single frame",
        arguments={
            "time": "seconds",
            "box": "[x1, y1, x2, y2] in fractions of the picture",
            "prompt": "text: what to look for",
        },
    ),
)
"""MedClaw's view_full_video, crop_video, select_video_frame and crop_video_frame."""

MEMORY_TOOLS = (
    ToolChoice(
        name="search",
        purpose="search the memory of the video",
        arguments={"query": "text", "kind": "segment, node, text or transcript"},
    ),
    ToolChoice(name="summary", purpose="what the whole video is about", arguments={}),
    ToolChoice(name="super_events", purpose="the parts of the video, with their times", arguments={}),
    ToolChoice(
        name="records",
        purpose="everything recorded about one segment",
        arguments={"segment_id": "id of a segment"},
    ),
    ToolChoice(
        name="between",
        purpose="everything recorded between two times",
        arguments={"start": "seconds", "end": "seconds"},
    ),
    ToolChoice(
        name="enumerate",
        purpose="every recorded thing that matches, in order of time: for counting",
        arguments={"query": "text"},
    ),
    ToolChoice(
        name="transcript",
        purpose="what is said between two times",
        arguments={"start": "seconds", "end": "seconds"},
    ),
)
"""Reads of the memory, on routes that have one."""


class _LookAt(given.Arguments):
    start: given.Seconds
    end: given.Seconds
    prompt: given.Text = ""


class _Crop(given.Arguments):
    time: given.Seconds
    box: tuple[given.Fraction, given.Fraction, given.Fraction, given.Fraction]
    prompt: given.Text = ""


class _SearchFor(given.Arguments):
    query: given.Text
    kind: str = "node"


Run = Callable[[Any], Any]


class Toolbox:
    """Tools of one question: those of its route, narrowed by the tool policy."""

    def __init__(
        self,
        calls: Mapping[str, Run],
        parameters: Parameters,
        memory: bool,
        generated: Mapping[str, ToolChoice],
        knowledge: tuple[ToolChoice, ...],
        allowed: tuple[str, ...] | None,
    ) -> None:
        reads = [*MEMORY_TOOLS, *generated.values()] if memory else []
        offered = [*VIDEO_TOOLS, *reads, *knowledge]
        self._groups = {
            "video": {tool.name for tool in VIDEO_TOOLS},
            "memory": {tool.name for tool in reads},
        }
        self._calls = calls
        self._parameters = parameters
        self._tools = {tool.name: tool for tool in offered if allowed is None or tool.name in allowed}

    def choices(self, names: list[str] | None) -> tuple[ToolChoice, ...]:
        """The tools of those names that may be chosen here; None: all of them.

        `video` and `memory` stand for the tools that look and for those that read the memory, generated
        ones included.
        """
        if names is None:
            return tuple(self._tools.values())
        wanted = set(names).union(*(self._groups.get(name, set()) for name in names))
        return tuple(tool for tool in self._tools.values() if tool.name in wanted)

    def run(self, name: str, arguments: dict[str, Any]) -> Any:
        """What the tool finds. HostCallError for an unknown tool or arguments that do not fit."""
        if name not in self._tools:
            known = ", ".join(self._tools) or "none"
            raise HostCallError(f"there is no tool {name[:40]!r} here (there is: {known})")
        try:
            return self._run(name, arguments)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            raise HostCallError(f"{name}: {place}: {first['msg']}") from error

    def _run(self, name: str, values: dict[str, Any]) -> Any:
        if name == "look":
            at = _LookAt.model_validate(values)
            look = given.Look(
                spans=[[at.start, at.end]],
                fps=self._parameters.detail_fps,
                max_frames=self._parameters.frame_cap,
                detail=self._parameters.detail_detail,
                prompt=at.prompt,
            )
            return self._calls["look"](look)
        if name == "frame":
            return self._calls["frame"](given.OneFrame.model_validate(values))
        if name == "crop_frame":
            return self._calls["frame"](given.OneFrame(**_Crop.model_validate(values).model_dump()))
        if name == "search":
            wanted = _SearchFor.model_validate(values)
            search = given.Search(query=wanted.query, kind=wanted.kind, k=self._parameters.search_results)
            return self._calls["search"](search)
        if name in _MODELS:
            return self._calls[name](_MODELS[name].model_validate(values))
        return self._calls["tool"](given.ToolCall(name=name, arguments=values))


_MODELS: dict[str, type[BaseModel]] = {
    "localize": given.Localize,
    "summary": NoArguments,
    "super_events": NoArguments,
    "records": given.Records,
    "between": given.Between,
    "enumerate": given.Enumerate,
    "transcript": given.Between,
    "knowledge": given.Knowledge,
}
