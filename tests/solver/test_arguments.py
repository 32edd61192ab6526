"""Arguments of calls are refused at the first thing that is wrong, however much of it there is."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from evoharness.solver import arguments as given


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (given.Answer, {"frames": [None] * 2000}),
        (given.Verify, {"claim": "x", "frames": [[]] * 2000}),
        (given.Segments, {"ids": [1] * 2000}),
        (given.Decide, {"tools": [{}] * 2000}),
        (given.Similar, {"a": "x", "texts": [0] * 2000}),
    ],
)
def test_a_list_of_wrong_things_is_one_error(kind: type[BaseModel], values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as caught:
        kind.model_validate(values)
    assert caught.value.error_count() <= 2  # one for each kind that was possible


@pytest.mark.parametrize("values", [{"frames": [1.0] * 2001}, {"frames": ["f"] * 10**6}])
def test_a_list_that_is_too_long_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="at most 2000"):
        given.Answer.model_validate(values)
