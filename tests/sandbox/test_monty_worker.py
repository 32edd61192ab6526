"""What holds monty when its interpreter is broken: the layers of its process, and the reader of its words."""

import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evoharness.sandbox import (
    HostApi,
    HostMethod,
    ProcessSandbox,
    SandboxLimits,
    SandboxUnavailable,
    fork_server,
)
from evoharness.sandbox.confined import framing, monty_wire
from evoharness.sandbox.confined.monty_wire import TooLarge, Worker
from evoharness.sandbox.monty import MontySandbox, _libraries

PAYLOAD = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *idle(void *x) { return x; }

static int attempt(char which) {
    struct stat found;
    struct rlimit limit = {1000, 1000};
    pthread_t thread;
    int fd, at[2];
    char *none[] = {0};
    switch (which) {
    case 'a': return open("/etc/passwd", O_RDONLY) >= 0;
    case 'b': return open(FOLDER "/made", O_CREAT | O_WRONLY, 0600) >= 0;
    case 'c': return open(FOLDER, O_RDONLY | O_DIRECTORY) >= 0;
    case 'd': return stat("/etc/passwd", &found) == 0;
    case 'e': return socket(AF_INET, SOCK_STREAM, 0) >= 0;
    case 'f': return socketpair(AF_UNIX, SOCK_STREAM, 0, at) == 0;
    case 'g': return fork() >= 0;
    case 'h': return vfork() >= 0;
    case 'i': return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) >= 0;
    case 'j': return execve("/bin/sh", none, none);
    case 'k': return syscall(SYS_execveat, AT_FDCWD, "/bin/sh", none, none, 0) == 0;
    case 'l': return mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
    case 'm':
        fd = open(FOLDER "/program", O_RDONLY);
        return mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, fd, 0) != MAP_FAILED;
    case 'n':
        return mprotect(mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096,
                        PROT_READ | PROT_EXEC) == 0;
    case 'o': return kill(getppid(), SIGKILL) == 0;
    case 'p': return ptrace(PTRACE_ATTACH, getppid(), 0, 0) == 0;
    case 'q': return setuid(0) == 0;
    case '1': limit.rlim_cur = limit.rlim_max = 1; return setrlimit(RLIMIT_NOFILE, &limit) == 0;
    case '3': return open("/etc/passwd", O_PATH) >= 0;
    case 'r': return setrlimit(RLIMIT_CPU, &limit) == 0;
    case 's': return unlink(FOLDER "/victim") == 0;
    case 't': return syscall(SYS_bpf, 0, 0, 0) == 0;
    case 'u': return syscall(SYS_keyctl, 0, 0xfffffffd, 1) >= 0;
    case 'v': return syscall(SYS_memfd_create, "x", 0) >= 0;
    case 'w': return mmap(0, 1ul << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
    case 'x': return syscall(SYS_prlimit64, getppid(), RLIMIT_CPU, &limit, 0) == 0;
    case 'y': for (;;) {}
    case 'z': sleep(600); return 1;
    }
    return pthread_create(&thread, 0, idle, 0) == 0;
}

int main(int count, char **arguments) {
    char which = 0;
    read(0, &which, 1);
    setvbuf(stdout, 0, _IONBF, 0);
    puts(attempt(which) ? "out" : "held");
    return 0;
}
"""
START = """
import socket, sys
sys.path.insert(0, sys.argv[3])
from confined import framing, monty_worker
connection = socket.socket(fileno=int(sys.argv[1]))
sys.argv[3:4] = sys.argv[4:]
monty_worker.companion(connection, framing.receive(connection), {root})
"""


@pytest.fixture(scope="module")
def payload(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program in the place of monty's that tries one thing."""
    compiler = shutil.which("cc")
    sandbox = ProcessSandbox()
    level = sandbox.level
    sandbox.close()
    if compiler is None or not level.sufficient:
        pytest.skip("needs a C compiler and full confinement")
    folder = tmp_path_factory.mktemp("payload")
    program = folder / "program"
    (folder / "program.c").write_text(PAYLOAD)
    folder.chmod(0o777)
    source, named = str(folder / "program.c"), f'-DFOLDER="{folder}"'
    subprocess.run([compiler, named, "-o", str(program), source, "-lpthread"], check=True)
    return program


def _attempt(program: Path, which: str) -> tuple[str, int]:
    """What the program said, and how it ended."""
    folder = Path(monty_wire.__file__).parents[1]
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            code = START.format(root=os.getuid() == 0)
            command = [sys.executable, "-S", "-c", code, str(theirs.fileno()), str(program), str(folder)]
            process = subprocess.Popen([*command, *_libraries(program)], pass_fds=(theirs.fileno(),))
        framing.send(ours, {"cpu_seconds": 1, "memory_bytes": 256 << 20})
        assert {"landlock", "seccomp"} <= set(framing.receive(ours))
        ours.sendall(which.encode())
        ours.settimeout(20)
        try:
            said = ours.recv(100).decode().strip()
        except TimeoutError:
            said = "late"
            process.kill()
    return said, process.wait(10)


@pytest.mark.parametrize("which", "abcdefghijklmnopqrstuvwxyz13")
def test_a_broken_interpreter_can_do_nothing_outside(payload: Path, which: str) -> None:
    victim = payload.with_name("victim")
    victim.write_text("here")
    said, status = _attempt(payload, which)
    assert said in ("", "held")
    assert (said, status) != ("", 0)
    assert victim.read_text() == "here"
    assert not payload.with_name("made").exists()


LESS = """
import types
from confined import kernel, layers, monty_worker
def replaced(module, **names):
    return types.SimpleNamespace(**{{**vars(module), **names}})
{change}
"""


@pytest.mark.parametrize(
    ("layer", "change"),
    [
        ("seccomp", "monty_worker.kernel = replaced(kernel, seccomp=lambda code: False)"),
        ("landlock", "monty_worker.kernel = replaced(kernel, landlock=lambda files: False)"),
        ("no_new_privs", "monty_worker.layers = replaced(layers, held_privileges=lambda root: ['uid'])"),
        ("rlimits", "monty_worker.layers = replaced(layers, limit=lambda *_, **named: False)"),
    ],
)
def test_an_interpreter_confined_less_than_the_level_says_runs_nothing(
    monkeypatch: pytest.MonkeyPatch, layer: str, change: str
) -> None:
    whole = fork_server._boot

    def less(program: str) -> str:
        start, found, last = whole(program).partition("server.main")
        return start + "\n" + LESS.format(change=change) + found + last

    if find_spec("pydantic_monty") is None:
        pytest.skip("the extra monty is not installed")
    asked: list[object] = []
    api = HostApi({"note": HostMethod(asked.append)})
    source = "def strategy(ctx, question):\n    return ctx.note()\n"
    sandbox = MontySandbox(allow_weaker=True)
    if layer not in sandbox.level.layers:
        pytest.skip(f"this system confines less: {sandbox.level}")
    try:
        result = sandbox.run(source, "strategy", {"question": 1}, api, SandboxLimits())
        assert result.kind == "finished"
        sandbox.close()
        monkeypatch.setattr(fork_server, "_boot", less)
        with pytest.raises(SandboxUnavailable, match=f"lacks .*{layer}"):
            sandbox.run(source, "strategy", {"question": 1}, api, SandboxLimits())
    finally:
        sandbox.close()
    assert len(asked) == 1


def test_it_may_start_a_thread(payload: Path) -> None:
    assert _attempt(payload, "2") == ("out", 0)


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, Worker]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.settimeout(2)
        yield ours, Worker(theirs)


_MESSAGES = st.recursive(
    st.binary(max_size=12),
    lambda inner: st.lists(st.tuples(st.integers(1, 31), inner), max_size=4).map(
        lambda fields: b"".join(
            monty_wire._message(number, content) if content else monty_wire._number(number, 7)
            for number, content in fields
        )
    ),
    max_leaves=12,
)


@given(body=_MESSAGES | st.binary(max_size=40))
@example(body=b"")
@example(body=monty_wire._message(6, monty_wire._number(1, 3)))
@example(body=monty_wire._message(2, monty_wire._number(7, 3)))
def test_whatever_the_interpreter_sends_is_an_event_or_an_error(body: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(struct.pack("<I", len(body)) + body)
        ours.shutdown(socket.SHUT_WR)
        worker = Worker(theirs)
        try:
            kind, event = worker.feed("1", {"x": [None, {"k": 1.5}]})
            if kind == monty_wire.FUNCTION_CALL:
                number, name, arguments = monty_wire.called(event)
                assert isinstance(number, int)
                assert isinstance(name, str)
                assert isinstance(arguments, list)
            elif kind == monty_wire.COMPLETE:
                monty_wire.completed(event)
            elif kind == monty_wire.ERROR:
                assert isinstance(monty_wire.raised(event).message, str)
        except (framing.FramingError, framing.Closed):
            pass
        assert len(worker.prints) <= framing.LONGEST_PRINTS


def test_a_length_is_read_before_anything_is_allocated(pair: tuple[socket.socket, Worker]) -> None:
    ours, worker = pair
    ours.sendall(struct.pack("<I", 0xFFFFFFF0) + b"\x32")
    with pytest.raises(TooLarge) as caught:
        worker.feed("1", {})
    assert caught.value.event == monty_wire.COMPLETE


def test_prints_without_end_are_cut(pair: tuple[socket.socket, Worker]) -> None:
    ours, worker = pair
    segment = monty_wire._message(1, monty_wire._number(1, 1) + monty_wire._text(2, "x" * 5000))
    frame = monty_wire._message(monty_wire.PRINT, segment)
    end = monty_wire._message(monty_wire.OK, b"")

    def talk() -> None:
        for body in [*[frame] * 50, end]:
            ours.sendall(struct.pack("<I", len(body)) + body)

    threading.Thread(target=talk, daemon=True).start()
    started = time.monotonic()
    assert worker.feed("1", {})[0] == monty_wire.OK
    assert worker.prints == "x" * framing.LONGEST_PRINTS
    assert time.monotonic() - started < 2
