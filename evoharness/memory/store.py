"""Where memories lie on disk, and how two processes do not build the same one twice."""

import hashlib
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from evoharness.memory.builder import build
from evoharness.memory.lanes import Lanes
from evoharness.memory.settings import MemorySettings
from evoharness.memory.thumbnails import Thumbnails, load_thumbnails, save_thumbnails
from evoharness.memory.transcripts import caption_file
from evoharness.models.backbone import Backbone
from evoharness.records.memory import MEMORY_SCHEMA, VideoMemory
from evoharness.records.storage import write_atomically
from evoharness.video import Video

KEY_DIGITS = 16
"""Hexadecimal digits of each half of a folder's name."""


class MemoryStore:
    """Memories under `<cache>/memories/<video hash>-<builder fingerprint>/`, shared by runs.

    A folder holds `memory.json`, small pictures for people and, while it is being built, `steps/` with what
    is finished; these stay when a segment failed, so that it can be tried again. `index/` is for readers.
    """

    def __init__(
        self,
        cache_dir: Path,
        backbone: Backbone,
        settings: MemorySettings | None = None,
        at_once: int = 1,
    ) -> None:
        """`at_once`: segments that are described at a time, of all memories that are being built."""
        self._root = Path(cache_dir) / "memories"
        self._backbone = backbone
        self._settings = settings or MemorySettings()
        self._lanes = Lanes(at_once)

    def folder(self, video: Video) -> Path:
        """Where the memory of a video lies; a used caption file is part of the name's fingerprint."""
        fingerprint = self._settings.fingerprint(self._backbone.id)
        file = caption_file(video.path, self._settings.transcript)
        if file is not None:
            fingerprint = hashlib.sha256(fingerprint.encode() + file.read_bytes()).hexdigest()
        return self._root / f"{video.info.content_hash[:KEY_DIGITS]}-{fingerprint[:KEY_DIGITS]}"

    def load(self, video: Video) -> VideoMemory | None:
        """The finished memory; None when there is none that can be read."""
        try:
            memory = VideoMemory.model_validate_json((self.folder(video) / "memory.json").read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        same = memory.schema_version == MEMORY_SCHEMA and memory.video == video.info.content_hash
        return memory if same else None

    def load_or_build(
        self,
        video: Video,
        on_segment: Callable[[int, int], None] | None = None,
        retry: bool = False,
        stopping: Callable[[], bool] | None = None,
    ) -> VideoMemory:
        """The memory from the disk, or built now; an interrupted build is taken up again.

        While one process builds, another that wants the same memory waits for it. `on_segment` as in
        `build_memory`. `retry`: segments that failed when the memory was built are described again.
        `stopping`: asked before each segment; when it says so, what is in flight is finished and
        StoppedEarly is raised.
        """
        memory = self.load(video)
        if memory is not None and not (retry and memory.report.failed_segments):
            return memory
        folder = self.folder(video)
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder / ".lock"):
            memory = self.load(video)
            failed = memory.report.failed_segments if memory is not None and retry else ()
            if memory is not None and not failed:
                return memory
            for name in failed:
                (folder / "steps" / f"{name}.json").unlink(missing_ok=True)
            return self._build(video, folder, on_segment, stopping)

    def thumbnails(self, video: Video) -> Thumbnails | None:
        """The small pictures beside a memory; None when there are none that can be read."""
        return load_thumbnails(self.folder(video))

    def _build(
        self,
        video: Video,
        folder: Path,
        on_segment: Callable[[int, int], None] | None,
        stopping: Callable[[], bool] | None,
    ) -> VideoMemory:
        steps = folder / "steps"
        built = build(
            Video(video.path),  # what reading it loses is then this memory's affair alone
            self._backbone,
            self._settings,
            checkpoints=steps,
            on_segment=on_segment,
            lanes=self._lanes,
            stopping=stopping,
        )
        save_thumbnails(folder, built.thumbnails)
        write_atomically(folder / "memory.json", built.memory.model_dump_json())
        if not built.memory.report.failed_segments:
            shutil.rmtree(steps, ignore_errors=True)
        return built.memory


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Keeps other processes out; the lock falls away with the process that holds it, however it ends."""
    import fcntl

    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
