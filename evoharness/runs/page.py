"""A run as one static HTML page: nothing is loaded from anywhere else, so the file can be sent as it is."""

import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from evoharness.records.evolution import RoundSummary, Summary
from evoharness.records.spend import total
from evoharness.runs.damage import reading
from evoharness.runs.directory import RunDirectory
from evoharness.runs.progress import duration_text, money, percent, quantity

CHART_WIDTH = 640
CHART_HEIGHT = 240
CHART_MARGIN = 44


@dataclass(frozen=True)
class CandidatePage:
    """What the page says about one candidate."""

    id: str
    proposal: dict[str, Any]
    verdict: dict[str, Any] | None
    rejected: str
    diff: str


def render_page(run: RunDirectory, summary: Summary) -> str:
    """The page of a finished run."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "percent": percent,
        "duration": duration_text,
        "quantity": quantity,
        "money": money,
    }
    source = files("evoharness.runs").joinpath("report.html.j2").read_text(encoding="utf-8")
    candidates = {each.round: candidates_of(run, each.round) for each in summary.rounds}
    all_paid = total(summary.paid)
    return environment.from_string(source).render(
        name=run.path.name,
        paid=[*summary.paid.items(), *([("all", all_paid)] if len(summary.paid) > 1 else [])],
        summary=summary,
        facts=run.facts,
        config=run.config_text,
        candidates=candidates,
        chart=chart(summary.rounds)
        if any(r.validation.incumbent is not None for r in summary.rounds)
        else None,
    )


def candidates_of(run: RunDirectory, number: int) -> list[CandidatePage]:
    """The candidates of a round, those that reached the gate first."""
    found = []
    for folder in sorted((run.round_path(number) / "candidates").glob("*/")):
        record = _json(folder / "proposal.json")
        if record is None:
            continue
        proposal = record.get("proposal", record)
        diff = folder / "change.diff"
        found.append(
            CandidatePage(
                id=folder.name,
                proposal=proposal,
                verdict=_json(folder / "verdict.json"),
                rejected=str(record.get("rejected") or ""),
                diff=_text(diff),
            )
        )
    return sorted(found, key=lambda each: (each.verdict is None, bool(each.rejected), each.id))


def chart(rounds: tuple[RoundSummary, ...]) -> dict[str, Any]:
    """Points of the chart of validation accuracy by round, in its own coordinates."""
    values = [
        value
        for each in rounds
        for value in (each.validation.initial, each.validation.incumbent, each.validation.candidate)
        if value is not None
    ]
    low = max(0.0, min(values) - 0.05)
    high = min(1.0, max(values) + 0.05)
    span = max(high - low, 1e-6)

    def x(position: int) -> float:
        usable = CHART_WIDTH - 2 * CHART_MARGIN
        return CHART_MARGIN + usable * (0.5 if len(rounds) == 1 else position / (len(rounds) - 1))

    def y(value: float) -> float:
        return CHART_HEIGHT - CHART_MARGIN - (value - low) / span * (CHART_HEIGHT - 2 * CHART_MARGIN)

    series = []
    for name in ("initial", "incumbent", "candidate"):
        points = [
            (round(x(position), 1), round(y(value), 1), value)
            for position, each in enumerate(rounds)
            if (value := getattr(each.validation, name)) is not None
        ]
        if points:
            series.append(
                {"name": name, "points": points, "path": " ".join(f"{a},{b}" for a, b, _ in points)}
            )
    ticks = [(round(y(value), 1), value) for value in (low, low + span / 2, low + span)]
    labels = [(round(x(position), 1), each.round) for position, each in enumerate(rounds)]
    return {
        "width": CHART_WIDTH,
        "height": CHART_HEIGHT,
        "margin": CHART_MARGIN,
        "series": series,
        "ticks": ticks,
        "labels": labels,
    }


def _text(path: Path) -> str:
    with reading(path):
        return path.read_text(encoding="utf-8") if path.exists() else ""


def _json(path: Path) -> dict[str, Any] | None:
    if not path.exists():
        return None
    with reading(path):
        value = json.loads(path.read_bytes())
    return value if isinstance(value, dict) else None
