"""The manifest of a generated tool: what it takes, what it is for, and the tests that it comes with (A.4)."""

import json
import keyword
import re
from typing import Annotated, Any, Literal, NoReturn, Self, cast

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
    model_validator,
)

from evoharness.records.base import Record
from evoharness.records.json_values import VALUE_TYPES, ValueType, fault, fits, one_line, shown, type_of
from evoharness.records.question import QuestionKind

EXPECTATIONS = ("equals", "at_least", "non_empty", "type")
"""What a test can expect; each test expects one of them."""
LARGEST_MANIFEST = 32 * 1024
"""Characters of the file."""
MOST_ARGUMENTS = 8
MOST_TESTS = 10
DEEPEST_VALUE = 8
LARGEST_VALUE = 4 * 1024
"""Bytes of the arguments of a test, and of a value that is expected."""
MEMORY_READS = (
    "search",
    "summary",
    "super_events",
    "segments",
    "records",
    "between",
    "enumerate",
    "transcript",
)
"""What a tool's `memory` offers; no looking, no models, no other tools."""

HOST_NAMES = frozenset(
    {"look", "localize", "frame", "crop_frame", "knowledge", "video", "memory", *MEMORY_READS}
)
"""Names by which `ctx.decide` knows what the host offers; no generated tool can have them."""

_ARGUMENT = re.compile(r"[a-z][a-z0-9_]{0,31}")


class ManifestError(ValueError):
    """A manifest that says too little, or something else than it may; the message is the first problem."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(problems[0])
        self.problems = tuple(problems)
        """Each in a line: the field, what is wrong with it, and what would be right."""


class ToolTest(Record):
    """One call of the tool, and the one thing that its result must fulfil."""

    arguments: dict[str, Any] = {}
    """Argument → value (JSON)."""
    equals: Any = None
    """The result is this JSON value: 1 equals 1.0, and not true; the order of a list counts."""
    at_least: int | float | None = None
    """The result is a number, and no smaller one than this."""
    non_empty: Literal[True] | None = None
    """The result is a text, a list or an object, and holds something."""
    type: ValueType | None = None
    """The result is of this type; `integer` is a number without a fraction."""

    @property
    def expects(self) -> tuple[str, Any]:
        """Which of EXPECTATIONS it is, and the value of it."""
        (name,) = self.model_fields_set.intersection(EXPECTATIONS)
        return name, getattr(self, name)

    @field_validator("arguments", "equals")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        if said := fault(value, DEEPEST_VALUE, LARGEST_VALUE):
            raise ValueError(f"not a small JSON value: {said}")
        return value

    @field_validator("at_least", mode="before")
    @classmethod
    def _number(cls, value: Any) -> Any:
        if not fits(value, "number") or fault(value):
            raise ValueError(f"needs a number, such as 0, and not {shown(value, 40)}")
        return value

    @field_validator("non_empty", mode="before")
    @classmethod
    def _true(cls, value: Any) -> Any:
        if value is not True:
            raise ValueError(f"can only be true, and not {shown(value, 40)}")
        return value

    @field_validator("type", mode="before")
    @classmethod
    def _word(cls, value: Any) -> Any:
        if value not in VALUE_TYPES:
            raise ValueError(f"is one of {', '.join(VALUE_TYPES)}, and not {shown(value, 40)}")
        return value

    @model_validator(mode="after")
    def _one_expectation(self) -> Self:
        found = [name for name in EXPECTATIONS if name in self.model_fields_set]
        if len(found) != 1:
            said = " and ".join(found) or "nothing"
            raise ValueError(f"expects {said}: give exactly one of {', '.join(EXPECTATIONS)}")
        return self

    @model_serializer(mode="wrap")
    def _as_given(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = handler(self)
        return {name: value for name, value in fields.items() if name in self.model_fields_set}


class ToolManifest(Record):
    """`<name>.json` beside `<name>.py`; the name of the tool is the name of its files."""

    signature: Annotated[dict[str, str], Field(max_length=MOST_ARGUMENTS)]
    """Argument → its type, a word of `ValueType`, and after a colon what it is: `number: seconds`."""
    purpose: Annotated[str, Field(min_length=1, max_length=300)]
    """What the tool finds out, in a sentence, for whoever has to choose one."""
    kinds: Annotated[tuple[QuestionKind, ...], Field(min_length=1)]
    """Kinds of questions that it serves."""
    tests: Annotated[tuple[ToolTest, ...], Field(min_length=1, max_length=MOST_TESTS)]
    """Calls, and what each must give on the memory of whichever video; each argument is used in one."""

    @property
    def types(self) -> dict[str, ValueType]:
        """Argument → type."""
        return {name: cast("ValueType", _type_word(said)) for name, said in self.signature.items()}

    @property
    def head(self) -> str:
        """The first line that the source could have."""
        return f"def tool({', '.join(['memory', *self.signature])})"

    def misfit(self, arguments: dict[str, Any]) -> str:
        """Why a call with these arguments does not fit the signature; empty when it does.

        That an argument is missing is not seen here: the source may give it a default.
        """
        for name, value in arguments.items():
            if name not in self.signature:
                known = ", ".join(self.signature) or "none"
                return f"there is no argument {one_line(str(name), 40)!r} (there is: {known})"
            if not fits(value, self.types[name]):
                return f"{name} is of the type {self.types[name]}, and not {type_of(value)}"
        return fault(arguments)

    @field_validator("signature")
    @classmethod
    def _typed(cls, signature: dict[str, str]) -> dict[str, str]:
        for name, said in signature.items():
            if not _ARGUMENT.fullmatch(name) or keyword.iskeyword(name) or name == "memory":
                raise ValueError(
                    f"{one_line(name, 40)!r} is no name for an argument "
                    "(use a-z, 0-9, _; no keyword of Python, and not memory)"
                )
            if _type_word(said) not in VALUE_TYPES:
                raise ValueError(
                    f"{name} has the type {one_line(said, 40)!r}: begin with one of "
                    f"{', '.join(VALUE_TYPES)}, as in 'number: seconds'"
                )
            if len(said) > 100 or one_line(said, 100) != said:
                raise ValueError(f"{name}: say what it is in one line of at most 100 characters")
        return signature

    @field_validator("purpose")
    @classmethod
    def _sentence(cls, purpose: str) -> str:
        if one_line(purpose, 300) != purpose:
            raise ValueError("needs one line of text")
        return purpose

    @field_validator("kinds")
    @classmethod
    def _different(cls, kinds: tuple[QuestionKind, ...]) -> tuple[QuestionKind, ...]:
        if len(set(kinds)) != len(kinds):
            raise ValueError("names a kind twice")
        return kinds

    @model_validator(mode="after")
    def _tests_fit(self) -> Self:
        for number, test in enumerate(self.tests, start=1):
            if said := self.misfit(test.arguments):
                raise ValueError(f"test {number}, arguments: {said}")
        used = {name for test in self.tests for name in test.arguments}
        for name in self.signature:
            if name not in used:
                raise ValueError(f"no test uses the argument {name}: give it in one, or leave it out")
        return self


def read_manifest(text: str) -> ToolManifest:
    """The manifest in a JSON text; ManifestError says everything that is wrong with it."""
    if len(text) > LARGEST_MANIFEST:
        raise ManifestError([f"longer than {LARGEST_MANIFEST // 1024} KB"])
    try:
        content = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError as error:
        raise ManifestError(["nested too deeply"]) from error
    except ValueError as error:
        raise ManifestError([f"not JSON: {one_line(str(error))}"]) from error
    if not isinstance(content, dict):
        fields = ", ".join(ToolManifest.model_fields)
        raise ManifestError([f"expected an object with {fields}, and not {type_of(content)}"])
    if said := fault(content, largest=2 * LARGEST_MANIFEST):
        raise ManifestError([said])
    try:
        return ToolManifest.model_validate(content)
    except ValidationError as error:
        raise ManifestError(_problems(error)) from error


def _type_word(said: str) -> str:
    return said.partition(":")[0].strip()


def _problems(error: ValidationError) -> list[str]:
    errors = error.errors(include_url=False)
    inner = {each["loc"][:1] for each in errors if len(each["loc"]) > 1}
    # that nothing valid is left of a list is no news where its items were told
    told = [each for each in errors if not (each["type"] == "too_short" and each["loc"] in inner)]
    return [_problem(each) for each in told]


def _problem(error: Any) -> str:
    location, kind = error["loc"], error["type"]
    message = _MESSAGES.get(kind) or str(error["msg"]).removeprefix("Value error, ")
    if kind == "extra_forbidden":
        fields = (ToolTest if len(location) > 1 else ToolManifest).model_fields
        message = f"is no field here (fields are: {', '.join(fields)})"
    parts: list[str] = []
    for part in location:
        if not isinstance(part, int):
            parts.append(one_line(str(part), 40))
        elif parts == ["tests"]:
            parts = [f"test {part + 1}"]
        else:
            parts.append(f"item {part + 1}")
    return one_line(": ".join(part for part in (", ".join(parts), message) if part), 400)


_MESSAGES = {
    "missing": "is missing",
    "too_short": "needs at least one",
    "dict_type": "expected an object",
    "model_type": "expected an object",
    "tuple_type": "expected a list",
    "string_type": "expected a text",
}
"""Kinds of errors that pydantic names in words of Python."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
        raise ValueError(f"{one_line(twice, 40)!r} is given twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
