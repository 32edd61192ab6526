"""The arguments of a command, made ready for Hydra.

Hydra has a grammar for values: commas sweep, brackets make lists, quotes and `=` need care. People's
files and questions contain all of these. Values of path and text keys are therefore quoted here, whole
and literally, whatever is in them; all other arguments are left to Hydra.
"""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evoharness.errors import UserError
from evoharness.records.secrets import is_secret_name, looks_secret, secret_in_text, told

_FLAGS = {"--resolve", "-r", "--run", "-m", "--multirun", "--hydra-help", "--version"}
_FLAGS_WITH_VALUE = {"-c", "--cfg", "-i", "--info", "-p", "--package", "-cn", "-cd", "--config-dir"}
_KEY = re.compile(r"(\+\+|\+)?([A-Za-z_][\w./@-]*)=(.*)", re.DOTALL)


@dataclass(frozen=True)
class Arguments:
    """A command line in two parts."""

    flags: tuple[str, ...]
    overrides: tuple[str, ...]

    @property
    def multirun(self) -> bool:
        """Whether a sweep is asked for."""
        return bool({"-m", "--multirun"} & set(self.flags))

    @property
    def shows_config(self) -> bool:
        """Whether the configuration is to be printed instead of a job being run."""
        return any(
            flag in {"-c", "--cfg", "-i", "--info", "--hydra-help", "--version"} for flag in self.flags
        )


def prepare(
    arguments: Sequence[str], texts: frozenset[str], aliases: Mapping[str, str], open_keys: Sequence[str] = ()
) -> Arguments:
    """Sort `arguments` into flags and overrides, and quote the values of the keys in `texts`.

    `aliases` are short names of keys (`harness` → `harness.source`); below `open_keys` new keys may be
    added. UserError for what is neither a known flag nor `key=value`.
    """
    flags: list[str] = []
    overrides: list[str] = []
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if argument.startswith("-"):
            name = argument.partition("=")[0]
            if name in _FLAGS_WITH_VALUE:
                flags.append(argument)
                if "=" not in argument and rest:
                    flags.append(rest.pop(0))
            elif argument in _FLAGS:
                flags.append(argument)
            else:
                raise UserError(f"unknown option {argument}: settings are given as key=value; see --help")
        elif argument.startswith("~"):
            overrides.append(argument)
        else:
            overrides.append(_override(argument, texts, aliases, open_keys))
    return Arguments(tuple(flags), tuple(overrides))


def _override(
    argument: str, texts: frozenset[str], aliases: Mapping[str, str], open_keys: Sequence[str]
) -> str:
    match = _KEY.fullmatch(argument)
    if match is None:
        hint = ""
        if "=" not in argument and texts:
            close = difflib.get_close_matches(argument, sorted(texts), n=1)
            hint = f" (did you mean {close[0]}=…?)" if close else ""
        raise UserError(f"{argument!r} is no setting: settings are given as key=value{hint}; see --help")
    prefix, key, value = match[1] or "", match[2], match[3]
    key = aliases.get(key, key)
    _refuse_secrets(key, value, key in texts, open_keys)
    if key in texts:
        return f"{key}={quoted(value)}"
    if any(key.startswith(f"{open_key}.") for open_key in open_keys):
        prefix = "++"
    elif not key.startswith("hydra"):
        prefix = ""  # only what is declared can be set: `+` would add a key that nobody reads
    return f"{prefix}{key}={value}"


def _refuse_secrets(key: str, value: str, is_text: bool, open_keys: Sequence[str]) -> None:
    """UserError for a key of a provider, before anything is written: command lines are kept with a run."""
    parent = next((name for name in open_keys if key == name or key.startswith(f"{name}.")), None)
    if parent is not None:
        below = key[len(parent) :].strip(".").split(".")
        if any(is_secret_name(name) for name in below) or secret_in_text(value):
            raise UserError(told(key))
    elif (not is_text or key.startswith(("backbone.", "embedder."))) and looks_secret(value):
        raise UserError(told(key))


def quoted(value: str) -> str:
    """`value` such that Hydra and OmegaConf read exactly it; `null` stays null and nothing is empty."""
    if value == "null":
        return value
    if value == "???":  # OmegaConf's word for a missing value, with no way to escape it
        value = "??? "
    text = re.sub(r"(\\*)\$\{", lambda found: found[1] * 2 + "\\${", value)
    # A backslash is doubled where a quote, or the end, follows it.
    text = re.sub(r"(\\*)'", lambda found: found[1] * 2 + "\\'", text)
    text = re.sub(r"(\\+)$", lambda found: found[1] * 2, text)
    return f"'{text}'"


def keys_of(overrides: Sequence[str]) -> list[str]:
    """The keys that overrides name, without `+`, `++` and `~`."""
    return [override.lstrip("+~").partition("=")[0] for override in overrides]
