"""What a candidate must pass before it may answer: nothing copied, nothing forbidden, nothing twice."""

from pathlib import Path

import pytest

from evoharness.evaluation import InlineExecutor, WorkbenchConfig
from evoharness.evolution.proposing import Candidate
from evoharness.evolution.substance import Substance
from evoharness.evolution.verification import verify
from evoharness.harness import Harness
from evoharness.records.evolution import ChangeKind, Proposal
from evoharness.records.interval import Interval
from evoharness.records.outcome import Outcome
from evoharness.records.question import Question
from tests.evolution.scripted import STRATEGY, harness, outcome, question

BASE = harness()
QUESTION = question(
    7,
    "clip_03",
    id="clip_03/9f8e7d6c5b4a",
    text="Which valve is closed after the red pump has started?",
    options=("the small blue one", "the large green one at the back wall", "none", "both"),
    source_interval=Interval(start=131.2, end=150.1),
    support=("s0002/e0004",),
)
SUBSTANCE = Substance([QUESTION], {"clip_03": Path("videos/Pump Station (final).mp4")})


def with_code(line: str) -> Harness:
    return BASE.with_strategy("plain", STRATEGY.replace("    return", f"    {line}\n    return"))


def with_skill(text: str) -> Harness:
    return BASE.with_skill(
        "look-again", {"SKILL.md": f"---\nname: look-again\ndescription: d\n---\n{text}\n"}
    )


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (with_skill("Look when the RED pump, has started? Then answer."), "after the red pump has"),
        (with_skill("First ask: closed after the red pump has?"), "closed after the red pump"),
        (with_skill("It is the large green one at the top."), "green one at the"),
        (with_code('x = "the large green one at the back wall"'), "at the back wall"),
        (with_skill("In clip_03 look at the end."), "clip_03"),
        (with_skill("This is for Pump Station (final).mp4 only."), "pump station (final)"),
        (with_skill("See s0002/e0004."), "s0002/e0004"),
        (with_code('x = "clip_03/9f8e7d6c5b4a"'), "clip_03"),
        (with_code("seen = ctx.look([[131, 140]], 2.0)"), "131"),
        (with_code("seen = ctx.look([[90, 149.8]], 2.0)"), "149.8"),
        (with_code("seen = ctx.look([[100, 150]], 2.0)"), "150"),
        (with_skill("Look at second 150."), "150"),
        (with_skill("The answer lies between 100 and 150 seconds."), "150"),
    ],
)
def test_copied_substance_is_found(changed: Harness, said: str) -> None:
    found = SUBSTANCE.copied(BASE, changed)
    assert said in found or "repeats words" in found


@pytest.mark.parametrize(
    "changed",
    [
        with_skill("After the event has ended, look at the 60 seconds that follow it."),
        with_skill("When a question asks about a valve, look closely."),
        with_code("seen = ctx.look([[0, 60]], 2.0, 192)"),
        with_code("x = 131000"),
        with_code("wanted = 150"),
        with_skill("Look at up to 150 frames."),
        with_code("v131 = 0.131"),
        BASE.with_parameters(replay_window_s=131.0),
        BASE.with_parameters(frame_cap=150),
    ],
)
def test_what_is_general_may_be_said(changed: Harness) -> None:
    assert SUBSTANCE.copied(BASE, changed) == ""


def test_what_the_incumbent_says_already_is_not_copied_now() -> None:
    before = with_code("seen = ctx.look([[131, 140]], 2.0)")
    assert SUBSTANCE.copied(before, before.with_parameters(search_results=7)) == ""


def candidate(name: str, changed: Harness) -> Candidate:
    proposal = Proposal(id=name, kind=ChangeKind.STRATEGY, title=name, reason="", proposer="test")
    return Candidate(proposal, changed)


def answers(harnesses: list[Harness], questions: list[Question]) -> dict[str, list[Outcome]]:
    """A harness whose strategy divides by nothing fails in the sandbox."""
    return {
        h.fingerprint: [
            outcome(q, 0.0, "sandbox:strategy_error" if "1 // 0" in h.strategies["plain"] else "ok")
            for q in questions
        ]
        for h in harnesses
    }


def test_verification_says_why(tmp_path: Path) -> None:
    known = BASE.with_parameters(frame_cap=100)
    sound = BASE.with_parameters(frame_cap=64)
    candidates = [
        candidate("sound", sound),
        candidate("again", BASE.with_parameters(frame_cap=64)),
        candidate("nothing", BASE),
        candidate("known", known),
        candidate("copied", with_skill("See clip_03.")),
        candidate("import", with_code("import os")),
        candidate("no-entry", BASE.with_strategy("other", "def start(ctx, question):\n    return {}\n")),
        candidate("crash", with_code("x = 1 // 0")),
        candidate(
            "out-of-bounds",
            BASE.model_copy(update={"parameters": BASE.parameters.model_copy(update={"frame_cap": -5})}),
        ),
    ]
    executor = InlineExecutor(WorkbenchConfig(cache_dir=tmp_path))
    records = verify(
        candidates,
        BASE,
        {known.fingerprint: "tried before: no gain"},
        [QUESTION],
        {},
        executor,
        answers,  # type: ignore[arg-type]
    )
    executor.close()
    said = {record.proposal.id: record.rejected for record in records}
    assert said["sound"] == ""
    assert said["again"] == "the same as sound"
    assert said["nothing"] == "it changes nothing"
    assert said["known"] == "tried before: no gain"
    assert said["copied"] == "skills/look-again/SKILL.md names “clip_03”"
    assert said["import"].startswith("strategies/plain.py, line 2: ")
    assert said["no-entry"].startswith("strategies/other.py, ")
    assert said["crash"].startswith("its first question ended in sandbox:strategy_error")
    assert "frame_cap" in said["out-of-bounds"]
    assert [record.proposal.id for record in records] == [c.id for c in candidates]
