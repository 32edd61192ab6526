"""The race: candidates answer the evolution questions in stages, and the hopeless leave early.

After each stage those leave that broke as much as they mended or look too much, and all but the best when
there are still more than the stage keeps; what made no difference yet may stay until the last stage, since
differences are rare. The best are those whose gain is clearest, which is what the gate will ask for: 7 won
and none lost come before 12 won and 4 lost. The last stage keeps K; of those that answer every question alike
only the cheapest, since a second one would cost the gate level and could show no more. What is left is frozen
before any validation question is answered. The order of the questions is fixed beforehand, so every candidate
of a stage has answered the same ones.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from evoharness.evolution.observation import excess_observation
from evoharness.evolution.pairs import Pairs, paired, said_to
from evoharness.evolution.proposing import Answer, Candidate
from evoharness.evolution.settings import GateSettings
from evoharness.records.evolution import Screening, ScreeningStage, Standing
from evoharness.records.question import Question

if TYPE_CHECKING:
    from evoharness.harness import Harness


def stages_of(race: Sequence[int], questions: int) -> list[int]:
    """The sizes after which the race is looked at, cut to the questions there are; the last one is all."""
    return sorted({size for size in race if 0 < size < questions} | {questions})


def kept_after(stage: int, stages: int, candidates: int, finalists: int) -> int:
    """How many stay after stage 1, …, `stages`: a geometric path from all candidates to K."""
    if candidates <= finalists:
        return candidates
    share = math.pow(candidates / finalists, 1 - stage / stages)
    return math.ceil(finalists * share - 1e-9)


def screen(
    candidates: Sequence[Candidate],
    incumbent: "Harness",
    initial: "Harness",
    questions: Sequence[Question],
    race: Sequence[int],
    finalists: int,
    gate: GateSettings,
    answer: Answer,
) -> Screening:
    """Race the candidates on `questions`, taken in the order given; at most `finalists` remain."""
    racing = list(candidates)
    stages: list[ScreeningStage] = []
    sizes = stages_of(race, len(questions))
    for number, size in enumerate(sizes, start=1):
        if not racing:
            break
        asked = questions[:size]
        outcomes = answer([incumbent, initial, *(c.harness for c in racing)], asked)
        old, first = outcomes[incumbent.fingerprint], outcomes[initial.fingerprint]
        pairs = {c.id: paired(asked, old, outcomes[c.harness.fingerprint], first) for c in racing}
        racing.sort(key=lambda c: (-pairs[c.id].strength, pairs[c.id].tokens, c.id))
        room = kept_after(number, len(sizes), len(candidates), finalists)
        standings: list[Standing] = []
        staying: list[Candidate] = []
        said: dict[tuple[object, ...], str] = {}
        for candidate in racing:
            reason = _reason_to_leave(pairs[candidate.id], gate, last=number == len(sizes))
            answers = said_to(asked, outcomes[candidate.harness.fingerprint])
            if not reason and number == len(sizes) and answers in said:
                reason = f"answers every question as {said[answers]} does"
            if not reason and len(staying) >= room:
                reason = f"{room} others did better"
            if not reason:
                staying.append(candidate)
                said[answers] = candidate.id
            standings.append(_standing(candidate.id, pairs[candidate.id], reason))
        racing = staying
        stages.append(ScreeningStage(questions=size, standings=tuple(standings)))
    return Screening(stages=tuple(stages), finalists=tuple(c.id for c in racing))


def _reason_to_leave(pairs: Pairs, gate: GateSettings, last: bool) -> str:
    excess = excess_observation(pairs, gate)
    if excess:
        return excess
    undecided = not last and not pairs.wins and not pairs.losses
    if pairs.net <= 0 and not undecided:
        return f"no gain: {pairs.wins} won, {pairs.losses} lost"
    return ""


def _standing(name: str, pairs: Pairs, dropped: str) -> Standing:
    return Standing(
        candidate=name,
        wins=pairs.wins,
        losses=pairs.losses,
        net=pairs.net,
        frames_ratio=pairs.frames_ratio,
        tokens_ratio=pairs.tokens_ratio,
        dropped=dropped,
    )
