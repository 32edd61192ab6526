"""Several changes to one harness that passed a gate, each alone, put together.

What they make together nobody has seen yet. It is a candidate like any other: verified, answered with on
the validation questions and judged by the gate. Where it does not pass, the best of them is kept alone.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evoharness.evolution.proposing import Candidate
from evoharness.records.evolution import (
    CandidateRecord,
    ChangeKind,
    Decision,
    GateReport,
    Proposal,
    Verdict,
)

if TYPE_CHECKING:
    from evoharness.harness import Harness


def combination(name: str, base: "Harness", parts: Sequence[Candidate]) -> Candidate:
    """The candidate `name`: `base` with the changes of all `parts`, the most important part first.

    ValueError when they do not make a harness.
    """
    ids = [part.id for part in parts]
    proposal = Proposal(
        id=name,
        kind=ChangeKind.COMBINATION,
        title="; ".join(part.proposal.title for part in parts),
        reason=f"{', '.join(ids[:-1])} and {ids[-1]} passed the gate, each alone",
        proposer="gate",
        details={"parts": ids},
    )
    return Candidate(proposal, combined(base, [part.harness for part in parts]))


def kept_together(report: GateReport, record: CandidateRecord, tested: GateReport | None) -> GateReport:
    """The report on the parts, with what became of their combination.

    `tested`: the gate on the combination alone; None when verification turned it down. If the gate keeps
    it, what is reported is measured with it.
    """
    name = record.proposal.id
    if tested is None:
        return kept_alone(report, f"{name} was turned down: {record.rejected}", record)
    verdicts = report.verdicts + tested.verdicts
    if not tested.retained:
        both = report.model_copy(update={"verdicts": verdicts})
        return kept_alone(both, f"{name} did not pass", record)
    return report.model_copy(
        update={
            "verdicts": tuple(
                _saying(verdict, f"kept in {name}") if verdict.candidate in report.retained else verdict
                for verdict in verdicts
            ),
            "retained": tested.retained,
            "numbers": tested.numbers,
            "combination": record,
        }
    )


def kept_alone(report: GateReport, why: str, record: CandidateRecord | None = None) -> GateReport:
    """The report with only the first of what was retained; `why` the others are not kept with it."""
    best, *others = report.retained
    return report.model_copy(
        update={
            "verdicts": tuple(
                _saying(verdict, f"{why}, and {best} is kept alone", rejected=True)
                if verdict.candidate in others
                else verdict
                for verdict in report.verdicts
            ),
            "retained": (best,),
            "combination": record,
            "outranked": tuple(others),
        }
    )


def _saying(verdict: Verdict, more: str, rejected: bool = False) -> Verdict:
    decision = Decision.REJECTED if rejected else verdict.decision
    return verdict.model_copy(update={"decision": decision, "reason": f"{verdict.reason}; {more}"})


def combined(base: "Harness", changed: "Sequence[Harness]") -> "Harness":
    """`base` with every change that `changed` made to it; where two collide, the earlier one stays.

    A parameter, a strategy, a skill and a tool are each one thing; so are the routes and the tool policy.
    ValueError when the whole is no harness, such as when one takes away what another needs.
    """
    result = base
    for harness in changed:
        result = _with_changes(base, result, harness)
    return result


def _with_changes(base: "Harness", so_far: "Harness", changed: "Harness") -> "Harness":
    fields: dict[str, Any] = {name: getattr(so_far, name) for name in type(base).model_fields}
    fields["parameters"] = so_far.parameters.changed(
        **_merged(
            base.parameters.model_dump(), so_far.parameters.model_dump(), changed.parameters.model_dump()
        )
    )
    for name in ("strategies", "skills", "tools"):
        fields[name] = _merged(getattr(base, name), getattr(so_far, name), getattr(changed, name))
    for name in ("routes", "tool_policy"):
        if getattr(so_far, name) == getattr(base, name):
            fields[name] = getattr(changed, name)
    return type(base)(**fields)


def _merged(base: Mapping[str, Any], so_far: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    """`so_far` with the entries that `changed` has otherwise than `base` and nobody changed before."""
    merged = dict(so_far)
    for name in {*base, *changed}:
        if changed.get(name) == base.get(name) or so_far.get(name) != base.get(name):
            continue
        if name in changed:
            merged[name] = changed[name]
        else:
            merged.pop(name, None)
    return {name: merged[name] for name in sorted(merged)}
