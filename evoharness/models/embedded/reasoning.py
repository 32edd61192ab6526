"""The reasoning half of the embedded backbone: one plain function for each task that thinks.

No model is asked. An answer is matched out of the evidence given by the modules beside this one, always the
same way for the same task, and from nothing but the task.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from evoharness.models.embedded.acting import choose_next
from evoharness.models.embedded.choosing import choose, score_options
from evoharness.models.embedded.claims import support
from evoharness.models.embedded.evidence_matching import EvidenceMatcher, Scores
from evoharness.models.embedded.question_reading import read_question
from evoharness.models.embedded.statements import EVIDENCE_CHARACTERS, read_statements, within_budget
from evoharness.models.embedded.summarizing import group_segments, representative
from evoharness.models.embedded.temporal import UNKNOWN_WORD
from evoharness.models.reasoning_tasks import (
    AnswerQuestion,
    ChooseAction,
    ChosenAction,
    ChosenAnswer,
    ClaimVerdict,
    Reason,
    Reasoning,
    SegmentGroups,
    SummarizeSegments,
    SummarizeVideo,
    VerifyClaim,
    VideoSummary,
)
from evoharness.records.evidence import Evidence

if TYPE_CHECKING:
    from evoharness.retrieval import Embedder

REASONING_CHARACTERS = 1500
"""Length of a `Reason` answer, at most."""
_OPTION_SHARE = 0.6
_NEAR_SHARE = 0.3
_NEAR_SECONDS = 10.0
_LEAST_NEAR = 0.4
_MOST_NEAR = 6
SUPPORTED = 0.55
"""A claim with at least this support counts as borne out."""


def _read(
    evidence: Sequence[Evidence], asked: Sequence[str], options: Sequence[str], embedder: "Embedder"
) -> EvidenceMatcher:
    """The evidence within its 6,000 characters: the lines nearest to what is asked, in order of time.

    A line is the nearer the better it fits what is asked, then the options, and the closer it stands in time
    to the lines that fit what is asked best.
    """
    statements = read_statements(evidence)
    matcher = EvidenceMatcher(statements, embedder)
    if sum(len(statement.text) + 1 for statement in statements) <= EVIDENCE_CHARACTERS:
        return matcher
    about = [matcher.match(text, unknown=UNKNOWN_WORD) for text in asked]
    relevance = np.max(about, axis=0) + np.max(
        [np.zeros(len(matcher)), *_beside_the_nearest(matcher, about)], axis=0
    )
    if options:
        relevance += _OPTION_SHARE * np.max([matcher.match(option) for option in options], axis=0)
    return EvidenceMatcher(within_budget(statements, [float(value) for value in relevance]), embedder)


def _beside_the_nearest(matcher: EvidenceMatcher, about: Sequence[Scores]) -> list[Scores]:
    """For each phrase, how close in time every statement stands to the ones that fit the phrase best."""
    found = []
    for fit in about:
        timed = np.where(np.isnan(matcher.starts), 0.0, fit)
        best = np.flatnonzero(timed >= max(_LEAST_NEAR, 0.9 * timed.max(initial=0.0)))[:_MOST_NEAR]
        for index in best:
            gap = np.maximum(
                np.maximum(matcher.starts - matcher.ends[index], matcher.starts[index] - matcher.ends), 0.0
            )
            found.append(np.where(np.isnan(gap), 0.0, _NEAR_SHARE * np.exp(-gap / _NEAR_SECONDS)))
    return found


def answer_question(task: AnswerQuestion, embedder: "Embedder") -> ChosenAnswer:
    """Choose the option that the evidence speaks for most; a guess is deterministic and says so."""
    if not task.options:
        return ChosenAnswer(choice=None, text="There are no options to choose from.")
    reading = read_question(task.text)
    matcher = _read(task.evidence, (reading.focus, *reading.anchors), task.options, embedder)
    scores = score_options(reading, task.options, matcher)
    choice = choose(task.text, task.options, scores, task.sample)
    option = task.options[choice.index]
    if choice.guessed:
        text = f"The evidence does not tell the options apart; picked {option!r} without it."
    else:
        text = f"The evidence speaks most for {option!r}."
    return ChosenAnswer(choice=choice.index, text=text, scores=choice.confidences, guessed=choice.guessed)


def verify_claim(task: VerifyClaim, embedder: "Embedder") -> ClaimVerdict:
    """Whether the evidence bears a claim out, and how surely."""
    matcher = _read(task.evidence, (task.claim,), (), embedder)
    if not len(matcher):
        return ClaimVerdict(supported=False, confidence=0.0, text="There is no evidence.")
    confidence = min(1.0, max(0.0, support(matcher, task.claim)))
    nearest = matcher.statements[int(np.argmax(matcher.match(task.claim)))].text
    return ClaimVerdict(
        supported=confidence >= SUPPORTED, confidence=confidence, text=f"Nearest statement: {nearest}"
    )


def reason(task: Reason, embedder: "Embedder") -> Reasoning:
    """The statements that bear on the prompt, in order of time, within 1,500 characters."""
    statements = read_statements(task.evidence)
    if not statements:
        return Reasoning(text="")
    matcher = EvidenceMatcher(statements, embedder)
    relevance = matcher.match(task.prompt)
    lines = [_line(statement.text, statement.start, statement.end) for statement in statements]
    left, kept = REASONING_CHARACTERS, set[int]()
    for index in sorted(range(len(lines)), key=lambda index: (-relevance[index], index)):
        if relevance[index] < 0.25 * relevance.max():
            break
        if len(lines[index]) + 1 <= left:
            kept.add(index)
            left -= len(lines[index]) + 1
    return Reasoning(text="\n".join(lines[index] for index in sorted(kept))[:REASONING_CHARACTERS])


def _line(text: str, start: float | None, end: float | None) -> str:
    return text if start is None or end is None else f"[{start:.1f}-{end:.1f}] {text}"


def choose_action(task: ChooseAction, embedder: "Embedder") -> ChosenAction:
    """The next tool call, never one that was made before, or the decision to stop."""
    return choose_next(task, embedder)


def summarize_segments(task: SummarizeSegments, embedder: "Embedder") -> SegmentGroups:
    """Neighbouring segments whose summaries are alike, as super events in order."""
    return group_segments(task.summaries, embedder)


def summarize_video(task: SummarizeVideo, embedder: "Embedder") -> VideoSummary:
    """A few sentences that stand for all the super events."""
    sentences = [statement.text for statement in read_statements(
        Evidence(source="summary", text=text) for text in task.super_events
    )]  # fmt: skip
    return VideoSummary(text=" ".join(representative(sentences, embedder)))
