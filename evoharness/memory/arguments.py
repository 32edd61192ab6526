"""What the read operations are asked for; a ValueError says of an argument what would do."""

from collections.abc import Sequence

from evoharness.memory.nodes import RECORD_KINDS, NodeKind

SEARCHED: tuple[NodeKind, ...] = ("segment", *RECORD_KINDS, "transcript")
MOST = 1e12
"""No time and no cosine is larger; not a number is not smaller either."""


def names(name: str, values: Sequence[str]) -> Sequence[str]:
    """A list of names, and no single text."""
    if not isinstance(values, list | tuple):
        raise ValueError(f"`{name}` is a list of names, not {values!r}")
    return values


def query_text(query: str) -> str:
    """A text to search for."""
    if not isinstance(query, str) or not query.strip():
        raise ValueError("`query` is a text that is not blank")
    return query


def count(name: str, value: int) -> int:
    """A whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"`{name}` is a whole number of at least 1, not {value!r}")
    return value


def number(name: str, value: float) -> float:
    """A finite number, of a size that seconds may have."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MOST:
        raise ValueError(f"`{name}` is a number, not {value!r}")
    return float(value)


def node_kinds(kinds: Sequence[str]) -> tuple[NodeKind, ...]:
    """Kinds of nodes, once each and in one order; one alone may be given as a text."""
    asked = (kinds,) if isinstance(kinds, str) else tuple(names("kinds", kinds))
    unknown = [kind for kind in asked if kind not in SEARCHED]
    if unknown or not asked:
        raise ValueError(
            f"`kinds` are some of {', '.join(SEARCHED)}, not {', '.join(map(str, asked)) or 'none'}"
        )
    return tuple(kind for kind in SEARCHED if kind in asked)
