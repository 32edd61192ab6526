"""`python -m evoharness.solver test TOOL.py VIDEO`: run the tests of a generated tool on a video's memory."""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.errors import UserError

if TYPE_CHECKING:
    from evoharness.memory import MemoryReader
    from evoharness.sandbox import ToolReport


def main(arguments: list[str] | None = None) -> int:
    """Run one verb; 0 when all is well, 1 with the faults of the tool, 2 with a mistake of the user."""
    parser = argparse.ArgumentParser(prog="python -m evoharness.solver", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    test = verbs.add_parser(
        "test", help="run the tests of a tool; its manifest lies beside it as <name>.json"
    )
    test.add_argument("tool", type=Path, metavar="TOOL.py")
    test.add_argument("video", type=Path, metavar="VIDEO")
    test.add_argument(
        "--cache",
        type=Path,
        metavar="DIR",
        help="where memories are kept and found; without it one is built, and dropped afterwards",
    )
    chosen = parser.parse_args(arguments)
    try:
        report = tested(chosen.tool, chosen.video, chosen.cache)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    for line in report.lines:
        print(f"{chosen.tool}: {line}")
    if report.passed:
        print(f"{chosen.tool}: passed {report.tests} test{'s' if report.tests > 1 else ''}")
    return 0 if report.passed else 1


def tested(tool: Path, video: Path, cache: Path | None) -> "ToolReport":
    """What verification finds; UserError when a file cannot be read, or nothing can be run here."""
    from evoharness.records.tool import HOST_NAMES, ManifestError, read_manifest
    from evoharness.sandbox import SandboxUnavailable, ToolReport, make_sandbox, verify_tool
    from evoharness.solver.generated import TOOL_LIMITS, memory_api
    from evoharness.solver.recalling import Recalling

    if tool.stem in HOST_NAMES:
        raise UserError(f"{tool}: a tool cannot be called {tool.stem}: that is a call of the host")
    source, manifest_file = _text(tool), tool.with_suffix(".json")
    try:
        manifest = read_manifest(_text(manifest_file))
    except ManifestError as error:
        return ToolReport(violations=tuple(f"{manifest_file.name}: {problem}" for problem in error.problems))
    with tempfile.TemporaryDirectory() as folder:
        reader = _reader(video, cache or Path(folder))
        sandbox = make_sandbox()
        try:
            return verify_tool(sandbox, source, manifest, memory_api(Recalling(lambda: reader)), TOOL_LIMITS)
        except SandboxUnavailable as error:
            raise UserError(str(error)) from error
        finally:
            sandbox.close()


def _reader(video: Path, cache: Path) -> "MemoryReader":
    from evoharness.memory import MemoryReader, MemoryStore
    from evoharness.models.registry import make_backbone
    from evoharness.retrieval import make_embedder
    from evoharness.video import Video

    embedder = make_embedder("wordllama")
    backbone = make_backbone("embedded", embedder=embedder, cache_dir=cache)
    try:
        return MemoryReader(MemoryStore(cache, backbone).load_or_build(Video(video)), embedder)
    except OSError as error:
        raise UserError(f"cannot keep a memory in {cache}: {error.strerror or error}") from error


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise UserError(f"cannot read {file}: {reason or error}") from error


if __name__ == "__main__":
    sys.exit(main())
