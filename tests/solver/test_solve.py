"""What a strategy or a model does ends in a status, a trace and a bill, never in an exception."""

from collections.abc import Callable
from typing import Any

import pytest

from evoharness.harness import Harness
from evoharness.models.backbone import BackboneUnavailable, Refused, Unparsed
from evoharness.models.reasoning_tasks import AnswerQuestion, ChosenAnswer, Reason, Reasoning
from evoharness.records.outcome import Answered
from evoharness.records.question import PublicQuestion
from evoharness.sandbox import ProcessSandbox
from evoharness.solver import SolverBench, SolverLimits, solve
from evoharness.video import Video
from tests.solver.standins import QUESTION, Letters, Witness, only

Solve = Callable[..., Answered]
HEAD = "def strategy(ctx, question):\n    "


@pytest.fixture
def answer(sandbox: ProcessSandbox, minute: Video) -> Solve:
    def run(
        harness: Harness | str,
        backbone: Witness | None = None,
        question: PublicQuestion = QUESTION,
        limits: SolverLimits = SolverLimits(),  # noqa: B008
        **more: Any,
    ) -> Answered:
        bench = SolverBench(backbone or Witness(), Letters(), sandbox, lambda _: pytest.fail("no memory"))
        chosen = only(HEAD + harness) if isinstance(harness, str) else harness
        return solve(question, minute, chosen, bench, limits, **more)

    return run


def test_an_answer_carries_choice_trace_and_spend(answer: Solve) -> None:
    answered = answer("seen = ctx.look([[0, 10]], fps=1)\n    return ctx.answer(seen['observations'])")
    assert (answered.status, answered.choice, answered.text) == ("ok", 1, "because")
    look, decision = answered.trace.steps
    assert (look.call, look.frames, len(look.frame_times)) == ("look", 10, 10)
    assert look.arguments == {"spans": [[0, 10]], "fps": 1.0}
    assert look.result["observations"][0]["text"].startswith("10 frames")
    assert (decision.call, decision.tokens) == ("answer", 11)
    assert (answered.spend.calls, answered.spend.frames, answered.spend.tokens) == (2, 10, 22)
    assert answered.trace.strategy == "mine"
    assert answered.trace.reading[0].startswith(("decord: ", "PyAV: "))


def test_a_strategy_sees_the_question_the_parameters_and_nothing_else(answer: Solve) -> None:
    text = answer(
        "return {'choice': 0, 'text': str([sorted(question), ctx.video.duration, ctx.params.frame_cap])}"
    ).text
    assert text == "[['options', 'text'], 60.0, 192]"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("return {'choice': 2}", "ok"),
        ("return {'choice': 3}", "unparsed"),
        ("return {'choice': -1}", "unparsed"),
        ("return {'choice': True}", "unparsed"),
        ("return {'choice': '1'}", "unparsed"),
        ("return {'choice': None, 'text': 'b'}", "unparsed"),
        ("return 1", "unparsed"),
        ("return None", "unparsed"),
        ("return 1 / 0", "sandbox:strategy_error"),
        ("return ctx.nothing()", "sandbox:strategy_error"),
        ("return ctx.look(fps=0)", "sandbox:host_call_error"),
        ("return open('/etc/passwd')", "sandbox:policy_violation"),
        ("while True:\n        pass", "sandbox:step_budget_exceeded"),
        ("return [x for x in", "sandbox:policy_violation"),
    ],
)
def test_whatever_a_strategy_does_is_a_status(answer: Solve, body: str, status: str) -> None:
    answered = answer(body)
    assert answered.status == status
    assert answered.status == "ok" or answered.message


@pytest.mark.parametrize(
    ("error", "status"),
    [(Refused("no"), "refused"), (BackboneUnavailable("down"), "apparatus"), (Unparsed("?"), "unparsed")],
)
def test_whatever_a_model_does_is_a_status(answer: Solve, error: Exception, status: str) -> None:
    def fail(_: Any) -> Any:
        raise error

    answered = answer(
        "try:\n        return ctx.answer([])\n    except Exception:\n        return {'choice': 0}",
        Witness(instead=fail),
    )
    assert answered.status == status


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        (SolverLimits(calls=3), "3 model calls"),
        (SolverLimits(frames=25), "25 frames"),
        (SolverLimits(seconds=0), "0 s"),
    ],
)
def test_a_limit_ends_the_answer(answer: Solve, limits: SolverLimits, says: str) -> None:
    answered = answer("while True:\n        ctx.look([[0, 10]], 1)", limits=limits)
    assert answered.status == "over_limit"
    assert says in answered.message
    assert answered.spend.calls <= limits.calls
    assert answered.spend.frames <= limits.frames
    assert len(answered.trace.steps) == answered.spend.calls + 1


def test_what_is_left_can_be_asked(answer: Solve) -> None:
    answered = answer(
        "ctx.look([[0, 10]], 1)\n    left = ctx.remaining()\n"
        "    return {'choice': 0, 'text': f\"{left['frames']} {left['calls']}\"}"
    )
    assert answered.text == "3990 59"


def test_memory_calls_do_not_exist_on_other_routes(answer: Solve) -> None:
    answered = answer(
        "try:\n        return ctx.search('x')\n    except HostCallError as error:\n"
        "        return {'choice': 0, 'text': str(error)}"
    )
    assert "no memory" in answered.text


@pytest.mark.parametrize("call", ["ctx.tool('count', {})", "ctx.knowledge('x')", "ctx.call('launch', {})"])
def test_a_tool_that_is_not_there_is_an_error_one_can_catch(answer: Solve, call: str) -> None:
    answered = answer(
        f"try:\n        {call}\n    except HostCallError as error:\n"
        "        return {'choice': 0, 'text': str(error)}"
    )
    assert answered.status == "ok"
    assert "no" in answered.text


def test_samples_of_trials_never_coincide(answer: Solve) -> None:
    backbone = Witness()
    body = "ctx.answer([], sample=0)\n    return ctx.answer([], sample=1)"
    for trial in range(2):
        answer(body, backbone, trial=trial)
    samples = [task.sample for task in backbone.of(AnswerQuestion)]
    assert len(set(samples)) == 4


def test_a_guess_is_marked(answer: Solve) -> None:
    assert answer("return ctx.answer([])").guessed
    assert not answer("return ctx.answer(['a fact'])").guessed


def test_an_open_question_is_answered_in_words(answer: Solve) -> None:
    open_question = PublicQuestion(id="o", video="v", text="what is it?", options=())
    answered = answer("return ctx.answer(['a fact'])", question=open_question)
    assert (answered.status, answered.choice, answered.text) == ("ok", None, "WHAT IS IT?")


def test_thinking_calls(answer: Solve) -> None:
    answered = answer(
        "closest = ctx.similar('abc', ['xyz', 'cba'])\n"
        "    found = ctx.find('[0-9]+', 'step 12 of 30')\n"
        "    verdict = ctx.verify('it is red', ['it is red'])\n"
        "    words = ctx.reason('sum up', [])['text']\n"
        "    return {'choice': int(closest[1] > closest[0]), 'text': "
        "str([found, verdict['supported'], words])}"
    )
    assert answered.choice == 1
    assert "{'text': '12', 'start': 5, 'end': 7}" in answered.text
    assert "True, 'SUM UP'" in answered.text


def test_a_hopeless_pattern_ends_at_once(answer: Solve) -> None:
    answered = answer("return {'choice': 0, 'text': str(ctx.find('(a+)+$', 'a' * 50000 + 'b'))}")
    assert (answered.status, answered.text) == ("ok", "[]")
    assert answer("return ctx.find('(', 'x')").status == "sandbox:host_call_error"


@pytest.mark.parametrize("options", [("a", "b"), ()])
def test_an_answer_that_cannot_be_read_is_the_models_fault_and_not_the_strategys(
    answer: Solve, options: tuple[str, ...]
) -> None:
    def unreadable(task: Any) -> Any:
        if isinstance(task, AnswerQuestion | Reason):
            raise Unparsed("openai/a on AnswerQuestion: no JSON\nin it")
        return None

    asked = PublicQuestion(id="q", video="v", text="which?", options=options)
    backbone = Witness(instead=unreadable)
    answered = answer("return ctx.answer(['x'])", backbone, asked)
    assert answered.status == "unparsed"
    assert (
        answered.message == "the model's answer could not be read: openai/a on AnswerQuestion: no JSON in it"
    )
    own = answer("ctx.answer(['x'])\n    return 1", backbone, asked).message
    assert own == "the strategy returned 1: return what ctx.answer(…) gives"
    later = answer("got = ctx.answer(['x'])\n    ctx.look([[0, 10]], 1)\n    return got", backbone, asked)
    assert later.message == answered.message


def test_a_backbone_that_chooses_nothing_leaves_the_question_unparsed(answer: Solve) -> None:
    def undecided(task: Any) -> Any:
        return ChosenAnswer(choice=None, text="unsure") if isinstance(task, AnswerQuestion) else None

    answered = answer("return ctx.answer(['x'])", Witness(instead=undecided))
    assert (answered.status, answered.text) == ("unparsed", "unsure")
    assert answered.message == "the model chose none of the options"


def test_a_backbone_without_words_leaves_an_open_question_unparsed(answer: Solve) -> None:
    def silent(task: Any) -> Any:
        return Reasoning(text="") if isinstance(task, Reason) else None

    open_question = PublicQuestion(id="o", video="v", text="what is it?", options=())
    answered = answer("return ctx.answer(['x'])", Witness(instead=silent), open_question)
    assert (answered.status, answered.message) == ("unparsed", "the model's answer has no words")
