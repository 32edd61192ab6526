"""Estimates against what runs then use: total calls, tokens and USD within 1.5, large roles within 2."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from evoharness.evaluation import InlineExecutor, Workbench, WorkbenchConfig
from evoharness.evolution import EvolutionSettings, GateSettings, evolve
from evoharness.evolution.estimating import Amount, Load, estimate
from evoharness.evolution.proposers import SearchProposer
from evoharness.evolution.proposers.search import SearchSettings
from evoharness.harness import Harness, initial_harness
from evoharness.models.backbone import Backbone, Reply
from evoharness.models.prompting import render
from evoharness.models.sizes import frames_of
from evoharness.models.task import Output, Task
from evoharness.questioner import QuestionerSettings
from evoharness.records.frame import Frame
from evoharness.records.spend import Spend
from evoharness.runs import RunDirectory, RunFacts, SilentProgress
from evoharness.samples import render_samples
from evoharness.solver import SolverLimits
from tests.server.writing import written

WITHIN = 1.5
ROLE_WITHIN = 2.0
LARGE = 0.1
"""Share of the tokens from which on a role is looked at by itself."""
PRICES = (2.0, 8.0)
"""USD for a million tokens, sent and received."""

TINY = EvolutionSettings(
    rounds=1,
    videos_per_round=3,
    evolution_questions=8,
    validation_questions=12,
    candidates=3,
    finalists=1,
    race=[4, 8],
    noise_floor=False,
)
SEARCH = SearchSettings(sample=6, beam=2, depth=1, tries=6)


class Prompted:
    """The embedded backbone as a provider would charge for it: by prompts, and once for the same one."""

    def __init__(self, inner: Backbone, kept: dict[Any, Reply[Any]]) -> None:
        self._inner = inner
        self._kept = kept

    @property
    def id(self) -> str:
        """See `Backbone`."""
        return f"prompted:{self._inner.id}"

    def run(self, task: Task[Output]) -> Reply[Output]:
        """See `Backbone`."""
        prompt = render(task)
        told = tuple(part.key if isinstance(part, Frame) else part for part in prompt.parts)
        key = (prompt.name, prompt.system, told, task.role, getattr(task, "sample", 0))
        if key in self._kept:
            return replace(self._kept[key], cached=True)
        output = self._inner.run(task).output
        text = len(prompt.system) + sum(len(part) for part in prompt.parts if isinstance(part, str))
        frames = frames_of(task)
        spend = Spend(
            calls=1,
            input_tokens=text // 4 + sum(frame.tokens for frame in frames),
            output_tokens=len(json.dumps(written(task, output), ensure_ascii=False)) // 4,
            frames=len(frames),
        )
        self._kept[key] = Reply(output, spend)
        return self._kept[key]


@dataclass(frozen=True)
class Job:
    """What is run."""

    seed: int
    evolution: EvolutionSettings = field(default_factory=lambda: TINY)
    questioner: QuestionerSettings = field(default_factory=lambda: QuestionerSettings(per_video=12))
    parameters: tuple[tuple[str, Any], ...] = ()
    prompted: bool = False
    videos: int = 3

    @property
    def harness(self) -> Harness:
        """That it begins with."""
        return initial_harness().with_parameters(**dict(self.parameters))


@dataclass(frozen=True)
class Videos:
    """Without questions and a sealed test."""

    videos: dict[str, Path]
    questions: None = None
    sealed_videos: Any = None
    sealed_questions: Sequence[Any] = ()


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def compared(job: Job, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Load, Load]:
    """What was estimated, and what was used."""
    folder = cache / f"samples-{job.seed}"
    made = render_samples(folder, job.videos, job.seed, longest_minutes=0.5, workers=1)
    material = Videos({key: folder / f"{key}.mp4" for key in made.keys}, sealed_videos={})
    config = WorkbenchConfig(cache_dir=tmp_path / "cache")
    told = config
    if job.prompted:
        models = {"default": "hosted_vllm/embedded"}
        options = {"models": models, "api_base": "http://localhost:1/v1"}
        told = config.model_copy(update={"backbone": "litellm", "backbone_options": options})
        make = Workbench.make_backbone
        responses: dict[Any, Reply[Any]] = {}
        monkeypatch.setattr(Workbench, "make_backbone", lambda self: Prompted(make(self), responses))
    found = estimate(
        job.evolution,
        material,
        job.harness,
        told,
        search=SEARCH,
        questioner=job.questioner,
        limits=SolverLimits(),
        seed=job.seed,
    )
    facts = RunFacts.gather(job.seed, ("embedded",), "process", "evolve")
    executor = InlineExecutor(config)
    with RunDirectory.create(tmp_path, "run", "{}", facts) as run:
        summary = evolve(
            job.evolution,
            material,
            job.harness,
            executor,
            run,
            SilentProgress(),
            proposer=SearchProposer(SEARCH),
            questioner=job.questioner,
            limits=SolverLimits(),
            seed=job.seed,
        )
    executor.close()
    return found.expected, Load.of(summary.paid)


def usd(amount: Amount) -> float:
    return (amount.input_tokens * PRICES[0] + amount.output_tokens * PRICES[1]) / 1e6


def check(job: Job, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, used = compared(job, cache, tmp_path, monkeypatch)
    for name, of in (("calls", lambda a: a.calls), ("tokens", lambda a: a.tokens), ("USD", usd)):
        ratio = of(used.total) / of(expected.total)
        assert 1 / WITHIN <= ratio <= WITHIN, (name, ratio)
    for role, amount in used.roles.items():
        if amount.tokens > LARGE * used.total.tokens:
            for name, of in (("calls", lambda a: a.calls), ("tokens", lambda a: a.tokens)):
                ratio = of(amount) / of(expected.roles[role])
                assert 1 / ROLE_WITHIN <= ratio <= ROLE_WITHIN, (role, name, ratio)


ROUNDS = replace(TINY, rounds=2, noise_floor=True, evolution_questions=12, validation_questions=20)
FREE = replace(TINY, gate=GateSettings(name="argmax", observation="free"))
LARGER = replace(TINY, evolution_questions=24)
LONGER = QuestionerSettings(per_video=24, evolution_share=0.67)
SOME = (
    Job(20),
    Job(21, prompted=True),
    Job(22, FREE, parameters=(("overview_fps", 0.5),), prompted=True),
    Job(23, ROUNDS, QuestionerSettings(per_video=24, options=6, oracle_fps=1.0)),
)
MORE = (
    *(Job(seed, prompted=seed % 2 == 0) for seed in range(24, 30)),
    *(Job(seed, ROUNDS, prompted=True) for seed in (30, 31)),
    # so many fail that with eight questions it would be luck how many
    *(Job(seed, LARGER, LONGER, parameters=(("overview_detail", "small"),)) for seed in (32, 33)),
    *(Job(seed, FREE, parameters=(("overview_fps", 0.5),)) for seed in (34, 35)),
    *(Job(seed, replace(TINY, videos_per_round=5), videos=5, prompted=True) for seed in (36, 37)),
)


@pytest.mark.parametrize("job", SOME, ids=lambda job: f"seed{job.seed}")
def test_a_run_uses_what_was_estimated(
    job: Job, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(job, cache, tmp_path, monkeypatch)


@pytest.mark.verify
@pytest.mark.parametrize("job", MORE, ids=lambda job: f"seed{job.seed}")
def test_many_runs_use_what_was_estimated(
    job: Job, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(job, cache, tmp_path, monkeypatch)
