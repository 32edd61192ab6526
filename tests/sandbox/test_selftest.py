"""`python -m evoharness.sandbox` as a user types it, and that its self-test would see a success."""

import gc
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import evoharness
from evoharness.sandbox.__main__ import main
from evoharness.sandbox.attacks import Attack
from evoharness.sandbox.attacks.victims import KEY, SECRET, Victims
from evoharness.sandbox.selftest import self_test
from tests.sandbox.test_level import LESSER, needs_filters

pytestmark = pytest.mark.xdist_group("victims")  # what one leaves in shared memory, others would see

NOBODY = 65534
ROOM = (sys.executable, "-m", "evoharness.sandbox")
ANSWER = "def strategy(ctx, question):\n    return ctx.answer([])\n"
Done = subprocess.CompletedProcess[str]


def sandbox(*arguments: str | Path, before: tuple[str | Path, ...] = ()) -> Done:
    command = [str(part) for part in (*before, *ROOM, *arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)


def told(done: Done) -> str:
    """The one line on standard error of a mistake, with nothing on standard output."""
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("\n")
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "mine.py"


# check


def test_check_prints_each_violation_with_its_line(file: Path) -> None:
    file.write_text("def strategy(ctx, question):\n    import os\n    return open('x')\n")
    done = sandbox("check", file)
    assert done.returncode == 1
    assert [line.split(" is not")[0] for line in done.stdout.splitlines()] == [
        f"{file}: line 2: 'os'",
        f"{file}: line 3: 'open'",
    ]


@pytest.mark.parametrize(
    "source",
    [
        ANSWER,
        "def tool(memory, kind='x'):\n    return memory.summary()\n",
        "\ufeff" + ANSWER.replace("\n", "\r\n"),
    ],
)
def test_check_finds_out_whether_it_is_a_strategy_or_a_tool(file: Path, source: str) -> None:
    file.write_text(source, encoding="utf-8", newline="")
    done = sandbox("check", file)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_entry_can_be_said(file: Path) -> None:
    file.write_text(ANSWER)
    assert "define exactly one function tool(memory)" in sandbox("check", file, "--entry", "tool").stdout


@pytest.mark.parametrize(
    "source",
    ["", "\0", "def strategy(ctx, question):\n    return 1\n" + "-" * 70_000, "x" * 900_000],
    ids=["empty", "nul", "long line", "one long name"],
)
def test_a_source_that_is_none_is_a_violation(file: Path, source: str) -> None:
    file.write_text(source)
    done = sandbox("check", file)
    assert (done.returncode, done.stdout.count("\n"), done.stderr) == (1, 1, "")
    ran = sandbox("run", file)
    assert (ran.returncode, json.loads(ran.stdout)["kind"]) == (0, "policy_violation")


@pytest.mark.parametrize("verb", ["check", "run"])
def test_what_cannot_be_read_is_told_in_one_line(verb: str, tmp_path: Path) -> None:
    (tmp_path / "latin.py").write_bytes(b"# caf\xe9\n")
    with (tmp_path / "large.py").open("wb") as large:
        large.truncate(100 << 20)
    assert "No such file" in told(sandbox(verb, tmp_path / "nowhere.py"))
    assert "it is a folder" in told(sandbox(verb, tmp_path))
    assert "not UTF-8" in told(sandbox(verb, tmp_path / "latin.py"))
    assert "104,857,600 bytes" in told(sandbox(verb, tmp_path / "large.py"))
    assert "no regular file" in told(sandbox(verb, "/dev/zero"))


# run


def test_run_prints_one_result(file: Path) -> None:
    file.write_text(ANSWER)
    result = json.loads(sandbox("run", file).stdout)
    assert (result["kind"], result["value"]["choice"], result["calls"]) == ("finished", 1, 1)
    assert result["fuel"] > 0
    assert result["seconds"] > 0
    assert "rlimits" in result["level"]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("while True:\n        pass", "step_budget_exceeded"),
        ("return open('/etc/passwd').read()", "policy_violation"),
        ("return {}['x']", "strategy_error"),
        ("return lambda: 1", "invalid_answer"),
        ("return '\\x1b[2J\\u009b\\u202e'", "finished"),
    ],
)
def test_whatever_a_run_comes_to_is_a_result(file: Path, body: str, kind: str) -> None:
    file.write_text(f"def strategy(ctx, question):\n    {body}\n")
    done = sandbox("run", file)
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 1)
    assert done.stdout.isascii()
    assert json.loads(done.stdout)["kind"] == kind


def test_a_question_and_the_arguments_of_a_tool_can_be_given(file: Path) -> None:
    file.write_text("def strategy(ctx, question):\n    return question\n")
    assert json.loads(sandbox("run", file, "--question", '{"text": "é?"}').stdout)["value"] == {"text": "é?"}
    file.write_text("def tool(memory, kind='x'):\n    return [kind, len(memory.segments())]\n")
    assert json.loads(sandbox("run", file).stdout)["value"] == ["x", 1]
    assert json.loads(sandbox("run", file, "--question", '{"kind": "y"}').stdout)["value"] == ["y", 1]
    assert "--question" in told(sandbox("run", file, "--question", "{"))


@pytest.mark.parametrize("wrong", ["[]", '{"x": NaN}', '{"x": 1e999}', '{"x": "\\ud800"}', "[" * 100_000])
def test_a_question_that_is_no_object_is_told(
    file: Path, wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(ANSWER)
    assert main(["run", str(file), "--question", wrong]) == 2
    assert "--question" in capsys.readouterr().err


def test_raw_runs_any_python_and_the_system_holds_it(file: Path) -> None:
    file.write_text("import os\ndef strategy(ctx, question):\n    os.setuid(0)\n    return 'PWNED'\n")
    done = sandbox("run", file, "--raw")
    if done.returncode == 2:
        assert "--allow-weaker" in done.stderr
        pytest.skip("this system confines less")
    assert json.loads(done.stdout)["kind"] == "syscall_violation"
    assert "--raw is for" in told(sandbox("run", file, "--raw", "--backend", "inprocess"))


@needs_filters
def test_a_weaker_level_is_told_with_the_way_out(file: Path) -> None:
    file.write_text(ANSWER)
    lesser = (sys.executable, LESSER, "landlock,seccomp", "--")
    assert "--allow-weaker accepts that" in told(sandbox("run", file, before=lesser))
    assert sandbox("run", file, "--allow-weaker", before=lesser).returncode == 0
    assert "--allow-weaker accepts that" in told(sandbox("bench", before=lesser))
    refused = sandbox("selftest", before=lesser)
    assert (refused.returncode, refused.stdout.count("\n")) == (2, 1)
    assert "--allow-weaker accepts that" in refused.stderr
    weaker = sandbox("selftest", "--allow-weaker", "--group", "calls", "--group", "system", before=lesser)
    assert weaker.returncode == 0
    assert "raw attacks not tried: without landlock and seccomp nothing holds them" in weaker.stdout


# selftest


def test_the_self_test_prints_the_level_then_a_table_then_totals() -> None:
    done = sandbox("selftest", "--group", "idioms", "--group", "calls")
    if done.returncode == 2:
        pytest.skip(done.stderr)
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert lines[0].startswith("level: rlimits")
    assert any(line.split()[:2] == ["call_unknown", "strategy_error"] for line in lines)
    assert lines[-1].endswith("ran, 0 did not")


def as_nobody() -> tuple[str, ...] | None:
    """What to put before a command to run it as an ordinary user; None where that user cannot read Python."""
    paths = os.pathsep.join(path for path in sys.path if path)
    before = ("/usr/bin/env", "-i", "HOME=/tmp", f"PYTHONPATH={paths}")
    try:
        subprocess.run(
            [*before, sys.executable, "-c", "import evoharness.sandbox, sys; open(sys.executable).close()"],
            user=NOBODY, group=NOBODY, extra_groups=[], cwd="/", capture_output=True, check=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return None
    return before


@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="the tests run as an ordinary user already"
)
def test_an_ordinary_user_is_held_as_well() -> None:
    before = as_nobody()
    if before is None:
        pytest.skip(f"user {NOBODY} cannot read {sys.executable} or {Path(evoharness.__file__).parent}")
    done = subprocess.run(
        [*before, *ROOM, "selftest", "--group", "system"],
        user=NOBODY, group=NOBODY, extra_groups=[], cwd="/", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "uid" not in done.stdout.splitlines()[0]


def test_the_self_test_sees_an_attack_that_succeeds_and_code_that_does_not_run() -> None:
    def attack(name: str, body: str, **more: object) -> Attack:
        source = f"def strategy(ctx, question):\n    {body}\n"
        return Attack.model_validate({"group": "g", "id": name, "tries": "t", "source": source, **more})

    report = self_test(
        [
            attack("answers", "return 'PWNED' + question['q']"),
            attack("other_kind", "return 1", kinds=("wall_timeout",)),
            attack("held", "return 'no'"),
            attack("does_not_run", "import os", ordinary=True),
            attack("other_value", "return 2", ordinary=True, value=1),
            attack("runs", "return [1]", ordinary=True, value=[1]),
            attack("tells", "return ''.join(['SECRET', '-3f', '1c9a', '70'])"),
        ],
        allow_weaker=True,
    )
    assert [trial.attack.id for trial in report.failed] == [
        "answers", "other_kind", "does_not_run", "other_value", "tells",
    ]  # fmt: skip


def connect(targets: dict[str, str]) -> None:
    socket.create_connection(("127.0.0.1", int(targets["tcp"]))).close()


def say(targets: dict[str, str]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as speaking:
        speaking.sendto(b"x", ("127.0.0.1", int(targets["udp"])))


def connect_by_file(targets: dict[str, str]) -> None:
    with socket.socket(socket.AF_UNIX) as calling:
        calling.connect(f"{targets['folder']}/socket")


SHARED = Path("/dev/shm/evoharness-seen")


@pytest.mark.parametrize(
    ("harm", "seen"),
    [
        (lambda t: Path(t["folder"], "victim").unlink(), "the file was changed"),
        (lambda t: Path(t["folder"], "victim").chmod(0o777), "the file was changed"),
        (lambda t: Path(t["folder"], "victim").write_text("x"), "the file was changed"),
        (lambda t: os.utime(Path(t["folder"], "victim"), (0, 0)), "the file was changed"),
        (lambda t: Path(t["folder"], "new").write_text("x"), "left new in the folder"),
        (lambda t: Path(t["folder"], "new").mkdir(), "left new in the folder"),
        (connect, "reached a socket"),
        (say, "reached a socket"),
        (connect_by_file, "reached a socket"),
        (lambda t: os.environ.__setitem__(t["key"], "x"), "environment"),
        (lambda _: os.dup(0), "descriptors"),
        (lambda _: subprocess.Popen(["sleep", "60"]), "processes"),
        (lambda _: SHARED.write_text("x"), "shared memory"),
    ],
)
def test_every_kind_of_harm_is_seen_once(harm: Callable[[dict[str, str]], object], seen: str) -> None:
    before = os.environ.get(KEY)
    gc.collect()  # whatever other tests left open is closed now, and not while we count
    with Victims() as victims:
        assert victims.harm() == []
        assert os.environ[KEY] == SECRET
        done = harm(victims.targets)
        found = victims.harm()
        assert len(found) == 1, found
        assert seen in found[0]
        assert victims.harm() == []
        if isinstance(done, subprocess.Popen):
            done.kill()
            done.wait()
        elif seen == "shared memory":
            SHARED.unlink()
        elif seen == "descriptors":
            os.close(int(str(done)))
    assert os.environ.get(KEY) == before


def test_a_descriptor_is_seen_among_many() -> None:
    many = [os.open(os.devnull, os.O_RDONLY) for _ in range(150)]
    with Victims() as victims:
        more = os.dup(many[0])
        assert ["descriptors" in told for told in victims.harm()] == [True]
    for descriptor in (*many, more):
        os.close(descriptor)


def test_a_changed_object_of_the_host_is_seen() -> None:
    with Victims() as victims:
        api, question = victims.call_surface()
        question["options"].append("x")
        assert victims.harm() == ["changed objects of the host"]
        api, question = victims.call_surface()
        api.data["memory"]["items"].clear()
        assert victims.harm() == ["changed objects of the host"]
        victims.call_surface()
        assert victims.harm() == []
