"""The cascade that a generated question must survive, and what each filter removed.

form → duplicate → (this is 𝒢) → without evidence → fresh look → retained (𝒟). Answers from the supporting
records are taken over 𝒢 as well, for A_o; they remove nothing.
"""

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from evoharness.questioner import english
from evoharness.questioner.checks import (
    Answer,
    LookItem,
    LookRequest,
    TextAnswers,
    TextRequest,
    answer_texts,
    look_afresh,
    look_request,
)
from evoharness.questioner.evidence import supporting_evidence
from evoharness.questioner.policy import QuestionerSettings
from evoharness.records.base import Record
from evoharness.records.memory import VideoMemory
from evoharness.records.question import Question, QuestionKind

if TYPE_CHECKING:
    from evoharness.evaluation import Executor
    from evoharness.retrieval import Embedder

T = TypeVar("T")


class Filter(StrEnum):
    """What can remove a question, in the order in which the filters are applied."""

    FORM = "form"
    DUPLICATE = "duplicate"
    WITHOUT_EVIDENCE = "without_evidence"
    FRESH_LOOK = "fresh_look"
    APPARATUS = "apparatus"
    """A check could not be made: nothing is known against the question, and nothing for it."""


class Checked(Record):
    """One generated question and what became of it."""

    question: str
    """Id of the question."""
    kind: QuestionKind
    form: str
    removed_by: Filter | None = None
    """None: retained."""
    reason: str = ""
    """Why it was removed, in a few words."""
    without_evidence: bool | None = None
    """Whether the reference was picked with nothing to go on; None when that was not asked."""
    from_records: bool | None = None
    """Whether the reference was picked from the supporting records; None when that was not asked."""
    fresh_look: bool | None = None
    """Whether the fresh look agreed with the reference; None when that was not asked."""

    @property
    def considered(self) -> bool:
        """Whether it belongs to 𝒢: it passed the form and the duplicate filter, and could be checked."""
        return self.removed_by not in (Filter.FORM, Filter.DUPLICATE, Filter.APPARATUS)


class FilterReport(Record):
    """What was retained, and what happened to every question that was generated."""

    retained: tuple[Question, ...]
    """𝒟, in the order in which they were generated."""
    checked: tuple[Checked, ...]
    """One entry for every generated question, in the same order."""

    @property
    def considered(self) -> tuple[Checked, ...]:
        """𝒢: what passed the form and the duplicate filter."""
        return tuple(c for c in self.checked if c.considered)

    @property
    def removed(self) -> dict[str, int]:
        """How many questions each filter removed."""
        counts = Counter(c.removed_by for c in self.checked)
        return {f.value: counts.get(f, 0) for f in Filter}

    def by_form(self) -> dict[str, dict[str, int]]:
        """For every form: how many were generated, removed by each filter, and retained."""
        table: dict[str, dict[str, int]] = {}
        for c in self.checked:
            row = table.setdefault(c.form, {"generated": 0, **{f.value: 0 for f in Filter}, "retained": 0})
            row["generated"] += 1
            row[c.removed_by.value if c.removed_by else "retained"] += 1
        return table


def form_fault(question: Question) -> str:
    """What is wrong with the writing of a question; empty when nothing is."""
    options, answer = question.options, question.answer
    if len(options) < 2 or answer is None:
        return "no options"
    if len({english.fold(o) or o for o in options}) < len(options):
        return "two options read the same"
    if english.contains_words(question.text, options[answer]):
        return "the answer stands in the question"
    if not 12 <= len(question.text) <= 320 or any(not 1 <= len(o) <= 260 for o in options):
        return "question or option too short or too long"
    if not all(part.isprintable() for part in (question.text, *options)):
        return "unprintable characters"
    middle = statistics.median(len(o) for o in options)
    if max(len(o) for o in options) > 3 * middle + 12:
        return "one option is much longer than the others"
    rest = [len(o) for i, o in enumerate(options) if i != answer]
    if len(options[answer]) > 1.8 * max(rest) + 8:
        return "the answer is much longer than the other options"
    return ""


def duplicates(questions: Sequence[Question], embedder: "Embedder", similarity: float) -> set[str]:
    """Ids of questions that repeat an earlier one of the same video: the cosine of question and answer
    reaches `similarity`, and both speak of the same numbers."""
    repeated: set[str] = set()
    by_video: dict[str, list[Question]] = {}
    for question in questions:
        by_video.setdefault(question.video, []).append(question)
    for group in by_video.values():
        wordings = [f"{q.text} {q.reference_text}" for q in group]
        cosines = (vectors := embedder.embed(wordings)) @ vectors.T
        for later, question in enumerate(group):
            for earlier in range(later):
                if (
                    group[earlier].id not in repeated
                    and cosines[later, earlier] >= similarity
                    and sorted(english.numbers(wordings[later])) == sorted(english.numbers(wordings[earlier]))
                ):
                    repeated.add(question.id)
                    break
    return repeated


def filter_questions(
    questions: Sequence[Question],
    videos: Mapping[str, Path],
    memories: Mapping[str, VideoMemory],
    executor: "Executor",
    embedder: "Embedder",
    settings: QuestionerSettings,
    on_checked: Callable[[int], None] | None = None,
) -> FilterReport:
    """Apply the cascade to generated questions.

    `videos` and `memories` are by video key. `on_checked` is told how many questions were just decided.
    Raises `Interrupted` and whatever else the executor raises; KeyError for a question about another video.
    """
    tell = on_checked or (lambda _: None)
    checked = {q.id: Checked(question=q.id, kind=q.kind, form=q.form) for q in questions}

    def remove(question_id: str, by: Filter, reason: str = "") -> None:
        checked[question_id] = checked[question_id].model_copy(update={"removed_by": by, "reason": reason})
        tell(1)

    def remaining() -> list[Question]:
        return [q for q in questions if checked[q.id].removed_by is None]

    for question in questions:
        if fault := form_fault(question):
            remove(question.id, Filter.FORM, fault)
    for question_id in duplicates(remaining(), embedder, settings.duplicate_similarity):
        remove(question_id, Filter.DUPLICATE)

    for question, texts in _text_answers(remaining(), memories, executor, settings):
        right = texts.without_evidence.choice == question.answer
        checked[question.id] = checked[question.id].model_copy(
            update={
                "without_evidence": None if texts.without_evidence.apparatus else right,
                "from_records": None
                if texts.from_records.apparatus
                else texts.from_records.choice == question.answer,
            }
        )
        if texts.without_evidence.apparatus:
            remove(question.id, Filter.APPARATUS, "no answer without evidence came")
        elif right:
            remove(question.id, Filter.WITHOUT_EVIDENCE)

    for question, look in _looks(remaining(), videos, memories, executor, settings):
        if look.apparatus:
            remove(question.id, Filter.APPARATUS, "no fresh look came")
            continue
        agrees = look.choice == question.answer
        checked[question.id] = checked[question.id].model_copy(update={"fresh_look": agrees})
        if agrees:
            tell(1)
            continue
        said = "nothing" if look.choice is None else repr(question.options[look.choice])
        remove(question.id, Filter.FRESH_LOOK, f"the fresh look says {said}")
    return FilterReport(retained=tuple(remaining()), checked=tuple(checked[q.id] for q in questions))


def _text_answers(
    questions: Sequence[Question],
    memories: Mapping[str, VideoMemory],
    executor: "Executor",
    settings: QuestionerSettings,
) -> Iterator[tuple[Question, TextAnswers]]:
    parts = list(_parts(questions, 4 * settings.questions_per_job))
    items = [
        tuple(TextRequest(q.public(), supporting_evidence(q, memories[q.video])) for q in part)
        for part in parts
    ]
    lost = TextAnswers(Answer(None, apparatus=True), Answer(None, apparatus=True))
    for index, answers in executor.map(answer_texts, items, on_lost=lambda item, _: [lost for _r in item]):
        yield from zip(parts[index], answers, strict=True)


def _looks(
    questions: Sequence[Question],
    videos: Mapping[str, Path],
    memories: Mapping[str, VideoMemory],
    executor: "Executor",
    settings: QuestionerSettings,
) -> Iterator[tuple[Question, Answer]]:
    def request(question: Question) -> LookRequest:
        return look_request(
            question,
            memories[question.video],
            settings.oracle_fps,
            settings.oracle_padding_s,
            settings.oracle_frame_cap,
        )

    in_order = sorted(
        questions, key=lambda q: (q.video, q.source_interval.start if q.source_interval else 0.0)
    )
    parts = list(_parts(in_order, settings.questions_per_job))
    items = [LookItem(videos[part[0].video], tuple(map(request, part))) for part in parts]
    jobs = executor.map(
        look_afresh,
        items,
        key=lambda item: item.path,
        on_lost=lambda item, _: [Answer(None, apparatus=True) for _r in item.requests],
    )
    for index, answers in jobs:
        yield from zip(parts[index], answers, strict=True)


def _parts(questions: Iterable[Question], size: int) -> Iterator[list[Question]]:
    """Lists of at most `size` questions of one video each."""
    by_video: dict[str, list[Question]] = {}
    for question in questions:
        by_video.setdefault(question.video, []).append(question)
    for group in by_video.values():
        for start in range(0, len(group), size):
            yield group[start : start + size]
