"""Just enough of the wire protocol of `monty subprocess` to run one source in it.

Each message is four bytes of length (little endian) and a protobuf message. A request is answered by any
number of prints and one event that ends the turn. Values travel as a graph: a list of nodes, in which
containers name their members by position. Both directions are bounded, and what the worker sends is
believed in nothing.
"""

import socket
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from . import framing
from .guards import View

PROTOCOL = 6
"""Version of the protocol that is spoken here; a worker that does not know it says so and ends."""
LARGEST_EVENT = 4 << 20
"""Bytes of the largest event that is read."""
MOST_NODES = 200_000
"""Nodes of the largest value that is read."""

CONFIGURE, FEED, RESUME_CALL, RESUME_NAME = 1, 3, 4, 5
PRINT, FUNCTION_CALL, SYSTEM_CALL, NAME_LOOKUP, COMPLETE, ERROR, OK, FATAL = 1, 2, 3, 4, 6, 7, 10, 11

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_NONE, _BOOL, _INT, _BIGINT, _FLOAT, _STR = 2, 4, 5, 6, 7, 8
_LIST, _TUPLE, _DICT = 11, 12, 14
_CLASS, _INSTANCE = 23, 24
_OTHER = {9: "bytes", 15: "set", 16: "frozenset", 22: "exception", 25: "function", 26: "function"}
_OTHER |= {30: "a container of itself"}
_OURS = {"_Ctx_": "Api", "_Module_": "Facade", "_Parts_": "generator"} | {
    f"_{name.capitalize()}_": name for name in ("enumerate", "filter", "generator", "map", "zip")
}
"""Class of the prelude → what the `process` backend calls it."""

Fields = dict[int, list[Any]]
"""Number → values in order: integers, floats' 8 bytes, or bytes."""


class TooLarge(Exception):
    """The worker sent more than is read: an event of the kind that `event` holds."""

    def __init__(self, event: int) -> None:
        super().__init__(event)
        self.event = event


@dataclass(frozen=True)
class Raised:
    """An exception that ended a turn."""

    type: str
    message: str
    lines: tuple[tuple[str, int], ...]
    """File name and line of each frame, outermost first."""


class Worker:
    """The worker at the other end of a socket."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.prints = ""

    def configure(self, script: str, memory_bytes: int, recursion: int, calls: int) -> bool:
        """Open the one session; False when the worker does not speak this protocol."""
        limits = _number(2, memory_bytes) + _number(4, recursion) + _number(5, calls)
        body = _text(1, script) + _message(2, limits) + _number(6, 0) + _number(9, PROTOCOL)
        return self._turn(CONFIGURE, body)[0] == OK

    def feed(self, code: str, inputs: dict[str, Any]) -> tuple[int, Fields]:
        """Run a snippet with these names bound; the event that ends the turn, and its fields."""
        graph = _Graph()
        named = b"".join(_message(2, _text(1, name) + _number(2, graph.add(v))) for name, v in inputs.items())
        return self._turn(FEED, _text(1, code) + named + _message(3, graph.encoded()) + _text(5, "/"))

    def resume(self, call: int, value: Any) -> tuple[int, Fields]:
        """Return a value from a call of the host."""
        graph = _Graph()
        result = _message(2, _number(1, graph.add(value)))
        return self._turn(RESUME_CALL, _number(1, call) + result + _message(3, graph.encoded()))

    def resume_raising(self, call: int, kind: str, message: str) -> tuple[int, Fields]:
        """Raise a builtin exception from a call of the host."""
        raised = _message(2, _text(1, kind) + _text(2, message))
        return self._turn(RESUME_CALL, _number(1, call) + _message(2, raised))

    def resume_unknown(self, call: int, name: str) -> tuple[int, Fields]:
        """Say that there is no function of that name."""
        return self._turn(RESUME_CALL, _number(1, call) + _message(2, _text(4, name)))

    def resume_undefined(self) -> tuple[int, Fields]:
        """Say that a name is not defined."""
        return self._turn(RESUME_NAME, _message(3, b""))

    def _turn(self, request: int, body: bytes) -> tuple[int, Fields]:
        message = _message(request, body)
        try:
            self._connection.sendall(struct.pack("<I", len(message)) + message)
            while True:
                event = _fields(self._receive())
                number = next((n for n in event if n < 20), 0)
                content = _fields(_only(event, number, b""))
                if number != PRINT:
                    return number, content
                self._print(content)
        except OSError as error:
            raise framing.Closed from error

    def _print(self, content: Fields) -> None:
        for segment in content.get(1, ()):
            text = _string(_fields(segment), 2)
            self.prints += text[: framing.LONGEST_PRINTS - len(self.prints)]

    def _receive(self) -> bytes:
        length = struct.unpack("<I", self._exactly(4))[0]
        if length > LARGEST_EVENT:
            raise TooLarge(self._exactly(1)[0] >> 3)
        return self._exactly(length)

    def _exactly(self, count: int) -> bytes:
        chunks, missing = [], count
        while missing:
            chunk = self._connection.recv(min(missing, 1 << 16))
            if not chunk:
                raise framing.Closed
            chunks.append(chunk)
            missing -= len(chunk)
        return b"".join(chunks)


def called(event: Fields) -> tuple[int, str, list[Any]]:
    """Id, function name and positional arguments of a FUNCTION_CALL."""
    values = _values(event, 7)
    arguments = [_member(values, at) for at in _packed(event, 2)]
    return _only(event, 4, 0), _string(event, 1), arguments


def completed(event: Fields) -> Any:
    """The value of a COMPLETE."""
    return _member(_values(event, 2), _only(event, 1, 0))


def raised(event: Fields) -> Raised:
    """The exception of an ERROR."""
    exception = _fields(_only(event, 1, b""))
    lines = []
    for frame in exception.get(3, ()):
        fields = _fields(frame)
        lines.append((_string(fields, 1), int(_only(_fields(_only(fields, 2, b"")), 1, 0))))
    return Raised(_string(exception, 1), _string(exception, 2), tuple(lines))


# Values


class _Graph:
    """Values on their way out."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []

    def add(self, value: Any) -> int:
        """Append a JSON value, its members first; its position."""
        if value is None:
            node = _message(_NONE, b"")
        elif value is True or value is False:
            node = _number(_BOOL, int(value))
        elif isinstance(value, int):
            node = _number(_INT, (value << 1) ^ (value >> 63))
        elif isinstance(value, float):
            node = _key(_FLOAT, _FIXED64) + struct.pack("<d", value)
        elif isinstance(value, str):
            node = _text(_STR, value)
        elif isinstance(value, dict):
            pairs = [(self.add(key), self.add(member)) for key, member in value.items()]
            node = _message(_DICT, b"".join(_message(1, _number(1, k) + _number(2, v)) for k, v in pairs))
        else:
            members = b"".join(_varint(self.add(member)) for member in value)
            node = _message(_LIST, _message(1, members))
        self._nodes.append(node)
        return len(self._nodes) - 1

    def encoded(self) -> bytes:
        """The message that holds every value added."""
        return _number(1, len(self._nodes)) + b"".join(_message(2, node) for node in self._nodes)


def _values(event: Fields, number: int) -> list[Any]:
    """Every value of a graph, in order; members are shared, never copied."""
    nodes = _fields(_only(event, number, b"")).get(2, [])
    if len(nodes) > MOST_NODES:
        raise TooLarge(FUNCTION_CALL if number == 7 else COMPLETE)
    values: list[Any] = []
    for node in nodes:
        kind, content = next(_pieces(node), (0, b""))
        try:
            values.append(_value(kind, content, values))
        except (TypeError, AttributeError, struct.error) as error:
            raise framing.FramingError("a value of another type than it says") from error
    return values


def _member(values: Sequence[Any], at: int) -> Any:
    if at >= len(values):
        raise framing.FramingError("a value that is not there")
    return values[at]


def _value(kind: int, content: Any, before: Sequence[Any]) -> Any:
    if kind == _NONE:
        return None
    if kind == _BOOL:
        return bool(content)
    if kind == _INT:
        return (content >> 1) ^ -(content & 1)
    if kind == _FLOAT:
        return struct.unpack("<d", content)[0]
    if kind == _STR:
        return content.decode("utf-8", "replace")
    if kind in (_LIST, _TUPLE):
        return [_member(before, at) for at in _packed(_fields(content), 1)]
    if kind == _DICT:
        return _dictionary(content, before)
    if kind == _BIGINT:
        return framing.LARGEST_INTEGER + 1
    if kind == _CLASS:
        return _Class(_string(_fields(content), 1))
    if kind == _INSTANCE:
        name = getattr(_member(before, _only(_fields(content), 1, 0)), "name", "")
        return View({}) if name == "_View_" else type(_OURS.get(name, "an object"), (), {})()
    return type(_OTHER.get(kind, "an object"), (), {})()


def _dictionary(content: bytes, before: Sequence[Any]) -> Any:
    found: dict[Any, Any] = {}
    for pair in _fields(content).get(1, ()):
        fields = _fields(pair)
        key = _member(before, _only(fields, 1, 0))
        hashable = key is None or isinstance(key, str | int | float)
        found[key if hashable else _Key()] = _member(before, _only(fields, 2, 0))
    return found


class _Class:
    """A class, which is no value but says what its instances are."""

    def __init__(self, name: str) -> None:
        self.name = name


_Class.__name__ = "type"


class _Key:
    """A key that is no text."""


# Protobuf


def _fields(data: bytes) -> Fields:
    if not isinstance(data, bytes):
        raise framing.FramingError("a number where a message belongs")
    found: Fields = {}
    for number, content in _pieces(data):
        found.setdefault(number, []).append(content)
    return found


def _pieces(data: bytes) -> Iterator[tuple[int, Any]]:
    at = 0
    try:
        while at < len(data):
            key, at = _read_varint(data, at)
            wire = key & 7
            if wire == _VARINT:
                content, at = _read_varint(data, at)
                yield key >> 3, content
                continue
            length, at = _read_varint(data, at) if wire == _BYTES else ({_FIXED64: 8, _FIXED32: 4}[wire], at)
            if at + length > len(data):
                raise framing.FramingError("a field that ends too late")
            yield key >> 3, data[at : at + length]
            at += length
    except (IndexError, KeyError) as error:
        raise framing.FramingError("not a protobuf message") from error


def _packed(fields: Fields, number: int) -> list[int]:
    found: list[int] = []
    for content in fields.get(number, ()):
        if isinstance(content, int):
            found.append(content)
            continue
        at = 0
        while at < len(content):
            position, at = _read_varint(content, at)
            found.append(position)
    return found


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 70:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7
    raise framing.FramingError("a number that does not end")


def _only(fields: Fields, number: int, otherwise: Any) -> Any:
    found = fields.get(number, [otherwise])[-1]
    if type(found) is not type(otherwise):
        raise framing.FramingError(f"field {number} is of another type")
    return found


def _string(fields: Fields, number: int) -> str:
    return str(_only(fields, number, b"").decode("utf-8", "replace"))


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _key(number: int, wire: int) -> bytes:
    return _varint(number << 3 | wire)


def _number(number: int, value: int) -> bytes:
    return _key(number, _VARINT) + _varint(value)


def _message(number: int, content: bytes) -> bytes:
    return _key(number, _BYTES) + _varint(len(content)) + content


def _text(number: int, text: str) -> bytes:
    return _message(number, text.encode("utf-8", "replace"))
