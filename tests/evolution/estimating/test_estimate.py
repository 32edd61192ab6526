"""What a run would use: counted with the real strategies, planned as the run plans, with honest ends."""

from pathlib import Path
from typing import Any

import pytest

from evoharness.evaluation import WorkbenchConfig
from evoharness.evolution import EvolutionSettings, GateSettings
from evoharness.evolution.estimating import EXPECTED, Amount, Estimate, Load, estimate
from evoharness.evolution.estimating.chances import Sighting, failing_on, preferred
from evoharness.evolution.estimating.measuring import Measuring
from evoharness.evolution.estimating.repeats import IN_A_ROW, MOST_VIDEOS, PLACES
from evoharness.evolution.estimating.spread import around
from evoharness.evolution.proposers.search import SearchSettings
from evoharness.harness import initial_harness
from evoharness.models.embedded import EmbeddedBackbone
from evoharness.questioner import QuestionerSettings
from evoharness.records.spend import Spend
from evoharness.retrieval import make_embedder
from evoharness.solver import SolverBench, SolverLimits, solve
from evoharness.video import Video
from tests.evolution.scripted import Material, question
from tests.solver.standins import write_video

SETTINGS = EvolutionSettings(
    rounds=2,
    videos_per_round=3,
    evolution_questions=40,
    validation_questions=60,
    candidates=4,
    finalists=2,
    race=[20, 40],
)


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("videos")
    return {f"v{n}": write_video(folder / f"v{n}.mp4", 20 + n, (64, 64)) for n in range(6)}


@pytest.fixture(autouse=True)
def few_pixels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little may be decoded, and only to see what a memory would leave out."""
    left = MOST_VIDEOS * PLACES * IN_A_ROW
    pixels = Video.pixels

    def counting(self: Video, frames: Any) -> Any:
        nonlocal left
        left -= len(frames)
        assert left >= 0, "more pictures were to be decoded than are needed to compare some"
        return pixels(self, frames)

    monkeypatch.setattr(Video, "pixels", counting)


def of(
    videos: dict[str, Path],
    cache: Path,
    settings: EvolutionSettings = SETTINGS,
    config: WorkbenchConfig | None = None,
    **more: Any,
) -> Estimate:
    given = {"questions": None, "sealed_videos": {}, "sealed_questions": ()} | more
    return estimate(
        settings,
        Material(videos=videos, **given),
        initial_harness(),
        config or WorkbenchConfig(cache_dir=cache),
        search=SearchSettings(),
        questioner=QuestionerSettings(per_video=30),
        limits=SolverLimits(),
    )


def measuring(cache: Path, **options: Any) -> Measuring:
    config = WorkbenchConfig(cache_dir=cache, **options)
    return Measuring(config, initial_harness(), SolverLimits(), QuestionerSettings())


def test_nothing_is_written_and_the_ends_lie_around_what_is_expected(
    videos: dict[str, Path], tmp_path: Path
) -> None:
    found = of(videos, tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert set(found.expected.roles) == {"blind_answerer", "describer", "solver", "video_expert"}
    for role, amount in found.expected.roles.items():
        least, most = found.ends(role, lambda a: a.calls)
        assert 0 < least <= amount.calls <= most
    assert any("of the questions survive their checks" in note for note in found.notes)


def test_every_video_is_described_once_and_a_round_draws_others(
    videos: dict[str, Path], tmp_path: Path
) -> None:
    assert of(videos, tmp_path).expected.roles["describer"].calls == 6 * 3
    three = dict(list(videos.items())[:3])
    assert of(three, tmp_path).expected.roles["describer"].calls == 3 * 3


def test_memories_on_the_disk_are_not_built_again(videos: dict[str, Path], tmp_path: Path) -> None:
    from evoharness.evaluation import Workbench

    bench = Workbench(WorkbenchConfig(cache_dir=tmp_path))
    for path in videos.values():
        folder = bench.memories.folder(bench.video(path))
        folder.mkdir(parents=True)
        (folder / "memory.json").write_text("{}")
    found = of(videos, tmp_path)
    assert "describer" not in found.expected.roles or not found.expected.roles["describer"].calls
    assert any("6 of them remembered already" in note for note in found.notes)


def test_questions_that_are_given_need_no_questioner(videos: dict[str, Path], tmp_path: Path) -> None:
    given = [question(n, f"v{n % 6}", text=f"What is number {n}?") for n in range(90)]
    found = of(videos, tmp_path, questions=given)
    assert set(found.expected.roles) == {"solver", "video_expert"}
    once = of(videos, tmp_path, EvolutionSettings(rounds=1, videos_per_round=3), questions=given)
    assert once.expected.roles["solver"].calls < found.expected.roles["solver"].calls


def test_the_sealed_test_is_answered_once_or_twice(videos: dict[str, Path], tmp_path: Path) -> None:
    sealed: dict[str, Any] = {
        "sealed_videos": {"v0": videos["v0"]},
        "sealed_questions": [question(n, "v0") for n in range(50)],
    }
    learned = {key: path for key, path in videos.items() if key != "v0"}
    without, found = of(learned, tmp_path), of(learned, tmp_path, **sealed)
    more = found.expected.roles["solver"].calls - without.expected.roles["solver"].calls
    assert 50 <= more <= 150, "the final harness may answer twice where it is not sure"


def test_what_was_asked_before_is_not_paid_again_where_responses_are_kept(
    videos: dict[str, Path], tmp_path: Path
) -> None:
    hosted = {"backbone": "litellm", "cache_dir": tmp_path}
    harness = initial_harness()
    other = harness.with_parameters(overview_fps=0.5)
    loads = {}
    for cache in ("on", "off"):
        config = WorkbenchConfig(**hosted, backbone_options={"cache": cache})
        counted = Measuring(config, harness, SolverLimits(), QuestionerSettings())
        same, changed = (counted.changing(videos["v0"], h, sure=True) for h in (harness, other))
        loads[cache] = (same.paid.total.calls, same.full.total.calls, changed.paid.total.calls)
        again = counted.repeating(videos["v0"])
        assert set(again.roles) == ({"solver"} if cache == "on" else {"solver", "video_expert"})
        counted.close()
    assert loads == {"on": (0, 2, 2), "off": (2, 2, 2)}


def test_a_round_that_cannot_decide_is_said_to_end_early(videos: dict[str, Path], tmp_path: Path) -> None:
    strict = EvolutionSettings(rounds=1, videos_per_round=2, gate=GateSettings(alpha=1e-12))
    found = of(videos, tmp_path, strict)
    assert any("round 1 may end before anything is answered" in note for note in found.notes)


def test_what_an_answer_uses_is_what_the_solver_then_uses(
    videos: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = measuring(tmp_path)
    load = counted.answering(videos["v0"])
    counted.close()
    monkeypatch.undo()
    config = WorkbenchConfig(cache_dir=tmp_path)
    bench = config.build()
    embedder = make_embedder("wordllama")
    solver = SolverBench(
        backbone=EmbeddedBackbone(embedder), embedder=embedder, sandbox=bench.sandbox, memory=bench.reader
    )
    asked = question(1, "v0", text="What is in the middle of the picture at the end?").public()
    answered = solve(asked, Video(videos["v0"]), initial_harness(), solver, SolverLimits())
    bench.close()
    assert load.total.calls == answered.spend.calls == 2
    assert load.total.frames == answered.spend.frames == 20


def test_a_long_video_is_answered_from_a_memory(tmp_path: Path) -> None:
    long = write_video(tmp_path / "long.mp4", 1801, (64, 64))
    counted = measuring(tmp_path / "cache")
    answer, memory = counted.answering(long), counted.remembering(long, 165.0)
    counted.close()
    assert set(answer.roles) == {"orchestrator", "solver", "video_expert"}
    assert answer.roles["orchestrator"].calls == 2, "a search, and enough"
    assert memory.roles["describer"].calls == 11 + 2
    assert memory.roles["describer"].frames == pytest.approx(1801 * 0.5, rel=0.1), "few are alike"


def test_loads_add_up_by_role() -> None:
    one = Load.of({"solver": Spend(calls=2, input_tokens=10, output_tokens=2, frames=0)})
    two = Load.of({"solver": Spend(calls=1), "describer": Spend(calls=1, frames=4)})
    both = one + two * 2
    assert both.roles["solver"] == Amount(4, 10, 2, 0)
    assert both.total.calls == 6
    assert both.wordy(2.0).roles["solver"] == Amount(4, 10, 4, 0)
    assert both.beyond(one).roles == {"solver": Amount(2, 0, 0, 0), "describer": Amount(2, 0, 0, 8)}


def test_ends_of_single_figures_make_a_range_that_is_narrower_than_all_of_them_at_once() -> None:
    def load(calls: float) -> Load:
        return Load({"solver": Amount(calls, calls, calls, calls)})

    least, most = around(load(100), [(load(50), load(200)), (load(200), load(50)), (load(100), load(100))])
    assert least.total.calls == pytest.approx(100 / 2**2**0.5)
    assert most.total.calls == pytest.approx(100 * 2**2**0.5)
    assert around(load(100), [(load(0), load(100))])[0].total.calls > 0
    assert around(Load(), [(Load(), load(7))]) == (load(0), load(7))


@pytest.mark.parametrize(("gap_s", "least", "most"), [(0.0, 0.0, 0.0), (1.0, 0.02, 0.1), (10.0, 0.3, 0.6)])
def test_the_less_often_a_harness_looks_the_more_it_fails(gap_s: float, least: float, most: float) -> None:
    assert least <= EXPECTED.unseen(gap_s) <= most
    found = failing_on([Sighting(gap_s, 30.0)], 4, EXPECTED)
    assert found.share >= EXPECTED.unseen(gap_s) * 0.75
    assert found.share * found.unsure_wrong <= found.unsure + 1e-9 or gap_s < 1


def test_the_smaller_the_pictures_the_more_it_fails_and_a_close_look_mends_that(
    videos: dict[str, Path], tmp_path: Path
) -> None:
    sharp, blurred = (failing_on([Sighting(1.0, 30.0, shrunk)], 4, EXPECTED) for shrunk in (0.0, 0.6))
    assert sharp.share + 0.03 < blurred.share < 2.5 * sharp.share
    assert blurred.caught > sharp.caught
    counted = measuring(tmp_path)
    assert counted.sighting(videos["v0"], 10.0) == Sighting(2.0, 20.0), "it is shown in its own size"
    counted.close()


def test_the_more_questions_prefer_what_is_brief_the_more_it_fails() -> None:
    assert preferred(0.0, 0.3) == preferred(1.0, 1.0) == 1.0
    assert 1.0 < preferred(0.5, 0.5) < preferred(0.5, 0.1) < preferred(1.0, 0.1) < 4.0
    usual, harder = (failing_on([Sighting(1.0, 30.0, preferred=p)], 4, EXPECTED) for p in (1.0, 2.0))
    assert usual.share < harder.share < 2 * usual.share


HOSTED: dict[str, Any] = {
    "backbone": "litellm",
    "backbone_options": {"models": {"default": "hosted_vllm/nobody"}, "api_base": "http://localhost:1/v1"},
    "embedder": "litellm",
    "embedder_options": {"model": "hosted_vllm/nobody", "api_base": "http://localhost:1/v1", "batch": 16},
}


def test_vectors_of_a_hosted_embedder_are_counted_and_nobody_is_asked(
    videos: dict[str, Path], tmp_path: Path
) -> None:
    config = WorkbenchConfig(cache_dir=tmp_path, **HOSTED)
    found = of(videos, tmp_path, config=config)
    embedder = found.expected.roles["embedder"]
    assert embedder.calls >= 6 * 2, "thirty questions of each video are two batches"
    assert embedder.input_tokens > 6 * 30 * 20
    assert embedder.output_tokens == embedder.frames == 0
    assert list(tmp_path.iterdir()) == []
    offline = config.model_copy(update={"backbone": "embedded", "backbone_options": {}})
    said = of(videos, tmp_path, config=offline).notes
    assert "vectors that the backbone embedded asks for are left out" in said


def test_a_memory_is_made_searchable_once(tmp_path: Path) -> None:
    long = write_video(tmp_path / "long.mp4", 1801, (64, 64))
    cache = tmp_path / "cache"
    counted = measuring(cache, **HOSTED)
    memory, first, second = counted.remembering(long, 165.0), counted.answering(long), counted.answering(long)
    counted.close()
    assert memory.roles["embedder"].calls > 50
    assert first.roles["embedder"].calls == 1, "the question alone"
    assert second == first
    assert not cache.exists(), "no index of a stand-in is kept"
