"""Every backend that is installed, behind one way of running a piece of a strategy."""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from pydantic import BaseModel

from evoharness.sandbox import (
    HostApi,
    HostMethod,
    ProcessSandbox,
    SandboxBackend,
    SandboxLimits,
    SandboxResult,
    make_sandbox,
)

Run = Callable[..., SandboxResult]
NEEDS = {"monty": "pydantic_monty"}
"""Backend → module that it needs."""
DIFFERS = {"monty": ("yield", "\\ud800")}
"""Backend → parts of sources that it is documented to treat otherwise (`evoharness/sandbox/monty.py`)."""


class Anything(BaseModel):
    """Arguments of the calls that test sources make."""

    query: Any = None
    start: Any = None
    end: Any = None
    n: Any = None


@pytest.fixture(scope="session")
def sandbox() -> Iterator[ProcessSandbox]:
    running = ProcessSandbox()
    yield running
    running.close()


@pytest.fixture(scope="session", params=["process", "monty", "inprocess"])
def backend(request: pytest.FixtureRequest) -> Iterator[SandboxBackend]:
    """Each backend in turn; `inprocess` only for tests that do not ask it to stop or to limit a process."""
    name = request.param
    if name in NEEDS and find_spec(NEEDS[name]) is None:
        pytest.skip(f"the backend {name} is not installed")
    running = make_sandbox(name, allow_weaker=name == "inprocess")
    yield running
    running.close()


@pytest.fixture
def confined(backend: SandboxBackend) -> SandboxBackend:
    """Each backend whose runs the system confines."""
    if not backend.level.sufficient:
        pytest.skip(f"needs confinement by the system; this is {backend.level}")
    return backend


@pytest.fixture
def run(request: pytest.FixtureRequest, backend: SandboxBackend) -> Run:
    methods = {
        name: HostMethod(lambda a: a.query, Anything) for name in ("search", "sample_frames", "ask_vlm")
    }
    api = HostApi(methods, {"memory": {"items": [1]}, "secret": "s"})

    def call(source: str, limits: SandboxLimits = SandboxLimits(), api: HostApi = api) -> SandboxResult:  # noqa: B008
        name = request.node.callspec.params["backend"]
        if any(part in source for part in DIFFERS.get(name, ())):
            pytest.skip(f"{name} is documented to treat this otherwise")
        source = "def strategy(ctx, question):\n" + "".join(f"    {s}\n" for s in source.splitlines())
        return backend.run(source, "strategy", {"question": {"q": "hello", "options": ["a"]}}, api, limits)

    return call
