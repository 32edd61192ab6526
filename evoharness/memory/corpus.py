"""Search across the memories of many videos."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from evoharness.memory.arguments import count, node_kinds, query_text
from evoharness.memory.nodes import RECORD_KINDS, Node, NodeKind
from evoharness.memory.reader import Found, MemoryReader, index_of
from evoharness.records.memory import VideoMemory
from evoharness.retrieval import Embedder, TextIndex


class FoundIn(Found):
    """A node that was found, and the video that it is in."""

    video: str
    """Key of the video."""


class Corpus:
    """Many memories searched as one.

    With a folder, the indexes are kept there: when memories are added, only what is new in them is embedded.
    """

    def __init__(
        self, memories: Mapping[str, VideoMemory], embedder: Embedder, folder: Path | None = None
    ) -> None:
        """`memories`: by key of the video. `folder`: where indexes are kept; None: nowhere."""
        self._readers = {key: MemoryReader(memory, embedder) for key, memory in memories.items()}
        self._embedder = embedder
        self._folder = folder
        self._indexes: dict[tuple[NodeKind, ...], tuple[list[tuple[str, Node]], TextIndex]] = {}

    def search(self, query: str, k: int = 10, kinds: Sequence[str] = RECORD_KINDS) -> list[FoundIn]:
        """The `k` nodes of all videos that fit a query best, best first.

        `kinds`: as in `MemoryReader.search_nodes`; `["segment"]` searches among whole segments.
        """
        nodes, index = self._index(node_kinds(kinds))
        found = []
        for hit in index.search(query_text(query), count("k", k)):
            video, node = nodes[hit.position]
            found.append(FoundIn(**dict(node), score=hit.score, video=video))
        return found

    def _index(self, kinds: tuple[NodeKind, ...]) -> tuple[list[tuple[str, Node]], TextIndex]:
        if kinds not in self._indexes:
            found = [(key, node) for key, reader in self._readers.items() for node in reader.nodes(kinds)]
            index = index_of([node for _, node in found], kinds, self._embedder, self._folder)
            self._indexes[kinds] = (found, index)
        return self._indexes[kinds]
