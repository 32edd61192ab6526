"""The fork server comes when it is needed, comes back when it died, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from evoharness.errors import UserError
from evoharness.sandbox import (
    HostApi,
    HostMethod,
    ProcessSandbox,
    SandboxLimits,
    SandboxUnavailable,
    make_sandbox,
)
from evoharness.sandbox.__main__ import main
from evoharness.sandbox.bench import measure

SOURCE = "def strategy(ctx, question):\n    return question\n"


def _ask(sandbox: ProcessSandbox, value: int = 7) -> object:
    return sandbox.run(SOURCE, "strategy", {"question": value}, HostApi({}), SandboxLimits()).value


def _children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in listed.split()]


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _gone(pids: list[int], seconds: float = 6.0) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not any(_alive(pid) for pid in pids):
            return True
        time.sleep(0.02)
    return False


def test_each_run_has_a_process_of_its_own_that_is_gone_afterwards() -> None:
    sandbox = ProcessSandbox()
    assert _ask(sandbox) == 7
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    server = sandbox._server
    assert server is not None
    for number in range(20):
        assert _ask(sandbox, number) == number
    assert _children(server.process.pid) == []
    assert len(list(Path("/proc/self/fd").iterdir())) == descriptors
    sandbox.close()
    assert _gone([server.process.pid])
    assert _ask(sandbox) == 7
    sandbox.close()


def test_a_dead_server_is_replaced() -> None:
    sandbox = ProcessSandbox()
    assert _ask(sandbox) == 7
    assert sandbox._server is not None
    os.kill(sandbox._server.process.pid, signal.SIGKILL)
    assert _ask(sandbox) == 7
    os.kill(sandbox._server.process.pid, signal.SIGSTOP)
    sandbox._server._control.settimeout(0.2)
    assert _ask(sandbox) == 7
    sandbox.close()


def test_a_server_that_dies_during_a_run_is_not_the_fault_of_the_source() -> None:
    sandbox = ProcessSandbox()

    def kill(_: object) -> None:
        assert sandbox._server is not None
        os.kill(sandbox._server.process.pid, signal.SIGKILL)
        assert _gone([sandbox._server.process.pid])

    source = "def strategy(ctx, question):\n    return ctx.kill()\n"
    with pytest.raises(SandboxUnavailable, match="died during a run"):
        sandbox.run(source, "strategy", {"question": 1}, HostApi({"kill": HostMethod(kill)}), SandboxLimits())
    assert _ask(sandbox) == 7
    sandbox.close()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, None])
def test_nothing_outlives_the_process_that_used_it(how: signal.Signals | None, tmp_path: Path) -> None:
    script = (
        "import sys, time\n"
        "from evoharness.sandbox import *\n"
        "sandbox = ProcessSandbox()\n"
        "def work(_):\n"
        "    print(sandbox._server.process.pid, flush=True)\n"
        f"    {'time.sleep(60)' if how else 'return 1'}\n"
        "source = 'def strategy(ctx, question):\\n    return ctx.work()\\n'\n"
        "api = HostApi({'work': HostMethod(work)})\n"
        "sandbox.run(source, 'strategy', {'question': 1}, api, SandboxLimits())\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert process.stdout is not None
    server = int(process.stdout.readline())
    family = [server, *_children(server)] if how else [server]
    if how:
        assert len(family) == 2
        process.send_signal(how)
    process.wait(20)
    process.stdout.close()
    assert _gone(family)


def test_threads_may_share_a_sandbox() -> None:
    sandbox = ProcessSandbox()
    found: list[object] = []
    threads = [threading.Thread(target=lambda n=n: found.append(_ask(sandbox, n))) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, found)) == [str(n) for n in range(8)]
    sandbox.close()


def test_the_environment_of_a_run_holds_no_keys(
    sandbox: ProcessSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLM_API_KEY", "secret")
    fresh = ProcessSandbox()
    _ask(fresh)
    assert fresh._server is not None
    environment = Path(f"/proc/{fresh._server.process.pid}/environ").read_bytes()
    assert b"secret" not in environment
    fresh.close()
    assert "rlimits" in sandbox.level.layers
    assert "no_new_privs" in sandbox.level.layers


def test_backends_have_names() -> None:
    assert isinstance(make_sandbox("process"), ProcessSandbox)
    with pytest.raises(UserError, match="there is no sandbox 'jail'"):
        make_sandbox("jail")


def test_check_prints_the_violations_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def strategy(ctx, question):\n    import os\n    return 1\n")
    assert main(["check", str(file)]) == 1
    assert f"{file}: line 2: 'os' is not available" in capsys.readouterr().out
    file.write_text(SOURCE)
    assert main(["check", str(file)]) == 0
    assert main(["check", str(tmp_path / "nowhere.py")]) == 2


def test_a_run_and_a_host_call_are_measured() -> None:
    figures = measure(runs=20)
    assert "rlimits" in str(figures.level)
    assert 0 < figures.run.p50 <= figures.run.p95
    assert 0 < figures.host_call.p50 < figures.run.p50
