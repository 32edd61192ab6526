"""What is known of a run before it is made: the videos that its rounds draw, and which are remembered."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.evaluation import Workbench, WorkbenchConfig
from evoharness.evolution.draw import draw_videos, with_roles
from evoharness.evolution.settings import EvolutionSettings
from evoharness.records.evolution import Draw

if TYPE_CHECKING:
    from evoharness.questioner import QuestionerSettings


def draws_of(
    settings: EvolutionSettings, questioner: "QuestionerSettings", videos: Mapping[str, Path], seed: int
) -> list[Draw]:
    """The draws of a run, as its rounds will make them."""
    from evoharness.video import probe

    sort = {}
    for key, path in videos.items():
        info = probe(path)
        sort[key] = (float(info.width * info.height), info.duration)
    draws: list[Draw] = []
    for number in range(1, settings.rounds + 1):
        drawn = draw_videos(videos, settings.videos_per_round, number, seed)
        likeness = {key: sort[key] for key in drawn}
        draws.append(with_roles(drawn, draws, questioner.evolution_share, number, seed, likeness))
    return draws


def remembered(config: WorkbenchConfig, paths: Collection[Path]) -> frozenset[Path]:
    """Videos whose memory lies on the disk."""
    bench = Workbench(config)
    try:
        return frozenset(
            path for path in paths if (bench.memories.folder(bench.video(path)) / "memory.json").is_file()
        )
    finally:
        bench.close()
