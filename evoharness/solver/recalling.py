"""Calls of `ctx` that read the video's memory; they exist only on routes that declare `memory: true`.

Everything that lies somewhere in time has `start`, `end` (seconds) and `text` (a sentence).
"""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from evoharness.records.interval import Interval
from evoharness.records.memory import Segment, SuperEvent
from evoharness.sandbox import HostCallError
from evoharness.solver import arguments as given

if TYPE_CHECKING:
    from evoharness.memory import MemoryReader, Node


class Recalling:
    """A memory as JSON; opened when it is first read."""

    def __init__(self, open_reader: "Callable[[], MemoryReader] | None") -> None:
        self._open = open_reader

    @cached_property
    def _reader(self) -> "MemoryReader":
        if self._open is None:
            raise HostCallError("this route has no memory: look at the video instead")
        return self._open()

    def open(self) -> None:
        """Open the memory now; HostCallError when there is none."""
        _ = self._reader

    def search(self, call: given.Search) -> list[dict[str, Any]]:
        """Best matches first: {id, kind, segment, start, end, text, score}."""
        reader = self._reader
        searches: dict[str, Callable[[str, int], Iterable[Node]]] = {
            "segment": reader.search_segments,
            "node": reader.search_nodes,
            "text": reader.search_texts,
            "transcript": reader.search_transcript,
        }
        return _nodes(_sensible(lambda: searches[call.kind](call.query, call.k)))

    def summary(self, _: BaseModel) -> dict[str, Any]:
        """What the whole video is about: {text}."""
        return {"text": self._reader.summary()}

    def super_events(self, _: BaseModel) -> list[dict[str, Any]]:
        """Groups of segments: {id, label, text, segments, start, end}."""
        return [_grouped(event) for event in self._reader.super_events()]

    def segments(self, call: given.Segments) -> list[dict[str, Any]]:
        """Segments in the order of the ids, or all of them: {id, start, end, text}."""
        reader = self._reader
        return [_outline(segment) for segment in _sensible(lambda: reader.segments(call.ids or None))]

    def records(self, call: given.Records) -> dict[str, Any]:
        """One segment with its events, entities, texts and relations."""
        reader = self._reader
        return _recorded(_sensible(lambda: reader.records(call.segment_id)))

    def between(self, call: given.Between) -> list[dict[str, Any]]:
        """Everything recorded between two times, in order of time."""
        reader = self._reader
        return _nodes(_sensible(lambda: reader.between(call.start, call.end)))

    def enumerate(self, call: given.Enumerate) -> list[dict[str, Any]]:
        """Every node that matches, in order of time: for counting."""
        reader = self._reader
        return _nodes(_sensible(lambda: reader.enumerate(call.query, call.min_cosine, call.max_results)))

    def transcript(self, call: given.Between) -> list[dict[str, Any]]:
        """The lines that are said between two times."""
        reader = self._reader
        return _nodes(_sensible(lambda: reader.transcript(call.start, call.end)))


def _sensible(read: Callable[[], Any]) -> Any:
    """What a read gives; a senseless argument is told to the strategy."""
    try:
        return read()
    except ValueError as error:
        raise HostCallError(str(error)) from error


def _nodes(nodes: "Iterable[Node]") -> list[dict[str, Any]]:
    found = []
    for node in nodes:
        plain = {"id": node.id, "kind": node.kind, "segment": node.segment, **_times(node.interval)}
        plain["text"] = _shown(node.text) if node.kind == "text" else node.text
        score = getattr(node, "score", None)
        found.append(plain if score is None else {**plain, "score": round(score, 6)})
    return found


def _grouped(event: SuperEvent) -> dict[str, Any]:
    text = f"{event.label}: {event.description}" if event.description else event.label
    return {
        "id": event.id,
        "label": event.label,
        **_times(event.interval),
        "text": text,
        "segments": list(event.segment_ids),
    }


def _outline(segment: Segment) -> dict[str, Any]:
    return {"id": segment.id, **_times(segment.interval), "text": segment.summary}


def _recorded(segment: Segment) -> dict[str, Any]:
    return {
        **_outline(segment),
        "transcript": segment.transcript,
        "events": [
            {
                "id": event.id,
                "kind": event.kind,
                "subject": event.subject,
                "object": event.object,
                "action": event.action,
                **_times(event.interval),
                "text": event.description or event.action,
            }
            for event in segment.events
        ],
        "entities": [
            {
                "id": entity.id,
                "kind": entity.kind.value,
                "name": entity.name,
                "attributes": list(entity.attributes),
                "place": entity.spatial_hint,
                "start": round(entity.first_seen, 3),
                "end": round(entity.first_seen, 3),
                "text": entity.description or " ".join([*entity.attributes, entity.name]),
            }
            for entity in segment.entities
        ],
        "texts": [
            {"id": text.id, "words": text.text, **_times(text.interval), "text": _shown(text.text)}
            for text in segment.texts
        ],
        "relations": [
            {"source": relation.source, "target": relation.target, "kind": relation.kind.value}
            for relation in segment.relations
        ],
    }


def _shown(words: str) -> str:
    return f'the text "{words}" is shown'


def _times(interval: Interval) -> dict[str, float]:
    return {"start": round(interval.start, 3), "end": round(interval.end, 3)}
