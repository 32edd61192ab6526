"""What pydantic found wrong with a value, in a user's words."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_SAID = {
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be more than {gt}",
    "less_than_equal": "must be at most {le}",
    "less_than": "must be less than {lt}",
    "finite_number": "must be a finite number",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "string_type": "must be a text",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
}


def in_words(mistake: "ErrorDetails") -> str:
    """`must be at least 0`, where pydantic says `Input should be greater than or equal to 0`.

    Kinds of mistakes that are not known here are told as pydantic tells them, those of validators of this
    package in their own words.
    """
    said = _SAID.get(mistake["type"])
    if said is None:
        return str(mistake["msg"]).removeprefix("Value error, ")
    bounds: Mapping[str, Any] = mistake.get("ctx", {})
    shown = {name: f"{bound:g}" if isinstance(bound, float) else bound for name, bound in bounds.items()}
    return said.format(**shown)
