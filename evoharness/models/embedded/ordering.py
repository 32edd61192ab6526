"""Questions of order: which sequence of moments is the one the evidence shows."""

import re
from collections.abc import Sequence

from evoharness.models.embedded.english import content_terms
from evoharness.models.embedded.evidence_matching import EvidenceMatcher
from evoharness.models.embedded.option_reading import sequence_in
from evoharness.models.embedded.question_reading import labelled_items
from evoharness.models.embedded.temporal import concordance, locate

_LABEL = re.compile(r"[A-Za-z]|\d{1,2}|[ivx]{1,4}")
_NOT_FOUND = 0.5
"""Worth of a sequence's order for each step that is not found."""


def _labels(option: str) -> list[str]:
    compact = option.strip(" ().,")
    if re.fullmatch(r"[A-Za-z]{2,8}|\d{2,8}", compact) and len(set(compact)) == len(compact):
        return list(compact.lower())
    parts = [part for part in re.split(r"[\s,;>()→–-]+|then", compact) if part]
    return [part.lower() for part in parts] if all(_LABEL.fullmatch(part) for part in parts) else []


def option_sequences(question: str, options: Sequence[str]) -> list[tuple[str, ...]] | None:
    """The steps that each option puts in order; None when the options are not orders."""
    items = labelled_items(question)
    if items:
        labelled = [_labels(option) for option in options]
        if all(len(labels) >= 2 and set(labels) <= set(items) for labels in labelled):
            return [tuple(items[label] for label in labels) for labels in labelled]
    sequences = [sequence_in(option) for option in options]
    if sum(len(sequence) >= 2 for sequence in sequences) < max(2, len(sequences) - 1):
        return None
    return sequences


def permuted(sequences: Sequence[tuple[str, ...]]) -> bool:
    """Whether the sequences are the same steps in different orders."""
    sets = {frozenset(content_terms(" ".join(steps))) for steps in sequences}
    return len(sets) == 1 and len(sequences[0]) >= 2


def score_sequences(matcher: EvidenceMatcher, sequences: Sequence[tuple[str, ...]]) -> list[float] | None:
    """How far each sequence agrees with the evidence, 0 to 1; None when too few steps are found."""
    moments: dict[str, float | None] = {}
    for step in {step for sequence in sequences for step in sequence}:
        episode = locate(matcher, step)
        moments[step] = episode.start if episode else None
    if sum(moment is not None for moment in moments.values()) < 2:
        return None
    scores = []
    for sequence in sequences:
        if len(sequence) < 2:
            scores.append(0.0)
            continue
        found = sum(moments[step] is not None for step in sequence) / len(sequence)
        scores.append(
            concordance([moments[step] for step in sequence]) * (_NOT_FOUND + (1 - _NOT_FOUND) * found)
        )
    return scores
