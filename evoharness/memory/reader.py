"""The read operations on a memory: what strategies, tools and orchestrators may ask of it.

Nine as in the toolkit of the paper (summary, super events, segments, records of a segment, search among
nodes, texts and the transcript, everything between two times, everything like a query), and search among
whole segments. Nothing here writes. A senseless argument is a ValueError whose message says what would do.
"""

import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.memory.arguments import count, names, node_kinds, number, query_text
from evoharness.memory.graph import memory_graph
from evoharness.memory.nodes import (
    RECORD_KINDS,
    Node,
    NodeKind,
    record_nodes,
    segment_node,
    transcript_nodes,
)
from evoharness.records.memory import Segment, SuperEvent, VideoMemory
from evoharness.retrieval import Embedder, TextIndex, index_name

if TYPE_CHECKING:
    import networkx


class Found(Node):
    """A node that was found."""

    score: float
    """The higher, the better; comparable within one answer only."""


class MemoryReader:
    """Answers about one memory, to several threads at once; indexes are built when they are first needed."""

    def __init__(self, memory: VideoMemory, embedder: Embedder, folder: Path | None = None) -> None:
        """`folder`: where its indexes are kept, beside the memory; None: nowhere."""
        self.memory = memory
        self._embedder = embedder
        self._folder = folder
        self._opening = threading.Lock()
        self._indexes: dict[tuple[NodeKind, ...], tuple[list[Node], TextIndex]] = {}

    @cached_property
    def graph(self) -> "networkx.MultiDiGraph[str]":
        """The memory as a graph: see `memory_graph`."""
        return memory_graph(self.memory)

    def summary(self) -> str:
        """What the whole video is about."""
        return self.memory.root

    def super_events(self) -> tuple[SuperEvent, ...]:
        """The parts of the video, in order of time."""
        return self.memory.super_events

    def segments(
        self, ids: Sequence[str] | None = None, super_event: str | None = None
    ) -> tuple[Segment, ...]:
        """Segments by their ids, in the order given, or those of a super event, or all."""
        if super_event is not None and ids is not None:
            raise ValueError("either `ids` or `super_event` is given, not both")
        if super_event is not None:
            ids = self._super_event(super_event).segment_ids
        if ids is None:
            return self.memory.segments
        return tuple(self._segment(one) for one in names("ids", ids))

    def records(self, segment_id: str) -> Segment:
        """Everything that is recorded about one segment: events, entities, texts, relations, transcript."""
        return self._segment(segment_id)

    def search_segments(self, query: str, k: int = 6) -> list[Found]:
        """Segments whose summary, names and texts fit a query."""
        return self._search(query, k, ("segment",))

    def search_nodes(self, query: str, k: int = 10, kinds: Sequence[str] = RECORD_KINDS) -> list[Found]:
        """Events, entities and texts that fit a query; `kinds` narrows it."""
        return self._search(query, k, node_kinds(kinds))

    def search_texts(self, query: str, k: int = 10) -> list[Found]:
        """Texts shown in the picture that fit a query."""
        return self._search(query, k, ("text",))

    def search_transcript(self, query: str, k: int = 10) -> list[Found]:
        """What is said and fits a query; empty when there is no transcript."""
        return self._search(query, k, ("transcript",))

    def between(
        self,
        start: float | None = None,
        end: float | None = None,
        kinds: Sequence[str] = RECORD_KINDS,
    ) -> list[Node]:
        """Everything that touches the stretch, in order of time; a missing end is open."""
        first, last = self._span(start, end)
        nodes = [
            node
            for node in self._nodes(node_kinds(kinds))
            if node.interval.start <= last and node.interval.end >= first
        ]
        return sorted(nodes, key=lambda node: (node.interval.start, node.interval.end, node.id))

    def enumerate(
        self,
        query: str,
        min_cosine: float = 0.5,
        max_results: int = 120,
        kinds: Sequence[str] = RECORD_KINDS,
    ) -> list[Found]:
        """Every node at least so near to a query in meaning, in order of time: for counting."""
        if not -1 <= number("min_cosine", min_cosine) <= 1:
            raise ValueError(f"`min_cosine` lies in -1..1, not {min_cosine}")
        nodes, index = self._index(node_kinds(kinds))
        hits = index.by_meaning(query_text(query), count("max_results", max_results), min_cosine)
        found = [Found(**dict(nodes[hit.position]), score=hit.score) for hit in hits]
        return sorted(found, key=lambda node: (node.interval.start, node.id))

    def transcript(self, start: float | None = None, end: float | None = None) -> list[Node]:
        """The lines that are said during a stretch, in order; a missing end is open."""
        return self.between(start, end, ("transcript",))

    def nodes(self, kinds: Sequence[str] = RECORD_KINDS) -> list[Node]:
        """Everything of these kinds, kind by kind as the segments come."""
        return self._nodes(node_kinds(kinds))

    def _search(self, query: str, k: int, kinds: tuple[NodeKind, ...]) -> list[Found]:
        nodes, index = self._index(kinds)
        hits = index.search(query_text(query), count("k", k))
        return [Found(**dict(nodes[hit.position]), score=hit.score) for hit in hits]

    def _index(self, kinds: tuple[NodeKind, ...]) -> tuple[list[Node], TextIndex]:
        with self._opening:
            if kinds not in self._indexes:
                nodes = self._nodes(kinds)
                self._indexes[kinds] = (nodes, index_of(nodes, kinds, self._embedder, self._folder))
            return self._indexes[kinds]

    def _nodes(self, kinds: tuple[NodeKind, ...]) -> list[Node]:
        return [node for node in self._all_nodes if node.kind in kinds]

    @cached_property
    def _all_nodes(self) -> list[Node]:
        described = [segment for segment in self.memory.segments if segment.status == "described"]
        whole = [segment_node(segment) for segment in described]
        return [*whole, *record_nodes(self.memory), *transcript_nodes(self.memory)]

    @cached_property
    def _segments(self) -> dict[str, Segment]:
        return {segment.id: segment for segment in self.memory.segments}

    def _segment(self, segment_id: str) -> Segment:
        try:
            return self._segments[segment_id]
        except (KeyError, TypeError):
            last = self.memory.segments[-1].id if self.memory.segments else "none"
            raise ValueError(f"no segment {segment_id!r}; they go from s0000 to {last}") from None

    def _super_event(self, super_id: str) -> SuperEvent:
        for event in self.memory.super_events:
            if event.id == super_id:
                return event
        known = ", ".join(event.id for event in self.memory.super_events)
        raise ValueError(f"no super event {super_id!r}; there are: {known}")

    def _span(self, start: float | None, end: float | None) -> tuple[float, float]:
        first = 0.0 if start is None else number("start", start)
        last = self.memory.duration if end is None else number("end", end)
        if end is None:
            last = max(first, last)
        if last < first:
            raise ValueError(f"`start` ({first:g} s) lies after `end` ({last:g} s)")
        return first, last


def index_of(
    nodes: Sequence[Node], kinds: Sequence[NodeKind], embedder: Embedder, folder: Path | None
) -> TextIndex:
    """An index over nodes, kept in a folder under the name of their kinds; None: nowhere."""
    file = folder / index_name("+".join(kinds), embedder) if folder is not None else None
    return TextIndex([node.text for node in nodes], embedder, file)
