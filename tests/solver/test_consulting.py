"""Strategies look things up in a knowledge base, and may choose to where there is one."""

from collections.abc import Callable
from typing import Any

import pytest

from evoharness.knowledge import KnowledgeBase, Passage
from evoharness.models.reasoning_tasks import AnswerQuestion, ChooseAction, ChosenAction
from evoharness.records.outcome import Answered
from evoharness.retrieval import EmbedderUnavailable
from evoharness.sandbox import ProcessSandbox
from evoharness.solver import SolverBench, SolverLimits, solve
from evoharness.video import Video
from tests.solver.standins import QUESTION, Letters, Witness, only

BASE = KnowledgeBase(
    [
        Passage(id="1", type="abstract", text="A trocar lets the camera in.", source="Journal 1"),
        Passage(id="2", type="abstract", text="Clips stop a bleeding.", source="Journal 2"),
        Passage(id="3", type="technique", text="A trocar is placed first."),
    ],
    Letters(),
)
Solve = Callable[..., Answered]


@pytest.fixture
def answer(sandbox: ProcessSandbox, minute: Video) -> Solve:
    def run(body: str, base: KnowledgeBase | None = BASE, backbone: Witness | None = None) -> Answered:
        bench = SolverBench(
            backbone or Witness(), Letters(), sandbox, lambda _: pytest.fail("no memory"), knowledge=base
        )
        return solve(
            QUESTION, minute, only(f"def strategy(ctx, question):\n    {body}"), bench, SolverLimits()
        )

    return run


def test_passages_are_found_and_are_evidence_without_a_time(answer: Solve) -> None:
    backbone = Witness()
    answered = answer("return ctx.answer(ctx.knowledge('trocar', 'abstract', k=1))", backbone=backbone)
    assert answered.status == "ok"
    step = answered.trace.steps[0]
    assert (step.call, step.frames, step.tokens) == ("knowledge", 0, 0)
    assert step.result == [
        {"text": "A trocar lets the camera in.", "source": "Journal 1", "type": "abstract"}
    ]
    (evidence,) = backbone.of(AnswerQuestion)[0].evidence
    assert (evidence.text, evidence.source, evidence.interval) == (
        "A trocar lets the camera in.",
        "Journal 1",
        None,
    )


@pytest.mark.parametrize(
    ("base", "arguments", "says"),
    [
        (None, "'trocar'", "no knowledge base is loaded"),
        (BASE, "'trocar', 'recipe'", "no passage has the type 'recipe' (types: abstract, technique)"),
    ],
)
def test_what_cannot_be_looked_up_is_an_error_one_can_catch(
    answer: Solve, base: KnowledgeBase | None, arguments: str, says: str
) -> None:
    answered = answer(
        f"try:\n        ctx.knowledge({arguments})\n    except HostCallError as error:\n"
        "        return {'choice': 0, 'text': str(error)}",
        base,
    )
    assert answered.text.endswith(says)


def test_the_orchestrator_may_choose_it_only_where_it_is_loaded(answer: Solve) -> None:
    body = (
        "action = ctx.decide([])\n"
        "    return ctx.answer([] if action['stop'] else ctx.call(action['tool'], action['arguments']))"
    )
    chosen = ChosenAction(tool="knowledge", arguments={"query": "trocar", "type": "technique"})
    offered = {}
    for name, base in (("loaded", BASE), ("none", None)):
        backbone = Witness(actions=(chosen,))
        answered = answer(body, base, backbone)
        assert answered.guessed == (base is None)
        offered[name] = {tool.name: tool for tool in backbone.of(ChooseAction)[0].tools}
    assert set(offered["loaded"]) - set(offered["none"]) == {"knowledge"}
    assert "abstract, technique" in offered["loaded"]["knowledge"].arguments["type"]


def test_an_embedder_that_is_down_is_the_apparatus(answer: Solve) -> None:
    class Down(Letters):
        def embed(self, texts: Any) -> Any:  # noqa: ARG002
            raise EmbedderUnavailable("nobody answers")

    base = KnowledgeBase([Passage(id="1", type="abstract", text="A trocar.", source="Journal")], Down())
    answered = answer("return ctx.answer(ctx.knowledge('trocar'))", base=base)
    assert (answered.status, answered.message) == ("apparatus", "nobody answers")
