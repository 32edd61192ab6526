"""What earlier rounds left behind that the next one has to know."""

from typing import TYPE_CHECKING

from evoharness.evolution.observation import excess_observation
from evoharness.evolution.proposing import Ground, Rejection
from evoharness.evolution.settings import GateSettings
from evoharness.records.evolution import (
    Candidates,
    Decision,
    Draw,
    GateReport,
    Screening,
    Standing,
    Verdict,
)
from evoharness.records.question import Question

if TYPE_CHECKING:
    from evoharness.runs import RunDirectory

DRAW = "draw.json"
EVOLUTION = "questions/evolution.jsonl"
VALIDATION = "questions/validation.jsonl"
COUNTS = "questions/counts.json"
DIAGNOSIS = "diagnosis.json"
CANDIDATES = "candidates/candidates.json"
SCREENING = "screening.json"
GATE = "gate.json"
SUMMARY = "summary.json"


def at(round_number: int, name: str) -> str:
    """Path of a round's file, relative to the run."""
    return f"rounds/{round_number:02d}/{name}"


class History:
    """Reads the rounds before round `number`."""

    def __init__(self, run: "RunDirectory", number: int, gate: GateSettings) -> None:
        self._run = run
        self._gate = gate
        self._numbers = range(1, number)

    def draws(self) -> list[Draw]:
        """Which videos they used."""
        found = (self._run.load(at(number, DRAW), Draw) for number in self._numbers)
        return [draw for draw in found if draw is not None]

    def validated(self) -> frozenset[str]:
        """Ids of their validation questions."""
        return frozenset(
            question.id
            for number in self._numbers
            for question in self._run.load_lines(at(number, VALIDATION), Question) or ()
        )

    def rejections(self) -> list[Rejection]:
        """Every change that was not kept, in order, without the numbers of the gate."""
        return [
            rejection
            for number in self._numbers
            for rejection in rejections(
                self._run.load(at(number, CANDIDATES), Candidates),
                self._run.load(at(number, SCREENING), Screening),
                self._run.load(at(number, GATE), GateReport),
                self._gate,
            )
        ]


def rejections(
    candidates: Candidates | None,
    screening: Screening | None,
    gate: GateReport | None,
    settings: GateSettings,
) -> list[Rejection]:
    """The changes of one round that were not kept, as far as it got; their combination among them."""
    left = {
        standing.candidate: standing
        for stage in (screening.stages if screening else ())
        for standing in stage.standings
        if standing.dropped
    }
    judged = {verdict.candidate: verdict for verdict in (gate.verdicts if gate else ())}
    found: list[Rejection] = []
    proposed: set[str] = set()
    records = candidates.candidates if candidates else ()
    if gate and gate.combination:
        records = (*records, gate.combination)
    for record in records:
        name = record.proposal.id
        if record.rejected:
            ground = Ground.REPEATED if record.harness in proposed else Ground.UNSOUND
            found.append(Rejection(record.proposal, record.harness, "verification", record.rejected, ground))
        elif name in left:
            ground = _ground_of_leaving(left[name], settings)
            found.append(Rejection(record.proposal, record.harness, "screening", left[name].dropped, ground))
        elif name in judged and judged[name].decision is not Decision.RETAINED:
            outranked = gate is not None and name in gate.outranked
            ground = Ground.OUTRANKED if outranked else _ground_of_verdict(judged[name], settings)
            found.append(Rejection(record.proposal, record.harness, "gate", ground.value, ground))
        proposed.add(record.harness)
    return found


def _ground_of_leaving(standing: Standing, settings: GateSettings) -> Ground:
    if excess_observation(standing, settings):
        return Ground.LOOKS_TOO_MUCH
    return Ground.NO_GAIN if standing.net <= 0 else Ground.OUTRANKED


def _ground_of_verdict(verdict: Verdict, settings: GateSettings) -> Ground:
    if verdict.decision is Decision.INDECISIVE:
        return Ground.INDECISIVE
    return Ground.LOOKS_TOO_MUCH if excess_observation(verdict, settings) else Ground.NOT_SHOWN
