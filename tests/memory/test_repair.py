"""Whatever a describer says becomes records that hold together, and every loss is counted."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from evoharness.memory import repair
from evoharness.models.perception_tasks import (
    DescribedEntity,
    DescribedEvent,
    DescribedRelation,
    DescribedText,
    SegmentDescription,
)
from evoharness.records.interval import Interval
from evoharness.records.memory import EntityKind, RelationKind

SPAN = Interval(start=100, end=160)


def event(start: float, end: float, description: str = "it moves") -> DescribedEvent:
    return DescribedEvent(start=start, end=end, description=description)


class TestIds:
    def test_ids_are_global_and_relations_follow_them(self) -> None:
        described = SegmentDescription(
            summary="s",
            events=(event(100, 101, ""), event(102, 103)),
            entities=(DescribedEntity(name="ball", first_seen=101),),
            texts=(DescribedText(text="Step 1", start=100, end=105),),
            relations=(
                DescribedRelation(source="entity:0", target="event:1", kind=RelationKind.PERFORMS),
                DescribedRelation(source="text:0", target="Entity:0", kind=RelationKind.ANNOTATES),
            ),
        )
        segment, losses = repair(described, "s0007", SPAN)
        assert [e.id for e in segment.events] == ["s0007/e0000"]
        assert [(r.source, r.target) for r in segment.relations] == [
            ("s0007/n0000", "s0007/e0000"),
            ("s0007/t0000", "s0007/n0000"),
        ]
        assert losses == {"event dropped": 1}

    def test_relations_to_nothing_are_counted(self) -> None:
        ends = [("event:0", "event:9"), ("ball", "event:0"), ("event:0", "event:0"), ("event:1", "event:0")]
        relations = tuple(
            DescribedRelation(source=a, target=b, kind=RelationKind.BEFORE) for a, b in [*ends, ends[-1]]
        )
        described = SegmentDescription(
            summary="s", events=(event(100, 101), event(101, 102)), relations=relations
        )
        segment, losses = repair(described, "s0000", SPAN)
        assert len(segment.relations) == 1
        assert losses == {"relation to an unknown record": 2, "relation without content": 2}


class TestKinds:
    def test_kinds_are_understood_as_describers_call_them(self) -> None:
        ends = {"source": "entity:0", "target": "entity:1"}
        kinds = ["NEXT_TO", "next to", "Is Same As", "after", "uses-tool", "likes", ""]
        described = SegmentDescription(
            summary="s",
            entities=tuple(
                DescribedEntity(name=f"it {n}", kind=kind, first_seen=101)
                for n, kind in enumerate(["PERSON", "a man", "place", "spoon", ""])
            ),
            relations=tuple(DescribedRelation(**ends, kind=kind) for kind in kinds),
        )
        segment, losses = repair(described, "s0000", SPAN)
        assert [entity.kind.value for entity in segment.entities] == [
            "person",
            "object",
            "location",
            "object",
            "object",
        ]
        assert [(r.source[-4:], r.kind.value, r.target[-4:]) for r in segment.relations] == [
            ("0000", "next_to", "0001"),
            ("0000", "same_as", "0001"),
            ("0001", "before", "0000"),
            ("0000", "uses", "0001"),
        ]
        assert losses == {
            "entity of an unknown kind": 3,
            "relation without content": 1,
            "relation of an unknown kind": 2,
        }

    def test_what_is_too_long_is_cut_and_counted(self) -> None:
        described = SegmentDescription(
            summary="s",
            events=(event(100, 101, "word " * 5000),),
            entities=(DescribedEntity(name="half \ud800", attributes=("red",) * 60, first_seen=101),),
        )
        segment, losses = repair(described, "s0000", SPAN)
        assert len(segment.events[0].description) <= 2000
        assert segment.entities[0].attributes == ("red",) * 50
        assert losses == {"text cut": 1, "letters unreadable": 1, "attribute dropped": 10}


class TestTimes:
    def test_times_are_clipped_into_the_segment(self) -> None:
        described = SegmentDescription(
            summary="s",
            events=(event(90, 110), event(150, 170), event(99.8, 120)),
            entities=(DescribedEntity(name="ball", first_seen=500),),
        )
        segment, losses = repair(described, "s0000", SPAN)
        spans = [(e.interval.start, e.interval.end) for e in segment.events]
        assert spans == [(100, 110), (150, 160), (100, 120)]
        assert segment.entities[0].first_seen == 160
        assert losses == {"time clipped": 3}

    def test_what_lies_outside_or_is_no_time_is_dropped(self) -> None:
        described = SegmentDescription(
            summary="s", events=(event(300, 310), event(math.nan, 110), event(120, 110), event(110, 111))
        )
        segment, losses = repair(described, "s0000", SPAN)
        assert [(e.interval.start, e.interval.end) for e in segment.events] == [(110, 120), (110, 111)]
        assert losses == {
            "event dropped": 2,
            "time outside its segment": 1,
            "time unreadable": 1,
            "time reversed": 1,
        }

    def test_a_describer_that_counts_from_its_segment_is_understood_as_a_whole(self) -> None:
        described = SegmentDescription(
            summary="s",
            events=(event(0, 10), event(50, 60)),
            texts=(DescribedText(text="Step", start=5, end=9),),
            entities=(DescribedEntity(name="ball", first_seen=3),),
        )
        segment, losses = repair(described, "s0000", SPAN)
        assert [(e.interval.start, e.interval.end) for e in segment.events] == [(100, 110), (150, 160)]
        assert segment.texts[0].interval == Interval(start=105, end=109)
        assert segment.entities[0].first_seen == 103
        assert losses == {"times were relative to the segment": 1}


class TestSummary:
    def test_it_is_made_from_the_records_when_missing(self) -> None:
        described = SegmentDescription(
            summary=" \n",
            events=(event(100, 101, "the ball enters."),),
            texts=(DescribedText(text="Step 1", start=100, end=105),),
        )
        segment, losses = repair(described, "s0000", SPAN)
        assert segment.summary == "the ball enters. Text: Step 1."
        assert losses == {"summary missing": 1}

    def test_it_is_never_empty(self) -> None:
        assert repair(SegmentDescription(summary=""), "s0000", SPAN)[0].summary


TIME = st.floats(allow_nan=True, allow_infinity=True) | st.floats(50, 200)
WORDS = st.text(max_size=20) | st.sampled_from(["", "\ud800", "a\nb", "x" * 10000])
ENDS = st.sampled_from(["event:0", "event:7", "entity:0", "text:0", "", "event:x", " ENTITY:0 "]) | WORDS
DESCRIPTIONS = st.builds(
    SegmentDescription,
    summary=WORDS,
    events=st.lists(
        st.builds(DescribedEvent, start=TIME, end=TIME, subject=WORDS, description=WORDS), max_size=4
    ).map(tuple),
    entities=st.lists(
        st.builds(
            DescribedEntity, kind=st.sampled_from(EntityKind), name=WORDS, first_seen=TIME, description=WORDS
        ),
        max_size=4,
    ).map(tuple),
    texts=st.lists(st.builds(DescribedText, text=WORDS, start=TIME, end=TIME), max_size=4).map(tuple),
    relations=st.lists(
        st.builds(DescribedRelation, source=ENDS, target=ENDS, kind=st.sampled_from(RelationKind)), max_size=6
    ).map(tuple),
)


@given(DESCRIPTIONS, st.floats(0, 1000), st.floats(0, 300))
@settings(deadline=None)
def test_anything_becomes_a_sound_segment(described: SegmentDescription, start: float, length: float) -> None:
    span = Interval(start=start, end=start + length)
    segment, losses = repair(described, "s0003", span)
    ids = [record.id for records in (segment.events, segment.entities, segment.texts) for record in records]
    assert len(set(ids)) == len(ids)
    assert all(node_id.startswith("s0003/") for node_id in ids)
    intervals = [event.interval for event in segment.events] + [text.interval for text in segment.texts]
    assert all(span.start <= interval.start <= interval.end <= span.end for interval in intervals)
    assert all(span.start <= entity.first_seen <= span.end for entity in segment.entities)
    assert all(edge.source in ids and edge.target in ids for edge in segment.relations)
    assert segment.summary.strip()
    dropped = losses["event dropped"] + losses["entity dropped"] + losses["text dropped"]
    given_records = len(described.events) + len(described.entities) + len(described.texts)
    assert len(ids) + dropped == given_records
    lost = sum(
        losses[f"relation {how}"] for how in ("to an unknown record", "of an unknown kind", "without content")
    )
    assert len(segment.relations) + lost == len(described.relations)
    assert type(segment).model_validate_json(segment.model_dump_json()) == segment
