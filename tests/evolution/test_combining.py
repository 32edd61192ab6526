"""Several kept changes become one harness."""

from evoharness.evolution.combining import combined
from tests.evolution.scripted import harness

BASE = harness().with_skill("old", {"SKILL.md": "Look."})


def test_changes_of_different_things_add_up() -> None:
    a = BASE.with_parameters(frame_cap=64)
    b = BASE.with_parameters(chunk_s=200.0).with_strategy("other", "def strategy(ctx, question): ...")
    c = BASE.with_skill("new", {"SKILL.md": "Look again."}).without_skill("old")
    result = combined(BASE, [a, b, c])
    assert (result.parameters.frame_cap, result.parameters.chunk_s) == (64, 200.0)
    assert result.strategies.keys() == {"plain", "other"}
    assert result.skills.keys() == {"new"}


def test_where_two_changes_collide_the_first_one_stays() -> None:
    a, b = BASE.with_parameters(frame_cap=64, chunk_s=200.0), BASE.with_parameters(frame_cap=32)
    assert combined(BASE, [a, b]).parameters.frame_cap == 64
    assert combined(BASE, [b, a]).parameters.frame_cap == 32
    assert combined(BASE, [b, a]).parameters.chunk_s == 200.0


def test_one_change_is_itself() -> None:
    changed = BASE.with_parameters(frame_cap=64)
    assert combined(BASE, [changed]).fingerprint == changed.fingerprint
    assert combined(BASE, []).fingerprint == BASE.fingerprint
