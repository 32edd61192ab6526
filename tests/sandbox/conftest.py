"""One fork server for all tests of the sandbox."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from evoharness.sandbox import HostApi, HostMethod, ProcessSandbox, SandboxLimits, SandboxResult

Run = Callable[..., SandboxResult]


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


@pytest.fixture
def run(sandbox: ProcessSandbox) -> Run:
    methods = {
        name: HostMethod(lambda a: a.query, Anything) for name in ("search", "sample_frames", "ask_vlm")
    }
    api = HostApi(methods, {"memory": {"items": [1]}, "secret": "s"})

    def call(source: str, limits: SandboxLimits = SandboxLimits(), api: HostApi = api) -> SandboxResult:  # noqa: B008
        source = "def strategy(ctx, question):\n" + "".join(f"    {s}\n" for s in source.splitlines())
        return sandbox.run(source, "strategy", {"question": {"q": "hello", "options": ["a"]}}, api, limits)

    return call
