"""Edits of strategy code: whatever the strategy, the result is legal, runs, and keeps what was there."""

import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from evoharness.evolution.proposers.syntax_moves import (
    Edit,
    Look,
    NotApplicable,
    look_at_named_times,
    look_at_unreadable,
    look_at_unseen,
    look_beside,
    look_over_everything,
    look_where_options_match,
    look_where_question_matches,
)
from evoharness.models.reasoning_tasks import AnswerQuestion, ChosenAnswer
from evoharness.models.task import Task
from evoharness.sandbox import check_source
from tests.evolution.proposers.asking import ASKED, LOOK, STRATEGIES, TWO_PLACES, Ask, empty, looked
from tests.solver.standins import Witness

EDITS: dict[str, Edit] = {
    edit.__name__: edit
    for edit in (
        look_where_question_matches,
        look_where_options_match,
        look_beside,
        look_over_everything,
        look_at_unseen,
        look_at_named_times,
        look_at_unreadable,
    )
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_every_edit_of_every_strategy_is_legal_and_answers(edit: Edit, name: str, ask: Ask) -> None:
    edited = edit(STRATEGIES[name], LOOK)
    assert check_source(edited) == []
    answered, backbone = ask(edited)
    assert (answered.status, answered.choice, answered.message) == ("ok", 1, "")
    before, plain = ask(STRATEGIES[name])
    assert len(backbone.of(AnswerQuestion)) == 2
    shown = len(plain.of(AnswerQuestion)[0].frames)
    assert 0 <= answered.spend.frames - before.spend.frames <= LOOK.frames + shown


@pytest.mark.parametrize("one", EDITS.values(), ids=EDITS)
@pytest.mark.parametrize("other", EDITS.values(), ids=EDITS)
def test_two_edits_compose(one: Edit, other: Edit, ask: Ask) -> None:
    edited = other(one(TWO_PLACES, LOOK), LOOK)
    assert check_source(edited) == []
    answered, backbone = ask(edited, question=ASKED)
    assert answered.status == "ok"
    first, _, last = backbone.of(AnswerQuestion)
    assert [piece.text for piece in first.evidence] == ["what happens after the red circle", "zzzz illegible"]
    assert len(looked(backbone)) >= 2, "both looked"
    assert set(first.evidence) < set(last.evidence), "what was gathered before stays"


def test_the_helper_is_there_once_however_often_a_strategy_is_edited() -> None:
    source = TWO_PLACES
    for edit in EDITS.values():
        source = edit(source, LOOK)
    assert source.count("def placed") == 1
    assert source.count("ctx.look(") == len(EDITS)
    assert source.count("ctx.answer(") == len(EDITS) + 1


def test_new_names_do_not_clash_with_those_of_the_strategy(ask: Ask) -> None:
    inserted = "".join(edit(empty(), LOOK) for edit in EDITS.values())
    used = sorted(
        {one or other for one, other in re.findall(r"^ *(\w+) =|for (\w+) in", inserted, re.MULTILINE)}
    )
    assert {"evidence", "first", "places", "item", "option", "number", "seen_until"} <= set(used)
    lines = "\n".join(f"    {name} = {number % 90}" for number, name in enumerate(used))
    sum_of = " + ".join(used)
    source = f"""
def strategy(ctx, question):
{lines}
    seen = [{{"text": "somewhere", "start": 20, "end": 22}}]
    return ctx.answer([seen, {{"text": str({sum_of})}}], sample=number)
"""
    _, plain = ask(source)
    (expected,) = plain.of(AnswerQuestion)
    for edit in EDITS.values():
        edited, backbone = ask(edit(source, LOOK), question=ASKED)
        first, last = backbone.of(AnswerQuestion)
        assert edited.status == "ok"
        assert first.evidence == expected.evidence
        assert first.sample == last.sample == used.index("number") % 90


@pytest.mark.parametrize("line", ["from math import floor as places", "import math as places"])
def test_new_names_do_not_clash_with_what_is_imported(line: str) -> None:
    source = f"{line}\n{TWO_PLACES}"
    assert "places_2 = []" in look_where_question_matches(source, LOOK)


def test_a_helper_of_the_same_name_keeps_its_meaning(ask: Ask) -> None:
    source = """
def strategy(ctx, question):
    return ctx.answer(placed(7))

def placed(second):
    return [{"text": "seen", "start": second, "end": second}]
"""
    edited = look_where_question_matches(look_where_question_matches(source, LOOK), LOOK)
    assert check_source(edited) == []
    answered, backbone = ask(edited)
    assert (answered.status, answered.message) == ("ok", "")
    assert looked(backbone)[0] == (4, 11)


def test_a_sample_of_its_own_stays_with_the_answer(ask: Ask) -> None:
    source = "def strategy(ctx, question):\n    return ctx.answer([], sample=7)\n"
    _, backbone = ask(look_over_everything(source, LOOK))
    assert [task.sample for task in backbone.of(AnswerQuestion)] == [7, 7]


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
@given(threshold=st.sampled_from([0.1, 0.5, 0.69, 0.7, 0.71, 0.9, 1.0]))
@settings(
    max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)
def test_the_look_is_skipped_when_an_option_scores_enough(edit: Edit, threshold: float, ask: Ask) -> None:
    answered, backbone = ask(edit(TWO_PLACES, replace(LOOK, unless=threshold)), question=ASKED)
    sure = threshold <= 0.7
    assert (looked(backbone) == []) == sure
    assert len(backbone.of(AnswerQuestion)) == (1 if sure else 2)
    assert answered.choice == 1


def test_without_scores_there_is_a_look(ask: Ask) -> None:
    def silent(task: Task[ChosenAnswer]) -> ChosenAnswer | None:
        return ChosenAnswer(choice=0) if isinstance(task, AnswerQuestion) else None

    edited = look_where_question_matches(TWO_PLACES, replace(LOOK, unless=0.1))
    answered, backbone = ask(edited, Witness(instead=silent))
    assert (answered.status, len(looked(backbone))) == ("ok", 2)


def test_the_first_answer_is_shown_the_frames_of_the_strategy(ask: Ask) -> None:
    edited = look_over_everything(STRATEGIES["one_shot"], replace(LOOK, unless=0.5))
    answered, backbone = ask(edited)
    (only_answer,) = backbone.of(AnswerQuestion)
    assert len(only_answer.frames) == answered.spend.frames == 60


@given(
    spans=st.integers(1, 40),
    fps=st.sampled_from([0.05, 0.5, 2, 8]),
    frames=st.integers(1, 300),
    edit=st.sampled_from(list(EDITS.values())),
    around=st.floats(0, 500),
)
@settings(
    max_examples=25,
    phases=[Phase.explicit, Phase.generate],
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    database=None,
)
def test_any_budget_is_kept(spans: int, fps: float, frames: int, edit: Edit, around: float, ask: Ask) -> None:
    look = Look(spans=spans, before=around, after=around, fps=fps, frames=frames, unless=0.9)
    answered, backbone = ask(edit(TWO_PLACES, look))
    assert (answered.status, answered.message) == ("ok", "")
    assert len(looked(backbone)) <= spans
    assert answered.spend.frames <= frames


@pytest.mark.parametrize(
    "evidence", ["None", "''", "'words'", "{}", "[[], {}]", "{'text': 'x'}", "{'text': 'x', 'start': 3}"]
)
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_evidence_of_any_shape_will_do(edit: Edit, evidence: str, ask: Ask) -> None:
    source = empty().replace("[]", evidence)
    answered, _ = ask(edit(source, LOOK))
    assert (answered.status, answered.message) == ("ok", "")


def test_statements_are_found_at_any_depth(ask: Ask) -> None:
    source = empty().replace("[]", "{'observations': [[{'text': 'x', 'start': 30, 'end': 31}]]}")
    _, backbone = ask(look_where_question_matches(source, LOOK))
    assert looked(backbone) == [(27, 35)]


def test_thousands_of_statements_are_no_obstacle(ask: Ask) -> None:
    source = empty().replace("[]", "[{'text': str(n), 'start': 1, 'end': 2} for n in range(2500)]")
    answered, backbone = ask(look_where_question_matches(source, LOOK))
    assert (answered.status, answered.message, len(looked(backbone))) == ("ok", "", 2)


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
@pytest.mark.parametrize(
    "source",
    [
        "def strategy(ctx, question):\n    return {'choice': 0}\n",
        "def strategy(ctx, question):\n    return ctx.answer()\n",
        "def strategy(ctx, question):\n    return other.answer([])\n",
        "def strategy(ctx, question):\n    return end(ctx)\n\ndef end(ctx):\n    return ctx.answer([])\n",
        "def strategy(ctx, question):\n    return ctx.answer(*[[]])\n",
        "def strategy(ctx, question):\n    return ctx.answer([])['choice']\n",
        "def strategy(ctx, question):\n    a = ctx.answer([])\n    return ctx.verify(a['text'], [])\n",
        "def strategy(ctx, question):\n    return max([ctx.answer(part) for part in [[], []]])\n",
    ],
    ids=[
        *("no answer", "no evidence", "not of ctx", "where the question is unknown", "evidence spread out"),
        *("a part of the answer", "an answer that is not returned", "one answer of several"),
    ],
)
def test_a_strategy_without_the_answer_call_cannot_be_edited(edit: Edit, source: str) -> None:
    with pytest.raises(NotApplicable, match="answer"):
        edit(source, LOOK)


def test_the_last_answer_is_the_one_that_gets_the_look() -> None:
    source = """
def strategy(ctx, question):
    if question["options"]:
        return ctx.answer(["early"])
    return ctx.answer(["late"])
"""
    edited = look_over_everything(source, LOOK)
    assert "return ctx.answer(['early'])" in edited
    assert "evidence = ['late']" in edited
