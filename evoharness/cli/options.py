"""The options of a question, as people type them on a command line."""

import csv
import json
from typing import Any

from evoharness.errors import UserError


def read_options(text: str | None) -> tuple[str, ...]:
    """`["a", "b, c"]` (JSON), `[a, b]` or `a|b` as texts; nothing for an open question.

    UserError for fewer than two options, for two that are the same, and for what is none of these.
    """
    if text is None or not text.strip():
        return ()
    options = tuple(option.strip() for option in _parts(text.strip()))
    if len(options) < 2:
        raise UserError(f'options={text}: at least two are needed, for example options=\'["yes", "no"]\'')
    if len({option.casefold() for option in options}) != len(options):
        raise UserError(f"options={text}: two options are the same")
    if not all(options):
        raise UserError(f"options={text}: an option is empty")
    return options


def _parts(text: str) -> list[str]:
    if text.startswith("[") and text.endswith("]"):
        try:
            values: Any = json.loads(text)
        except ValueError:
            quote = "'" if "'" in text and '"' not in text else '"'
            return next(csv.reader([text[1:-1]], skipinitialspace=True, quotechar=quote), [])
        if not all(isinstance(value, str | int | float) and not isinstance(value, bool) for value in values):
            raise UserError(f"options={text}: every option has to be a text")
        return [str(value) for value in values]
    if "|" in text:
        return text.split("|")
    raise UserError(f'options={text}: write them as a list, for example options=\'["yes", "no"]\'')
