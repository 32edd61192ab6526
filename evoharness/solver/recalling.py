"""Calls of `ctx` that read the video's memory; they exist only on routes that declare `memory: true`."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from evoharness.records.memory import Segment
from evoharness.sandbox import HostCallError
from evoharness.solver import arguments as given

if TYPE_CHECKING:
    from evoharness.memory import MemoryReader


class Recalling:
    """A memory as JSON: every stretch has `start` and `end` in seconds, every node its `text`."""

    def __init__(self, open_reader: "Callable[[], MemoryReader] | None") -> None:
        self._open = open_reader

    @cached_property
    def _reader(self) -> "MemoryReader":
        if self._open is None:
            raise HostCallError("this route has no memory: look at the video instead")
        return self._open()

    def search(self, call: given.Search) -> Any:
        """Best matches: {id, segment, start, end, text, score}."""
        return _plain(self._reader.search(call.query, call.k, call.kind))

    def summary(self, _: BaseModel) -> dict[str, Any]:
        """What the whole video is about: {text}."""
        return {"text": self._reader.summary()}

    def super_events(self, _: BaseModel) -> Any:
        """Groups of segments: {id, label, text, segments, start, end}."""
        return _plain(self._reader.super_events())

    def segments(self, call: given.Segments) -> list[Any]:
        """Segments in order of time, all of them when no ids are given: {id, start, end, text}."""
        return [_outline(segment) for segment in self._known(self._reader.segments, call.ids or None)]

    def records(self, call: given.Records) -> dict[str, Any]:
        """Everything recorded about one segment."""
        return _recorded(self._known(self._reader.records, call.segment_id))

    def between(self, call: given.Between) -> Any:
        """Everything recorded between two times."""
        if call.end < call.start:
            raise HostCallError("start must not lie after end")
        return _plain(self._reader.between(call.start, call.end))

    def enumerate(self, call: given.Enumerate) -> Any:
        """Every node that matches, in order of time."""
        return _plain(self._reader.enumerate(call.query, call.min_cosine, call.max_results))

    def transcript(self, call: given.Between) -> Any:
        """What is said between two times."""
        return _plain(self._reader.transcript(call.start, call.end))

    @staticmethod
    def _known(read: Callable[[Any], Any], what: Any) -> Any:
        try:
            return read(what)
        except KeyError as error:
            raise HostCallError(f"there is no segment {error}") from error


def _plain(value: Any) -> Any:
    """Records as JSON, with `start` and `end` in the place of intervals."""
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    elif is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, dict):
        plain: dict[str, Any] = {}
        for name, inner in value.items():
            if name == "interval" and inner is not None:
                plain.update(_plain(inner))
            else:
                plain[name] = _plain(inner)
        return plain
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _outline(segment: Segment) -> dict[str, Any]:
    return {"id": segment.id, **_plain(segment.interval), "text": segment.summary}


def _recorded(segment: Segment) -> dict[str, Any]:
    """A segment with `text`, `start` and `end` in everything that it holds."""
    return {
        **_outline(segment),
        "transcript": segment.transcript,
        "events": [{**_plain(event), "text": event.description or event.action} for event in segment.events],
        "entities": [
            {
                **_plain(entity),
                "start": entity.first_seen,
                "end": entity.first_seen,
                "text": entity.description or " ".join([*entity.attributes, entity.name]),
            }
            for entity in segment.entities
        ],
        "texts": [
            {**_plain(text), "words": text.text, "text": f'the text "{text.text}" is shown'}
            for text in segment.texts
        ],
        "relations": [_plain(relation) for relation in segment.relations],
    }
