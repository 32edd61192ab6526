"""What the Questioner promises about every question, whatever the memory says."""

import random
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evoharness.questioner import (
    DistractorMode,
    Policy,
    QuestionerSettings,
    generate,
    generate_counted,
    initial_policy,
)
from evoharness.questioner.filters import form_fault
from evoharness.questioner.forms import FORMS
from evoharness.questioner.generate import apportion
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
from evoharness.records.question import Question, QuestionKind
from tests.questioner.memories import workshop
from tests.questioner.recompute import CHECKS

PLAIN = initial_policy(QuestionerSettings(relate=0.0))
DEFAULT = initial_policy(QuestionerSettings())

SOME = "valve lid red blue circle square Step 1 2 17 open the a moves appears from left right top ! é 文字 …"
WORDS = st.sampled_from(SOME.split())
PHRASE = st.one_of(st.just(""), st.lists(WORDS, min_size=1, max_size=6).map(" ".join), st.text(max_size=25))


@st.composite
def memories(draw: st.DrawFn) -> VideoMemory:
    """Memories by a describer who leaves out, repeats, contradicts and misspells."""
    length = draw(st.sampled_from((20.0, 60.0)))
    count = draw(st.integers(1, 4))
    segments = []
    for number in range(count):
        start = number * length

        def span(start: float = start) -> Interval:
            a = draw(st.integers(0, int(length)))
            b = draw(st.integers(0, 12))
            return Interval(start=start + a, end=start + min(length, a + b))

        name = f"s{number:04d}"
        events = tuple(
            Event(
                id=f"{name}/e{i:04d}",
                kind=draw(PHRASE),
                interval=span(),
                subject=draw(PHRASE),
                object=draw(PHRASE),
                action=draw(PHRASE),
                description=draw(PHRASE),
            )
            for i in range(draw(st.integers(0, 8)))
        )
        texts = tuple(
            VisibleText(
                id=f"{name}/t{i:04d}", text=draw(PHRASE) or "x", interval=span(), description=draw(PHRASE)
            )
            for i in range(draw(st.integers(0, 8)))
        )
        entities = tuple(
            Entity(
                id=f"{name}/n{i:04d}",
                kind=draw(st.sampled_from(EntityKind)),
                name=draw(PHRASE) or "?",
                attributes=tuple(draw(st.lists(PHRASE, max_size=3))),
                description=draw(PHRASE),
                first_seen=span().start,
                spatial_hint=draw(PHRASE),
            )
            for i in range(draw(st.integers(0, 5)))
        )
        nodes = [r.id for r in events] + [r.id for r in texts] + [r.id for r in entities]
        relations = tuple(
            Relation(
                source=draw(st.sampled_from(nodes)),
                target=draw(st.sampled_from(nodes)),
                kind=draw(st.sampled_from(RelationKind)),
            )
            for _ in range(draw(st.integers(0, 4)) if nodes else 0)
        )
        segments.append(
            Segment(
                id=name,
                interval=Interval(start=start, end=start + length),
                summary=draw(PHRASE) or "-",
                events=events,
                entities=entities,
                texts=texts,
                relations=relations,
                status=draw(st.sampled_from(("described", "described", "described", "failed"))),
            )
        )
    supers = tuple(
        SuperEvent(id=f"x{i}", label=draw(PHRASE), description="", segment_ids=(s.id,), interval=s.interval)
        for i, s in enumerate(segments)
    )
    return VideoMemory(
        video="ab" * 8, duration=count * length, root="", super_events=supers, segments=tuple(segments)
    )


def assert_sound(question: Question, memory: VideoMemory, policy: Policy) -> None:
    ids = {e.id for s in memory.segments for e in s.events}
    ids |= {n.id for s in memory.segments for n in s.entities}
    ids |= {t.id for s in memory.segments for t in s.texts}
    assert len(question.options) == policy.options
    assert question.answer is not None
    assert question.reference_text == question.options[question.answer]
    assert question.support
    assert set(question.support) <= ids
    assert question.source_interval is not None
    assert question.source_interval.end <= memory.duration + 1.0
    assert question.source_segments
    assert all(memory.segment(s).status == "described" for s in question.source_segments)
    assert question.fine_type is not None
    assert question.policy_version == policy.fingerprint
    assert "\n" not in question.text
    assert question.text == question.text.strip()
    assert "  " not in question.text


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(memories(), st.integers(0, 5), st.sampled_from(DistractorMode))
def test_any_memory_gives_sound_questions_or_none(
    memory: VideoMemory, seed: int, mode: DistractorMode
) -> None:
    policy = DEFAULT.model_copy(update={"distractors": mode, "relate": 0.5})
    made = generate(memory, "odd name", policy, 60, random.Random(seed))
    for question in made:
        assert_sound(question, memory, policy)
    assert len({q.id for q in made}) == len(made)
    assert len({(q.text, q.reference_text) for q in made}) == len(made)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("mode", DistractorMode)
def test_references_agree_with_a_second_computation_from_the_records(seed: int, mode: DistractorMode) -> None:
    memory = workshop()
    policy = PLAIN.model_copy(update={"distractors": mode})
    checked = Counter[str]()
    for question in generate(memory, "v", policy, 400, random.Random(seed)):
        if question.form in CHECKS:
            assert CHECKS[question.form](question, memory), question
            checked[question.form] += 1
    assert set(checked) == set(CHECKS), "every form with a second computation must be exercised"


@st.composite
def tidy_memories(draw: st.DrawFn) -> VideoMemory:
    """Memories in plain words, at random times, so that references can be recomputed."""
    names = "alder birch cedar dogwood maple fir ginkgo hazel ivy juniper".split()  # noqa: SIM905
    actors = "lamp kettle ladder basket mirror".split()  # noqa: SIM905
    actions = ("tips over", "slides to the door", "starts glowing", "falls apart", "turns around")
    spans = st.tuples(st.integers(0, 170), st.integers(1, 9)).map(
        lambda pair: Interval(start=float(pair[0]), end=float(pair[0] + pair[1]))
    )
    texts = tuple(
        VisibleText(id=f"s0000/t{i:04d}", text=f"{word} section", interval=draw(spans))
        for i, word in enumerate(draw(st.lists(st.sampled_from(names), min_size=4, max_size=9)))
    )
    done = draw(
        st.lists(st.tuples(st.sampled_from(actors), st.sampled_from(actions), spans), min_size=4, max_size=9)
    )
    events = tuple(
        Event(
            id=f"s0000/e{i:04d}", kind="", interval=span, subject=who, object="", action=what, description=""
        )
        for i, (who, what, span) in enumerate(done)
    )
    whole = Interval(start=0.0, end=180.0)
    segment = Segment(id="s0000", interval=whole, summary="All of it.", events=events, texts=texts)
    return VideoMemory(video="cd" * 8, duration=180.0, root="", super_events=(), segments=(segment,))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(tidy_memories(), st.integers(0, 3), st.sampled_from(DistractorMode))
def test_references_hold_at_random_times(memory: VideoMemory, seed: int, mode: DistractorMode) -> None:
    policy = PLAIN.model_copy(update={"distractors": mode})
    for question in generate(memory, "v", policy, 200, random.Random(seed)):
        if question.form in CHECKS:
            assert CHECKS[question.form](question, memory), question


def test_the_same_seed_gives_the_same_questions() -> None:
    first, again, other = (generate(workshop(), "v", DEFAULT, 60, random.Random(s)) for s in (7, 7, 8))
    assert first == again
    assert first != other


def test_answers_stand_at_every_place_equally_often() -> None:
    places = Counter(
        q.answer
        for seed in range(12)
        for q in generate(workshop(), "v", DEFAULT, 100, random.Random(seed))
        if q.kind is not QuestionKind.COUNTING and q.form != "in_which_stretch"
    )
    total = sum(places.values())
    assert all(0.2 * total < places[n] < 0.3 * total for n in range(4)), places


def test_no_answer_stands_in_its_question() -> None:
    for seed in range(6):
        made = generate(workshop(), "v", DEFAULT, 120, random.Random(seed))
        leaking = [q for q in made if form_fault(q) == "the answer stands in the question"]
        assert not leaking


def test_kinds_follow_the_proportions_where_the_records_allow() -> None:
    made = generate_counted(workshop(), "v", DEFAULT, 60, random.Random(1))
    counts = Counter(q.kind for q in made.questions)
    assert len(made.questions) == 60
    for kind, number in made.wanted.items():
        assert counts[kind] >= number - made.shortfalls.get(kind, 0)
    assert counts[QuestionKind.TEMPORAL_ORDER] in range(10, 14)
    assert len([kind for kind, n in counts.items() if n]) >= 9


def test_what_a_kind_lacks_goes_to_the_others_and_is_reported() -> None:
    only = DEFAULT.model_copy(
        update={"proportions": {QuestionKind.CAUSAL: 0.5, QuestionKind.TEMPORAL_ORDER: 0.5}}
    )
    made = generate_counted(workshop(), "v", only, 30, random.Random(1))
    counts = Counter(q.kind for q in made.questions)
    assert made.shortfalls == {QuestionKind.CAUSAL: 15 - counts[QuestionKind.CAUSAL]}
    assert counts[QuestionKind.TEMPORAL_ORDER] == 30 - counts[QuestionKind.CAUSAL]


def test_a_form_of_weight_zero_is_not_used() -> None:
    weights = {form.name: 0.0 for form in FORMS if form.name != "order_of_three"}
    made = generate(
        workshop(), "v", DEFAULT.model_copy(update={"form_weights": weights}), 20, random.Random(1)
    )
    assert {q.form for q in made} == {"order_of_three"}


@pytest.mark.parametrize("options", [2, 3, 5])
def test_other_numbers_of_options(options: int) -> None:
    policy = initial_policy(QuestionerSettings(options=options))
    made = generate(workshop(), "v", policy, 60, random.Random(1))
    assert len(made) == 60
    for question in made:
        assert_sound(question, workshop(), policy)


def test_distractors_are_nearer_in_a_harder_mode() -> None:
    memory = workshop()
    starts = {t.text: t.interval.start for s in memory.segments for t in s.texts}

    def distance(mode: DistractorMode) -> float:
        policy = PLAIN.model_copy(update={"distractors": mode})
        gaps = [
            abs(starts[option] - starts[question.reference_text])
            for seed in range(3)
            for question in generate(memory, "v", policy, 300, random.Random(seed))
            if question.form == "next_text"
            for option in question.options
            if option != question.reference_text
        ]
        return sum(gaps) / len(gaps)

    far, same, near = (distance(mode) for mode in DistractorMode)
    assert far > same > near


def test_relational_cues_do_not_name_their_item() -> None:
    policy = DEFAULT.model_copy(update={"relate": 1.0})
    made = [q for s in range(3) for q in generate(workshop(), "v", policy, 200, random.Random(s))]
    related = [q for q in made if "first to appear after" in q.text or "the first event after" in q.text]
    assert len(related) > 10
    assert not [q for q in related if form_fault(q) == "the answer stands in the question"]


def test_brief_records_are_preferred_as_the_policy_says() -> None:
    def share(brief: float) -> float:
        policy = PLAIN.model_copy(update={"brief": brief})
        made = [
            q
            for seed in range(8)
            for q in generate(workshop(), "v", policy, 30, random.Random(seed))
            if q.form in ("text_at", "when_it_begins", "place_of_text", "next_text")
        ]
        short = [q for q in made if q.source_interval and q.source_interval.duration <= 2]
        return len(short) / len(made)

    assert share(1.0) > share(0.0)


@given(
    st.integers(0, 300),
    st.dictionaries(st.sampled_from(QuestionKind), st.floats(0.001, 1), min_size=1),
)
def test_apportion_adds_up_and_stays_within_one(count: int, shares: dict[QuestionKind, float]) -> None:
    parts = apportion(count, shares)
    total = sum(shares.values())
    assert sum(parts.values()) == count
    assert all(abs(parts[k] - count * share / total) < 1 for k, share in shares.items())


def test_an_empty_memory_gives_no_question() -> None:
    bare = workshop()
    empty = bare.model_copy(
        update={
            "segments": tuple(
                s.model_copy(update={"events": (), "texts": (), "entities": (), "relations": ()})
                for s in bare.segments
            ),
            "super_events": (),
        }
    )
    made = generate_counted(empty, "v", DEFAULT, 20, random.Random(1))
    assert made.questions == ()
    assert sum(made.shortfalls.values()) == 20
