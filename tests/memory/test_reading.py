"""What may be asked of a memory, and what comes back for senseless questions."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evoharness.memory import MemoryReader, memory_graph, render_tree
from evoharness.memory.arguments import SEARCHED
from evoharness.records.interval import Interval
from evoharness.records.memory import (
    Entity,
    EntityKind,
    Event,
    Relation,
    RelationKind,
    Segment,
    SuperEvent,
    VideoMemory,
    VisibleText,
)
from evoharness.retrieval import WordLlamaEmbedder

EMBEDDER = WordLlamaEmbedder()


def segment(number: int, action: str, words: str, said: str = "", records: int = 1) -> Segment:
    """A segment of 60 s with an event, a thing and a text (or `records` of each)."""
    name, start = f"s{number:04d}", 60.0 * number
    return Segment(
        id=name,
        interval=Interval(start=start, end=start + 60),
        summary=f"The cook {action}.",
        transcript=said,
        events=tuple(
            Event(
                id=f"{name}/e{n:04d}",
                kind="action",
                interval=Interval(start=start + 10, end=start + 20),
                subject="the cook",
                object="",
                action=action,
                description=f"the cook {action} for the {n}. time",
            )
            for n in range(records)
        ),
        entities=(Entity(id=f"{name}/n0000", kind=EntityKind.PERSON, name="cook", first_seen=start + 1),),
        texts=(
            VisibleText(id=f"{name}/t0000", text=words, interval=Interval(start=start + 30, end=start + 35)),
        ),
        relations=(Relation(source=f"{name}/n0000", target=f"{name}/e0000", kind=RelationKind.PERFORMS),),
    )


MEMORY = VideoMemory(
    video="hash",
    duration=180,
    root="Somebody cooks a soup.",
    super_events=(
        SuperEvent(
            id="x0000",
            label="preparing",
            description="vegetables",
            segment_ids=("s0000", "s0001"),
            interval=Interval(start=0, end=120),
        ),
        SuperEvent(
            id="x0001",
            label="serving",
            description="soup",
            segment_ids=("s0002",),
            interval=Interval(start=120, end=180),
        ),
    ),
    segments=(
        segment(0, "chops the onions", "Step 1: onions", said="[12.0-14.0] mind your fingers"),
        segment(1, "boils water in a pot", "Step 2: water"),
        segment(2, "pours the soup into bowls", "Enjoy!"),
    ),
)


SHARED = MemoryReader(MEMORY, EMBEDDER)


@pytest.fixture
def reader() -> MemoryReader:
    """A reader of the soup."""
    return MemoryReader(MEMORY, EMBEDDER)


class TestLookup:
    def test_from_the_top(self, reader: MemoryReader) -> None:
        assert reader.summary() == "Somebody cooks a soup."
        assert [event.label for event in reader.super_events()] == ["preparing", "serving"]
        assert [s.id for s in reader.segments()] == ["s0000", "s0001", "s0002"]
        assert [s.id for s in reader.segments(["s0002", "s0000"])] == ["s0002", "s0000"]
        assert [s.id for s in reader.segments(super_event="x0000")] == ["s0000", "s0001"]
        assert reader.records("s0001").texts[0].text == "Step 2: water"

    @pytest.mark.parametrize(
        ("start", "end", "ids"),
        [
            (65, 75, ["s0001/e0000"]),
            (150, None, ["s0002/t0000"]),
            (None, 5, ["s0000/n0000"]),
            (1000, None, []),
            (20, 20, ["s0000/e0000"]),
        ],
    )
    def test_between_two_times(
        self, reader: MemoryReader, start: float | None, end: float | None, ids: list[str]
    ) -> None:
        assert [node.id for node in reader.between(start, end)] == ids

    def test_between_is_in_order_of_time(self, reader: MemoryReader) -> None:
        starts = [node.interval.start for node in reader.between(kinds=["text", "segment", "event"])]
        assert starts == sorted(starts)
        assert len(starts) == 9

    def test_the_transcript(self, reader: MemoryReader) -> None:
        assert [node.text for node in reader.transcript()] == ["mind your fingers"]
        assert reader.transcript(20) == []
        assert reader.search_transcript("careful with the fingers")[0].interval == Interval(start=12, end=14)


class TestSearch:
    def test_segments(self, reader: MemoryReader) -> None:
        assert reader.search_segments("soup is served", k=1)[0].segment == "s0002"

    def test_nodes(self, reader: MemoryReader) -> None:
        found = reader.search_nodes("cutting an onion", k=2)
        assert found[0].id in ("s0000/e0000", "s0000/t0000")
        assert found[0].score >= found[1].score
        kinds = {node.kind for node in reader.search_nodes("cook", k=9, kinds=["event", "entity"])}
        assert kinds == {"event", "entity"}

    def test_texts(self, reader: MemoryReader) -> None:
        assert reader.search_texts("step 2", k=1)[0].text == "Step 2: water"

    def test_everything_like_a_query_in_order_of_time(self, reader: MemoryReader) -> None:
        found = reader.enumerate("a cook", min_cosine=0.5, kinds=["entity"])
        assert [node.id for node in found] == ["s0000/n0000", "s0001/n0000", "s0002/n0000"]
        assert reader.enumerate("rocket launch", min_cosine=0.9) == []
        assert len(reader.enumerate("a cook", min_cosine=0, max_results=2)) == 2

    def test_an_empty_memory(self) -> None:
        empty = MEMORY.model_copy(update={"segments": (), "super_events": ()})
        reader = MemoryReader(empty, EMBEDDER)
        assert reader.search_nodes("x") == reader.search_segments("x") == reader.between() == []


SENSELESS: list[tuple[str, dict[str, Any], str]] = [
    ("records", {"segment_id": "s0009"}, "no segment 's0009'; they go from s0000 to s0002"),
    ("records", {"segment_id": ["s0000"]}, "no segment"),
    ("segments", {"ids": "s0000"}, "`ids` is a list"),
    ("segments", {"ids": 5}, "`ids` is a list"),
    ("segments", {"ids": [{}]}, "no segment"),
    ("segments", {"ids": ["s0000"], "super_event": "x0000"}, "not both"),
    ("segments", {"super_event": "x9"}, "there are: x0000, x0001"),
    ("search_nodes", {"query": " "}, "not blank"),
    ("search_nodes", {"query": 5}, "text"),
    ("search_nodes", {"query": "x", "k": 0}, "at least 1"),
    ("search_nodes", {"query": "x", "k": True}, "whole number"),
    ("search_nodes", {"query": "x", "kinds": ["sound"]}, "sound"),
    ("search_nodes", {"query": "x", "kinds": []}, "none"),
    ("search_nodes", {"query": "x", "kinds": 5}, "`kinds` is a list"),
    ("search_nodes", {"query": "x", "kinds": [["text"]]}, "some of"),
    ("between", {"start": "soon"}, "is a number"),
    ("between", {"start": float("nan")}, "is a number"),
    ("between", {"start": 10**400}, "is a number"),
    ("between", {"end": -5}, "lies after"),
    ("between", {"start": 50, "end": 10}, "lies after"),
    ("enumerate", {"query": "x", "min_cosine": 3}, "-1..1"),
    ("enumerate", {"query": "x", "max_results": -1}, "at least 1"),
]


@pytest.mark.parametrize(("call", "arguments", "message"), SENSELESS)
def test_senseless_arguments_say_what_would_do(
    reader: MemoryReader, call: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        getattr(reader, call)(**arguments)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(SEARCHED),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
READS = {
    "segments": ("ids", "super_event"),
    "records": ("segment_id",),
    "search_segments": ("query", "k"),
    "search_nodes": ("query", "k", "kinds"),
    "search_texts": ("query", "k"),
    "search_transcript": ("query", "k"),
    "between": ("start", "end", "kinds"),
    "enumerate": ("query", "min_cosine", "max_results", "kinds"),
    "transcript": ("start", "end"),
}


@given(st.sampled_from(sorted(READS)), st.data())
@settings(deadline=None, max_examples=300)
def test_whatever_is_asked_is_answered_or_refused(read: str, data: st.DataObject) -> None:
    required = [name for name in READS[read] if name in ("query", "segment_id")]
    named = data.draw(st.sets(st.sampled_from(READS[read]))) | set(required)
    with suppress(ValueError):
        getattr(SHARED, read)(**{name: data.draw(JSON) for name in sorted(named)})


def test_the_graph(reader: MemoryReader) -> None:
    graph = reader.graph
    assert graph.nodes["s0001/e0000"]["start"] == 70
    assert graph.has_edge("s0001/n0000", "s0001/e0000")
    assert {data["kind"] for _, _, data in graph.out_edges("s0000", data=True)} == {"part_of"}
    assert set(graph.predecessors("root")) == {"x0000", "x0001"}
    assert reader.graph is graph


def test_what_points_nowhere_is_in_no_graph_and_no_tree() -> None:
    relation = Relation(source="s0000/n0000", target="s0009/e0000", kind=RelationKind.CAUSES)
    group = MEMORY.super_events[0].model_copy(update={"segment_ids": ("s0000", "s0042")})
    lone = segment(0, "sings\x1b[2J", "").model_copy(update={"relations": (relation,)})
    memory = MEMORY.model_copy(update={"segments": (lone,), "super_events": (group,)})
    graph = memory_graph(memory)
    assert not {"s0009/e0000", "s0042"} & set(graph)
    assert all("kind" in data for _, data in graph.nodes(data=True))
    assert "s0042" not in render_tree(memory)
    assert "\x1b" not in render_tree(memory)


def test_indexes_lie_beside_the_memory_and_belong_to_it(tmp_path: Path) -> None:
    first = MemoryReader(MEMORY, EMBEDDER, tmp_path / "index")
    found = [first.search_nodes("soup"), first.search_segments("soup"), first.search_texts("step 1")]
    files = sorted((tmp_path / "index").iterdir())
    assert [file.name.split("-")[0] for file in files] == ["event+entity+text", "segment", "text"]
    written = [file.stat().st_mtime_ns for file in files]
    again = MemoryReader(MEMORY, EMBEDDER, tmp_path / "index")
    assert [again.search_nodes("soup"), again.search_segments("soup"), again.search_texts("step 1")] == found
    assert [file.stat().st_mtime_ns for file in files] == written
    other = MEMORY.model_copy(update={"segments": (segment(0, "paints a wall", "Danger"),)})
    assert MemoryReader(other, EMBEDDER, tmp_path / "index").search_texts("step 1")[0].text == "Danger"


def test_a_reader_serves_several_threads(tmp_path: Path) -> None:
    reader = MemoryReader(MEMORY, EMBEDDER, tmp_path)
    expected = MemoryReader(MEMORY, EMBEDDER).search_nodes("cook")
    with ThreadPoolExecutor(8) as pool:
        assert all(found == expected for found in pool.map(lambda _: reader.search_nodes("cook"), range(24)))


def test_a_memory_of_a_thousand_nodes_answers_quickly() -> None:
    segments = tuple(segment(n, f"does task {n}", f"Step {n}", records=48) for n in range(20))
    reader = MemoryReader(MEMORY.model_copy(update={"segments": segments}), EMBEDDER)
    reader.search_nodes("task 3")
    began = time.process_time()
    for _ in range(10):
        reader.search_nodes("the task number 7")
    assert (time.process_time() - began) / 10 < 0.05
