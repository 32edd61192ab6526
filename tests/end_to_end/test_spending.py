"""What a run may pay, what it paid, and what it would pay."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from evoharness.models.budget import BUDGET_FILE, Budget, Caps
from evoharness.records.spend import Spend, total
from tests.end_to_end.conftest import GROUP, SEED, Ended, Finished, World

pytestmark = GROUP
ROW = re.compile(r"^ +(\w+) +([\d,]+) +\S+ – \S+ +([\d.]+[kMG]?) ", re.MULTILINE)
UNITS = {"k": 1e3, "M": 1e6, "G": 1e9}


def afresh(tiny: Finished, folder: Path) -> World:
    """A world with the samples of the finished run and nothing else in its cache."""
    (folder / "work").mkdir()
    shutil.copytree(tiny.world.cache / "samples", folder / "cache" / "samples")
    return World(folder / "work", folder / "cache")


def estimated(ended: Ended) -> dict[str, tuple[float, float]]:
    """Role → calls and tokens, from the table."""
    assert ended.code == 0, ended.text
    rows = {}
    for role, calls, tokens in ROW.findall(ended.out):
        unit = UNITS.get(tokens[-1], 1.0)
        rows[role] = (float(calls.replace(",", "")), float(tokens.rstrip("kMG")) * unit)
    return rows


def paid(summary: dict[str, Any]) -> dict[str, Spend]:
    """What a summary says was paid, by role."""
    return {role: Spend(**spend) for role, spend in summary["paid"].items()}


def test_what_was_paid_is_printed_and_adds_up(tiny: Finished) -> None:
    by_role = paid(tiny.summary)
    assert set(by_role) == {"blind_answerer", "describer", "solver", "video_expert"}
    assert total(by_role) == Spend(**tiny.summary["spend"])
    assert "paid, by role" in tiny.ended.out
    for role, spend in by_role.items():
        assert re.search(rf"{role} +{spend.calls:,} ", tiny.ended.out)


def test_every_stage_says_what_was_paid_in_it(tiny: Finished) -> None:
    events = [json.loads(line) for line in (tiny.path / "events.jsonl").read_text().splitlines()]
    stages = {event["stage"]: event["paid"] for event in events if event["event"] == "stage"}
    assert set(stages["answering"]) == {"solver", "video_expert"}
    assert {"blind_answerer", "describer"} <= set(stages["questions"])


def test_an_estimate_is_close_to_what_the_run_then_used(tiny: Finished, tmp_path: Path) -> None:
    world = afresh(tiny, tmp_path)
    ended = world.run("evolve", "preset=tiny", f"seed={SEED}", "estimate=true", "display=silent")
    rows = estimated(ended)
    used = paid(tiny.summary)
    assert set(rows) == {*used, "all"}
    for role, spend in {**used, "all": total(used)}.items():
        calls, tokens = rows[role]
        if spend.tokens < 0.1 * total(used).tokens:
            continue  # a small role
        assert 1 / 1.5 <= calls / spend.calls <= 1.5, (role, calls, spend.calls)
        assert 1 / 1.5 <= tokens / spend.tokens <= 1.5, (role, tokens, spend.tokens)
    assert list(world.folder.iterdir()) == [], "no run is made"
    assert not (world.cache / "memories").exists()
    assert "expected: " in ended.out


def test_an_estimate_for_videos_of_ones_own(tiny: Finished, tmp_path: Path) -> None:
    world = afresh(tiny, tmp_path)
    videos = tmp_path / "my videos"
    videos.mkdir()
    for path in tiny.samples:
        shutil.copy(path, videos)
    ended = world.run("evolve", f"videos={videos}", "estimate=true")
    assert {"describer", "solver", "video_expert", "all"} <= set(estimated(ended))
    assert list(world.folder.iterdir()) == []


def test_an_unknown_price_is_shown_as_unknown(tiny: Finished, tmp_path: Path) -> None:
    world = afresh(tiny, tmp_path)
    server = ("backbone=vllm", "backbone.models.default=hosted_vllm/nobody", "~backbone.prices.default")
    ended = world.run("evolve", "preset=tiny", f"seed={SEED}", "estimate=true", *server)
    assert ended.code == 0, ended.text
    assert "unknown" in ended.out


def test_an_estimate_is_about_a_new_run(tiny: Finished) -> None:
    ended = tiny.world.run("evolve", f"resume={tiny.path}", "estimate=true")
    assert ended.code == 2
    assert ended.err == "evolve: estimate=true is about a new run: leave resume= out\n"


def test_a_run_that_reaches_a_cap_is_gone_on_with_to_the_same_end(tiny: Finished, tmp_path: Path) -> None:
    world = afresh(tiny, tmp_path)
    ended = world.run("evolve", "preset=tiny", f"seed={SEED}", "budget.calls=70")
    assert ended.code == 2, ended.text
    assert ended.err.count("\n") == 1
    assert "evolve: budget.calls=70 is used up: 70 used" in ended.err
    resume = ended.err.partition("python -m evoharness.evolve ")[2].split()
    assert resume[1] == "budget.calls=140"
    (run,) = (world.folder / "runs").iterdir()
    assert Budget(run / BUDGET_FILE, Caps()).used().calls == 70
    ended = world.run("evolve", resume[0], "budget.calls=100000", "budget.tokens=100000000")
    assert ended.code == 0, ended.text
    summary = json.loads((run / "summary.json").read_text())
    for part in ("rounds", "test", "final"):
        assert summary[part] == tiny.summary[part]
    assert Budget(run / BUDGET_FILE, Caps()).used() == total(paid(summary))


@pytest.mark.parametrize("cap", ["budget.calls=1", "budget.tokens=2500"])
def test_other_commands_keep_to_a_cap_too(tiny: Finished, tmp_path: Path, cap: str) -> None:
    world = afresh(tiny, tmp_path)
    videos = tiny.samples[0].parent
    for command in (
        ("memorize", f"videos={videos}"),
        ("ask", f"video={tiny.samples[0]}", "question=What moves?", 'options=["a circle", "a star"]'),
    ):
        ended = world.run(*command, cap, "display=silent")
        assert ended.code == 2, ended.text
        assert f"{command[0]}: {cap} is used up: " in ended.err
        assert ended.err.count("\n") == 1


def test_what_is_no_cap_is_told_before_anything_is_made(world: World) -> None:
    ended = world.run("evolve", "preset=tiny", "budget.usd=-1")
    assert ended.code == 2
    assert "budget.usd=-1" in ended.err
    assert list(world.folder.iterdir()) == []
