"""What is wrong with a value is told in a user's words, not in those of a library."""

from typing import Any

import pytest
from pydantic import ValidationError

from evoharness.errors import UserError
from evoharness.models.budget import Caps
from evoharness.models.settings import hosted_settings
from evoharness.records.mistakes import in_words


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"usd": -1}, "must be at least 0"),
        ({"calls": 1.5}, "must be a whole number"),
        ({"calls": "many"}, "must be a whole number"),
        ({"usd": "much"}, "must be a number"),
    ],
)
def test_a_cap_that_is_none(values: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as raised:
        Caps(**values)
    assert in_words(raised.value.errors()[0]) == said


def test_a_setting_of_a_model() -> None:
    models = {"default": "openai/a"}
    with pytest.raises(UserError, match=r"^backbone\.prices\.default\.input: must be at least 0$"):
        hosted_settings({"models": models, "prices": {"default": {"input": -1, "output": 0}}})
    with pytest.raises(UserError, match=r"^backbone\.rates\.timeout_s: must be at most 86400$"):
        hosted_settings({"models": models, "rates": {"timeout_s": 1e6}})
