"""`python -m evoharness.report`: a run as one static HTML page."""

import sys
from typing import TYPE_CHECKING

from evoharness.cli import Call, Command, Numbers, run_command
from evoharness.errors import UserError

if TYPE_CHECKING:
    from evoharness.config import ReportConfig


def report(config: "ReportConfig", call: Call) -> Numbers:  # noqa: ARG001
    """Write the page of a finished run."""
    from evoharness.cli.runs import run_at, summary_of
    from evoharness.records.paths import as_path
    from evoharness.records.storage import write_atomically
    from evoharness.runs.page import render_page

    run = run_at(config.run, config.runs)
    page = render_page(run, summary_of(run))
    out = as_path(config.out if config.out is not None else f"{run.shown}/report.html")
    try:
        write_atomically(out, page)
    except OSError as error:
        raise UserError(f"cannot write {out}: {error.strerror or error}") from error
    print(out)
    return {"bytes": len(page.encode())}


COMMAND = Command(
    name="report",
    purpose="Writes a run as one static HTML page: rounds, verdicts with their numbers, changes.",
    job=report,
    examples=("run=latest", "run=runs/20260101-120000-quick out=page.html"),
)


def main() -> int:
    """Run the command line."""
    return run_command(COMMAND)


if __name__ == "__main__":
    sys.exit(main())
