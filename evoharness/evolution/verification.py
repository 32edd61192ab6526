"""What a candidate must pass before it may answer questions.

In this order, the cheapest first: it changes something that was not tried before; its parameters lie in
their bounds and its files fit together; it copied no substance; the language policy allows its code; its
new tools pass their tests on the memory of an evolution video; and it gets through a first question
without a failure of its code.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.evolution.proposing import Answer, Candidate
from evoharness.evolution.substance import Substance
from evoharness.evolution.tools import ToolCheck, ToolDraft, check_tool
from evoharness.records.evolution import CandidateRecord
from evoharness.records.outcome import SANDBOX_PREFIX
from evoharness.records.question import Question

if TYPE_CHECKING:
    from evoharness.evaluation import Executor, Workbench
    from evoharness.harness import Harness


@dataclass(frozen=True)
class Source:
    """Code that a candidate adds or changes."""

    candidate: str
    path: str
    text: str
    entry: str
    """Name of the function that it must define."""


def check_policy(bench: "Workbench", source: Source) -> str:
    """Job: the first thing that the language policy does not allow, in words; empty when there is none."""
    violations = bench.sandbox.check(source.text, source.entry)
    return f"{source.path}, {violations[0]}" if violations else ""


def verify(
    candidates: Sequence[Candidate],
    incumbent: "Harness",
    known: Mapping[str, str],
    questions: Sequence[Question],
    videos: Mapping[str, Path],
    executor: "Executor",
    answer: Answer,
) -> list[CandidateRecord]:
    """Every candidate with the reason why it was turned down, or without one.

    `known`: fingerprints that were tried before, and what became of them.
    """
    rejected: dict[str, str] = {}
    seen = {**known, incumbent.fingerprint: "it changes nothing"}
    substance = Substance(questions, videos)
    for candidate in candidates:
        fingerprint = candidate.harness.fingerprint
        reason = seen.get(fingerprint) or _unfit(candidate.harness)
        reason = reason or substance.copied(incumbent, candidate.harness)
        seen.setdefault(fingerprint, f"the same as {candidate.id}")
        if reason:
            rejected[candidate.id] = reason
    sources = [
        source
        for candidate in candidates
        if candidate.id not in rejected
        for source in changed_sources(candidate, incumbent)
    ]
    for index, violation in executor.map(check_policy, sources):
        if violation:
            rejected.setdefault(sources[index].candidate, violation)
    rejected.update(_failing_tools(candidates, rejected, incumbent, questions, videos, executor))
    sound = [candidate for candidate in candidates if candidate.id not in rejected]
    if sound and questions:
        outcomes = answer([candidate.harness for candidate in sound], questions[:1])
        for candidate in sound:
            (outcome,) = outcomes[candidate.harness.fingerprint]
            if outcome.status.startswith(SANDBOX_PREFIX):
                said = " ".join(outcome.answered.message.split())
                rejected[candidate.id] = f"its first question ended in {outcome.status}: {said}"
    return [
        CandidateRecord(
            proposal=candidate.proposal,
            harness=candidate.harness.fingerprint,
            rejected=rejected.get(candidate.id, ""),
        )
        for candidate in candidates
    ]


def changed_sources(candidate: Candidate, incumbent: "Harness") -> list[Source]:
    """The strategies and tools that a candidate adds or changes."""
    harness = candidate.harness
    sources = [
        Source(candidate.id, f"strategies/{name}.py", text, "strategy")
        for name, text in harness.strategies.items()
        if incumbent.strategies.get(name) != text
    ]
    sources += [
        Source(candidate.id, f"tools_generated/{draft.name}.py", draft.source, "tool")
        for draft in changed_tools(candidate, incumbent)
    ]
    return sources


def changed_tools(candidate: Candidate, incumbent: "Harness") -> list[ToolDraft]:
    """The tools that a candidate adds or changes, whether their code or their manifest."""
    return [
        ToolDraft(name, files[f"{name}.py"], files[f"{name}.json"])
        for name, files in candidate.harness.tools.items()
        if incumbent.tools.get(name) != files
    ]


def _failing_tools(
    candidates: Sequence[Candidate],
    rejected: Mapping[str, str],
    incumbent: "Harness",
    questions: Sequence[Question],
    videos: Mapping[str, Path],
    executor: "Executor",
) -> dict[str, str]:
    """Candidate → its first tool that does not pass, and the first thing that is wrong with it.

    Tools are tested on the first video of the evolution questions that has a memory.
    """
    keys = dict.fromkeys(question.video for question in questions)
    paths = tuple(videos[key] for key in keys if key in videos)
    drafts = [
        (candidate.id, draft)
        for candidate in candidates
        if candidate.id not in rejected
        for draft in changed_tools(candidate, incumbent)
    ]
    if not drafts:
        return {}
    reports = dict(executor.map(check_tool, [ToolCheck(draft, paths) for _, draft in drafts]))
    failing: dict[str, str] = {}
    for index, (candidate_id, draft) in enumerate(drafts):
        if not reports[index].passed:
            failing.setdefault(candidate_id, f"tools_generated/{draft.name}.py, {reports[index].lines[0]}")
    return failing


def _unfit(harness: "Harness") -> str:
    """Why the harness does not hold together, checked anew from its plain content; empty when it does."""
    try:
        type(harness).model_validate(harness.model_dump())
    except ValueError as error:
        return " ".join(str(error).split())
    return ""
