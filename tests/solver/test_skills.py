"""Skills speak up when their trigger fires, and only then; the host follows their plans."""

import pytest

from evoharness.harness import initial_harness
from evoharness.models.perception_tasks import InspectFrames, LocalizeEvent
from evoharness.models.reasoning_tasks import AnswerQuestion
from evoharness.records.interval import Interval
from evoharness.records.outcome import Answered
from evoharness.sandbox import ProcessSandbox
from evoharness.solver import PlanStep, Skill, SkillError, SolverBench, SolverLimits, fires, read_skill, solve
from evoharness.solver.skills import allowed_tools, skill_markdown
from evoharness.video import Video
from tests.solver.standins import QUESTION, Letters, Witness

RELOOK = Skill(
    name="directed-re-look",
    description="The answer lies beside the event: look there.",
    trigger="after | what follows",
    plan=(PlanStep(look="after", seconds=20),),
    text="Read the window that follows the event.",
)


@pytest.mark.parametrize(
    ("trigger", "text", "expected"),
    [
        ("", "anything", True),
        ("after", "What happens AFTER the break?", True),
        ("after", "What happens in the afternoon?", False),
        ("before | what follows", "Say what   follows!", True),
        ("before | what follows", "Say what then follows.", False),
        ("how many", "How many-sided is it?", True),
        ("|", "anything", True),
        ("café", "At which CAFÉ?", True),
    ],
)
def test_a_trigger_fires_on_whole_words(trigger: str, text: str, expected: bool) -> None:
    assert fires(trigger, text) is expected


def test_a_skill_reads_back_as_it_was_written() -> None:
    assert read_skill(RELOOK.name, {"SKILL.md": skill_markdown(RELOOK)}) == RELOOK
    bare = read_skill("bare", {"SKILL.md": "Look twice.\n"})
    assert (bare.trigger, bare.plan, bare.text) == ("", (), "Look twice.")


@pytest.mark.parametrize(
    "front",
    [
        "- a list",
        "name: [",
        "metadata: {plan: 'no json'}",
        'metadata: {plan: \'[{"look": "sideways"}]\'}',
        'metadata: {plan: \'[{"look": "after", "seconds": -1}]\'}',
    ],
)
def test_a_skill_that_cannot_be_read_says_so_and_never_fires(front: str) -> None:
    with pytest.raises(SkillError, match=r"skill bad: SKILL\.md"):
        read_skill("bad", {"SKILL.md": f"---\n{front}\n---\ntext\n"})


def _ask(backbone: Witness, video: Video, sandbox: ProcessSandbox, skill: Skill) -> Answered:
    bench = SolverBench(backbone, Letters(), sandbox, lambda _: pytest.fail("no memory"))
    harness = initial_harness().with_skill(skill.name, {"SKILL.md": skill_markdown(skill)})
    return solve(QUESTION, video, harness, bench, SolverLimits())


def test_a_skill_that_fires_reaches_every_prompt_and_its_plan_is_followed(
    minute: Video, sandbox: ProcessSandbox
) -> None:
    backbone = Witness(event=Interval(start=10, end=15))
    answered = _ask(backbone, minute, sandbox, RELOOK)
    assert answered.trace.skills == ("directed-re-look",)
    plan, look, answer = answered.trace.steps
    assert (plan.call, look.call, answer.call) == ("plan", "look", "answer")
    assert len(backbone.of(LocalizeEvent)) == 2
    beside, overview = backbone.of(InspectFrames)
    assert (beside.span.start, beside.span.end) == (15, 35)
    assert overview.prompt.endswith(RELOOK.text)
    (chosen,) = backbone.of(AnswerQuestion)
    assert chosen.guidance == RELOOK.text
    assert [piece.source for piece in chosen.evidence] == ["plan", "look"]
    assert answered.spend.frames == sum(step.frames for step in answered.trace.steps)


def test_a_plan_whose_event_is_not_seen_looks_no_further(minute: Video, sandbox: ProcessSandbox) -> None:
    backbone = Witness(event=None)
    answered = _ask(backbone, minute, sandbox, RELOOK)
    assert answered.status == "ok"
    assert len(backbone.of(LocalizeEvent)) == 1
    assert len(backbone.of(InspectFrames)) == 1


def test_a_skill_that_does_not_fire_changes_nothing(minute: Video, sandbox: ProcessSandbox) -> None:
    backbone = Witness()
    answered = _ask(backbone, minute, sandbox, RELOOK.model_copy(update={"trigger": "before"}))
    assert answered.trace.skills == ()
    assert backbone.of(AnswerQuestion)[0].guidance == ""
    assert [step.call for step in answered.trace.steps] == ["look", "answer"]


def test_the_tool_policy_goes_by_the_words_of_the_question() -> None:
    policy = {"how many | count": ("enumerate",), "default": ("look", "search")}
    assert allowed_tools(policy, "How many circles?") == ("enumerate",)
    assert allowed_tools(policy, "What is red?") == ("look", "search")
    assert allowed_tools({}, "What is red?") is None
