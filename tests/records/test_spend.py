"""What was used only ever grows."""

from typing import Any

import pytest
from pydantic import ValidationError

from evoharness.records.spend import Spend


@pytest.mark.parametrize(
    "figures",
    [
        {"calls": -1},
        {"input_tokens": -1},
        {"output_tokens": -1},
        {"frames": -1},
        {"cost_usd": -0.1},
        {"cost_usd": float("nan")},
        {"cost_usd": float("inf")},
    ],
)
def test_nothing_negative_or_without_end_is_spent(figures: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Spend(**figures)


def test_an_unknown_price_makes_the_sum_unknown() -> None:
    assert (Spend(calls=1, cost_usd=None) + Spend(calls=2, cost_usd=1.0)).cost_usd is None
    assert Spend(calls=1).beyond(Spend(calls=3)) == Spend()
