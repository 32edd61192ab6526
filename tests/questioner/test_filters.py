"""The cascade, with a real video and a backbone that says what it sees."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoharness.questioner import Filter, FilterReport, QuestionerSettings, filter_questions
from evoharness.questioner.checks import look_request
from evoharness.questioner.filters import duplicates, form_fault
from evoharness.records.interval import Interval
from evoharness.records.memory import VideoMemory
from evoharness.records.question import Question, QuestionKind
from evoharness.retrieval import make_embedder
from tests.questioner.colour_film import Inline, Onlooker, film
from tests.questioner.memories import Scribe, span

ORDER = ("red", "green", "blue", "yellow", "white", "red")
SETTINGS = QuestionerSettings()


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {"film": film(tmp_path_factory.mktemp("films") / "a film's copy (1).mp4", ORDER)}


@pytest.fixture(scope="module")
def memories() -> dict[str, VideoMemory]:
    scribe = Scribe(30.0, ())
    for number, colour in enumerate(ORDER):
        told = "yellow" if number == 2 else colour
        scribe.event("screen", f"turns {told}", number * 5.0, number * 5.0 + 5)
    return {"film": scribe.memory()}


def ask(name: str, text: str, options: tuple[str, ...], answer: int, at: Interval, *support: str) -> Question:
    return Question(
        id=name,
        video="film",
        kind=QuestionKind.ENTITIES_ATTRIBUTES,
        form="colour_then",
        text=text,
        options=options,
        answer=answer,
        reference_text=options[answer],
        source_segments=("s0000",),
        source_interval=at,
        support=support,
    )


FOUR = ("white", "green", "blue", "yellow")


def questions() -> list[Question]:
    return [
        ask("right", "What is the colour between 0:05 and 0:10?", FOUR, 1, span(6, 9), "s0000/e0001"),
        ask(
            "wrong record", "What is the colour between 0:10 and 0:15?", FOUR, 3, span(11, 14), "s0000/e0002"
        ),
        ask("guessable", "What is the colour between 0:20 and 0:25?", FOUR, 0, span(21, 24), "s0000/e0004"),
        ask("leaks", "Is the green screen green?", FOUR, 1, span(6, 9), "s0000/e0001"),
        ask("again", "What is the colour between 0:05 and 0:10?", FOUR, 1, span(6, 9), "s0000/e0001"),
    ]


@pytest.fixture
def onlooker() -> Onlooker:
    return Onlooker()


def run(
    made: list[Question], videos: dict[str, Path], memories: dict[str, VideoMemory], executor: Inline
) -> FilterReport:
    return filter_questions(made, videos, memories, executor, make_embedder("wordllama"), SETTINGS)


def test_each_filter_removes_what_it_is_for(
    videos: dict[str, Path], memories: dict[str, VideoMemory], onlooker: Onlooker
) -> None:
    decided: list[int] = []
    report = filter_questions(
        questions(),
        videos,
        memories,
        Inline(onlooker),
        make_embedder("wordllama"),
        SETTINGS,
        on_checked=decided.append,
    )
    fate = {c.question: c.removed_by for c in report.checked}
    assert fate == {
        "right": None,
        "wrong record": Filter.FRESH_LOOK,
        "guessable": Filter.WITHOUT_EVIDENCE,
        "leaks": Filter.FORM,
        "again": Filter.DUPLICATE,
    }
    assert [q.id for q in report.retained] == ["right"]
    assert [c.question for c in report.considered] == ["right", "wrong record", "guessable"]
    assert report.removed == {
        "form": 1,
        "duplicate": 1,
        "without_evidence": 1,
        "fresh_look": 1,
        "apparatus": 0,
    }
    assert report.by_form()["colour_then"]["retained"] == 1
    assert sum(decided) == 5
    reasons = {c.question: c.reason for c in report.checked}
    assert reasons["wrong record"] == "the fresh look says 'blue'"


def test_the_supporting_records_are_given_as_evidence(
    videos: dict[str, Path], memories: dict[str, VideoMemory], onlooker: Onlooker
) -> None:
    report = run(questions(), videos, memories, Inline(onlooker))
    by_id = {c.question: c for c in report.checked}
    assert all(by_id[name].from_records for name in ("right", "wrong record", "guessable"))
    assert by_id["leaks"].from_records is None
    assert all(not task.evidence and not task.frames for task in onlooker.blind)
    assert len(onlooker.blind) == 3


def test_the_fresh_look_is_dense_large_and_out_of_the_describers_phase(
    videos: dict[str, Path], memories: dict[str, VideoMemory], onlooker: Onlooker
) -> None:
    run(questions()[:1], videos, memories, Inline(onlooker))
    (look,) = onlooker.looks
    times = [frame.time for frame in look.frames]
    steps = [b - a for a, b in pairwise(times)]
    assert max(steps) <= 0.5 + 1e-6
    assert look.span == span(4.5, 10.5)
    assert min(times) >= 4.5
    assert max(times) <= 10.5
    assert all(abs(t / 2 - round(t / 2)) > 0.1 for t in times)
    assert (look.frames[0].width, look.frames[0].height) == (96, 64)
    assert "What is the colour" in look.prompt
    assert "- yellow" in look.prompt


def test_what_cannot_be_checked_is_neither_kept_nor_counted_against_anybody(
    videos: dict[str, Path], memories: dict[str, VideoMemory], onlooker: Onlooker
) -> None:
    onlooker.down_for = "0:05"
    report = run(questions()[:3], videos, memories, Inline(onlooker))
    assert report.removed["apparatus"] == 1
    assert "right" not in {c.question for c in report.considered}

    lost = run(questions()[:3], videos, memories, Inline(Onlooker(), lose=lambda _: True))
    assert lost.removed["apparatus"] == 3
    assert lost.considered == ()


def test_a_refused_look_does_not_agree(
    videos: dict[str, Path], memories: dict[str, VideoMemory], onlooker: Onlooker
) -> None:
    onlooker.refuses = "0:05"
    report = run(questions()[:1], videos, memories, Inline(onlooker))
    assert report.checked[0].removed_by is Filter.FRESH_LOOK
    assert report.checked[0].reason == "the fresh look says nothing"


def test_the_report_survives_the_disk(
    videos: dict[str, Path], memories: dict[str, VideoMemory], onlooker: Onlooker
) -> None:
    report = run(questions(), videos, memories, Inline(onlooker))
    assert FilterReport.model_validate_json(report.model_dump_json()) == report


def test_duplicates_differ_when_their_numbers_do() -> None:
    embedder = make_embedder("wordllama")
    at = span(0, 1)
    same = [ask(f"q{n}", f"Which text is on screen at about 0:{n}7?", FOUR, 1, at) for n in (1, 2)]
    assert duplicates(same, embedder, 0.9) == set()
    twice = [ask(name, "Which text is on screen at about 0:17?", FOUR, 1, at) for name in ("a", "b")]
    assert duplicates(twice, embedder, 0.97) == {"b"}


@pytest.mark.parametrize(
    ("text", "options", "fault"),
    [
        ("Which text is shown next?", ("Open", "Close", "Lift", "Turn"), ""),
        ("Does it close or open, when seen?", ("Open", "Close", "Lift", "Turn"), "the answer stands"),
        ("Which text is shown next?", ("Step O", "Step 0", "Lift", "Turn"), "two options read the same"),
        ("Which?", ("Open", "Close", "Lift", "Turn"), "too short or too long"),
        ("Which text is shown next?", ("Open", "Close" * 20, "Lift", "Turn"), "much longer"),
        ("Which text is shown next?", ("Open the heavy old door", "Lift it", "Turn", "Go"), "longer"),
        ("Which text\nis shown next?", ("Open", "Close", "Lift", "Turn"), "unprintable"),
    ],
)
def test_form_faults(text: str, options: tuple[str, ...], fault: str) -> None:
    found = form_fault(ask("q", text, options, 0, span(0, 1)))
    assert fault in found if fault else found == ""


@given(
    st.floats(0, 580),
    st.floats(0, 300),
    st.floats(2, 4),
    st.floats(0, 5),
    st.integers(8, 192),
)
def test_looks_stay_in_the_video_and_within_the_cap(
    start: float, length: float, fps: float, padding: float, cap: int
) -> None:
    scribe = Scribe(600.0, (100.0, 333.3))
    scribe.event("lamp", "falls", start, min(600.0, start + length))
    memory = scribe.memory()
    source = span(start, min(600.0, start + length))
    support = [e.id for s in memory.segments for e in s.events]
    request = look_request(
        ask("q", "What falls down here?", FOUR, 1, source, *support), memory, fps, padding, cap
    )
    times = [t for part in request.times for t in part]
    assert 1 <= len(times) <= cap + len(request.spans)
    assert times == sorted(times)
    for part_span, part in zip(request.spans, request.times, strict=True):
        assert all(part_span.start - 1e-3 <= t <= part_span.end + 1e-3 for t in part)
        assert 0 <= part_span.start <= part_span.end <= 600
