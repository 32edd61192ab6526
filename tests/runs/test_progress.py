"""Progress says the round, the stage, how far it is, accuracy so far, spend and the time left."""

import io

import pytest
from rich.console import Console

from evoharness.errors import UserError
from evoharness.records.spend import Spend
from evoharness.runs import PlainProgress, make_progress
from evoharness.runs.live import RichProgress
from evoharness.runs.progress import Progress, duration_text, money, probability, quantity

SPEND = Spend(calls=2, input_tokens=1500, cost_usd=0.25)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def answer(progress: Progress, clock: Clock | None = None) -> None:
    progress.start_stage(2, "answering", 4)
    for correct in (True, False, True):
        if clock is not None:
            clock.now += 10
        progress.advance(1, correct, SPEND)
    progress.note("round 2: retained r2-03")
    progress.close()


def test_plain_lines_say_it_all_and_are_few() -> None:
    stream, clock = io.StringIO(), Clock()
    answer(PlainProgress(stream, every=15, clock=clock), clock)
    assert stream.getvalue().splitlines() == [
        "round 2 · answering: 2/4, 50.0% right, 4 calls, 3.0k tokens, $0.50, 20s left",
        "round 2: retained r2-03",
        "round 2 · answering: 3/4, 66.7% right, 6 calls, 4.5k tokens, $0.75, took 30s",
    ]


def test_an_unknown_price_is_not_shown_as_nothing() -> None:
    stream = io.StringIO()
    progress = PlainProgress(stream)
    progress.start_stage(None, "describing", None)
    progress.advance(3, spend=Spend(calls=1, cost_usd=None))
    progress.close()
    assert stream.getvalue() == "describing: 3, 1 call, 0 tokens, cost unknown, took 0s\n"


def test_the_live_display_leaves_finished_stages_and_notes_behind() -> None:
    stream = io.StringIO()
    answer(RichProgress(Console(file=stream, force_terminal=True, width=140)))
    shown = stream.getvalue()
    assert "round 2 · answering: 3/4, 66.7% right, 6 calls, 4.5k tokens, $0.75" in shown
    assert "round 2: retained r2-03" in shown


def test_displays_are_chosen_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    answer(make_progress("silent"))
    assert capsys.readouterr().out == ""
    answer(make_progress("auto"))  # no terminal here
    assert "answering" in capsys.readouterr().out
    with pytest.raises(UserError, match="display=loud"):
        make_progress("loud")


@pytest.mark.parametrize(("seconds", "text"), [(0, "0s"), (59.4, "59s"), (60, "1m 00s"), (7380, "2h 03m")])
def test_durations_read_well(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


@pytest.mark.parametrize(("number", "text"), [(950, "950"), (12_345, "12.3k"), (3_100_000, "3.1M")])
def test_quantities_read_well(number: float, text: str) -> None:
    assert quantity(number) == text


@pytest.mark.parametrize(
    ("usd", "text"),
    [(0.0, "$0.00"), (0.42, "$0.42"), (1234.5, "$1,234.50"), (0.0031, "$0.0031"), (None, "unknown")],
)
def test_money_reads_well_and_little_of_it_is_not_nothing(usd: float | None, text: str) -> None:
    assert money(usd) == text


def test_probabilities_are_never_told_as_nothing() -> None:
    assert [probability(p, "= ") for p in (1.0, 0.00316, 0.0001, 0.00009, 0.0, None)] == [
        *("= 1.0000", "= 0.0032", "= 0.0001", "< 0.0001", "< 0.0001", "–")
    ]
    assert probability(0.5) == "0.5000"
