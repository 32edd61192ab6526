"""Edits of strategy code: whatever the strategy, the result is legal, runs, and looks where it says."""

import re
from dataclasses import replace
from typing import Protocol

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from evoharness.evolution.proposers.strategy_moves import DOUBTS, LOOKS, strategy_moves
from evoharness.evolution.proposers.syntax_moves import (
    Edit,
    Look,
    NotApplicable,
    answer_before_last_look,
    look_at_named_times,
    look_at_unseen,
    look_beside,
    look_closer_at_candidates,
    look_over_everything,
    look_where_options_match,
    look_where_question_matches,
)
from evoharness.harness import Harness, initial_harness
from evoharness.memory import MemoryReader
from evoharness.models.perception_tasks import InspectFrames
from evoharness.models.reasoning_tasks import AnswerQuestion, ChosenAnswer
from evoharness.models.task import Task
from evoharness.records.interval import Interval
from evoharness.records.memory import VideoMemory
from evoharness.records.outcome import Answered
from evoharness.records.question import PublicQuestion
from evoharness.sandbox import ProcessSandbox, check_source
from evoharness.solver import SolverBench, SolverLimits, solve
from evoharness.video import Video
from tests.solver.standins import QUESTION, Letters, Witness, only

STRATEGIES = initial_harness().strategies
EDITS: dict[str, Edit] = {
    edit.__name__: edit
    for edit in (
        look_where_question_matches,
        look_where_options_match,
        look_beside,
        look_over_everything,
        look_at_unseen,
        look_at_named_times,
    )
}
TIMED = QUESTION.model_copy(update={"text": "What happens after the red circle at 0:33?"})
LOOK = Look(spans=2, before=3, after=4, fps=2, frames=20)
UNSURE = replace(LOOK, unless=0.9)
"""The witness scores 0.7."""


class Ask(Protocol):
    """What came of a strategy, and the backbone that it asked."""

    def __call__(
        self, source: str, backbone: Witness | None = None, question: PublicQuestion = QUESTION
    ) -> tuple[Answered, Witness]: ...


TWO_PLACES = """
def strategy(ctx, question):
    seen = [
        {"text": "what happens after the red circle", "start": 20, "end": 22},
        {"text": "zzzz", "start": 40, "end": 60},
    ]
    return ctx.answer(seen)
"""


@pytest.fixture
def ask(minute: Video, sandbox: ProcessSandbox, memory: VideoMemory) -> Ask:
    """Lets a strategy answer about a minute of video, for real, with a memory where it searches one."""

    def answered(
        source: str, backbone: Witness | None = None, question: PublicQuestion = QUESTION
    ) -> tuple[Answered, Witness]:
        backbone = backbone or Witness()
        bench = SolverBench(backbone, Letters(), sandbox, lambda _: MemoryReader(memory, Letters()))
        return solve(question, minute, only(source, "ctx.search" in source), bench, SolverLimits()), backbone

    return answered


def looked(backbone: Witness) -> list[tuple[float, float]]:
    return [(task.span.start, task.span.end) for task in backbone.of(InspectFrames)]


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
@pytest.mark.parametrize("name", sorted(STRATEGIES))
@pytest.mark.parametrize("look", [LOOK, UNSURE], ids=["always", "unless"])
def test_every_edit_of_every_strategy_is_legal_and_answers(
    edit: Edit, name: str, look: Look, ask: Ask
) -> None:
    edited = edit(STRATEGIES[name], look)
    assert check_source(edited) == []
    answered, backbone = ask(edited)
    assert (answered.status, answered.choice, answered.message) == ("ok", 1, "")
    before, _ = ask(STRATEGIES[name])
    assert len(backbone.of(AnswerQuestion)) == (1 if look.unless is None else 2)
    assert 0 <= answered.spend.frames - before.spend.frames <= (look.frames if look.unless is None else 212)


@pytest.mark.parametrize("one", EDITS.values(), ids=EDITS)
@pytest.mark.parametrize("other", EDITS.values(), ids=EDITS)
def test_two_edits_compose(one: Edit, other: Edit, ask: Ask) -> None:
    edited = other(one(TWO_PLACES, UNSURE), LOOK)
    assert check_source(edited) == []
    answered, backbone = ask(edited, question=TIMED)
    assert answered.status == "ok"
    first, last = backbone.of(AnswerQuestion)
    assert [piece.text for piece in first.evidence] == ["what happens after the red circle", "zzzz"]
    assert len(looked(backbone)) >= 2, "both looked"
    assert set(first.evidence) < set(last.evidence), "what was gathered before stays"


def test_the_helper_is_there_once_however_often_a_strategy_is_edited() -> None:
    source = TWO_PLACES
    for edit in EDITS.values():
        source = edit(source, LOOK)
    assert source.count("def placed") == 1
    assert source.count("ctx.look(") == len(EDITS)
    assert source.count("ctx.answer(") == 1


def test_new_names_do_not_clash_with_those_of_the_strategy(ask: Ask) -> None:
    inserted = "".join(edit(empty(), UNSURE) for edit in EDITS.values())
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
    result = ctx.answer(seen, sample=number)
    result["text"] = str({sum_of})
    return result
"""
    plain, _ = ask(source)
    assert plain.status == "ok"
    for edit in EDITS.values():
        edited, backbone = ask(edit(source, LOOK))
        assert (edited.status, edited.text) == ("ok", plain.text)
        (answer,) = backbone.of(AnswerQuestion)
        assert answer.sample == used.index("number") % 90


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


def test_votes_are_cast_with_their_own_samples(ask: Ask) -> None:
    source = """
def strategy(ctx, question):
    for number in range(3):
        vote = ctx.answer([], sample=number)
    return vote
"""
    _, backbone = ask(look_over_everything(source, replace(LOOK, spans=4)))
    assert [task.sample for task in backbone.of(AnswerQuestion)] == [0, 1, 2]


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
@given(threshold=st.sampled_from([0.1, 0.5, 0.69, 0.7, 0.71, 0.9, 1.0]))
@settings(
    max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)
def test_the_look_is_skipped_when_an_option_scores_enough(edit: Edit, threshold: float, ask: Ask) -> None:
    answered, backbone = ask(edit(TWO_PLACES, replace(LOOK, unless=threshold)), question=TIMED)
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


def test_it_looks_around_what_is_most_like_the_question(ask: Ask) -> None:
    edited = look_where_question_matches(TWO_PLACES, replace(LOOK, spans=1))
    _, backbone = ask(edited)
    assert looked(backbone) == [(17, 26)]
    (task,) = backbone.of(InspectFrames)
    assert task.prompt == "What happens after the red circle? a / b / c"
    assert len(task.frames) <= LOOK.frames


def test_it_looks_around_what_is_most_like_each_option(ask: Ask) -> None:
    source = TWO_PLACES.replace("zzzz", "bb").replace("what happens after the red circle", "aaa")
    _, backbone = ask(look_where_options_match(source, LOOK))
    assert looked(backbone) == [(17, 26), (37, 60)]


@pytest.mark.parametrize(
    ("words", "span"),
    [("What happens after it?", (20, 26)), ("What is before it?", (17, 22)), ("Where is it?", (17, 26))],
)
def test_it_looks_on_the_side_that_the_question_names(
    words: str, span: tuple[float, float], ask: Ask
) -> None:
    source = look_beside(TWO_PLACES.replace("zzzz", "jjjj"), replace(LOOK, spans=1))
    asked = QUESTION.model_copy(update={"text": words})
    _, backbone = ask(source, question=asked)
    assert looked(backbone) == [span]


def test_it_looks_at_the_longest_stretches_nothing_was_said_of(ask: Ask) -> None:
    look = replace(LOOK, before=0, after=0)
    _, backbone = ask(look_at_unseen(TWO_PLACES, look))
    assert looked(backbone) == [(0, 20), (22, 40)]
    ended = TWO_PLACES.replace("60}", "41}").replace("20,", "2,")
    _, backbone = ask(look_at_unseen(ended, look))
    assert looked(backbone) == [(41, 60), (22, 40)], "the end of the video counts"
    _, backbone = ask(look_at_unseen(empty(), look))
    assert looked(backbone) == [(0, 60)]


def empty() -> str:
    return "def strategy(ctx, question):\n    return ctx.answer([])\n"


def test_it_looks_over_everything_between_the_times_of_before(ask: Ask) -> None:
    _, backbone = ask(look_over_everything(empty(), LOOK))
    assert looked(backbone) == [(0.25, 30), (30.25, 60)]


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
    look = Look(spans=spans, before=around, after=around, fps=fps, frames=frames)
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
    ],
    ids=["no answer", "no evidence", "not of ctx", "where the question is unknown"],
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


def test_the_last_look_is_spared_where_an_option_scores_enough(ask: Ask) -> None:
    """The witness scores 0.7, and `chunked` looks at a chunk, then closer at what the chunk points to."""
    event = Interval(start=20, end=22)
    before, plain = ask(STRATEGIES["chunked"], Witness(event))
    sure, spared = ask(answer_before_last_look(STRATEGIES["chunked"], 0.7), Witness(event))
    unsure, looked_on = ask(answer_before_last_look(STRATEGIES["chunked"], 0.71), Witness(event))
    assert len(looked(plain)) > 1, "there is a closer look to spare"
    assert (sure.status, sure.choice, looked(spared)) == ("ok", before.choice, looked(plain)[:1])
    assert (unsure.status, unsure.choice, looked(looked_on)) == ("ok", before.choice, looked(plain))
    asked = [len(backbone.of(AnswerQuestion)) for backbone in (plain, spared, looked_on)]
    assert asked == [1, 1, 2]


def test_times_are_looked_at_where_the_question_or_an_option_names_them(ask: Ask) -> None:
    asked = QUESTION.model_copy(
        update={"text": "What is shown at 0:12?", "options": ("a map", "as at 0:00:40", "9:59", "1 to 3")}
    )
    answered, backbone = ask(look_at_named_times(STRATEGIES["overview"], LOOK), question=asked)
    assert (answered.status, looked(backbone)) == ("ok", [(0.0, 60.0), (9.0, 16.0), (37.0, 44.0)])


def test_without_a_named_time_nothing_more_is_looked_at(ask: Ask) -> None:
    answered, backbone = ask(look_at_named_times(STRATEGIES["overview"], LOOK))
    assert (answered.status, looked(backbone)) == ("ok", [(0.0, 60.0)])


def test_a_closer_look_goes_to_what_the_only_look_points_to(ask: Ask) -> None:
    event = Interval(start=20, end=22)
    answered, backbone = ask(look_closer_at_candidates(STRATEGIES["overview"], UNSURE), Witness(event))
    assert (answered.status, looked(backbone)) == ("ok", [(0.0, 60.0), (17.0, 26.0)])
    _, nothing_found = ask(look_closer_at_candidates(STRATEGIES["overview"], UNSURE), Witness())
    assert looked(nothing_found) == [(0.0, 60.0)]


@pytest.mark.parametrize("name", ["chunked", "one_shot", "orchestrated"])
def test_only_where_there_is_one_look_can_one_look_closer(name: str) -> None:
    with pytest.raises(NotApplicable, match="exactly once"):
        look_closer_at_candidates(STRATEGIES[name], LOOK)


def test_a_look_that_keeps_nothing_points_nowhere() -> None:
    source = """
def strategy(ctx, question):
    seen = ctx.look(spans=[])["observations"]
    return ctx.answer(seen)
"""
    with pytest.raises(NotApplicable, match="has no name"):
        look_closer_at_candidates(source, LOOK)


@pytest.mark.parametrize("name", ["overview", "one_shot", "orchestrated"])
def test_a_strategy_that_looks_once_has_no_last_look_to_spare(name: str) -> None:
    with pytest.raises(NotApplicable, match="only once"):
        answer_before_last_look(STRATEGIES[name], 0.5)


@pytest.mark.parametrize(
    "evidence", ["[first, second]", "second"], ids=["has no name", "comes with the last look"]
)
def test_evidence_has_to_be_there_before_the_last_look(evidence: str) -> None:
    source = f"""
def strategy(ctx, question):
    first = ctx.look(spans=[[0, 5]])["observations"]
    second = ctx.look(spans=[[5, 9]])["observations"]
    return ctx.answer({evidence})
"""
    with pytest.raises(NotApplicable, match="not there before the last look"):
        answer_before_last_look(source, 0.5)


def test_a_look_says_what_it_costs() -> None:
    assert str(UNSURE) == (
        "2 places, 3 s before to 4 s after, 2 frames/s at detail_detail, 20 frames in all, "
        "unless an option scores 0.9"
    )
    assert str(Look(1, 0, 0, 4, 64)) == "1 place, 4 frames/s at detail_detail, 64 frames in all"


def test_moves_of_strategies_are_legal_and_of_different_names(ask: Ask) -> None:
    moves = list(strategy_moves(["chunked", "overview"]))
    assert len({move.title for move in moves}) == len(moves) == len(DOUBTS) * (len(LOOKS) + 1)
    results = []
    for move in moves:
        changed = move.apply(initial_harness())
        assert isinstance(changed, Harness)
        edited = {name for name, code in changed.strategies.items() if code != STRATEGIES[name]}
        only = (
            {"chunked"} if "last look" in move.title else {"overview"} if "first look" in move.title else None
        )
        assert edited == (only or {"chunked", "overview"})
        results.append(changed.fingerprint)
        answered, _ = ask(changed.strategies["chunked"])
        assert answered.status == "ok"
    assert len(set(results)) == len(results)


def test_a_move_changes_the_strategies_that_have_the_shape_for_it() -> None:
    spared = [move for move in strategy_moves(["one_shot", "overview"]) if "last look" in move.title]
    assert [move.apply(initial_harness()) for move in spared] == [None] * len(DOUBTS)
