"""The race: who leaves when, who is frozen, and what it costs."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from evoharness.evolution.proposing import Candidate
from evoharness.evolution.screening import kept_after, screen, stages_of
from evoharness.evolution.settings import GateSettings
from evoharness.harness import Harness
from evoharness.records.evolution import ChangeKind, Proposal, Screening
from evoharness.records.outcome import Outcome
from evoharness.records.question import Question
from tests.evolution.scripted import harness, outcome, question

BASE = harness()
QUESTIONS = [question(n) for n in range(80)]


class Track:
    """Answers by a table: candidate → (questions it wins, those it loses, frames and tokens a question)."""

    def __init__(self, results: dict[str, tuple[range, range, int]]) -> None:
        self.candidates = [
            Candidate(
                Proposal(id=name, kind=ChangeKind.PARAMETERS, title=name, reason="", proposer="test"),
                harness(chunk_s=100.0 + number),
            )
            for number, name in enumerate(results)
        ]
        self._by_print = {c.harness.fingerprint: results[c.id] for c in self.candidates}
        self.asked: list[tuple[int, int]] = []

    def __call__(
        self, harnesses: Sequence[Harness], questions: Sequence[Question], trial: int = 0, /
    ) -> dict[str, list[Outcome]]:
        assert trial == 0
        unique = {h.fingerprint for h in harnesses}
        self.asked.append((len(unique), len(questions)))
        found = {}
        for fingerprint in unique:
            wins, losses, frames = self._by_print.get(fingerprint, (range(0), range(0), 100))
            found[fingerprint] = [
                outcome(q, float((n % 2 == 0 or n in wins) and n not in losses), frames=frames, tokens=frames)
                for n, q in enumerate(questions)
            ]
        return found

    def race(self, sizes: Sequence[int] = (30, 60, 80), finalists: int = 2) -> Screening:
        return screen(self.candidates, BASE, BASE, QUESTIONS, sizes, finalists, GateSettings(), self)


def odd(count: int) -> range:
    """The first `count` questions that the incumbent fails."""
    return range(1, 2 * count, 2)


NOTHING = range(0)


def test_who_breaks_as_much_as_it_mends_leaves_after_the_first_stage() -> None:
    track = Track(
        {"a": (odd(5), NOTHING, 100), "b": (odd(1), range(2, 3), 100), "c": (odd(1), range(2, 5, 2), 100)}
    )
    screening = track.race(finalists=3)
    first = screening.stages[0]
    assert [(s.candidate, s.net, s.dropped) for s in first.standings] == [
        ("a", 5, ""),
        ("b", 0, "no gain: 1 won, 1 lost"),
        ("c", -1, "no gain: 1 won, 2 lost"),
    ]
    assert screening.finalists == ("a",)
    assert track.asked == [(4, 30), (2, 60), (2, 80)], "incumbent and candidates; then the one that is left"


def test_who_made_no_difference_yet_may_still_do_so_but_not_for_ever() -> None:
    track = Track({"late": (range(61, 80, 2), NOTHING, 100), "never": (NOTHING, NOTHING, 100)})
    screening = track.race(finalists=2)
    assert [[s.dropped for s in stage.standings] for stage in screening.stages] == [
        ["", ""],
        ["", ""],
        ["", "no gain: 0 won, 0 lost"],
    ]
    assert screening.finalists == ("late",)


def test_who_looks_too_much_leaves_however_good() -> None:
    track = Track({"a": (odd(15), NOTHING, 126), "b": (odd(3), NOTHING, 125)})
    screening = track.race()
    assert screening.finalists == ("b",)
    assert screening.stages[0].standings[0].dropped.startswith("uses 1.26 times the frames")


def test_the_field_narrows_geometrically_to_the_finalists() -> None:
    track = Track({f"c{n:02d}": (odd(20 - n), NOTHING, 100) for n in range(13)})
    screening = track.race(finalists=3)
    staying = [sum(not s.dropped for s in stage.standings) for stage in screening.stages]
    assert staying == [8, 5, 3]
    assert screening.finalists == ("c00", "c01", "c02")
    assert screening.stages[0].standings[-1].dropped == "8 others did better"
    paid = sum(
        harnesses * 30 if size == 30 else harnesses * (20 if size == 80 else 30)
        for harnesses, size in track.asked
    )
    assert paid < 13 * 80


def test_ties_go_to_the_cheaper_one_then_to_the_smaller_id() -> None:
    track = Track({"c": (odd(4), NOTHING, 90), "b": (odd(4), NOTHING, 100), "a": (odd(4), NOTHING, 100)})
    screening = track.race(finalists=2)
    assert screening.finalists == ("c",)
    assert [(s.candidate, s.dropped) for s in screening.stages[-1].standings] == [
        ("c", ""),
        ("a", "answers every question as c does"),
        ("b", "answers every question as c does"),
    ]


def test_no_candidates_no_finalists() -> None:
    screening = Track({}).race()
    assert (screening.finalists, screening.stages) == ((), ())


def test_stages_are_cut_to_the_questions_there_are() -> None:
    assert stages_of([30, 60, 80], 80) == [30, 60, 80]
    assert stages_of([30, 60, 80], 50) == [30, 50]
    assert stages_of([30, 60, 80], 10) == [10]


def test_the_last_stage_is_all_questions_wherever_the_race_was_to_end() -> None:
    assert stages_of([30, 60], 200) == [30, 60, 200]
    track = Track({"a": (odd(5), NOTHING, 100)})
    track.race(sizes=(30, 60))
    assert [asked for _, asked in track.asked] == [30, 60, 80]


def test_open_answers_are_alike_when_words_and_rewards_are() -> None:
    """Without options no choice is made: that tells nobody apart."""
    asked = [
        q.model_copy(update={"options": (), "answer": None, "reference_text": "it is red"}) for q in QUESTIONS
    ]
    track = Track({name: (odd(4), NOTHING, 100) for name in "abc"})
    words = dict(
        zip((c.harness.fingerprint for c in track.candidates), ("red", "red", "crimson"), strict=True)
    )

    def in_words(
        harnesses: Sequence[Harness], questions: Sequence[Question], trial: int = 0, /
    ) -> dict[str, list[Outcome]]:
        return {
            name: [_in_words(o, words.get(name, "blue")) for o in outcomes]
            for name, outcomes in track(harnesses, questions, trial).items()
        }

    screening = screen(track.candidates, BASE, BASE, asked, (30, 80), 3, GateSettings(), in_words)
    assert screening.finalists == ("a", "c")
    assert [s.dropped for s in screening.stages[-1].standings] == ["", "answers every question as a does", ""]


def _in_words(graded: Outcome, words: str) -> Outcome:
    answered = graded.answered.model_copy(update={"choice": None, "text": words})
    return graded.model_copy(update={"reward": 1 + 4 * (graded.reward or 0.0), "answered": answered})


@given(st.integers(1, 40), st.integers(1, 5), st.integers(1, 4))
def test_the_last_stage_keeps_as_many_as_may_be_finalists(
    candidates: int, finalists: int, stages: int
) -> None:
    kept = [kept_after(stage, stages, candidates, finalists) for stage in range(1, stages + 1)]
    assert kept == sorted(kept, reverse=True)
    assert kept[-1] == min(candidates, finalists)


def test_a_clear_gain_comes_before_a_larger_one_that_breaks_half_as_much() -> None:
    lost = range(0, 16, 2)
    track = Track({"clear": (odd(7), NOTHING, 100), "costly": (odd(16), lost, 100)})
    assert track.race(sizes=(80,), finalists=1).finalists == ("clear",)
