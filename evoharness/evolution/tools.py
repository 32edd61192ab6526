"""Drafts of generated tools on their way into a candidate (A.4): tested, and revised with what was found."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.records.tool import ManifestError, read_manifest
from evoharness.sandbox import ToolReport, verify_tool

if TYPE_CHECKING:
    from evoharness.evaluation import Executor, Workbench
    from evoharness.memory import MemoryReader

MOST_ATTEMPTS = 3
"""Versions of a tool that are tested, the first one included (Table 6)."""


@dataclass(frozen=True)
class ToolDraft:
    """A tool as somebody wrote it; nothing about it is certain yet."""

    name: str
    source: str
    """`def tool(memory, **arguments)`"""
    manifest: str
    """JSON: see `records.tool.ToolManifest`."""

    @property
    def files(self) -> dict[str, str]:
        """What `Harness.with_tool` takes."""
        return {f"{self.name}.py": self.source, f"{self.name}.json": self.manifest}


@dataclass(frozen=True)
class ToolCheck:
    """A draft, and the videos on the memory of one of which it is tested."""

    draft: ToolDraft
    videos: tuple[Path, ...]
    """The first one that has a memory, or can be given one, is chosen."""


def check_tool(bench: "Workbench", check: ToolCheck) -> ToolReport:
    """Job: everything that is wrong with a draft. Raises SandboxUnavailable, which says nothing about it."""
    from evoharness.solver.generated import TOOL_LIMITS, memory_api
    from evoharness.solver.recalling import Recalling

    draft = check.draft
    try:
        manifest = read_manifest(draft.manifest)
    except ManifestError as error:
        problems = tuple(f"{draft.name}.json: {problem}" for problem in error.problems)
        return ToolReport(violations=problems)
    reader, reason = _first_memory(bench, check.videos)
    if reader is None:
        return ToolReport(violations=(f"there is no memory to test it on: {reason}",))
    api = memory_api(Recalling(lambda: reader))
    return verify_tool(bench.sandbox, draft.source, manifest, api, TOOL_LIMITS)


def report_on(executor: "Executor", draft: ToolDraft, videos: tuple[Path, ...]) -> ToolReport:
    """What `check_tool` finds, on a worker."""
    ((_, report),) = executor.map(check_tool, [ToolCheck(draft, videos)])
    return report


@dataclass(frozen=True)
class Revision:
    """How a tool came to pass, or did not."""

    attempts: tuple[tuple[ToolDraft, ToolReport], ...]
    """Every version with what was found, in order."""

    @property
    def verified(self) -> ToolDraft | None:
        """The version that passed; None when none did."""
        draft, report = self.attempts[-1]
        return draft if report.passed else None


def revise_tool(
    draft: ToolDraft,
    verify: Callable[[ToolDraft], ToolReport],
    revise: Callable[[ToolDraft, ToolReport], ToolDraft],
    attempts: int = MOST_ATTEMPTS,
) -> Revision:
    """Test a draft, and have it revised until a version passes or `attempts` versions were tested.

    `revise` is given the last version and what is wrong with it, and returns the next one; it is not asked
    for one that would not be tested any more. What `verify` or `revise` raise passes through.
    """
    if attempts < 1:
        raise ValueError(f"a tool needs at least one attempt, not {attempts}")
    made = [(draft, verify(draft))]
    while not made[-1][1].passed and len(made) < attempts:
        draft = revise(*made[-1])
        made.append((draft, verify(draft)))
    return Revision(tuple(made))


def _first_memory(bench: "Workbench", videos: tuple[Path, ...]) -> "tuple[MemoryReader | None, str]":
    """Read operations on the first memory there is, or None and why."""
    from evoharness.models.backbone import BackboneError, CannotGoOn
    from evoharness.video import NotAVideo

    reason = "no video was given"
    for path in videos:
        try:
            return bench.reader(bench.video(path)), ""
        except CannotGoOn:
            raise
        except (NotAVideo, BackboneError, OSError) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
    return None, reason
