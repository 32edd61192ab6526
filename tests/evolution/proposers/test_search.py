"""The search proposes compositions that help, within the limits, and nothing else."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoharness.evolution.proposers import SearchProposer, SearchSettings
from evoharness.evolution.proposers.search import sampled
from evoharness.evolution.proposing import Candidate, Ground, Rejection
from evoharness.records.evolution import ChangeKind
from tests.evolution.proposers.world import ASKED, World, context, frames, harness
from tests.evolution.scripted import outcome, question, questions


def prints(candidates: Sequence[Candidate]) -> list[str]:
    return [candidate.harness.fingerprint for candidate in candidates]


def test_it_finds_the_composition_that_helps_within_the_limits() -> None:
    best, *_ = SearchProposer().propose(context(World()))
    assert best.harness.parameters.detail_fps == 4, "which alone looks at too much"
    assert best.harness.parameters.overview_fps == 0.5, "which alone mends nothing"
    assert best.proposal.kind is ChangeKind.PARAMETERS
    assert set(best.proposal.title.split("; ")) >= {"detail_fps 2.0 → 4.0", "overview_fps 1.0 → 0.5"}
    assert best.proposal.proposer == "search"
    assert best.proposal.id == ""
    assert best.proposal.details["gain"] > 0
    assert best.proposal.details["frames_ratio"] == pytest.approx(235 / 230)
    assert f"{best.proposal.details['gain']:+.3f}" in best.proposal.reason


def test_a_single_move_will_do_where_the_limits_are_wide() -> None:
    best, *_ = SearchProposer(SearchSettings(depth=1)).propose(context(World(), limits={}))
    assert best.proposal.title == "detail_fps 2.0 → 4.0"


def test_without_depth_what_looks_too_much_is_not_proposed() -> None:
    assert SearchProposer(SearchSettings(depth=1)).propose(context(World())) == []


@pytest.mark.parametrize("limit", [1.0, 1.1, 1.3, 2.0, 4.0])
def test_every_proposal_gains_and_stays_well_within_the_limits(limit: float) -> None:
    world = World()
    limits = {"frames_ratio": limit, "tokens_ratio": 9.0}
    for candidate in SearchProposer().propose(context(world, limits=limits, count=20)):
        after = world([candidate.harness], ASKED)[candidate.harness.fingerprint]
        before = world([harness()], ASKED)[harness().fingerprint]
        assert sum(o.correct for o in after) > sum(o.correct for o in before)
        assert frames(candidate.harness) / frames(harness()) <= 1 + 0.9 * (limit - 1)


def test_where_nothing_changes_an_answer_nothing_is_proposed() -> None:
    world = World(helps=0.0)
    assert SearchProposer().propose(context(world, count=20)) == []


def test_what_changes_nothing_on_the_failures_is_tried_no_further() -> None:
    """`overview_detail` is read and changes neither looks nor answers: no composition contains it."""
    for candidate in SearchProposer().propose(context(World(), count=50)):
        assert "overview_detail" not in candidate.proposal.title
        assert candidate.harness.strategies == harness().strategies


def test_parameters_that_no_strategy_reads_are_never_tried() -> None:
    world = World()
    SearchProposer(SearchSettings(depth=1, tries=1000)).propose(context(world))
    assert harness(overview_detail="large").fingerprint in world.asked
    assert harness(frame_cap=96).fingerprint in world.asked
    assert harness(replay_fps=2).fingerprint not in world.asked
    assert harness(chunk_s=600).fingerprint not in world.asked


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_at_most_so_many_as_are_wanted_the_best_first(count: int) -> None:
    world = World()
    proposed = SearchProposer().propose(context(world, count=count, limits={}))
    everything = SearchProposer().propose(context(World(), count=100, limits={}))
    assert len(everything) >= 2
    assert prints(proposed) == prints(everything)[:count]
    assert len(set(prints(everything))) == len(everything)
    assert harness().fingerprint not in prints(everything)


def test_the_same_seed_proposes_the_same() -> None:
    few = SearchSettings(sample=20, tries=15)
    worlds = [World(), World(), World()]
    one, again, other = (
        SearchProposer(few).propose(context(world, seed=seed, count=9))
        for world, seed in zip(worlds, (3, 3, 4), strict=True)
    )
    assert [c.proposal for c in one] == [c.proposal for c in again]
    assert prints(one) == prints(again)
    assert worlds[0].asked == worlds[1].asked
    assert worlds[0].asked != worlds[2].asked
    assert other == [] or other[0].proposal.details["gain"] > 0


@pytest.mark.parametrize("ground", Ground)
def test_what_gained_nothing_is_not_tried_again_and_what_was_outranked_is(ground: Ground) -> None:
    best, *_ = SearchProposer().propose(context(World()))
    rejection = Rejection(best.proposal, best.harness.fingerprint, "screening", "in words", ground)
    world = World()
    later = SearchProposer().propose(context(world, rejections=[rejection], count=50))
    assert (best.harness.fingerprint not in prints(later)) == ground.bars
    assert (best.harness.fingerprint not in world.asked) == ground.bars


def test_tries_are_bounded() -> None:
    world = World()
    SearchProposer(SearchSettings(tries=10)).propose(context(world))
    assert len(world.asked) <= 10 + 1, "and the incumbent, which is the initial harness here"


def test_a_change_of_the_incumbent_is_measured_against_the_initial_harness() -> None:
    grown = harness(detail_fps=3)
    for candidate in SearchProposer().propose(context(World(), incumbent=grown, count=20)):
        share = candidate.proposal.details["frames_ratio"]
        assert share == pytest.approx(frames(candidate.harness) / frames(harness()))
        assert share <= 1.18


def test_without_failures_there_is_nothing_to_search_for() -> None:
    world = World()
    perfect = context(world, incumbent=harness(detail_fps=8))
    assert all(o.correct for o in perfect.outcomes)
    assert SearchProposer().propose(perfect) == []
    assert world.asked == []


@given(
    rewards=st.lists(st.sampled_from([0.0, 1.0, None]), min_size=1, max_size=60),
    size=st.integers(1, 40),
    seed=st.integers(0, 5),
)
def test_a_sample_stands_for_all_questions(rewards: list[float | None], size: int, seed: int) -> None:
    asked = questions(1, len(rewards))
    outcomes = [outcome(q, reward) for q, reward in zip(asked, rewards, strict=True)]
    reward_of = {q.id: reward for q, reward in zip(asked, rewards, strict=True)}
    sample = sampled(asked, outcomes, size, Random(seed))
    wrong, right = rewards.count(0.0), rewards.count(1.0)
    assert len(sample.all) == len({q.id for q in sample.all}) == min(size, wrong + right)
    assert {reward_of[q.id] for q in sample.failures} <= {0.0}
    assert {reward_of[q.id] for q in sample.successes} <= {1.0}
    assert len(sample.failures) >= min(wrong, size // 2)
    assert len(sample.weights) == len(sample.all)
    if sample.failures:
        failed = sum(sample.weights[: len(sample.failures)])
        assert failed == pytest.approx(wrong / len(rewards)), "failures weigh what they are of all"
    if sample.successes:
        passed = sum(sample.weights[len(sample.failures) :])
        assert passed == pytest.approx(right / len(rewards))
    assert sample == sampled(asked, outcomes, size, Random(seed))


@pytest.mark.parametrize(("grade", "failed"), [(1.0, True), (3.0, True), (4.0, False), (5.0, False)])
def test_graded_answers_fail_below_four_of_five(grade: float, failed: bool) -> None:
    asked = question(1, options=(), answer=None, reference_text="a red circle")
    sample = sampled([asked], [outcome(asked, grade)], 10, Random(1))
    assert (sample.failures, sample.successes) == (((asked,), ()) if failed else ((), (asked,)))


def test_no_composition_sets_a_parameter_twice() -> None:
    for candidate in SearchProposer().propose(context(World(), limits={}, count=100)):
        set_by = [title.split(" ")[0] for title in candidate.proposal.title.split("; ") if "→" in title]
        assert len(set_by) == len(set(set_by)), candidate.proposal.title
