"""A scripted world for the search: what a harness answers and looks at follows from two parameters.

`detail_fps` makes answers right and costs frames; `overview_fps` only costs frames.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from evoharness.evolution.proposing import ProposalContext, Rejection
from evoharness.harness import Harness, Route
from evoharness.records.evolution import Diagnosis
from evoharness.records.outcome import APPARATUS, Answered, Outcome, Trace, TraceStep
from evoharness.records.question import Question
from evoharness.records.spend import Spend
from tests.evolution.scripted import ScriptedExecutor, difficulty, questions

STRATEGY = """
def strategy(ctx, question):
    params = ctx.params
    seen = ctx.look([], fps=params.overview_fps, max_frames=100)
    closer = ctx.look([], params.detail_fps, 100, params.overview_detail)
    return ctx.answer([seen, closer])
"""
ASKED = questions(4, 14)


def harness(**parameters: Any) -> Harness:
    """A harness of that strategy alone."""
    made = Harness(routes=(Route(strategy="plain"),), strategies={"plain": STRATEGY})
    return made.with_parameters(**parameters)


def frames(able: Harness) -> int:
    """What an answer looks at: 230 frames at first."""
    return round(150 * able.parameters.overview_fps + 40 * able.parameters.detail_fps)


@dataclass
class World:
    """Answers by the rules, and remembers who was asked."""

    helps: float = 0.1
    """What a frame a second of `detail_fps` adds to the share of right answers."""
    lost: frozenset[str] = frozenset()
    """Ids of questions that the apparatus fails."""
    asked: list[str] = field(default_factory=list)
    """Fingerprints, in the order in which they were first asked."""

    def __call__(
        self, harnesses: Sequence[Harness], asked: Sequence[Question], trial: int = 0, /
    ) -> dict[str, list[Outcome]]:
        """See `Answer`."""
        assert trial == 0
        self.asked += [h.fingerprint for h in harnesses if h.fingerprint not in self.asked]
        return {able.fingerprint: [self.outcome(able, question) for question in asked] for able in harnesses}

    def outcome(self, able: Harness, question: Question) -> Outcome:
        """What that harness answers."""
        lost = question.id in self.lost
        right = difficulty(question.public()) < 0.3 + self.helps * able.parameters.detail_fps
        shown = frames(able)
        look = TraceStep(call="look", arguments={}, result=None, frames=shown, frame_times=(float(shown),))
        return Outcome(
            harness=able.fingerprint,
            question=question.id,
            reward=None if lost else float(right),
            answered=Answered(
                question=question.public().id,
                status=APPARATUS if lost else "ok",
                choice=0 if right else 1,
                spend=Spend(calls=2, frames=shown, input_tokens=250 * shown),
                trace=Trace(strategy="plain", steps=(look,)),
            ),
        )


def context(
    world: World,
    incumbent: Harness | None = None,
    rejections: Sequence[Rejection] = (),
    limits: Mapping[str, float] | None = None,
    seed: int = 1,
    count: int = 4,
) -> ProposalContext:
    """What a round would tell a proposer in that world."""
    incumbent = incumbent or harness()
    return ProposalContext(
        round=1,
        incumbent=incumbent,
        initial=harness(),
        questions=ASKED,
        outcomes=[world.outcome(incumbent, question) for question in ASKED],
        diagnosis=Diagnosis(answered=len(ASKED), failures=()),
        durations={question.video: 60.0 for question in ASKED},
        videos={},
        rejections=rejections,
        answer=world,
        executor=ScriptedExecutor(),
        rng=Random(seed),
        count=count,
        limits={"frames_ratio": 1.3, "tokens_ratio": 1.3} if limits is None else limits,
    )
