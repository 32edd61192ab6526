"""`python -m evoharness.sandbox`: check a file, run it against a stub, try the attacks, measure."""

import argparse
import json
import os
import re
import stat
import sys
from pathlib import Path
from typing import Any

from evoharness.errors import UserError
from evoharness.sandbox.attacks import groups
from evoharness.sandbox.backends import BACKENDS, check_source, make_sandbox
from evoharness.sandbox.result import HostApi, SandboxBackend, SandboxLimits, SandboxUnavailable, demand_level

MISTAKE = 2
INTERRUPTED = 130
LARGEST_FILE = 1 << 20
"""Bytes of the largest file that is read at all; the language policy allows far less."""
TRIED = tuple(name for name in BACKENDS if name != "inprocess")
"""Backends that attacks are tried on: the other one would be this process."""
_ENTRY = re.compile(r"^def[ \t]+(strategy|tool)\b", re.MULTILINE)


def main(arguments: list[str] | None = None) -> int:
    """Run one verb; 0: as it should be, 1: violations or something got through, 2: one line says why not."""
    given = _parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):  # a name of a file may hold bytes that are no text
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code: int = given.work(given)
        sys.stdout.flush()
        return code
    except (UserError, SandboxUnavailable) as error:
        told = " ".join(str(error).split()).replace("sandbox.allow_weaker=true", "--allow-weaker")
        print(f"sandbox: {told}", file=sys.stderr)
        return MISTAKE
    except KeyboardInterrupt:
        return INTERRUPTED
    except (BrokenPipeError, SystemExit):  # the reader of our output went away (`… | head`)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evoharness.sandbox", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    check = verbs.add_parser("check", help="print the violations of a file (exit 1 if there are any)")
    check.set_defaults(work=_check)
    told = "run a file against a stub and print the result as one JSON object (exit 0 whatever its kind)"
    run = verbs.add_parser("run", help=told, description=f"{told}; the stub also answers ask_vlm and others")
    run.set_defaults(work=_run)
    run.add_argument("--question", metavar="JSON", help="the question of a strategy, the arguments of a tool")
    run.add_argument("--raw", action="store_true", help="any Python, held by the system layers alone")
    for verb in (check, run):
        verb.add_argument("file", type=Path, metavar="FILE")
        verb.add_argument("--entry", choices=("strategy", "tool"), help="the function that the file defines")
    selftest = verbs.add_parser("selftest", help="try the attacks that ship (exit 1 if one got through)")
    selftest.set_defaults(work=_selftest)
    selftest.add_argument(
        "--group", action="append", choices=groups(), help="only this group (may be given again)"
    )
    bench = verbs.add_parser("bench", help="measure a run and a host call, as JSON")
    bench.set_defaults(work=_bench)
    for verb, known in ((run, BACKENDS), (selftest, TRIED)):
        verb.add_argument("--backend", choices=known, default="process")
    for verb in (run, selftest, bench):
        verb.add_argument("--allow-weaker", action="store_true", help="go on without Landlock and seccomp")
    return parser


def _check(given: argparse.Namespace) -> int:
    source = _read(given.file)
    violations = check_source(source, given.entry or _entry_of(source))
    for violation in violations:
        print(f"{given.file}: {violation}")
    return 1 if violations else 0


def _run(given: argparse.Namespace) -> int:
    from evoharness.sandbox.stub import QUESTION, stub_context, stub_memory

    source = _read(given.file)
    entry = given.entry or _entry_of(source)
    chosen = _object(given.question)
    api: HostApi = stub_memory() if entry == "tool" else stub_context()
    arguments = (chosen or {}) if entry == "tool" else {"question": QUESTION if chosen is None else chosen}
    backend = _backend(given)
    try:
        demand_level(backend.level, given.allow_weaker)
        result = backend.run(source, entry, arguments, api, SandboxLimits())
    finally:
        backend.close()
    print(json.dumps(result.model_dump(mode="json")))
    return 0


def _selftest(given: argparse.Namespace) -> int:
    from evoharness.sandbox.report import print_self_test

    return print_self_test(given.allow_weaker, given.group or (), given.backend)


def _bench(given: argparse.Namespace) -> int:
    from evoharness.sandbox.bench import measure

    print(measure(allow_weaker=given.allow_weaker).model_dump_json(indent=2))
    return 0


def _backend(given: argparse.Namespace) -> SandboxBackend:
    if not given.raw:
        return make_sandbox(given.backend, given.allow_weaker)
    if given.backend != "process":
        raise UserError(f"--raw is for the backend process, not for {given.backend}")
    from evoharness.sandbox.process import ProcessSandbox

    return ProcessSandbox(given.allow_weaker, raw=True)


def _entry_of(source: str) -> str:
    """The entry that a source defines at its top, found without parsing it: `tool` only when it is alone."""
    found = set(_ENTRY.findall(source))
    return "tool" if found == {"tool"} else "strategy"


def _object(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        value = json.loads(text)
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise UserError(f"--question is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise UserError('--question must be a JSON object, such as \'{"text": "…", "options": []}\'')
    return value


def _read(path: Path) -> str:
    """The text of a file; UserError, in one line, for what is no source at all."""
    try:
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode):
            kind = "a folder" if stat.S_ISDIR(facts.st_mode) else "no regular file"
            raise UserError(f"cannot read {path}: it is {kind}")
        if facts.st_size > LARGEST_FILE:
            raise UserError(
                f"cannot read {path}: {facts.st_size:,} bytes are more than a source can have (64 KB)"
            )
        return path.read_bytes()[: LARGEST_FILE + 1].decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"cannot read {path}: not UTF-8 (byte {error.start}: {error.reason})") from error
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error


if __name__ == "__main__":
    sys.exit(main())
