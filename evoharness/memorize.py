"""`python -m evoharness.memorize`: build video memories ahead of time, or show one."""

import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.cli import Call, Command, Numbers, run_command
from evoharness.errors import UserError
from evoharness.records.amounts import agreeing, how_many

if TYPE_CHECKING:
    from evoharness.config import MemorizeConfig
    from evoharness.evaluation import Executor, SegmentDone
    from evoharness.memory import MemorySettings
    from evoharness.records.memory import VideoMemory
    from evoharness.runs import Progress


def memorize(config: "MemorizeConfig", call: Call) -> Numbers:  # noqa: ARG001
    """Build the memory of each video, or take one that was built with the same settings from the cache."""
    from evoharness.cli.parts import check_models, executor_of, needed, videos_at
    from evoharness.cli.tables import Table
    from evoharness.memory import MemorySettings, render_tree
    from evoharness.runs import make_progress

    if config.video is not None and config.videos is not None:
        raise UserError("video= and videos= are both given: one of them says what is remembered")
    progress = make_progress(config.display)
    pages: dict[str, Path] = {}
    try:
        where = config.video if config.video is not None else config.videos
        videos = videos_at(needed(where, "videos", "my_videos/"), progress)
        outs = _outs(config.out, list(videos))
        check_models(config, ["describer"])
        with executor_of(config) as executor:
            memories = _remembered(executor, videos, progress, config.retry)
            if config.show or outs:
                shown = {key: path for key, path in videos.items() if key in memories}
                pages = _pages(executor, shown, outs)
    finally:
        progress.close()
    if not memories:
        raise UserError(f"{where}: none of the {len(videos)} videos there could be remembered")
    keys = [key for key in videos if key in memories]
    if config.show:
        for key in keys:
            print(f"{key}: {render_tree(memories[key])}\n")
    columns = ["video", "length", "segments", "failed", "events", "entities", "texts", "frames", "repaired"]
    table = Table(
        f"{len(memories)} {'memory' if len(memories) == 1 else 'memories'} in {config.cache}", columns
    )
    for key in keys:
        table.add([key, *_counts(memories[key])])
    table.print()
    print(f"found by commands with the same backbone and {_settings_text(MemorySettings(**config.memory))}")
    failed = sum(len(memory.report.failed_segments) for memory in memories.values())
    if failed:
        them = agreeing(failed, "it", "them")
        print(
            f"{how_many(failed, 'segment')} could not be described: the same command with retry=true tries "
            f"{them} again"
        )
    for key in keys:
        if key in pages:
            print(f"page of {key}: {pages[key]}")
    return {"videos": len(memories), "segments": sum(len(m.segments) for m in memories.values())}


def _remembered(
    executor: "Executor", videos: Mapping[str, Path], progress: "Progress", retry: bool
) -> "dict[str, VideoMemory]":
    """The memories, by video; the progress counts segments, as they become known."""
    from evoharness.evaluation import remembered

    memories: dict[str, VideoMemory] = {}
    expected: Counter[str] = Counter()
    counted: Counter[str] = Counter()

    def on_segment(told: "SegmentDone") -> None:
        count(told.key, told.done, told.of)

    def count(key: str, done: int, of: int) -> None:
        if of > expected[key]:
            progress.expect(of - expected[key])
            expected[key] = of
        if done > counted[key]:
            progress.advance(done - counted[key])
            counted[key] = done

    progress.start_stage(None, "segments", None)
    ended = 0
    for key, memory in remembered(executor, videos, on_segment=on_segment, retry=retry):
        ended += 1
        if isinstance(memory, str):
            progress.note(f"left out {memory}")
            continue
        memories[key] = memory
        count(key, len(memory.segments), len(memory.segments))
        if len(videos) > 1:
            progress.note(f"{ended} of {len(videos)} videos: {key}, {len(memory.segments)} segments")
    return memories


def _outs(out: str | None, keys: list[str]) -> dict[str, Path]:
    """Where the pages go that do not go beside the memories; UserError when they cannot go there."""
    if out is None:
        return {}
    from evoharness.records.paths import as_path

    path = as_path(out).absolute()
    if len(keys) == 1 and not path.is_dir():
        return {keys[0]: path}
    if path.exists() and not path.is_dir():
        raise UserError(f"out={out} is a file: several pages need a folder")
    return {key: path / f"{key}.html" for key in keys}


def _pages(executor: "Executor", videos: Mapping[str, Path], outs: Mapping[str, Path]) -> dict[str, Path]:
    """Where the page of each memory lies, written now."""
    from evoharness.evaluation import PageItem, write_page

    items = [PageItem(path, outs.get(key)) for key, path in videos.items()]
    keys = list(videos)
    return {keys[index]: page for index, page in executor.map(write_page, items)}


def _settings_text(settings: "MemorySettings") -> str:
    """The settings as they are given on a command line."""
    return " ".join(f"memory.{key}={value}" for key, value in settings.model_dump(mode="json").items())


def _counts(memory: "VideoMemory") -> list[str]:
    from evoharness.runs.progress import duration_text

    segments = memory.segments
    return [
        duration_text(memory.duration),
        str(len(segments)),
        str(len(memory.report.failed_segments)),
        str(sum(len(segment.events) for segment in segments)),
        str(sum(len(segment.entities) for segment in segments)),
        str(sum(len(segment.texts) for segment in segments)),
        str(memory.report.frames),
        str(sum(memory.report.losses.values())),
    ]


COMMAND = Command(
    name="memorize",
    purpose="Builds the memories of videos, which commands with the same memory settings find in the cache.",
    job=memorize,
    examples=("videos=my_videos/", "'video=a lecture.mp4' show=true", "videos=my_videos/ memory.fps=2"),
)


def main() -> int:
    """Run the command line."""
    return run_command(COMMAND)


if __name__ == "__main__":
    sys.exit(main())
