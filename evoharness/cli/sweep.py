"""Sweeps: where their jobs leave word of how they ended, and the table at the end."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from evoharness.errors import UserError
from evoharness.records.base import Record
from evoharness.records.storage import write_json


class JobReport(Record):
    """How one job of a sweep ended; `<n>.json` in the folder of the sweep."""

    number: int
    overrides: tuple[str, ...]
    """The values that are this job's own."""
    status: str
    """`done`, `refused` (a mistake of the user) or `failed`."""
    message: str = ""
    """Why it did not end well."""
    numbers: dict[str, str | int | float | None] = {}


def make_sweep_folder(runs: Path) -> Path:
    """A new folder below `runs/sweeps`; UserError when it cannot be made."""
    now = datetime.now()
    folder = runs / "sweeps"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in (f"{now:%Y%m%d-%H%M%S}", f"{now:%Y%m%d-%H%M%S-%f}"):
            try:
                (folder / name).mkdir()
            except FileExistsError:
                continue
            return folder / name
        raise UserError(f"cannot find a free name for a sweep in {folder}")
    except OSError as error:
        raise UserError(f"cannot make a sweep in {folder}: {error.strerror or error}") from error


def save_report(folder: Path, report: JobReport) -> None:
    """Leave word of how a job ended."""
    write_json(folder / f"{report.number}.json", report)


def load_reports(folder: Path) -> list[JobReport]:
    """What the jobs of a sweep left, in order."""
    reports = [
        JobReport.model_validate_json(path.read_bytes())
        for path in folder.glob("*.json")
        if path.stem.isdigit()
    ]
    return sorted(reports, key=lambda report: report.number)


def print_table(folder: Path, reports: Sequence[JobReport]) -> None:
    """The jobs side by side."""
    from evoharness.cli.tables import Table, shown

    columns = list(dict.fromkeys(name for report in reports for name in report.numbers))
    same = set.intersection(*(set(report.overrides) for report in reports)) if len(reports) > 1 else set()
    table = Table(f"{len(reports)} jobs in {folder}", ["job", "settings", "ended", *columns])
    for report in reports:
        settings = " ".join(override for override in report.overrides if override not in same)
        numbers = [shown(report.numbers.get(name)) for name in columns]
        table.add([str(report.number), settings, report.status, *numbers])
    table.print()
    for report in reports:
        if report.message:
            print(f"job {report.number}: {report.message}")


def exit_code(reports: Sequence[JobReport]) -> int:
    """0 when every job is done, 1 when one failed, 2 when none failed but one was refused."""
    statuses = {report.status for report in reports}
    if "failed" in statuses:
        return 1
    return 2 if "refused" in statuses else 0
