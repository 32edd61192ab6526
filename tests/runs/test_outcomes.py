"""Outcomes are kept by (harness, question, trial), across processes and kills."""

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from evoharness.records.outcome import Answered, Outcome, Trace, TraceStep
from evoharness.records.spend import Spend
from evoharness.runs import DamagedRun, SqliteOutcomes


def outcome(harness: str = "h", question: str = "q", trial: int = 0, reward: float | None = 1.0) -> Outcome:
    step = TraceStep(call="look", arguments={"spans": [[0, 1]]}, result={"observations": []}, frames=3)
    spend = Spend(calls=2, input_tokens=100, output_tokens=5, frames=3, cost_usd=None)
    answered = Answered(
        question=f"opaque {question}",
        status="ok",
        choice=1,
        spend=spend,
        trace=Trace(strategy="overview", steps=(step,)),
    )
    return Outcome(harness=harness, question=question, trial=trial, reward=reward, answered=answered)


def test_what_was_put_comes_back_whole(tmp_path: Path) -> None:
    store = SqliteOutcomes(tmp_path / "outcomes.sqlite")
    store.put([outcome(), outcome(trial=1, reward=0.0)])
    assert store.get("h", "opaque q", 0) == outcome()
    assert store.get("h", "opaque q", 1) == outcome(trial=1, reward=0.0)
    assert store.get("h", "opaque q", 2) is None
    assert store.get("other", "opaque q", 0) is None
    assert len(store) == 2


def test_an_outcome_replaces_the_one_before_it(tmp_path: Path) -> None:
    store = SqliteOutcomes(tmp_path / "outcomes.sqlite")
    store.put([outcome(reward=0.0)])
    store.put([outcome(reward=1.0)])
    found = store.get("h", "opaque q", 0)
    assert found is not None
    assert found.reward == 1.0


def test_a_readable_id_may_be_used_twice(tmp_path: Path) -> None:
    store = SqliteOutcomes(tmp_path / "outcomes.sqlite")
    first = outcome()
    second = first.model_copy(update={"answered": first.answered.model_copy(update={"question": "other"})})
    store.put([first, second])
    assert store.get("h", "opaque q") == first
    assert store.get("h", "other") == second


def test_spend_adds_up_and_an_unknown_price_stays_unknown(tmp_path: Path) -> None:
    store = SqliteOutcomes(tmp_path / "outcomes.sqlite")
    assert store.spend() == Spend()
    store.put([outcome(), outcome(question="r")])
    assert store.spend().calls == 4
    assert store.spend().cost_usd is None


def test_the_numbers_can_be_queried_without_this_package(tmp_path: Path) -> None:
    store = SqliteOutcomes(tmp_path / "outcomes.sqlite")
    store.put([outcome(), outcome(question="r", reward=0.0)])
    store.close()
    rows = sqlite3.connect(tmp_path / "outcomes.sqlite").execute(
        "SELECT question, status, reward, frames, tokens FROM outcomes ORDER BY question"
    )
    assert rows.fetchall() == [("q", "ok", 1.0, 3, 105), ("r", "ok", 0.0, 3, 105)]


def test_a_killed_process_loses_nothing_that_was_put(tmp_path: Path) -> None:
    script = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from tests.runs.test_outcomes import outcome
        from evoharness.runs import SqliteOutcomes
        store = SqliteOutcomes(Path(sys.argv[1]))
        for number in range(10**6):
            store.put([outcome(question=f"q{number}")])
            print(number, flush=True)
        """
    )
    path = tmp_path / "outcomes.sqlite"
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) >= 20:
                break
        os.kill(process.pid, signal.SIGKILL)
        last = max([20, *(int(line) for line in process.stdout.read().split())])
    store = SqliteOutcomes(path)
    assert all(
        store.get("h", f"opaque q{number}") == outcome(question=f"q{number}") for number in range(last + 1)
    )


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.sqlite"
    path.write_text("no database, but long enough to be taken for the head of one" * 4)
    with pytest.raises(DamagedRun, match=r"outcomes\.sqlite is damaged"):
        SqliteOutcomes(path)
    path.unlink()
    store = SqliteOutcomes(path)
    store.put([outcome()])
    with sqlite3.connect(path) as raw:
        raw.execute("UPDATE outcomes SET record = x'00'")
    with pytest.raises(DamagedRun, match=r"outcomes\.sqlite is damaged"):
        store.get("h", "opaque q")
    with pytest.raises(DamagedRun, match=r"outcomes\.sqlite is damaged"):
        store.spend()
