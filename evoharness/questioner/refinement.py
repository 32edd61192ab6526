"""From the judgement of one round's questions to the policy of the next (section 3.2, refinement)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from evoharness.questioner.filters import Checked, Filter, FilterReport
from evoharness.questioner.policy import DistractorMode, Policy
from evoharness.questioner.quality import Accuracy, Quality
from evoharness.records.base import Record
from evoharness.records.question import QuestionKind


@dataclass(frozen=True)
class Findings:
    """What a refiner may know of a round: evolution outcomes and filters, never the validation set."""

    quality: Quality
    report: FilterReport
    by_kind: Mapping[QuestionKind, Accuracy]
    """Solver accuracy on the evolution set."""
    by_form: Mapping[str, Accuracy]
    """Solver accuracy on the evolution set."""
    targets: Mapping[QuestionKind, float]
    """The configured proportions."""
    too_narrow: Mapping[str, int] = field(default_factory=dict)
    """For each form, how many failures were put down to too narrow a source (`question_evidence`)."""


class Refinement(Record):
    """A revised policy, and why."""

    policy: Policy
    reasons: tuple[str, ...]
    """One line for each change; empty when nothing was changed."""


class Refiner(Protocol):
    """Revises φ between rounds; the revision takes effect when questions are generated again."""

    def refine(self, policy: Policy, findings: Findings) -> Refinement:
        """The next policy. May use everything in `findings`; may not change K or the targets."""
        ...


@dataclass(frozen=True)
class RuleRefiner:
    """A refiner that needs no model: small bounded steps, each with a reason.

    - a form that is often answered without evidence, that the fresh look often contradicts, or whose sources
      are too narrow, loses weight; one whose accuracy lies in the interval gains;
    - a kind whose accuracy lies in the interval gains share, a mastered or a hopeless one loses; shares stay
      within a factor 2 of the target and a factor `step` of the last round;
    - a kind that is answered without evidence, or mastered, gets harder distractors and more relational
      cues; a hopeless one that the fresh look often contradicts gets fewer relational cues.
    """

    low: float = 0.3
    """Lower bound of the accuracy interval, inclusive (Table 6)."""
    high: float = 0.7
    """Upper bound of the accuracy interval, inclusive (Table 6)."""
    step: float = 1.4
    """Largest factor by which a share or a weight changes in one round."""
    enough: int = 6
    """Fewer questions than this say nothing about a form or a kind."""
    excess: float = 0.12
    """How far the accuracy without evidence must lie above 1/K to count against a form or kind."""
    contradicted: float = 0.5
    """Share of fresh looks that must disagree to count against a form or kind."""
    most_relate: float = 0.6
    """Largest share of relational anchors."""
    weights: tuple[float, float] = (0.2, 4.0)
    """Bounds of a form's weight."""

    def refine(self, policy: Policy, findings: Findings) -> Refinement:
        """See `Refiner`."""
        reasons: list[str] = []
        revised = Policy(
            proportions=self._proportions(policy, findings, reasons),
            form_weights=self._form_weights(policy, findings, reasons),
            options=policy.options,
            distractors=policy.distractors,
            distractors_by_kind=self._distractors(policy, findings, reasons),
            relate=policy.relate,
            relate_by_kind=self._relating(policy, findings, reasons),
            brief=policy.brief,
        )
        return Refinement(policy=revised if reasons else policy, reasons=tuple(reasons))

    def _proportions(
        self, policy: Policy, findings: Findings, reasons: list[str]
    ) -> dict[QuestionKind, float]:
        desired, low, high = {}, {}, {}
        changed = False
        for kind, share in policy.proportions.items():
            target = findings.targets.get(kind, 0.0)
            accuracy = findings.by_kind.get(kind)
            factor = 1.0
            if share > 0 and accuracy is not None and accuracy.asked >= self.enough:
                if self.low <= accuracy.share <= self.high:
                    factor = 1.2
                    reasons.append(f"more {kind}: accuracy {accuracy.share:.2f} lies in the interval")
                else:
                    factor = 1 / 1.2
                    word = "mastered" if accuracy.share > self.high else "out of reach"
                    reasons.append(f"fewer {kind}: accuracy {accuracy.share:.2f}, {word}")
                changed = True
            desired[kind] = share * min(self.step, factor)
            low[kind] = min(share, max(share / self.step, target / 2))
            high[kind] = max(share, min(share * self.step, target * 2))
        return bounded_distribution(desired, low, high) if changed else dict(policy.proportions)

    def _form_weights(self, policy: Policy, findings: Findings, reasons: list[str]) -> dict[str, float]:
        weights = dict(policy.form_weights)
        for form in sorted({c.form for c in findings.report.checked} | set(findings.by_form)):
            factor, why = 1.0, []
            rates = _Rates([c for c in findings.report.checked if c.form == form])
            if rates.considered >= self.enough and rates.blind > 1 / policy.options + self.excess:
                factor *= 0.75
                why.append(f"{rates.blind:.0%} answered without evidence")
            if rates.looks >= self.enough and rates.contradicted > self.contradicted:
                factor *= 0.75
                why.append(f"the fresh look contradicts {rates.contradicted:.0%}")
            accuracy = findings.by_form.get(form)
            narrow = findings.too_narrow.get(form, 0)
            if accuracy is not None and accuracy.asked >= self.enough:
                if narrow > 0.3 * accuracy.asked:
                    factor *= 0.85
                    why.append(f"{narrow} of {accuracy.asked} sources are too narrow")
                if self.low <= accuracy.share <= self.high and not why:
                    factor *= 1.2
                    why.append(f"accuracy {accuracy.share:.2f} lies in the interval")
            if why:
                old = policy.weight(form)
                factor = min(self.step, max(1 / self.step, factor))
                new = min(max(old * factor, min(old, self.weights[0])), max(old, self.weights[1]))
                if new != old:
                    weights[form] = round(new, 6)
                    reasons.append(f"form {form} {old:.2f} → {new:.2f}: {'; '.join(why)}")
        return weights

    def _too_easy(self, kind: QuestionKind, policy: Policy, findings: Findings) -> str:
        rates = _Rates([c for c in findings.report.checked if c.kind is kind])
        if rates.considered >= self.enough and rates.blind > 1 / policy.options + self.excess:
            return f"{rates.blind:.0%} answered without evidence"
        accuracy = findings.by_kind.get(kind)
        if accuracy is not None and accuracy.asked >= self.enough and accuracy.share > self.high:
            return f"accuracy {accuracy.share:.2f}"
        return ""

    def _distractors(
        self, policy: Policy, findings: Findings, reasons: list[str]
    ) -> dict[QuestionKind, DistractorMode]:
        modes = dict(policy.distractors_by_kind)
        for kind in policy.proportions:
            why = self._too_easy(kind, policy, findings)
            old = policy.mode(kind)
            if why and old.harder is not old:
                modes[kind] = old.harder
                reasons.append(f"{kind} distractors {old} → {old.harder}: {why}")
        return modes

    def _relating(self, policy: Policy, findings: Findings, reasons: list[str]) -> dict[QuestionKind, float]:
        shares = dict(policy.relate_by_kind)
        for kind in policy.proportions:
            old = new = policy.relating(kind)
            why = self._too_easy(kind, policy, findings)
            accuracy = findings.by_kind.get(kind)
            rates = _Rates([c for c in findings.report.checked if c.kind is kind])
            if why:
                new = max(old, min(self.most_relate, old + 0.1))
            elif (
                accuracy is not None
                and accuracy.asked >= self.enough
                and accuracy.share < self.low
                and rates.contradicted > self.contradicted
            ):
                new = max(0.0, old - 0.1)
                why = f"accuracy {accuracy.share:.2f}, the fresh look contradicts {rates.contradicted:.0%}"
            if new != old:
                shares[kind] = round(new, 6)
                reasons.append(f"{kind} relational cues {old:.2f} → {new:.2f}: {why}")
        return shares


class _Rates:
    """How a group of questions fared in the filters."""

    def __init__(self, checked: list[Checked]) -> None:
        group = [c for c in checked if c.considered]
        looked = [c for c in group if c.fresh_look is not None]
        self.considered = len(group)
        self.looks = len(looked)
        self.blind = sum(c.removed_by is Filter.WITHOUT_EVIDENCE for c in group) / max(1, len(group))
        self.contradicted = sum(not c.fresh_look for c in looked) / max(1, len(looked))


def bounded_distribution(
    desired: Mapping[QuestionKind, float],
    low: Mapping[QuestionKind, float],
    high: Mapping[QuestionKind, float],
) -> dict[QuestionKind, float]:
    """`desired`, scaled by one factor and cut to its bounds so that it sums to 1.

    The bounds must leave room for that: Σ low ≤ 1 ≤ Σ high.
    """

    def at(scale: float) -> dict[QuestionKind, float]:
        return {kind: min(max(scale * value, low[kind]), high[kind]) for kind, value in desired.items()}

    below, above = 0.0, 1.0
    while sum(at(above).values()) < 1 - 1e-12 and above < 1e12:
        above *= 2
    for _ in range(200):
        middle = (below + above) / 2
        if sum(at(middle).values()) < 1:
            below = middle
        else:
            above = middle
    return at(above)
