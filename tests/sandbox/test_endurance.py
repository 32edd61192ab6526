"""Many runs in a row, one in three hostile, leave nothing behind."""

import os
import random
from pathlib import Path

import pytest

from evoharness.sandbox import SandboxLimits
from evoharness.sandbox.attacks import Attack, load_attacks, load_group
from evoharness.sandbox.selftest import Proving
from tests.sandbox.test_attacks import TIME, eager

LIMITS = SandboxLimits(steps=20_000, cpu_seconds=1, own_seconds=0.3, total_seconds=5.0)
MOST_GROWTH = 3 << 20


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def anyhow(attack: Attack) -> Attack:
    """The same attack, which may also end by the clock, since here time is short."""
    kinds = set(eager(attack).kinds)
    return attack.model_copy(update={"kinds": tuple(kinds | TIME) if kinds else ()})


def endure(runs: int, warm_up: int) -> int:
    """Growth in bytes of this process over `runs` runs, each of which is looked at for what it left."""
    chooser = random.Random(7)
    ordinary = load_group("idioms")
    hostile = [anyhow(attack) for attack in load_attacks() if not attack.ordinary]
    with Proving(limits=LIMITS) as proving:
        if not proving.level.sufficient:
            pytest.skip(f"this system confines less: {proving.level}")
        before = 0
        for number in range(warm_up + runs):
            if number == warm_up:
                before = resident()
            attack = chooser.choice(hostile if number % 3 == 0 else ordinary)
            assert proving.try_out(attack).wrong == (), f"{attack.group}/{attack.id}"
        return resident() - before


def test_sixty_runs_leak_nothing() -> None:
    endure(runs=60, warm_up=0)


@pytest.mark.verify
def test_a_thousand_runs_leak_nothing_and_memory_stays_flat() -> None:
    assert endure(runs=1000, warm_up=150) < MOST_GROWTH
