"""Keys in texts: what counts as one, and how to take it out of what is shown."""

import json
import os
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

from evoharness.errors import UserError

KEY = "[key]"
"""Stands where a key was."""
_HOLDS_SECRET = re.compile(r"(?:_|\A)(?:KEY|TOKEN|SECRET|PASSWORD)\Z", re.IGNORECASE)
SHORTEST = 8
"""Letters; a shorter value of a variable may be a word that any text holds."""
SHORTEST_GIVEN = 4
"""The same for a key that a call was made with."""


def usable_key(variable: str, value: str) -> str:
    """The key without blanks around it. UserError names the variable of one that no request can hold."""
    key = value.strip()
    if not all("!" <= letter <= "~" for letter in key):
        raise UserError(
            f"the key in the environment variable {variable} cannot be sent: a blank, a line break or a "
            "letter that is not ASCII is in it; copy it again"
        )
    return key


def without_secrets(text: str, given: Iterable[str | None] = ()) -> str:
    """The text with [key] for every key in it, however it is written.

    Keys are those `given`, and the values of all variables of the environment that are named like one
    (…_KEY, …_TOKEN, …_SECRET, …_PASSWORD).
    """
    forms: set[str] = set()
    for secret in given:
        forms |= _forms(secret or "", SHORTEST_GIVEN)
    for variable, value in os.environ.items():
        if _HOLDS_SECRET.search(variable):
            forms |= _forms(value, SHORTEST)
    for form in sorted(forms, key=len, reverse=True):
        text = text.replace(form, KEY)
    return text


def _forms(secret: str, shortest: int) -> set[str]:
    """How a secret, and each line of it, may stand in a text: as it is, escaped, or quoted for an address."""
    found: set[str] = set()
    for part in {secret, secret.strip(), *(line.strip() for line in secret.splitlines()), *secret.split()}:
        if len(part) >= shortest:
            written = (repr(part)[1:-1], ascii(part)[1:-1], json.dumps(part)[1:-1], quote(part, safe=""))
            encoded = repr(part.encode("utf-8", "surrogateescape"))[2:-1]
            found |= {part, *written, encoded, quote(part), quote_plus(part), encoded.replace("'", "\\'")}
    return found
