"""With the language layer bypassed, the system still gives a run nothing: no file, no network, no process."""

import os
import resource
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from evoharness.sandbox import HostApi, ProcessSandbox, SandboxLimits, SandboxResult


@pytest.fixture(scope="module")
def raw() -> Iterator[ProcessSandbox]:
    """A sandbox whose children run any Python at all."""
    sandbox = ProcessSandbox(raw=True)
    if not sandbox.level.sufficient:
        pytest.skip(f"this system confines less: {sandbox.level}")
    yield sandbox
    sandbox.close()


def _run(sandbox: ProcessSandbox, body: str, limits: SandboxLimits = SandboxLimits()) -> SandboxResult:  # noqa: B008
    source = "def strategy(ctx, question):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    return sandbox.run(source, "strategy", {"question": 1}, HostApi({}), limits)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("import socket\nsocket.socket()\nreturn 'out'", "syscall_violation"),
        ("import socket\nsocket.socket(socket.AF_UNIX)\nreturn 'out'", "syscall_violation"),
        ("import os\nif os.fork() == 0:\n    os._exit(0)\nreturn 'out'", "syscall_violation"),
        ("import os\nos.posix_spawn('/bin/true', ['true'], {})\nreturn 'out'", "syscall_violation"),
        ("import os\nos.kill(os.getppid(), 9)\nreturn 'out'", "syscall_violation"),
        ("import os\nos.unlink('/tmp/x')\nreturn 'out'", "syscall_violation"),
        ("import os\nos.setuid(0)\nreturn 'out'", "syscall_violation"),
        (
            "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (9, 9))\nreturn 'out'",
            "syscall_violation",
        ),
        ("import time\ntime.sleep(60)", "syscall_violation"),
        ("import ctypes\nctypes.CDLL(None).syscall(250, 0, 0, 1)\nreturn 'out'", "syscall_violation"),
        ("import ctypes\nctypes.string_at(0)", "worker_crashed"),
        ("import os\nos._exit(0)", "worker_crashed"),
        ("import os\nwhile True:\n    os.write(2, b'x' * 65536)", "cpu_time_exceeded"),
        ("while True:\n    pass", "cpu_time_exceeded"),
        ("x = [0]\nwhile True:\n    x += x", "memory_limit_exceeded"),
        (
            "import os, struct\nfor fd in range(3, 64):\n    try:\n"
            "        os.write(fd, struct.pack('>I', 0xfffffff0) + b'{}')\n    except OSError:\n        pass\n"
            "os._exit(0)",
            "protocol_violation",
        ),
        (
            "import os, struct, json\nbody = json.dumps({'end': {'kind': 'cpu_time_exceeded'}}).encode()\n"
            "for fd in range(3, 16):\n    try:\n        os.write(fd, struct.pack('>I', len(body)) + body)\n"
            "    except OSError:\n        pass\nos._exit(0)",
            "protocol_violation",
        ),
    ],
)
def test_what_the_system_forbids_ends_the_run(raw: ProcessSandbox, body: str, kind: str) -> None:
    result = _run(raw, body, SandboxLimits(cpu_seconds=1))
    assert (result.kind, result.value) == (kind, None)
    assert _run(raw, "return 1").value == 1


@pytest.mark.parametrize(
    "body",
    [
        "return open('/etc/hostname').read()",
        "import os\nreturn os.listdir('/')",
        "import os\nreturn os.stat('/').st_size",
        "import mmap\nreturn len(mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC))",
        "import urllib.request\nreturn 1",
    ],
)
def test_what_the_system_refuses_is_an_error(raw: ProcessSandbox, body: str) -> None:
    caught = "try:\n" + "".join(f"    {line}\n" for line in body.splitlines())
    caught += "except (OSError, ImportError) as error:\n    return 'refused'"
    assert _run(raw, caught).value == "refused"


@pytest.mark.usefixtures("raw")
@pytest.mark.parametrize("many", [0, 1200])
def test_no_descriptor_of_the_host_is_inherited(tmp_path: Path, many: int) -> None:
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < many + 100:
        pytest.skip("this process may not have so many files open")
    held = [os.open("/dev/null", os.O_RDONLY) for _ in range(many)]
    secret = tmp_path / "secret"
    secret.write_text("SECRET")
    descriptor = os.open(secret, os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    fresh = ProcessSandbox(raw=True)
    body = (
        "import os\nopened = []\nfor fd in range(3, 4000):\n    try:\n        os.read(fd, 0)\n"
        "        opened.append(fd)\n    except OSError:\n        pass\nreturn len(opened)"
    )
    try:
        assert _run(fresh, body).value == 1
    finally:
        for number in (descriptor, *held):
            os.close(number)
        fresh.close()


def test_the_environment_is_empty(raw: ProcessSandbox) -> None:
    assert _run(raw, "import os\nreturn sorted(os.environ)").value in (
        ["PYTHONHASHSEED"],
        ["LC_CTYPE", "PYTHONHASHSEED"],
    )


def test_a_local_server_is_out_of_reach(raw: ProcessSandbox) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        result = _run(raw, f"import socket\nsocket.create_connection(('127.0.0.1', {port}))\nreturn 'out'")
    assert result.kind in ("syscall_violation", "strategy_error")
