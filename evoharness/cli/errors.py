"""Hydra's and OmegaConf's complaints about a configuration, each as one line that says what is possible."""

import difflib
import re
from collections.abc import Sequence

from hydra.errors import OverrideParseException

from evoharness.cli.help import options_of_groups

KINDS = {"Integer": "a whole number", "Float": "a number"}
"""What OmegaConf calls the kinds of numbers, and people do."""


def one_line(error: BaseException, known_keys: Sequence[str]) -> str:
    """The complaint in one line, with the nearest known key or the options of the group."""
    cause = error.__cause__ or error
    text = f"{error}\n{cause}"
    if match := re.search(r"Could not find '([\w./-]+)/([^'/]*)'", text):
        return _no_option(match[1], match[2], text)
    if match := re.search(r"Could not override '([^']+)'", text):
        key = match[1].lstrip("+~").partition("@")[0].partition("=")[0]
        if "not in" in str(cause) or "No match in the defaults list" in text:
            return _no_key(key, known_keys)
    if (match := re.search(r"Key '([^']+)' (?:is )?not in", text)) and (
        full := re.search(r"full_key: (\S+)", text)
    ):
        return _no_key(full[1], known_keys)
    if "Config group override must be" in str(error):
        return "a group takes the name of one of its options; leave it out with ~group; see --help"
    if isinstance(error, OverrideParseException):
        return f"{error.override} cannot be read as a setting: {str(cause).splitlines()[0]}"
    if match := re.search(r"Ambiguous value for argument '(.+)'", text):
        return f"{match[1]}: one value is needed, or -m before it for a job with each"
    lines = [line.strip() for line in str(cause).splitlines() if line.strip()]
    said = next((line for line in lines if not re.match(r"In '|\w+: |$", line)), type(cause).__name__)
    full = re.search(r"full_key: (\S+)", text)
    if (match := re.match(r"Value (.+) of type '\w+' could not be converted to (\w+)$", said)) and (
        match[2] in KINDS
    ):
        said = f"{match[1]} is not {KINDS[match[2]]}"
    return f"{full[1]}: {said}" if full else said


def _no_option(group: str, option: str, text: str) -> str:
    options = re.findall(r"^\t(\S+)$", text, re.MULTILINE)
    return f"{group} has no option {option!r}: choose from {', '.join(dict.fromkeys(options)) or 'nothing'}"


def _no_key(key: str, known_keys: Sequence[str]) -> str:
    groups = options_of_groups()
    head = key.partition(".")[0]
    if head in groups and not any(known.startswith(f"{head}.") for known in known_keys):
        return f"this command has no setting {key!r}; see --help"
    section, _, last = key.rpartition(".")
    within = [known.removeprefix(f"{section}.") for known in known_keys if known.startswith(f"{section}.")]
    beside = list(dict.fromkeys(known.partition(".")[0] for known in within))
    if beside:
        close = [f"{section}.{near}" for near in difflib.get_close_matches(last, beside, n=1)]
    else:
        close = difflib.get_close_matches(key, [*known_keys, *groups], n=1)
    if not close:
        close = [known for known in known_keys if known.rpartition(".")[2] == last][:1]
    if not close and beside:
        return f"there is no setting {key!r}: {section} has {', '.join(beside)}"
    hint = f": did you mean {close[0]}?" if close else "; see --help"
    return f"there is no setting {key!r}{hint}"
