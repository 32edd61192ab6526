"""How much the embedded backbone can do: questions about unseen recordings, with the whole evidence or none.

The recordings have a known timeline, and the questions were made from it alone. The whole evidence is every
picture at 2 frames a second at the large detail. What the backbone answers must come from there: not from
the wording of questions, nor from the names of files, nor from what lies beside them.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import av
import pytest
from av.video.frame import PictureType

from evoharness.evaluation import ProcessExecutor, Workbench, WorkbenchConfig
from evoharness.models.perception_tasks import InspectFrames
from evoharness.models.reasoning_tasks import AnswerQuestion
from evoharness.records.evidence import Evidence
from evoharness.records.frame import Detail
from evoharness.records.interval import Interval
from evoharness.records.question import Question
from evoharness.samples import render_samples
from evoharness.video import sample_times

pytestmark = pytest.mark.verify

SEED, VIDEOS, QUESTIONS = 3141, 8, 40
FPS = 2.0
CALL_FRAMES = 300
"""Frames that one look may have."""
ENOUGH = 8
"""Questions of a kind from which on its accuracy is judged."""
CHANCE, OFF = 0.25, 0.07

WHOLE, COPIES, OTHER, NONE = "whole evidence", "re-encoded copies", "another video", "no evidence"
NO_OCR = "whole evidence, no OCR"

Asked = Callable[[Question], bool]
"""Picks questions."""


@dataclass(frozen=True)
class Exam:
    """Questions to be answered from one file, whatever they are about; from nothing at all without one."""

    path: Path | None
    questions: tuple[tuple[str, tuple[str, ...]], ...]
    """Text and options of each."""


def sit(bench: Workbench, exam: Exam) -> list[int | None]:
    """Job: the choice for each question."""
    return [
        bench.backbone.run(
            AnswerQuestion(text=text, options=options, evidence=evidence_for(bench, exam.path, text, options))
        ).output.choice
        for text, options in exam.questions
    ]


def evidence_for(
    bench: Workbench, path: Path | None, text: str, options: Sequence[str]
) -> tuple[Evidence, ...]:
    """What the whole video shows that bears on a question."""
    if path is None:
        return ()
    video = bench.video(path)
    times = sample_times(Interval(start=0.0, end=video.info.duration), FPS)
    found: list[Evidence] = []
    for first in range(0, len(times), CALL_FRAMES):
        some = times[first : first + CALL_FRAMES]
        span = Interval(start=some[0], end=min(video.info.duration, some[-1] + 1 / FPS))
        frames = tuple(video.frames(some, Detail.LARGE))
        look = InspectFrames(frames=frames, span=span, prompt=" ".join((text, *options)))
        found += (
            Evidence(source="look", interval=seen.interval, text=seen.text)
            for seen in bench.backbone.run(look).output.observations
        )
    return tuple(found)


def encode_again(bench: Workbench, paths: tuple[Path, Path]) -> None:  # noqa: ARG001
    """Job: the same pictures at the same times in another file, at another quality, with other key frames."""
    with av.open(str(paths[0])) as old, av.open(str(paths[1]), "w") as new:
        source = old.streams.video[0]
        stream = new.add_stream("libx264", rate=source.average_rate)
        stream.width, stream.height, stream.pix_fmt = source.width, source.height, "yuv420p"
        stream.codec_context.time_base = source.time_base
        stream.codec_context.gop_size = 250
        stream.codec_context.thread_count = 1
        stream.options = {"preset": "superfast", "crf": "25"}
        for frame in old.decode(source):
            frame.pict_type = PictureType.NONE
            new.mux(stream.encode(frame))
        new.mux(stream.encode(None))


@dataclass(frozen=True)
class Figures:
    """Which questions were answered rightly, by what they were answered from."""

    questions: list[Question]
    right: Mapping[str, list[bool]]
    """One for each question."""

    def accuracy(self, condition: str, asked: Asked = lambda _: True) -> float:
        """Share of right answers among the questions that `asked` picks."""
        picked = self._marks(condition, asked)
        return sum(right for _, right in picked) / len(picked)

    def by_kind(self, condition: str, asked: Asked = lambda _: True) -> dict[str, float]:
        """Accuracy of each kind with enough questions."""
        kinds: dict[str, list[bool]] = defaultdict(list)
        for question, right in self._marks(condition, asked):
            kinds[question.kind.value].append(right)
        return {kind: sum(marks) / len(marks) for kind, marks in kinds.items() if len(marks) >= ENOUGH}

    def _marks(self, condition: str, asked: Asked) -> list[tuple[Question, bool]]:
        pairs = zip(self.questions, self.right[condition], strict=True)
        return [(question, right) for question, right in pairs if asked(question)]


def needs_no_text(question: Question) -> bool:
    return not any(support.startswith("text/") for support in question.support)


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> Figures:
    """Everything is seen once here."""
    made = render_samples(tmp_path_factory.mktemp("samples"), VIDEOS, SEED, workers=2)
    questions = made.questions(QUESTIONS)
    asked: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        asked[question.video].append(question)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    copies = {key: elsewhere / f"film {number}.mp4" for number, key in enumerate(made.keys)}
    following = dict(zip(made.keys, [*made.keys[1:], made.keys[0]], strict=True))
    files: dict[str, Mapping[str, Path | None]] = {
        WHOLE: made.videos,
        OTHER: {key: made.videos[following[key]] for key in made.keys},
        COPIES: copies,
        NONE: dict.fromkeys(made.keys),
    }
    cache = tmp_path_factory.mktemp("cache")

    def marks(conditions: Sequence[str], executor: ProcessExecutor) -> dict[str, list[bool]]:
        rounds = [(condition, key) for condition in conditions for key in made.keys]
        exams = [
            Exam(files[condition][key], tuple((one.text, one.options) for one in asked[key]))
            for condition, key in rounds
        ]
        right: dict[tuple[str, str], bool] = {}
        for index, choices in executor.map(sit, exams, key=lambda exam: str(exam.path)):
            condition, key = rounds[index]
            for question, choice in zip(asked[key], choices, strict=True):
                right[condition, question.id] = choice == question.answer
        return {c: [right[c, question.id] for question in questions] for c in conditions}

    executor = ProcessExecutor(WorkbenchConfig(cache_dir=cache), 2)
    try:
        list(executor.map(encode_again, [(made.videos[key], copies[key]) for key in made.keys]))
        right = marks((WHOLE, OTHER, COPIES, NONE), executor)
    finally:
        executor.close()
    files[NO_OCR] = made.videos
    blind = ProcessExecutor(WorkbenchConfig(cache_dir=cache, backbone="embedded-no-ocr"), 2)
    try:
        right |= marks((NO_OCR,), blind)
    finally:
        blind.close()
    return Figures(questions, right)


def test_the_figures(figures: Figures, capsys: pytest.CaptureFixture[str]) -> None:
    counts = Counter(question.kind.value for question in figures.questions)
    silent = Counter(question.kind.value for question in figures.questions if needs_no_text(question))
    whole, no_ocr = figures.by_kind(WHOLE), figures.by_kind(NO_OCR, needs_no_text)
    with capsys.disabled():
        print(f"\n{len(figures.questions)} questions about {VIDEOS} recordings of seed {SEED}")
        for condition in (WHOLE, COPIES, OTHER, NONE):
            print(f"  {condition:<28} {figures.accuracy(condition):6.1%}")
        print(f"  {'no OCR, where none is needed':<28} {figures.accuracy(NO_OCR, needs_no_text):6.1%}")
        print(f"  {'kind':<28} whole evidence   no OCR, where none is needed")
        for kind in sorted(counts):
            first = f"{whole[kind]:6.1%} of {counts[kind]:3}" if kind in whole else ""
            second = f"{no_ocr[kind]:6.1%} of {silent[kind]:3}" if kind in no_ocr else ""
            print(f"  {kind:<28} {first:<16} {second}")
    assert len(figures.questions) >= 240
    assert sum(count >= ENOUGH for count in counts.values()) >= 6


def test_the_whole_evidence_is_enough_for_seventy_percent(figures: Figures) -> None:
    assert figures.accuracy(WHOLE) >= 0.70


def test_the_whole_evidence_is_enough_for_half_of_each_kind(figures: Figures) -> None:
    assert {kind: share for kind, share in figures.by_kind(WHOLE).items() if share < 0.5} == {}


def test_half_of_each_kind_that_needs_no_text_is_answered_without_reading(figures: Figures) -> None:
    found = figures.by_kind(NO_OCR, needs_no_text)
    assert len(found) >= 4
    assert {kind: share for kind, share in found.items() if share < 0.5} == {}


@pytest.mark.parametrize("condition", [NONE, OTHER])
def test_without_the_evidence_nothing_but_luck_is_left(figures: Figures, condition: str) -> None:
    assert figures.accuracy(condition) == pytest.approx(CHANCE, abs=OFF)


def test_copies_under_other_names_are_answered_as_well(figures: Figures) -> None:
    assert figures.accuracy(COPIES) == pytest.approx(figures.accuracy(WHOLE), abs=0.02)
