"""What rewritten code calls instead of touching objects itself, and the objects that it is given.

Attributes are allowed by the exact type of the object, never by what the object says of itself.
"""

import builtins
import math
import operator
import random
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from RestrictedPython.Guards import guarded_iter_unpack_sequence, guarded_unpack_sequence

from .framing import LONGEST_PRINTS
from .names import MATH, PLAIN_BUILTINS, RANDOM

LONGEST_PRODUCT = 1_000_000
"""Items of the longest sequence that `*` may make."""
MOST_BITS = 4096
"""Bits of the largest integer that `*`, `**` and `<<` may make."""


class OutOfFuel(BaseException):
    """The step budget is used up; no `except` of the dialect catches it."""


class HostCallError(Exception):
    """A call of the host did not work; strategies may catch it."""


class View:
    """Named values that can be read as attributes or as items, and never changed."""

    __slots__ = ("_values",)
    _values: dict[str, Any]

    def __init__(self, values: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_values", dict(values))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("values of ctx cannot be set")

    def __contains__(self, key: Any) -> bool:
        return key in self._values

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)


class Facade:
    """A few functions and constants of a module, without the module."""

    __slots__ = ("__dict__", "_names")

    def __init__(self, source: Any, names: str) -> None:
        members = {name: getattr(source, name) for name in names.split()}
        object.__setattr__(self, "_names", frozenset(members))
        self.__dict__.update(members)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a module cannot be changed")

    def __repr__(self) -> str:
        return "module"


class Api:
    """What a source calls `ctx` or `memory`: data, and functions that ask the host."""

    __slots__ = ("_members",)
    _members: dict[str, Any]

    def __init__(self, members: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_members", dict(members))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("ctx cannot be changed")

    def __repr__(self) -> str:
        return "ctx"


_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
WIDE_FORMAT = re.compile(r"%(\([\s\S]*|[^a-zA-Z%]*)(\d{4}|\*)")
"""A `%` format with a width of 1000 or more; after a key, whose end is hard to tell, any number counts."""
METHODS: dict[type, frozenset[str]] = {
    kind: frozenset(names.split())
    for kind, names in {
        str: "capitalize casefold center count endswith find index isalnum isalpha isascii isdecimal isdigit "
        "islower isnumeric isspace istitle isupper join ljust lower lstrip maketrans partition removeprefix "
        "removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip "
        "swapcase title translate upper zfill",
        list: "append clear copy count extend index insert pop remove reverse sort",
        tuple: "count index",
        dict: "clear copy fromkeys get items keys pop setdefault update values",
        set: "add clear copy difference difference_update discard intersection intersection_update "
        "isdisjoint issubset issuperset pop remove symmetric_difference union update",
        frozenset: "copy difference intersection isdisjoint issubset issuperset symmetric_difference union",
        int: "bit_length",
        float: "is_integer",
    }.items()
}
_VIEW_METHODS = frozenset({"get", "items", "keys", "values"})
_ITERATORS = frozenset(
    {enumerate, zip, map, filter, reversed, type(_ for _ in ())}
    | {type(reversed([])), type(reversed({})), type(reversed(range(0)))}
)
_ITERABLE = _ITERATORS | {
    *(str, list, tuple, dict, set, frozenset, range),
    *(type({}.keys()), type({}.values()), type({}.items())),
}
_INDEXABLE = frozenset({str, list, tuple, dict, range})
_WRITABLE = frozenset({list, dict})
_WHOLE = frozenset({int, bool})
_FORMATTED = frozenset({str, int, float, bool, type(None)})
_INPLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+=": operator.iadd,
    "-=": operator.isub,
    "/=": operator.itruediv,
    "//=": operator.ifloordiv,
    ">>=": operator.irshift,
    "|=": operator.ior,
    "&=": operator.iand,
    "^=": operator.ixor,
}


def read_attribute(value: Any, name: str) -> Any:
    """`value.name`, when the exact type of `value` allows it."""
    if value is text:
        value = str
    kind = type(value)
    if kind is Api:
        members = value._members
    elif kind is View:
        members = value._values
        if name in _VIEW_METHODS and name not in members:
            return getattr(members, name)
    elif kind is Facade:
        members = value.__dict__
    elif name in METHODS.get(kind, ()) or (kind is type and name in METHODS.get(value, ())):
        return getattr(value, name)  # the latter for `key=str.lower`
    else:
        known = ", ".join(sorted(METHODS.get(kind, ()))) or "nothing"
        raise AttributeError(f"{kind.__name__} has no {name!r} here (it has: {known})")
    if name not in members:
        raise AttributeError(f"there is no {name!r} (there is: {', '.join(sorted(members))})")
    return members[name]


def read_item(value: Any, key: Any) -> Any:
    """`value[key]` of plain containers and views."""
    if type(value) is View:
        return value._values[key]
    if type(value) in _INDEXABLE:
        return value[key]
    raise TypeError(f"{type(value).__name__} cannot be indexed")


def writable(value: Any) -> Any:
    """The container itself, when its items may be assigned or deleted."""
    if type(value) in _WRITABLE:
        return value
    raise TypeError(f"items of {type(value).__name__} cannot be assigned")


def binary(symbol: str, left: Any, right: Any) -> Any:
    """`*`, `**`, `<<` and `%`, refused where the result would be huge."""
    if symbol == "*":
        return _product(left, right)
    if symbol == "%":
        if type(left) is not str:
            return left % right
        if WIDE_FORMAT.search(left):
            raise ValueError("a % format with a number of four digits, or with *: use an f-string")
        return hidden(left % right)
    if type(left) in _WHOLE and type(right) in _WHOLE:
        more = max(right, 0)
        bits = abs(left).bit_length() * more if symbol == "**" else left.bit_length() + more
        if bits > MOST_BITS and left != 0 and not (symbol == "**" and abs(left) == 1):
            raise OverflowError(f"{symbol} would make an integer of more than {MOST_BITS} bits")
    return left**right if symbol == "**" else left << right


def _product(left: Any, right: Any) -> Any:
    for sequence, count in ((left, right), (right, left)):
        if type(count) in (int, bool) and type(sequence) in (str, list, tuple):
            if len(sequence) * count > LONGEST_PRODUCT:
                raise OverflowError(f"* would make more than {LONGEST_PRODUCT} items")
            return sequence * count
    if type(left) in _WHOLE and type(right) in _WHOLE and left.bit_length() + right.bit_length() > MOST_BITS:
        raise OverflowError(f"* would make an integer of more than {MOST_BITS} bits")
    return left * right


def inplace(symbol: str, left: Any, right: Any) -> Any:
    """The value of `left <symbol> right` for an augmented assignment."""
    if symbol in _INPLACE:
        return _INPLACE[symbol](left, right)
    value = binary(symbol.removesuffix("="), left, right)
    if type(left) is list and type(value) is list:  # other names of the list see it change
        left[:] = value
        return left
    return value


def inplace_item(symbol: str, container: Any, key: Any, value: Any) -> None:
    """`container[key] <symbol> value`."""
    target = writable(container)
    target[key] = inplace(symbol, target[key], value)


def hidden(shown: str) -> str:
    """A text without the addresses of the functions and iterators that it shows."""
    return _ADDRESS.sub("", shown)


def text(value: Any = "") -> str:
    """`str` of the dialect."""
    return value if type(value) is str else hidden(str(value))


def representation(value: Any) -> str:
    """`repr` of the dialect."""
    return hidden(repr(value))


def shown(value: Any, conversion: int) -> Any:
    """What an f-string formats; `conversion` is the character after `!`, or -1."""
    if conversion in (ord("r"), ord("a")):
        return representation(value) if conversion == ord("r") else hidden(ascii(value))
    return value if conversion == -1 and type(value) in _FORMATTED else text(value)


def is_instance(value: Any, kinds: Any) -> bool:
    """`isinstance` of the dialect, where `str` is a function."""
    if type(kinds) is tuple:
        return any(is_instance(value, kind) for kind in kinds)
    return isinstance(value, str if kinds is text else kinds)


class Printer:
    """Keeps the first characters of what is printed."""

    def __init__(self) -> None:
        self.text = ""

    def print(self, *values: Any, sep: str = " ", end: str = "\n") -> None:
        """`print`, into memory."""
        if len(self.text) < LONGEST_PRINTS:
            line = text(sep).join(text(value) for value in values) + text(end)
            self.text += line[: LONGEST_PRINTS - len(self.text)]


class Fuel:
    """Steps that are left; each loop turn, function call and lambda call takes one."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.used = 0

    def tick(self) -> None:
        """Take one step."""
        self.used += 1
        if self.used > self.steps:
            raise OutOfFuel

    @property
    def over(self) -> bool:
        """Whether more steps were taken than there are, whatever the source made of being told."""
        return self.used > self.steps

    def iterate(self, values: Any) -> Iterator[Any]:
        """The items of a plain iterable, one step each."""
        if type(values) not in _ITERABLE:
            raise TypeError(f"{type(values).__name__} is not iterable")
        return self._ticking(values)

    def _ticking(self, values: Any) -> Iterator[Any]:
        for value in values:
            self.used += 1
            if self.used > self.steps:
                raise OutOfFuel
            yield value


def _next(iterator: Any, *default: Any) -> Any:
    if type(iterator) not in _ITERATORS:
        raise TypeError(f"{type(iterator).__name__} is no iterator: use iter()")
    return next(iterator, *default)


def _apply(function: Callable[..., Any], *positional: Any, **named: Any) -> Any:
    return function(*positional, **named)


def environment(fuel: Fuel, printer: Printer, seed: str) -> dict[str, Any]:
    """The globals of one run; random numbers follow from the seed."""
    facades = {"math": Facade(math, MATH), "random": Facade(random.Random(seed), RANDOM)}

    def imported(name: str, *_: Any) -> Facade:
        if name not in facades:
            raise ImportError(f"{name!r} cannot be imported: only {', '.join(facades)} can")
        return facades[name]

    available = {name: getattr(builtins, name) for name in PLAIN_BUILTINS.split()}
    available |= {"str": text, "repr": representation, "isinstance": is_instance}
    available |= {"print": printer.print, "iter": fuel.iterate, "next": _next}
    available |= {"HostCallError": HostCallError, "__import__": imported}
    return {
        "__builtins__": available,
        "__name__": "strategy",
        "_getattr_": read_attribute,
        "_getitem_": read_item,
        "_getiter_": fuel.iterate,
        "_write_": writable,
        "_binary_": binary,
        "_inplacevar_": inplace,
        "_inplace_item_": inplace_item,
        "_apply_": _apply,
        "_tick_": fuel.tick,
        "_shown_": shown,
        "_unpack_sequence_": guarded_unpack_sequence,
        "_iter_unpack_sequence_": guarded_iter_unpack_sequence,
    }
