"""A world small enough to know everything about: the answers of a harness follow from one number.

`ScriptedExecutor` takes the place of the workers. A harness answers a question rightly when its ability
exceeds the question's difficulty; ability grows with `detail_fps` and `replay_intervals`, frames with
`overview_fps` and a little with `replay_intervals`; its code breaks on much of both. Handing
over the source evidence (the strategy of the diagnosis) adds to the ability. Everything else of a run, from
the draw to the summary, is the real thing.
"""

import hashlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evoharness.evaluation import AnswerItem, WorkbenchConfig, answer
from evoharness.evolution.proposing import Candidate, ProposalContext
from evoharness.evolution.verification import check_policy
from evoharness.evolution.workshop import sort_of
from evoharness.harness import Harness, Route
from evoharness.records.evolution import ChangeKind, Proposal
from evoharness.records.interval import Interval
from evoharness.records.outcome import Answered, Outcome, Trace
from evoharness.records.question import PublicQuestion, Question, QuestionKind
from evoharness.records.spend import Spend, Used

STRATEGY = "def strategy(ctx, question):\n    return ctx.answer([])\n"


BREAKS_BEYOND = 24
"""Product of `detail_fps` and `replay_intervals` beyond which code fails."""


def harness(**parameters: Any) -> Harness:
    """A harness with one strategy and the given parameters."""
    made = Harness(routes=(Route(strategy="plain"),), strategies={"plain": STRATEGY})
    return made.with_parameters(**parameters)


def question(number: int, video: str = "v0", **fields: Any) -> Question:
    """Question `number`; its right answer is the first option."""
    return Question(
        **{
            "id": f"{video}/q{number}",
            "video": video,
            "kind": list(QuestionKind)[number % 4],
            "text": f"What is shown as number {number}?",
            "options": ("this one", "that one", "neither", "both"),
            "answer": 0,
            "source_interval": Interval(start=10.25 + number, end=12.25 + number),
            "source_segments": ("s0000",),
            **fields,
        }
    )


def questions(videos: int, each: int) -> list[Question]:
    """`each` questions about every video."""
    return [question(number, f"v{video}") for video in range(videos) for number in range(each)]


def outcome(
    asked: Question,
    reward: float | None,
    status: str = "ok",
    frames: int = 10,
    tokens: int = 100,
    name: str = "h",
) -> Outcome:
    """An outcome with those numbers."""
    return Outcome(
        harness=name,
        question=asked.id,
        reward=reward,
        answered=Answered(
            question=asked.public().id,
            status=status,
            choice=0 if reward == 1 else 1,
            spend=Spend(calls=1, frames=frames, input_tokens=tokens),
            trace=Trace(strategy="plain"),
        ),
    )


def difficulty(asked: PublicQuestion) -> float:
    """A number from 0 to 1, as if drawn at random."""
    return int(hashlib.sha256(f"{asked.video}{asked.text}".encode()).hexdigest()[:8], 16) / 0xFFFFFFFF


def ability(able: Harness) -> float:
    """0.5 at 2 frames a second and 3 intervals, 0.1 more for each further one."""
    values = able.parameters
    shown = 0.3 if "evidence_condition" in able.strategies else 0.0
    return 0.3 + 0.1 * values.detail_fps + 0.1 * (values.replay_intervals - 3) + shown


def scripted_answer(asked: PublicQuestion, able: Harness) -> Answered:
    """What that harness answers."""
    values = able.parameters
    right = difficulty(asked) < ability(able)
    frames = round(100 * values.overview_fps + 10 * (values.replay_intervals - 3))
    breaks = values.detail_fps * values.replay_intervals > BREAKS_BEYOND
    return Answered(
        question=asked.id,
        status="sandbox:strategy_error" if breaks else "ok",
        message="too much at once" if breaks else "",
        choice=0 if right else 1,
        spend=Spend(calls=2, frames=frames, input_tokens=250 * frames),
        trace=Trace(strategy="plain"),
    )


class Killed(BaseException):
    """Stands for `kill -9`."""


@dataclass
class ScriptedExecutor:
    """Does the jobs of evolution in this process, by the rules of the scripted world."""

    config: WorkbenchConfig = field(default_factory=lambda: WorkbenchConfig(cache_dir=Path("unused")))
    workers: int = 1
    used: Used = field(default_factory=Used)
    asked: int = 0
    """How many answers were given."""
    dies_after: int | None = None
    """After how many answers `Killed` is raised."""

    def __post_init__(self) -> None:
        self.on_note: Callable[[str], None] = print
        self.on_told: Callable[[object], None] = print

    def map(
        self,
        job: Callable[..., Any],
        items: Sequence[Any],
        *,
        key: Callable[[Any], Hashable] | None = None,  # noqa: ARG002
        on_lost: Callable[..., Any] | None = None,  # noqa: ARG002
    ) -> Iterator[tuple[int, Any]]:
        for index, item in reversed(list(enumerate(items))):
            if job is answer:
                yield index, self._answered(item)
            elif job is sort_of:
                yield index, (640.0 * 360.0, 100.0)
            elif job is check_policy:
                yield index, "not allowed" if "import" in item.text else ""
            else:
                raise AssertionError(f"no rule for the job {job}")

    def _answered(self, item: AnswerItem) -> list[Answered]:
        answers = []
        for able in item.harnesses:
            if self.dies_after is not None and self.asked >= self.dies_after:
                raise Killed
            self.asked += 1
            given = scripted_answer(item.question, able)
            self.used += Used(paid={"solver": given.spend})
            answers.append(given)
        return answers

    def close(self) -> None:
        """Nothing to end."""


@dataclass
class ScriptedProposer:
    """Proposes the given parameter changes, in order."""

    changes: Sequence[dict[str, float]]
    seen: list[ProposalContext] = field(default_factory=list)

    def propose(self, context: ProposalContext) -> list[Candidate]:
        self.seen.append(context)
        return [
            Candidate(
                Proposal(
                    kind=ChangeKind.PARAMETERS, title=str(change), reason="as scripted", proposer="script"
                ),
                context.incumbent.with_parameters(**change),
            )
            for change in self.changes
        ]


@dataclass(frozen=True)
class Material:
    """What a scripted run works on."""

    videos: Mapping[str, Path]
    questions: Sequence[Question] | None
    sealed_videos: Mapping[str, Path] = field(default_factory=dict)
    sealed_questions: Sequence[Question] = ()
