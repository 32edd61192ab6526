"""Whatever the host is like and does, runs stay confined and the sandbox goes on working."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from evoharness.sandbox import (
    HostApi,
    HostMethod,
    ProcessSandbox,
    SandboxLimits,
    SandboxUnavailable,
    fork_server,
)

SOURCE = "def strategy(ctx, question):\n    return question\n"
ASKING = (
    "from evoharness.sandbox import HostApi, ProcessSandbox, SandboxLimits\n"
    "sandbox = ProcessSandbox()\n"
    f"result = sandbox.run({SOURCE!r}, 'strategy', {{'question': 7}}, HostApi({{}}), SandboxLimits())\n"
)


def ask(sandbox: ProcessSandbox, value: int = 7) -> object:
    return sandbox.run(SOURCE, "strategy", {"question": value}, HostApi({}), SandboxLimits()).value


@pytest.fixture
def own() -> Iterator[ProcessSandbox]:
    """A sandbox that a test may break."""
    sandbox = ProcessSandbox()
    yield sandbox
    sandbox.close()


FAILING_LATER = """
from confined import kernel, layers
made = layers.confine
def confine(limits, root):
    if not confine.probed:
        confine.probed = True
        return made(limits, root)
    kernel.{layer} = lambda *_: False
    return made(limits, root)
confine.probed = False
layers.confine = confine
probe = server._probe
def probed(*arguments):
    reached = probe(*arguments)
    confine.probed = True
    return reached
server._probe = probed
"""


@pytest.mark.parametrize("layer", ["landlock", "seccomp"])
def test_a_layer_that_fails_later_keeps_the_source_from_running(
    own: ProcessSandbox, monkeypatch: pytest.MonkeyPatch, layer: str
) -> None:
    boot = fork_server._boot("execute")
    start, main = boot.split("server.main(")
    prepared = f"{start}exec({FAILING_LATER.format(layer=layer)!r}); server.main({main}"
    monkeypatch.setattr(fork_server, "_boot", lambda _: prepared)
    assert layer in own.level.layers
    with pytest.raises(SandboxUnavailable, match=f"lacks {layer}"):
        ask(own)


class Alarm(Exception):
    """What a signal handler of the host raises."""


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="needs signals")
def test_a_host_that_is_interrupted_at_any_moment_goes_on(own: ProcessSandbox) -> None:
    def interrupt(*_: object) -> None:
        raise Alarm

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for number in range(60):
            with contextlib.suppress(Alarm, SandboxUnavailable):
                signal.setitimer(signal.ITIMER_REAL, 0.0005 + 0.0003 * (number % 30))
                ask(own)
            signal.setitimer(signal.ITIMER_REAL, 0)
            result = own.run(SOURCE, "strategy", {"question": number}, HostApi({}), SandboxLimits())
            assert (result.kind, result.value) == ("finished", number)
            assert result.peak_bytes < 1 << 32
            assert result.cpu_seconds < 5
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_fork_of_the_host_has_a_server_of_its_own(own: ProcessSandbox) -> None:
    assert ask(own) == 7
    held = threading.Event()

    def hold() -> None:
        with own._lock:
            held.set()
            time.sleep(1)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    pid = os.fork()
    if pid == 0:
        status = 1
        with contextlib.suppress(BaseException):
            status = 0 if ask(own) == 7 else 2
            own.close()
        os._exit(status)
    until = time.monotonic() + 20
    while (ended := os.waitpid(pid, os.WNOHANG)) == (0, 0) and time.monotonic() < until:
        time.sleep(0.02)
    if ended == (0, 0):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    thread.join()
    assert ended[1] == 0
    assert ask(own) == 7


def test_runs_that_hang_up_and_go_on_hold_nobody_up() -> None:
    raw = ProcessSandbox(raw=True)
    if not raw.level.sufficient:
        pytest.skip(f"this system confines less: {raw.level}")
    spinning = (
        "import os\ndef strategy(ctx, question):\n    os.closerange(3, 100)\n    while True:\n        pass\n"
    )
    limits = SandboxLimits(cpu_seconds=2)

    def spin() -> None:
        for _ in range(3):
            raw.run(spinning, "strategy", {"question": 1}, HostApi({}), limits)

    assert ask(raw) == 7
    threads = [threading.Thread(target=spin) for _ in range(2)]
    for thread in threads:
        thread.start()
    waits = []
    while any(thread.is_alive() for thread in threads):
        with raw._lock:
            pass
        started = time.monotonic()
        with raw._lock:
            waits.append(time.monotonic() - started)
        time.sleep(0.005)
    assert sorted(waits)[len(waits) // 2] < 0.1
    raw.close()


@pytest.mark.parametrize(
    "before",
    [
        "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n",
        "import os; os.closerange(0, 3)\n",
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n",
        "import sys; sys.flags.optimize\n",
    ],
)
def test_hosts_of_other_habits_can_use_it(before: str, tmp_path: Path) -> None:
    said = tmp_path / "said"
    script = f"{before}{ASKING}sandbox.close()\nopen({str(said)!r}, 'w').write(str(result.value))\n"
    subprocess.run([sys.executable, "-O", "-c", script], timeout=60, check=True, cwd=tmp_path)
    assert said.read_text() == "7"


def test_nothing_beside_the_caller_is_imported(tmp_path: Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    for place in (tmp_path, folder):
        for name in ("RestrictedPython", "random", "confined", "framing"):
            (place / f"{name}.py").write_text(
                f"open({str(tmp_path / 'taken')!r}, 'w')\nraise SystemExit(1)\n"
            )
    file = folder / "mine.py"
    file.write_text(SOURCE)
    command = [sys.executable, "-P", "-m", "evoharness.sandbox", "check", str(file)]
    environment = {**os.environ, "PYTHONSTARTUP": str(tmp_path / "random.py")}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    assert not (tmp_path / "taken").exists()


@pytest.mark.parametrize("value", [10**30, float("nan"), {"deep": None}])
def test_what_the_host_cannot_send_is_the_hosts_defect(own: ProcessSandbox, value: object) -> None:
    if isinstance(value, dict):
        for _ in range(60):
            value = [value]
    source = (
        "def strategy(ctx, question):\n    try:\n        return ctx.get()\n"
        "    except Exception:\n        return 1\n"
    )
    with pytest.raises(ValueError, match=r"plain data|JSON compliant"):
        own.run(
            source,
            "strategy",
            {"question": 1},
            HostApi({"get": HostMethod(lambda _: value)}),
            SandboxLimits(),
        )
    with pytest.raises(ValueError, match=r"plain data|JSON compliant"):
        own.run(source, "strategy", {"question": value}, HostApi({}), SandboxLimits())
    assert ask(own) == 7


def test_messages_do_nothing_to_a_terminal(own: ProcessSandbox) -> None:
    source = (
        "def strategy(ctx, question):\n    print(chr(27) + '[2J')\n"
        "    raise ValueError(chr(27) + ']0;owned' + chr(7) + chr(10) + 'next')\n"
    )
    result = own.run(source, "strategy", {"question": 1}, HostApi({}), SandboxLimits())
    assert result.message == "ValueError: ]0;owned next"
    assert "\x1b" not in result.prints
