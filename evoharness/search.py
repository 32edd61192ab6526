"""`python -m evoharness.search`: where in many videos something is seen, shown or said."""

import sys
import textwrap
from typing import TYPE_CHECKING

from evoharness.cli import Call, Command, Numbers, run_command
from evoharness.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

    from evoharness.config import SearchConfig
    from evoharness.evaluation import Workbench
    from evoharness.memory import FoundIn
    from evoharness.records.memory import VideoMemory
    from evoharness.runs import Progress

MOST_LETTERS = 200
"""Of what is told of one thing that was found."""


def search(config: "SearchConfig", call: Call) -> Numbers:  # noqa: ARG001
    """Search the memories of all videos as one; those that are not there yet are built first."""
    from evoharness.cli.parts import books_of, check_models, needed, videos_at, workbench_config
    from evoharness.memory import Corpus
    from evoharness.runs import make_progress

    query = needed(config.query, "query", "'a valve is closed'")
    kinds = _kinds(config.kind)
    if config.k < 1:
        raise UserError(f"k={config.k}: at least 1 is needed")
    where = needed(config.videos, "videos", "my_videos/")
    progress = make_progress(config.display)
    with books_of(config) as books:
        bench = workbench_config(config, books).build()
        try:
            videos = videos_at(where, progress)
            check_models(config, [])
            memories = _memories(config, bench, videos, books, progress)
            corpus = Corpus(memories, bench.embedder, _folder(bench, where))
            found = corpus.search(query, config.k, kinds)
        finally:
            progress.close()
            bench.close()
    for place, one in enumerate(found, start=1):
        print(_line(place, one))
    if not found:
        spoken = config.kind == "transcript" and config.memory.get("transcript", "off") == "off"
        hint = ": memory.transcript=auto takes up what is said" if spoken else ""
        print(f"nothing of the kind {config.kind} is remembered of {_told(len(memories))}{hint}")
    return {"videos": len(memories), "found": len(found)}


def _memories(
    config: "SearchConfig",
    bench: "Workbench",
    videos: "dict[str, Path]",
    books: "Path | None",
    progress: "Progress",
) -> "dict[str, VideoMemory]":
    """Memories by video, in the order of the videos; UserError when there are none."""
    from evoharness.cli.parts import check_models, executor_of
    from evoharness.evaluation import remembered

    known = {key: bench.memories.load(bench.video(path)) for key, path in videos.items()}
    missing = {key: videos[key] for key, memory in known.items() if memory is None}
    if missing:
        check_models(config, ["describer"])
        progress.note(f"{len(missing)} of {len(videos)} videos are remembered first")
        progress.start_stage(None, "memories", len(missing))
        with executor_of(config, books) as executor:
            for key, memory in remembered(executor, missing):
                if isinstance(memory, str):
                    progress.note(f"left out {memory}")
                else:
                    known[key] = memory
                progress.advance()
    memories = {key: memory for key, memory in known.items() if memory is not None}
    if not memories:
        raise UserError(f"{config.videos}: none of the {len(videos)} videos there could be remembered")
    return memories


def _folder(bench: "Workbench", where: str) -> "Path":
    """Where the indexes over these videos are kept: found again when there are more videos in that place."""
    import hashlib

    from evoharness.memory import MemorySettings
    from evoharness.records.paths import as_path

    made = MemorySettings(**bench.config.memory).fingerprint(bench.backbone.id)
    name = hashlib.sha256(f"{as_path(where).absolute()} {made}".encode("utf-8", "surrogatepass")).hexdigest()
    return bench.config.cache_dir / "corpora" / name[:16]


def _kinds(kind: str) -> tuple[str, ...]:
    from evoharness.memory.nodes import RECORD_KINDS

    known: dict[str, tuple[str, ...]] = {
        "node": RECORD_KINDS,
        "text": ("text",),
        "transcript": ("transcript",),
        "segment": ("segment",),
    }
    if kind not in known:
        raise UserError(f"kind={kind} is not known: use one of {', '.join(known)}")
    return known[kind]


def _line(place: int, one: "FoundIn") -> str:
    from evoharness.memory.graph import span_text
    from evoharness.records.json_values import printable

    when = span_text(one.interval.start, one.interval.end)
    told = one.text.partition("\n")[0] if one.kind == "segment" else one.text
    text = textwrap.shorten(printable(told), MOST_LETTERS, placeholder=" …")
    return f"{place:3}. {printable(one.video)}  {when}  {one.kind}  {text}"


def _told(videos: int) -> str:
    return "the video" if videos == 1 else f"the {videos} videos"


COMMAND = Command(
    name="search",
    purpose="Finds where in many videos something is seen, shown or said.",
    job=search,
    examples=(
        "videos=my_videos/ 'query=a valve is closed'",
        "videos=my_videos/ query=pressure kind=transcript memory.transcript=auto k=20",
    ),
)


def main() -> int:
    """Run the command line."""
    return run_command(COMMAND)


if __name__ == "__main__":
    sys.exit(main())
