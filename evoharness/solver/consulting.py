"""The call of `ctx` that asks the knowledge base: general background, nothing about the video."""

from typing import TYPE_CHECKING

from evoharness.models.reasoning_tasks import ToolChoice
from evoharness.sandbox import HostCallError
from evoharness.solver import arguments as given

if TYPE_CHECKING:
    from evoharness.knowledge import KnowledgeBase


class Consulting:
    """A knowledge base as JSON; without one, the call says so."""

    def __init__(self, base: "KnowledgeBase | None") -> None:
        self._base = base

    def knowledge(self, call: given.Knowledge) -> list[dict[str, str]]:
        """Passages that bear on the query, best first: {text, source, type}."""
        if self._base is None:
            raise HostCallError("no knowledge base is loaded")
        try:
            found = self._base.search(call.query, call.type, call.k)
        except ValueError as error:
            raise HostCallError(str(error)) from error
        return [{"text": each.text, "source": each.source, "type": each.type} for each in found]

    @property
    def choices(self) -> tuple[ToolChoice, ...]:
        """The tool as `ctx.decide` may choose it; none without a knowledge base."""
        if self._base is None:
            return ()
        arguments = {"query": "text: the term or the fact to look up"}
        if self._base.types:
            arguments["type"] = f"one of {', '.join(self._base.types)}; empty for all"
        arguments["k"] = "how many passages, 1 to 100"
        return (
            ToolChoice(
                name="knowledge",
                purpose="general background from texts, when a term needs grounding; nothing about the video",
                arguments=arguments,
            ),
        )
