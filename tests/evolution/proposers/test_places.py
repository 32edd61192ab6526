"""Where each edit makes a strategy look, and where it cannot be made."""

from dataclasses import replace

import pytest

from evoharness.evolution.proposers.syntax_moves import (
    NotApplicable,
    answer_before_last_look,
    look_at_named_times,
    look_at_unreadable,
    look_at_unseen,
    look_beside,
    look_closer_at_candidates,
    look_over_everything,
    look_where_options_match,
    look_where_question_matches,
)
from evoharness.models.perception_tasks import InspectFrames
from evoharness.models.reasoning_tasks import AnswerQuestion
from evoharness.records.interval import Interval
from tests.evolution.proposers.asking import LOOK, STRATEGIES, TWO_PLACES, Ask, empty, looked
from tests.solver.standins import QUESTION, Witness


def test_it_looks_around_what_is_most_like_the_question(ask: Ask) -> None:
    edited = look_where_question_matches(TWO_PLACES, replace(LOOK, spans=1))
    _, backbone = ask(edited)
    assert looked(backbone) == [(17, 26)]
    (task,) = backbone.of(InspectFrames)
    assert task.prompt == "What happens after the red circle? / a / b / c"
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


def test_it_looks_over_everything_between_the_times_of_before(ask: Ask) -> None:
    _, backbone = ask(look_over_everything(empty(), LOOK))
    assert looked(backbone) == [(1.5, 30), (31.5, 60)]


def test_what_could_not_be_made_out_is_looked_at_the_likest_first(ask: Ask) -> None:
    source = """
def strategy(ctx, question):
    seen = [
        {"text": "zzzz zzzz that is too small to read", "start": 5, "end": 7},
        {"text": "a red circle, beside it words that are Illegible", "start": 20, "end": 30},
        {"text": "what happens after the red circle", "start": 40, "end": 42},
        {"text": "the label of the red circle cannot be read", "start": 50, "end": 50},
    ]
    return ctx.answer(seen)
"""
    answered, backbone = ask(look_at_unreadable(source, LOOK))
    assert answered.status == "ok"
    assert sorted(looked(backbone)) == [(22.0, 29.0), (47.0, 54.0)]


def test_where_everything_was_made_out_nothing_more_is_looked_at(ask: Ask) -> None:
    answered, backbone = ask(look_at_unreadable(STRATEGIES["overview"], LOOK))
    assert (answered.status, looked(backbone)) == ("ok", [(0.0, 60.0)])


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
    answered, backbone = ask(look_closer_at_candidates(STRATEGIES["overview"], LOOK), Witness(event))
    assert (answered.status, looked(backbone)) == ("ok", [(0.0, 60.0), (17.0, 26.0)])
    _, nothing_found = ask(look_closer_at_candidates(STRATEGIES["overview"], LOOK), Witness())
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
