"""Claims, reasoning, actions and summaries of the embedded backbone."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evoharness.models.embedded.reasoning import (
    REASONING_CHARACTERS,
    choose_action,
    reason,
    summarize_segments,
    summarize_video,
    verify_claim,
)
from evoharness.models.reasoning_tasks import (
    ChooseAction,
    ChosenAction,
    Reason,
    SummarizeSegments,
    SummarizeVideo,
    ToolChoice,
    VerifyClaim,
)
from evoharness.records.evidence import Evidence
from evoharness.records.interval import Interval
from evoharness.retrieval import WordLlamaEmbedder

EMBEDDER = WordLlamaEmbedder()
EVIDENCE = (
    Evidence(source="look", interval=Interval(start=0, end=6), text='the text "Open the gate" is shown'),
    Evidence(source="look", interval=Interval(start=8, end=9), text="a green tractor enters from the left"),
    Evidence(source="look", interval=Interval(start=12, end=13), text="the green tractor stops at the barn"),
    Evidence(source="look", interval=Interval(start=20, end=21), text="a farmer closes the barn door"),
    Evidence(source="look", interval=Interval(start=31, end=32), text="a green tractor enters from the left"),
)
TOOLS = (
    ToolChoice(name="localize", purpose="Find when something happens.", arguments={"query": "string"}),
    ToolChoice(name="look", purpose="Watch spans closely.", arguments={"spans": "list", "prompt": "string"}),
    ToolChoice(name="frame", purpose="Look at one frame.", arguments={"time": "number", "prompt": "string"}),
    ToolChoice(name="enumerate", purpose="List everything like a query.", arguments={"query": "string"}),
)


@pytest.mark.parametrize(
    ("claim", "supported"),
    [
        ("A green tractor enters from the left.", True),
        ("The tractor stops before the farmer closes the barn door.", True),
        ("The farmer closes the barn door before the tractor stops.", False),
        ("A green tractor enters twice.", True),
        ("A green tractor enters four times.", False),
        ("A red helicopter lands on the roof.", False),
        ("The farmer does not close the barn door.", False),
        ("The text 'Open the gate' is shown at 0:03.", True),
    ],
)
def test_claims_are_checked_with_their_order_number_and_time(claim: str, supported: bool) -> None:
    assert verify_claim(VerifyClaim(claim=claim, evidence=EVIDENCE), EMBEDDER).supported is supported


def test_without_evidence_no_claim_is_borne_out() -> None:
    verdict = verify_claim(VerifyClaim(claim="A farmer sings."), EMBEDDER)
    assert not verdict.supported
    assert verdict.confidence == 0.0


def test_reasoning_gives_the_statements_that_bear_on_the_prompt_in_order_of_time() -> None:
    text = reason(Reason(prompt="When does the tractor enter?", evidence=EVIDENCE), EMBEDDER).text
    lines = text.splitlines()
    assert any(line.startswith("[8.0-9.0]") for line in lines)
    assert any(line.startswith("[31.0-32.0]") for line in lines)
    assert lines == sorted(lines, key=lambda line: float(line[1:].split("-")[0]))
    assert "Open the gate" not in text


def test_reasoning_keeps_to_its_length() -> None:
    many = tuple(
        Evidence(
            source="look",
            interval=Interval(start=n, end=n + 1),
            text=f"a tractor with number {n} enters the field",
        )
        for n in range(200)
    )
    assert 0 < len(reason(Reason(prompt="tractor", evidence=many), EMBEDDER).text) <= REASONING_CHARACTERS


def act(question: str, evidence: tuple[Evidence, ...] = (), **more: Any) -> ChosenAction:
    task = ChooseAction(
        question=question, options=("a", "b"), duration=100.0, evidence=evidence, tools=TOOLS, **more
    )
    return choose_action(task, EMBEDDER)


def test_what_is_not_found_is_searched_for_by_its_anchor() -> None:
    action = act("What happens right after the balloon bursts?")
    assert action.tool == "localize"
    assert action.arguments == {"query": "the balloon bursts"}


def test_after_a_located_moment_the_stretch_that_follows_is_looked_at() -> None:
    action = act("What happens after the farmer closes the barn door?", EVIDENCE)
    assert action.tool == "look"
    assert action.arguments["spans"] == [[19.0, 51.0]]


def test_guidance_can_say_how_far_to_look() -> None:
    guidance = "After locating the event, look at the 60 s that follow."
    action = act("What happens after the farmer closes the barn door?", EVIDENCE, guidance=guidance)
    assert action.arguments["spans"] == [[19.0, 81.0]]


def test_before_a_located_moment_the_stretch_that_leads_to_it_is_looked_at() -> None:
    action = act("What happens before the farmer closes the barn door?", EVIDENCE)
    assert action.arguments["spans"] == [[0.0, 22.0]]


def test_things_to_count_are_listed_first() -> None:
    assert act("How many balloons burst?").tool == "enumerate"


def test_no_call_is_made_twice_and_in_the_end_it_stops() -> None:
    history: list[str] = []
    for _ in range(20):
        action = act("What happens after the farmer closes the barn door?", EVIDENCE, history=tuple(history))
        if action.stop:
            break
        line = f"{action.tool}({action.arguments})"
        assert line not in history
        history.append(line)
    assert action.stop
    assert history


def test_only_tools_that_are_offered_are_chosen() -> None:
    task = ChooseAction(question="What is shown?", options=("a", "b"), duration=10.0, tools=())
    assert choose_action(task, EMBEDDER).stop


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["a dog barks", "a cat sleeps", "rain falls on the road", "a car stops", ""]))
)
def test_every_segment_is_in_exactly_one_group_in_order(summaries: list[str]) -> None:
    groups = summarize_segments(SummarizeSegments(summaries=tuple(summaries)), EMBEDDER).groups
    assert [index for group in groups for index in range(group.first, group.last + 1)] == list(
        range(len(summaries))
    )


def test_segments_are_parted_where_the_subject_changes() -> None:
    summaries = (
        "A woman kneads dough for bread.",
        "The woman bakes the bread in an oven.",
        "A team plays football in the rain.",
        "The football team scores a goal.",
    )
    groups = summarize_segments(SummarizeSegments(summaries=summaries), EMBEDDER).groups
    assert (groups[0].first, groups[0].last) == (0, 1)


def test_a_video_is_summed_up_in_sentences_of_its_super_events() -> None:
    events = tuple(f"Part {n}: the baker shapes loaf number {n}." for n in range(12))
    text = summarize_video(SummarizeVideo(super_events=events), EMBEDDER).text
    assert 1 <= sum(event in text for event in events) <= 5
    assert summarize_video(SummarizeVideo(super_events=()), EMBEDDER).text == ""
