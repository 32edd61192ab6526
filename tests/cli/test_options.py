"""The options of a question are read as people type them."""

import pytest

from evoharness.cli.options import read_options
from evoharness.errors import UserError


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (None, ()),
        ("", ()),
        ('["a, b", "c = d"]', ("a, b", "c = d")),
        ("[yes, no]", ("yes", "no")),
        ("['it, is', 'is not']", ("it, is", "is not")),
        ("[1, 2]", ("1", "2")),
        ("a red ball|a (blue) one", ("a red ball", "a (blue) one")),
    ],
)
def test_lists_of_options(text: str | None, options: tuple[str, ...]) -> None:
    assert read_options(text) == options


@pytest.mark.parametrize("text", ["one", '["one"]', "[]", "a|A ", "a||b", '[["a"], "b"]', '[{"a": 1}, 2]'])
def test_what_is_no_list_of_options_is_said_so(text: str) -> None:
    with pytest.raises(UserError, match="options="):
        read_options(text)
