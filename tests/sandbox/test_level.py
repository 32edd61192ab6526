"""How far a run is confined is a value, and a system that confines less needs consent."""

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from evoharness.records.base import Record
from evoharness.sandbox import (
    HostApi,
    ProcessSandbox,
    SandboxLevel,
    SandboxLimits,
    SandboxUnavailable,
    demand_level,
    make_sandbox,
)
from tests.solver.standins import write_video

LESSER = Path(__file__).with_name("lesser_system.py")
SCRIPT = """
import sys
from evoharness.sandbox import HostApi, ProcessSandbox, SandboxLimits
sandbox = ProcessSandbox(allow_weaker=True)
limits = SandboxLimits(memory_bytes=128 << 20)
def run(body):
    source = "def strategy(ctx, question):\\n    " + body
    return sandbox.run(source, "strategy", {"question": 1}, HostApi({}), limits)
print(sandbox.level, run(sys.argv[1]).kind, run("return question").value)
sandbox.close()
"""

needs_filters = pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"), reason="takes calls away by number"
)


def without(what: str, *command: str) -> subprocess.CompletedProcess[str]:
    """The command, on a system that has less."""
    whole = [sys.executable, str(LESSER), what, "--", sys.executable, *command]
    return subprocess.run(whole, capture_output=True, text=True, timeout=120, check=False)


def test_a_level_is_written_as_its_layers() -> None:
    class Holder(Record):
        level: SandboxLevel

    level = SandboxLevel(layers=("rlimits", "landlock", "seccomp"))
    assert (str(level), level.sufficient) == ("rlimits+landlock+seccomp", True)
    assert Holder(level=level).model_dump() == {"level": "rlimits+landlock+seccomp"}
    assert Holder.model_validate_json('{"level": "rlimits+landlock+seccomp"}').level == level
    assert SandboxLevel.model_validate("none") == SandboxLevel(layers=())


@pytest.mark.parametrize(
    ("layers", "lacking"),
    [
        (("rlimits",), "landlock and seccomp"),
        (("rlimits", "seccomp"), "landlock"),
        (("landlock",), "seccomp"),
    ],
)
def test_a_weaker_level_needs_consent(layers: tuple[str, ...], lacking: str) -> None:
    level = SandboxLevel(layers=layers)
    demand_level(level, allow_weaker=True)
    with pytest.raises(SandboxUnavailable, match=f"has no {lacking}, .*sandbox.allow_weaker=true"):
        demand_level(level, allow_weaker=False)


def test_no_confinement_needs_consent() -> None:
    unconfined = make_sandbox("inprocess")
    assert str(unconfined.level) == "none"
    with pytest.raises(SandboxUnavailable, match="confines nothing"):
        unconfined.run(
            "def strategy(ctx, question):\n    return 1", "strategy", {}, HostApi({}), SandboxLimits()
        )


def test_the_level_here(sandbox: ProcessSandbox) -> None:
    assert {"rlimits", "no_new_privs"} <= set(sandbox.level.layers)
    assert "memory_watch" not in sandbox.level.layers or sys.platform != "linux"


@needs_filters
@pytest.mark.parametrize("what", ["landlock", "seccomp", "landlock,seccomp"])
def test_what_is_not_there_is_found_out_by_trying(what: str) -> None:
    done = without(what, "-c", SCRIPT, "return 1")
    level, kind, value = done.stdout.split()
    assert (kind, value) == ("finished", "1"), done.stderr
    assert not set(what.split(",")) & set(level.split("+"))


@needs_filters
def test_the_doctor_says_that_consent_is_needed() -> None:
    done = without("landlock", "-m", "evoharness.doctor")
    assert "this system has no landlock" in done.stdout
    assert "sandbox.allow_weaker=true" in done.stdout
    assert done.returncode == 1


@needs_filters
@pytest.mark.parametrize("command", ["evolve", "ask"])
def test_commands_refuse_before_any_work(command: str, tmp_path: Path) -> None:
    arguments = [f"cache={tmp_path / 'cache'}"]
    if command == "evolve":
        arguments += ["preset=tiny", f"runs={tmp_path / 'runs'}"]
    else:
        arguments += ["question='what is shown?'", f"video={write_video(tmp_path / 'clip.mp4', 2)}"]
    done = without("seccomp", "-m", f"evoharness.{command}", *arguments)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(
        f"{command}: sandbox.backend=process cannot be used here: this system has no seccomp"
    )
    assert not (tmp_path / "runs").exists()


@needs_filters
def test_consent_is_taken(tmp_path: Path) -> None:
    arguments = [
        f"cache={tmp_path / 'cache'}",
        "question='what is shown?'",
        'options=["a circle", "a star"]',
        f"video={write_video(tmp_path / 'clip.mp4', 2)}",
    ]
    done = without("seccomp", "-m", "evoharness.ask", *arguments, "sandbox.allow_weaker=true")
    assert (done.returncode, done.stderr) == (0, "")


@needs_filters
@pytest.mark.parametrize(
    "body",
    [
        "x = []\n    while True:\n        x.append('a' * 10**6 + str(len(x)))",
        "x = ['a' * 10**6] * 10**6\n    return ''.join(x)",
    ],
)
def test_memory_is_watched_where_its_limit_is_ignored(body: str) -> None:
    done = without("memory", "-c", SCRIPT, body)
    level, kind, value = done.stdout.split()
    assert "memory_watch" in level.split("+"), done.stderr
    assert (kind, value) == ("memory_limit_exceeded", "1")
