"""Values that several threads share: each is made once, and the ones used last are kept."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, Protocol, Self, TypeVar, overload

Value = TypeVar("Value")


class Assembled(Protocol):
    """An object with parts."""

    assembling: threading.RLock


Owner = TypeVar("Owner", bound=Assembled)


class Kept(Generic[Value]):
    """A bounded mapping that makes what it lacks; threads that want the same value wait for one of them."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._making: dict[Hashable, threading.Event] = {}
        self._lock = threading.Lock()

    def get(
        self, key: Hashable, make: Callable[[], Value], worth: Callable[[Value], bool] | None = None
    ) -> Value:
        """The value of `key`, made now when it is not there; kept when it is `worth` it (None: always).

        What `make` raises is raised here, and whoever waited tries for itself. `make` must not ask for the
        same key.
        """
        while True:
            with self._lock:
                if key in self._values:
                    self._values.move_to_end(key)
                    return self._values[key]
                other = self._making.get(key)
                if other is None:
                    mine = self._making[key] = threading.Event()
                    break
            other.wait()
        try:
            value = make()
            if worth is None or worth(value):
                self._keep(key, value)
            return value
        finally:
            with self._lock:
                del self._making[key]
            mine.set()

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._values.clear()

    def _keep(self, key: Hashable, value: Value) -> None:
        with self._lock:
            self._values[key] = value
            if len(self._values) > self._capacity:
                self._values.popitem(last=False)


class part(Generic[Owner, Value]):  # noqa: N801 - used like `property`
    """A `cached_property` that is made once, also when several threads ask for it first.

    The object has a lock `assembling`, held while a part is made; parts may need one another. (From Python
    3.12 on the one of `functools` has no lock, and before, one for all objects.)
    """

    def __init__(self, make: Callable[[Owner], Value]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, instance: None, owner: Any = None) -> Self: ...
    @overload
    def __get__(self, instance: Owner, owner: Any = None) -> Value: ...
    def __get__(self, instance: Owner | None, owner: Any = None) -> Self | Value:
        if instance is None:
            return self
        parts = instance.__dict__
        with instance.assembling:
            if self._name not in parts:
                parts[self._name] = self._make(instance)
        value: Value = parts[self._name]
        return value
