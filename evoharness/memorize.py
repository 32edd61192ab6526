"""`python -m evoharness.memorize`: build video memories ahead of time, or show one."""

import sys
from typing import TYPE_CHECKING

from evoharness.cli import Call, Command, Numbers, run_command
from evoharness.errors import UserError

if TYPE_CHECKING:
    from evoharness.config import MemorizeConfig
    from evoharness.memory import MemorySettings
    from evoharness.records.memory import VideoMemory


def memorize(config: "MemorizeConfig", call: Call) -> Numbers:  # noqa: ARG001
    """Build the memory of each video, or take one that was built with the same settings from the cache."""
    from evoharness.cli.parts import check_models, executor_of, needed, videos_at
    from evoharness.cli.tables import Table
    from evoharness.evaluation import remembered
    from evoharness.memory import MemorySettings, render_tree
    from evoharness.runs import make_progress

    progress = make_progress(config.display)
    try:
        where = config.video if config.video is not None else config.videos
        videos = videos_at(needed(where, "videos", "my_videos/"), progress)
        check_models(config, ["describer"])
        memories: dict[str, VideoMemory] = {}
        with executor_of(config) as executor:
            progress.start_stage(None, "memories", len(videos))
            for key, memory in remembered(executor, videos):
                if isinstance(memory, str):
                    progress.note(f"left out {memory}")
                else:
                    memories[key] = memory
                progress.advance()
    finally:
        progress.close()
    if not memories:
        raise UserError(f"{where}: none of the {len(videos)} videos there could be remembered")
    keys = [key for key in videos if key in memories]
    if config.show:
        for key in keys:
            print(f"{key}: {render_tree(memories[key])}\n")
    columns = ["video", "length", "segments", "events", "entities", "texts", "frames", "repaired"]
    table = Table(f"{len(memories)} memories in {config.cache}", columns)
    for key in keys:
        table.add([key, *_counts(memories[key])])
    table.print()
    print(f"found by commands with the same backbone and {_settings_text(MemorySettings(**config.memory))}")
    return {"videos": len(memories), "segments": sum(len(m.segments) for m in memories.values())}


def _settings_text(settings: "MemorySettings") -> str:
    """The settings as they are given on a command line."""
    return " ".join(f"memory.{key}={value}" for key, value in settings.model_dump(mode="json").items())


def _counts(memory: "VideoMemory") -> list[str]:
    from evoharness.runs.progress import duration_text

    segments = memory.segments
    return [
        duration_text(memory.duration),
        str(len(segments)),
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
