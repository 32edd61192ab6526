"""What earlier rounds left behind that the next one has to know."""

from typing import TYPE_CHECKING

from evoharness.evolution.proposing import Rejection
from evoharness.records.evolution import Candidates, Decision, Draw, GateReport, Screening
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

    def __init__(self, run: "RunDirectory", number: int) -> None:
        self._run = run
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
            )
        ]


def rejections(
    candidates: Candidates | None, screening: Screening | None, gate: GateReport | None
) -> list[Rejection]:
    """The changes of one round that were not kept, as far as it got."""
    left = {
        standing.candidate: standing.dropped
        for stage in (screening.stages if screening else ())
        for standing in stage.standings
        if standing.dropped
    }
    judged = {verdict.candidate: verdict.decision for verdict in (gate.verdicts if gate else ())}
    found = []
    for candidate in candidates.candidates if candidates else ():
        name = candidate.proposal.id
        stage, reason = "", ""
        if candidate.rejected:
            stage, reason = "verification", candidate.rejected
        elif name in left:
            stage, reason = "screening", left[name]
        elif name in judged and judged[name] is not Decision.RETAINED:
            stage, reason = "gate", _WORDS[judged[name]]
        if stage:
            found.append(Rejection(candidate.proposal, candidate.harness, stage, reason))
    return found


_WORDS = {
    Decision.REJECTED: "not shown to be better",
    Decision.FUTILE: "not shown to be better",
    Decision.INDECISIVE: "the measurement could not tell",
}
