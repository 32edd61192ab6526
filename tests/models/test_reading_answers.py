"""From what a model wrote to the output of its task: letters, times, ids, or words about it."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evoharness.models.perception_tasks import (
    DescribeFrame,
    DescribeSegment,
    InspectFrames,
    LocalizeEvent,
    Transcribe,
)
from evoharness.models.prompting import read, render
from evoharness.models.reasoning_tasks import (
    AnswerOpen,
    AnswerQuestion,
    CheckFaithfulness,
    ChooseAction,
    ChosenAction,
    ChosenAnswer,
    JudgeAnswer,
    PhraseQuestion,
    Reason,
    SummarizeSegments,
    VerifyClaim,
)
from evoharness.models.task import Task
from evoharness.records.interval import Interval
from tests.models.examples import ANSWERS, EXAMPLES


def answered(kind: type[Task[Any]], **changes: Any) -> Any:
    """The output of the example of a type, from its example answer with changes."""
    return read(EXAMPLES[kind], {**ANSWERS[kind], **changes})


def refused(kind: type[Task[Any]], said: str, **changes: Any) -> None:
    """Assert that the changed answer is turned down with these words."""
    with pytest.raises(ValueError, match=said) as caught:
        answered(kind, **changes)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


# Looking


def test_observations_are_in_order_of_the_video_and_say_something() -> None:
    seen = answered(
        InspectFrames,
        observations=[
            {"start": 50.0, "end": 58.0, "text": "later", "found": False},
            {"start": 3.0, "end": 2.0, "text": " early ", "found": True},
            {"start": 4.0, "end": 5.0, "text": "  ", "found": True},
        ],
        candidates=[{"start": 55.0, "end": 99.0}, {"start": 0.0, "end": 1.0}],
    )
    assert [(o.interval.start, o.interval.end, o.text, o.found) for o in seen.observations] == [
        (122.0, 123.0, "early", True),
        (170.0, 178.0, "later", False),
    ]
    assert seen.candidates == (Interval(start=175.0, end=180.0), Interval(start=120.0, end=121.0))


def test_an_inspection_may_find_nothing() -> None:
    assert answered(InspectFrames, observations=[], candidates=[]).observations == ()


def test_an_event_that_is_not_seen_has_no_window() -> None:
    located = answered(LocalizeEvent, found=False, window={"start": 0, "end": 0})
    assert located.window is None
    assert located.timeline[0].interval.start == 121.0


def test_a_window_that_says_nothing_does_not_disturb_the_other_times() -> None:
    late = [{"start": 130.0, "end": 140.0, "text": "a door", "found": False}]
    located = answered(LocalizeEvent, timeline=late, found=False, window={"start": 0, "end": 0})
    assert located.timeline[0].interval == Interval(start=130.0, end=140.0)


def test_a_description_says_something() -> None:
    refused(DescribeFrame, "text: is empty", text=" ")


def test_records_of_a_segment_get_the_times_of_the_video_and_are_not_mended_here() -> None:
    event = ANSWERS[DescribeSegment]["events"][0]
    told = answered(DescribeSegment, events=[{**event, "start": 70.0, "end": 65.0}])
    assert (told.events[0].start, told.events[0].end) == (190.0, 185.0)
    assert told.entities[0].first_seen == 121.0
    assert (told.texts[0].start, told.texts[0].end) == (120.0, 123.0)


def test_records_may_be_of_kinds_that_nobody_asked_for() -> None:
    relation = ANSWERS[DescribeSegment]["relations"][0]
    told = answered(DescribeSegment, relations=[{**relation, "kind": "likes"}])
    assert told.relations[0].kind == "likes"


def test_speech_is_told_in_order() -> None:
    lines = [{"start": 9.0, "end": 11.0, "text": "two"}, {"start": 1.0, "end": 2.0, "text": "one"}]
    assert [line.text for line in answered(Transcribe, lines=lines).lines] == ["one", "two"]


# Answering


@pytest.mark.parametrize("letter", ["B", "b", " B ", "(B)", "B.", "B) a blue ring", "**B**", '"B"'])
def test_a_letter_is_understood_however_it_is_dressed(letter: str) -> None:
    assert answered(AnswerQuestion, choice=letter).choice == 1


@pytest.mark.parametrize("letter", ["D", "", "none", "Banana", "AB", "1", "ß"])
def test_what_is_no_letter_of_an_option_is_turned_down(letter: str) -> None:
    refused(AnswerQuestion, "choice: .*is none of the letters A, B, C", choice=letter)


@pytest.mark.parametrize(
    ("scores", "read_as"),
    [
        ([8, 1, 1], (0.8, 0.1, 0.1)),
        ([1, 1], ()),
        ([], ()),
        ([0, 0, 0], ()),
        ([0.5, -0.1, 0.6], ()),
    ],
)
def test_scores_sum_to_one_or_say_nothing(scores: list[float], read_as: tuple[float, ...]) -> None:
    assert answered(AnswerQuestion, scores=scores).scores == read_as


@settings(deadline=None)
@given(st.integers(1, 26), st.data())
def test_every_option_has_a_letter_that_leads_back(count: int, data: st.DataObject) -> None:
    task = AnswerQuestion(text="Which?", options=tuple(f"option {number}" for number in range(count)))
    letters = render(task).schema["properties"]["choice"]["enum"]
    chosen = data.draw(st.integers(0, count - 1))
    answer = {"reason": "", "choice": letters[chosen], "scores": [], "guessed": True}
    assert read(task, answer) == ChosenAnswer(choice=chosen, guessed=True)


@pytest.mark.parametrize("count", [0, 27])
def test_a_question_without_options_is_none_to_choose_from(count: int) -> None:
    task = AnswerQuestion(text="Which?", options=tuple(map(str, range(count))))
    with pytest.raises(ValueError, match=f"1 to 26 of them, not {count}"):
        render(task)


def test_an_open_answer_says_something() -> None:
    refused(AnswerOpen, "text: is empty", text="\n")


def test_confidence_is_a_share() -> None:
    refused(VerifyClaim, "confidence: lies between 0 and 1, and 90 does not", confidence=90)


def test_a_reasoning_is_a_text() -> None:
    refused(Reason, "text: Input should be a valid string", text=["a"])


# Choosing a tool


@pytest.mark.parametrize("word", ["STOP", "stop", " Stop "])
def test_stopping_needs_no_arguments(word: str) -> None:
    assert answered(ChooseAction, action=word, arguments="") == ChosenAction(stop=True)


def test_a_tool_may_need_no_arguments() -> None:
    assert answered(ChooseAction, arguments=" ") == ChosenAction(tool="look")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"action": "search"}, "action: 'search' is none of look, STOP"),
        ({"arguments": "start=3"}, "arguments: no JSON object as text"),
        ({"arguments": "[3]"}, "arguments: a JSON object as text is needed, and not list"),
        (
            {"arguments": '{"fps": 3}'},
            r"arguments: look has no argument 'fps' \(it has: start, end, prompt\)",
        ),
        ({"arguments": '{"start": NaN}'}, "arguments: numbers are finite"),
        ({"arguments": "[" * 100_000}, "arguments: no JSON object as text"),
        ({"arguments": '{"prompt": "' + "x" * 100_000 + '"}'}, "arguments: larger than 64 KB"),
    ],
)
def test_a_choice_of_a_tool_can_be_carried_out(changes: dict[str, Any], said: str) -> None:
    refused(ChooseAction, said, **changes)


# Summaries


@pytest.mark.parametrize(("first", "last"), [(-1, 0), (0, 3), (2, 1)])
def test_groups_are_of_segments_that_exist(first: int, last: int) -> None:
    group = {"first": first, "last": last, "label": "", "description": ""}
    refused(
        SummarizeSegments,
        f"groups.0: goes from {first} to {last}, but segments go from 0 to 2",
        groups=[group],
    )


# Phrasing and judging


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"options": ["a red ball"]}, "options: 1 came back, and there are 2"),
        ({"options": ["2 rings", "2 Rings"]}, "options: two of them are the same"),
        (
            {"options": ["a red ball", "3 blue rings"]},
            r"options.1: the numbers are to stay as they were \(2\)",
        ),
        ({"text": 'What rolls beside "Exit"?'}, r"text: the numbers are to stay as they were \(12\)"),
        ({"text": "What rolls at 12 s?"}, r"text: the quoted texts are to stay as they were \(Exit\)"),
        ({"text": " "}, "text: is empty"),
    ],
)
def test_phrasing_leaves_the_facts_as_they_are(changes: dict[str, Any], said: str) -> None:
    refused(PhraseQuestion, said, **changes)


def test_an_open_question_can_be_phrased() -> None:
    task = PhraseQuestion(text="What is it that rolls?")
    assert read(task, {"text": "What rolls?", "options": []}).options == ()


def test_the_reward_is_the_mean_of_four_dimensions() -> None:
    assert answered(JudgeAnswer).mean == pytest.approx((4 + 2 + 4 + 5) / 4)


@pytest.mark.parametrize("rating", [0, 6, 2.5])
def test_ratings_are_whole_numbers_from_one_to_five(rating: float) -> None:
    refused(JudgeAnswer, "detail: ", detail=rating)


def test_what_is_unsupported_is_not_faithful() -> None:
    refused(CheckFaithfulness, "faithful: is false when", unsupported=["the ball is red"])
    assert not answered(CheckFaithfulness, unsupported=["the ball is red"], faithful=False).faithful


# Anything at all


@pytest.mark.parametrize("kind", EXAMPLES, ids=lambda kind: kind.__name__)
def test_what_misses_a_field_is_turned_down(kind: type[Task[Any]]) -> None:
    for field in ANSWERS[kind]:
        short = {name: value for name, value in ANSWERS[kind].items() if name != field}
        with pytest.raises(ValueError, match=f"{field}: Field required"):
            read(EXAMPLES[kind], short)


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("kind", EXAMPLES, ids=lambda kind: kind.__name__)
@settings(deadline=None)
@given(data=st.data())
def test_whatever_a_model_writes_is_read_or_turned_down_in_words(
    kind: type[Task[Any]], data: st.DataObject
) -> None:
    answer = dict(ANSWERS[kind])
    for field in data.draw(st.sets(st.sampled_from(sorted(answer)), min_size=1)):
        answer[field] = data.draw(ODD)
    with suppress(ValueError):
        assert type(read(EXAMPLES[kind], answer)) is kind.output
