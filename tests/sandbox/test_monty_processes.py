"""The processes of a run in monty: confined, gone afterwards, and not blamed on the source when they fail."""

import os
import signal
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from evoharness.sandbox import HostApi, HostMethod, SandboxLimits, SandboxResult, SandboxUnavailable, monty
from evoharness.sandbox.monty import MontySandbox

pytestmark = pytest.mark.skipif(
    find_spec("pydantic_monty") is None, reason="the extra monty is not installed"
)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[MontySandbox]:
    running = MontySandbox()
    yield running
    running.close()


def _run(sandbox: MontySandbox, body: str, api: HostApi = HostApi({})) -> SandboxResult:  # noqa: B008
    source = "def strategy(ctx, question):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    return sandbox.run(source, "strategy", {"question": 1}, api, SandboxLimits())


def test_both_processes_of_a_run_are_confined_and_gone_afterwards(sandbox: MontySandbox) -> None:
    if not sandbox.level.sufficient:
        pytest.skip(f"this system confines less: {sandbox.level}")
    seen: list[dict[str, str]] = []

    def look(_: object) -> int:
        assert sandbox._server is not None
        children = _children(sandbox._server.process.pid)
        for child in children:
            lines = Path(f"/proc/{child}/status").read_text().splitlines()
            seen.append(dict(line.split(":\t", 1) for line in lines if ":\t" in line))
        return len(children)

    api = HostApi({"look": HostMethod(look)})
    assert _run(sandbox, "return ctx.look()", api=api).value == 2
    assert sorted(status["Name"] for status in seen)[0] == "monty"
    for status in seen:
        assert status["NoNewPrivs"] == "1"
        assert status["Seccomp"] == "2"
        assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == 0
        assert "0" not in status["Uid"].split()
    assert sandbox._server is not None
    assert _children(sandbox._server.process.pid) == []


@pytest.mark.parametrize("name", ["monty", "python"])
def test_a_run_whose_process_is_killed_has_crashed_and_the_next_one_works(
    sandbox: MontySandbox, name: str
) -> None:
    def kill(_: object) -> None:
        assert sandbox._server is not None
        for child in _children(sandbox._server.process.pid):
            if Path(f"/proc/{child}/comm").read_text().startswith(name):
                os.kill(child, signal.SIGKILL)

    result = _run(sandbox, "ctx.kill()\nreturn 1", api=HostApi({"kill": HostMethod(kill)}))
    assert result.kind == "worker_crashed"
    assert _run(sandbox, "return 1").value == 1


def test_without_monty_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monty, "RUNTIME", "no-such-distribution")
    with pytest.raises(SandboxUnavailable, match=r"pip install 'evoharness\[monty\]'"):
        _run(MontySandbox(), "return 1")


def test_an_interpreter_that_does_not_speak_the_protocol_is_no_fault_of_the_source(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(monty, "monty_binary", lambda: Path("/bin/cat"))
    sandbox = MontySandbox()
    with pytest.raises(SandboxUnavailable, match="does not run here"):
        _run(sandbox, "return 1")
    sandbox.close()


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
