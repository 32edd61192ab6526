"""`python -m evoharness.memorize`: build video memories ahead of time, or show one."""

import sys
from typing import TYPE_CHECKING

from evoharness.cli import Call, Command, Numbers, run_command

if TYPE_CHECKING:
    from rich.tree import Tree

    from evoharness.config import MemorizeConfig
    from evoharness.records.memory import Segment, VideoMemory


def memorize(config: "MemorizeConfig", call: Call) -> Numbers:  # noqa: ARG001
    """Build the memory of each video, or take it from the cache."""
    from evoharness.cli.jobs import remember
    from evoharness.cli.parts import executor_of, needed, videos_at
    from evoharness.cli.tables import Table
    from evoharness.runs import make_progress

    progress = make_progress(config.display)
    try:
        where = config.video if config.video is not None else config.videos
        videos = videos_at(needed(where, "videos", "my_videos/"), progress)
        memories: dict[str, VideoMemory] = {}
        keys = list(videos)
        with executor_of(config) as executor:
            progress.start_stage(None, "memories", len(videos))
            for position, memory in executor.map(remember, [videos[key] for key in keys]):
                memories[keys[position]] = memory
                progress.advance()
    finally:
        progress.close()
    if config.show:
        for key in keys:
            print_memory(key, memories[key])
    columns = ["video", "length", "segments", "events", "entities", "texts", "frames", "repaired"]
    table = Table(f"{len(memories)} memories in {config.cache}", columns)
    for key in keys:
        table.add([key, *_counts(memories[key])])
    table.print()
    return {"videos": len(memories), "segments": sum(len(m.segments) for m in memories.values())}


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


def print_memory(title: str, memory: "VideoMemory") -> None:
    """The graph of a memory as a tree."""
    from rich.console import Console
    from rich.text import Text
    from rich.tree import Tree

    tree = Tree(Text(f"{title}: {memory.root}"))
    for group in memory.super_events:
        span = f"{clock(group.interval.start)}–{clock(group.interval.end)}"
        branch = tree.add(Text(f"{span}  {group.label}: {group.description}"))
        for segment_id in group.segment_ids:
            _add_segment(branch, memory.segment(segment_id))
    console = Console(highlight=False) if sys.stdout.isatty() else Console(width=160, highlight=False)
    console.print(tree)


def _add_segment(branch: "Tree", segment: "Segment") -> None:
    from rich.text import Text

    span = f"{clock(segment.interval.start)}–{clock(segment.interval.end)}"
    leaf = branch.add(Text(f"{segment.id}  {span}  {segment.summary}"))
    for event in segment.events:
        leaf.add(
            Text(f"event   {clock(event.interval.start)}–{clock(event.interval.end)}  {event.description}")
        )
    for entity in segment.entities:
        attributes = f" ({', '.join(entity.attributes)})" if entity.attributes else ""
        leaf.add(Text(f"entity  {clock(entity.first_seen)}  {entity.name}{attributes}"))
    for text in segment.texts:
        leaf.add(Text(f"text    {clock(text.interval.start)}–{clock(text.interval.end)}  “{text.text}”"))


def clock(seconds: float) -> str:
    """`1:02:03.4`, `2:03.4`."""
    minutes, rest = divmod(round(seconds, 1), 60)
    hours, minutes = divmod(int(minutes), 60)
    return f"{hours}:{minutes:02d}:{rest:04.1f}" if hours else f"{minutes}:{rest:04.1f}"


COMMAND = Command(
    name="memorize",
    purpose="Builds the memories of videos, which every other command then finds in the cache.",
    job=memorize,
    examples=("videos=my_videos/", "'video=a lecture.mp4' show=true"),
)


def main() -> int:
    """Run the command line."""
    return run_command(COMMAND)


if __name__ == "__main__":
    sys.exit(main())
