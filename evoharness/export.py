"""`python -m evoharness.export`: a harness of a run as a folder of its own, with checksums."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.cli import Call, Command, Numbers, run_command
from evoharness.errors import UserError

if TYPE_CHECKING:
    from evoharness.config import ExportConfig
    from evoharness.runs import RunDirectory


def export(config: "ExportConfig", call: Call) -> Numbers:  # noqa: ARG001
    """Copy a harness out of a run."""
    from evoharness.cli.parts import needed
    from evoharness.cli.runs import run_at
    from evoharness.harness import load_harness, save_harness
    from evoharness.records.paths import as_path

    run = run_at(config.run, config.runs)
    out = as_path(needed(config.out, "out", "my_harness/"))
    harness = load_harness(chosen(run, config.which))
    save_harness(harness, out)
    print(f"{out}: harness {harness.fingerprint[:12]} of {run.shown}")
    print(f"use it with harness={out}")
    return {"harness": harness.fingerprint}


def chosen(run: "RunDirectory", which: str) -> Path:
    """The folder of the harness that is meant: final, initial, or a fingerprint by its first characters."""
    from evoharness.cli.runs import summary_of

    if which in {"final", "initial"}:
        summary = summary_of(run)
        which = summary.final if which == "final" else summary.initial
    found = sorted(run.harnesses.glob(f"{_escaped(which)}*"))
    if not found:
        raise UserError(f"{run.shown} has no harness {which}")
    if len(found) > 1:
        raise UserError(
            f"{which} could be {' or '.join(path.name[:16] for path in found[:3])}: give more of it"
        )
    return found[0]


def _escaped(text: str) -> str:
    from glob import escape

    return escape(text)


COMMAND = Command(
    name="export",
    purpose="Writes a harness of a run to a folder that `ask` and `evaluate` load with harness=FOLDER.",
    job=export,
    examples=("run=latest out=my_harness/", "run=runs/20260101-120000-quick harness=initial out=before/"),
)


def main() -> int:
    """Run the command line."""
    return run_command(COMMAND)


if __name__ == "__main__":
    sys.exit(main())
