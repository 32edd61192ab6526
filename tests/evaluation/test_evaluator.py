"""Pairs of harness and question: asked once, scored here, on real workers with the embedded backbone."""

import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from evoharness.errors import UserError
from evoharness.evaluation import (
    Evaluator,
    InlineExecutor,
    OutcomesInMemory,
    ProcessExecutor,
    WorkbenchConfig,
    evaluator,
    measure,
)
from evoharness.evaluation.evaluator import AnswerItem
from evoharness.harness import initial_harness
from evoharness.records.outcome import APPARATUS, Outcome
from evoharness.records.question import Question
from evoharness.solver import SolverLimits
from tests.evolution.colour_world import ColourConfig, write_video
from tests.evolution.scripted import harness, question

VIDEOS = ("one", "two")
OVERVIEW = initial_harness()
CODE = OVERVIEW.strategies["overview"]


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("videos")
    return {
        "one": write_video(folder / "one.mp4", [("grey", 4.0), ("red", 2.0)]),
        "two": write_video(folder / "two.mp4", [("blue", 4.0), ("grey", 2.0)]),
    }


def asked(number: int, video: str, right: str) -> Question:
    others = [name for name in ("red", "blue", "green") if name != right]
    return question(
        number,
        video,
        text="Which colour fills the picture?",
        options=(*others, right, "pink"),
        answer=2,
        reference_text="the secret reference",
    )


def all_questions() -> list[Question]:
    return [
        asked(1, "one", "red"),
        asked(2, "two", "blue"),
        asked(3, "one", "green"),
        asked(4, "two", "blue"),
    ]


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessExecutor]:
    executor = ProcessExecutor(ColourConfig(cache_dir=tmp_path_factory.mktemp("cache")), workers=2)
    yield executor
    executor.close()


def test_real_workers_answer_and_the_parent_scores(workers: ProcessExecutor, videos: dict[str, Path]) -> None:
    told: list[tuple[Outcome, bool]] = []
    sparse = OVERVIEW.with_parameters(overview_fps=0.1)
    judged = Evaluator(workers, videos)
    before = workers.used.spend
    found = judged.evaluate(
        [OVERVIEW, sparse], all_questions(), on_outcome=lambda outcome, new: told.append((outcome, new))
    )
    assert [o.reward for o in found[OVERVIEW.fingerprint]] == [1.0, 1.0, 0.0, 1.0]
    assert [o.reward for o in found[sparse.fingerprint]] == [0.0, 1.0, 0.0, 1.0], (
        "one look sees only the beginning"
    )
    assert [o.question for o in found[OVERVIEW.fingerprint]] == [q.id for q in all_questions()]
    assert len(told) == 8
    assert all(new for _, new in told)
    paid = sum(outcome.answered.spend.calls for outcome, _ in told)
    assert workers.used.spend.calls - before.calls == paid > 0

    told.clear()
    again = judged.evaluate([OVERVIEW], all_questions(), on_outcome=lambda o, new: told.append((o, new)))
    assert again[OVERVIEW.fingerprint] == found[OVERVIEW.fingerprint]
    assert not any(new for _, new in told)
    assert workers.used.spend.calls - before.calls == paid, "nothing is asked twice"


def test_the_embedded_backbone_answers_in_workers(tmp_path: Path, videos: dict[str, Path]) -> None:
    executor = ProcessExecutor(WorkbenchConfig(cache_dir=tmp_path), workers=1)
    found = Evaluator(executor, videos).evaluate([OVERVIEW], [asked(1, "one", "red")])
    executor.close()
    (outcome,) = found[OVERVIEW.fingerprint]
    assert outcome.status == "ok"
    assert outcome.answered.spend.frames == 6


def test_another_trial_is_another_answer(workers: ProcessExecutor, videos: dict[str, Path]) -> None:
    store = OutcomesInMemory()
    judged = Evaluator(workers, videos, store)
    judged.evaluate([OVERVIEW], all_questions()[:1], trial=1)
    public_id = all_questions()[0].public().id
    assert store.get(OVERVIEW.fingerprint, public_id, 1) is not None
    assert store.get(OVERVIEW.fingerprint, public_id, 0) is None


def test_questions_of_two_files_with_the_same_id_are_two_questions(
    tmp_path: Path, videos: dict[str, Path]
) -> None:
    first, second = (q.model_copy(update={"id": "1"}) for q in all_questions()[1:3])
    executor = CountingExecutor(ColourConfig(cache_dir=tmp_path))
    judged = Evaluator(executor, videos)
    one = judged.evaluate([OVERVIEW], [first])[OVERVIEW.fingerprint]
    two = judged.evaluate([OVERVIEW], [second])[OVERVIEW.fingerprint]
    assert [o.reward for o in one + two] == [1.0, 0.0]
    assert judged.evaluate([OVERVIEW], [first, second])[OVERVIEW.fingerprint] == one + two
    assert executor.batches == [1, 1], "both were asked, each once"
    executor.close()


def test_nothing_but_the_public_question_crosses(videos: dict[str, Path]) -> None:
    secret = asked(1, "one", "red")
    item = AnswerItem(secret.public(), videos["one"], (OVERVIEW,), SolverLimits())
    sent = pickle.dumps(item)
    assert b"Which colour" in sent
    for hidden in (secret.reference_text, secret.id, "source_interval", secret.kind.value):
        assert hidden.encode() not in sent


def test_a_failure_of_the_apparatus_is_retried_and_never_scored(
    tmp_path: Path, videos: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluator, "SECONDS_BEFORE_RETRY", 0.0)
    here = tmp_path / "one.mp4"
    executor = CountingExecutor(ColourConfig(cache_dir=tmp_path))
    store = OutcomesInMemory()
    judged = Evaluator(executor, {**videos, "one": here}, store)
    found = judged.evaluate([OVERVIEW], all_questions()[:2])[OVERVIEW.fingerprint]
    assert [(o.status, o.reward) for o in found] == [(APPARATUS, None), ("ok", 1.0)]
    assert "one.mp4" in found[0].answered.message
    assert executor.batches == [2, 1, 1]
    assert store.get(OVERVIEW.fingerprint, all_questions()[0].public().id) is None, (
        "so that it is asked again another time"
    )
    here.write_bytes(videos["one"].read_bytes())
    again = judged.evaluate([OVERVIEW], all_questions()[:2])[OVERVIEW.fingerprint]
    assert [o.reward for o in again] == [1.0, 1.0]
    executor.close()


class CountingExecutor(InlineExecutor):
    """Remembers how many items each call had."""

    def __init__(self, config: WorkbenchConfig) -> None:
        super().__init__(config)
        self.batches: list[int] = []

    def map(self, job, items: Sequence, **kwargs):  # type: ignore[no-untyped-def, type-arg]
        self.batches.append(len(items))
        return super().map(job, items, **kwargs)


def test_a_strategy_that_breaks_is_wrong_and_says_why(tmp_path: Path, videos: dict[str, Path]) -> None:
    executor = InlineExecutor(ColourConfig(cache_dir=tmp_path))
    broken = harness().with_strategy("plain", "def strategy(ctx, question):\n    return {}['nothing']\n")
    (outcome,) = Evaluator(executor, videos).evaluate([broken], all_questions()[:1])[broken.fingerprint]
    executor.close()
    assert outcome.status.startswith("sandbox:")
    assert outcome.reward == 0.0
    assert outcome.answered.message


def test_a_question_about_an_unknown_video_is_the_users_mistake(tmp_path: Path) -> None:
    executor = InlineExecutor(ColourConfig(cache_dir=tmp_path))
    with pytest.raises(UserError, match="'elsewhere'"):
        Evaluator(executor, {}).evaluate([OVERVIEW], [question(1, "elsewhere")])


def test_measure_leaves_the_apparatus_out(workers: ProcessExecutor, videos: dict[str, Path]) -> None:
    questions = all_questions()
    outcomes = Evaluator(workers, videos).evaluate([OVERVIEW], questions)[OVERVIEW.fingerprint]
    lost = outcomes[2].model_copy(
        update={"reward": None, "answered": outcomes[2].answered.model_copy(update={"status": APPARATUS})}
    )
    measured = measure(questions, [*outcomes[:2], lost, outcomes[3]])
    assert (measured.questions, measured.dropped, measured.accuracy) == (3, 1, 1.0)
    assert measured.statuses == {"apparatus": 1, "ok": 3}
    assert measured.frames == 6.0
    assert measure([], []).accuracy is None
