"""Frozen finalists against the incumbent, on validation questions that nobody has learned from."""

from collections.abc import Sequence

from evoharness.evaluation import measure
from evoharness.evolution.gates import Gate
from evoharness.evolution.pairs import Pairs, paired
from evoharness.evolution.proposing import Answer, Candidate
from evoharness.harness import Harness
from evoharness.records.evolution import GateReport, ValidationNumbers, Verdict
from evoharness.records.outcome import Outcome
from evoharness.records.question import Question


def validate(
    finalists: Sequence[Candidate],
    incumbent: Harness,
    initial: Harness,
    questions: Sequence[Question],
    gate: Gate,
    level: float,
    looks: int,
    answer: Answer,
) -> GateReport:
    """Answer `questions` in `looks` parts and let the gate decide; finalists it is sure about stop early.

    The incumbent, and the harness that the run began with, answer all questions in any case.
    """
    pairs: dict[str, Pairs] = {}
    left: dict[str, int] = {}
    racing = list(finalists)
    for size in cuts(len(questions), looks):
        if not racing:
            break
        part = questions[:size]
        outcomes = answer([incumbent, initial, *(c.harness for c in racing)], part)
        old, first = outcomes[incumbent.fingerprint], outcomes[initial.fingerprint]
        for candidate in racing:
            pairs[candidate.id] = paired(part, old, outcomes[candidate.harness.fingerprint], first)
            left[candidate.id] = len(questions) - size
        if gate.stops_at_success and gate.decide(pairs, left).retained:
            break
        racing = [c for c in racing if not gate.settled(pairs[c.id], left[c.id])]
    outcomes = answer([incumbent, initial], questions)
    result = gate.decide(pairs, left)
    shares = [(p.wins + p.losses) / len(p.pairs) for p in pairs.values() if p.pairs]
    return GateReport(
        gate=gate.name,
        level=level,
        verdicts=result.verdicts,
        retained=result.retained,
        discordance=sum(shares) / len(shares) if shares else None,
        numbers=_numbers(
            questions,
            outcomes[incumbent.fingerprint],
            outcomes[initial.fingerprint],
            _best(result.verdicts, result.retained),
            pairs,
        ),
    )


def cuts(questions: int, looks: int) -> list[int]:
    """Sizes of the parts that have been answered at each look; the last one is all."""
    return sorted({max(1, round(questions * look / looks)) for look in range(1, looks + 1)} | {questions})


def _best(verdicts: Sequence[Verdict], retained: Sequence[str]) -> Verdict | None:
    """The verdict to report: of what was retained, else of the smallest p, else of the largest gain."""
    if retained:
        return next(verdict for verdict in verdicts if verdict.candidate == retained[0])
    return min(
        verdicts,
        key=lambda v: (v.p_value if v.p_value is not None else 1.0, -v.delta, v.candidate),
        default=None,
    )


def _numbers(
    questions: Sequence[Question],
    incumbent: Sequence[Outcome],
    initial: Sequence[Outcome],
    best: Verdict | None,
    pairs: dict[str, Pairs],
) -> ValidationNumbers:
    old, first = measure(questions, incumbent), measure(questions, initial)
    frames, tokens = {"incumbent": old.frames}, {"incumbent": old.tokens}
    if best is not None:
        frames["candidate"] = pairs[best.candidate].frames
        tokens["candidate"] = pairs[best.candidate].tokens
    return ValidationNumbers(
        incumbent=old.accuracy,
        candidate=best.candidate_reward if best else None,
        p_value=best.p_value if best else None,
        questions=old.questions,
        pairs=best.pairs if best else 0,
        wins=best.wins if best else 0,
        losses=best.losses if best else 0,
        initial=first.accuracy,
        frames=frames,
        tokens=tokens,
    )
