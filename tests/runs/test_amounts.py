"""Numbers of things as they are told: one of them is not `1 calls`."""

import pytest

from evoharness.records.amounts import agreeing, how_many
from evoharness.records.spend import Spend
from evoharness.runs.progress import describe_spend


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 calls"), (1, "1 call"), (2, "2 calls"), (1204, "1,204 calls")]
)
def test_a_number_and_its_noun(number: int, said: str) -> None:
    assert how_many(number, "call") == said


def test_a_verb_agrees_with_its_number() -> None:
    assert [agreeing(number, "is", "are") for number in (0, 1, 2)] == ["are", "is", "are"]


def test_what_was_spent() -> None:
    assert describe_spend(Spend(calls=1, input_tokens=1)) == "1 call, 1 token"
    assert describe_spend(Spend(calls=2, input_tokens=7)) == "2 calls, 7 tokens"
