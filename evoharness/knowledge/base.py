"""Search over background knowledge (search_surgical_kb, section III-D of MedClaw, for any subject)."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.knowledge.passages import Passage
from evoharness.retrieval import TextIndex, index_name

if TYPE_CHECKING:
    from evoharness.retrieval import Embedder


class KnowledgeBase:
    """Passages that can be searched, all of them or those of one type; embedded at the first search."""

    def __init__(self, passages: Sequence[Passage], embedder: "Embedder", folder: Path | None = None) -> None:
        """`folder`: where indexes are kept, by what the passages say; None: nowhere."""
        self._passages = tuple(passages)
        self._embedder = embedder
        self._folder = folder
        self._indices: dict[str, tuple[tuple[Passage, ...], TextIndex]] = {}

    def __len__(self) -> int:
        return len(self._passages)

    @property
    def types(self) -> tuple[str, ...]:
        """The types that there are, sorted; passages without one do not count."""
        return tuple(sorted({passage.type for passage in self._passages} - {""}))

    def search(self, query: str, type: str = "", k: int = 3) -> list[Passage]:
        """The `k` passages that bear most on `query`, best first, by meaning and by words.

        An empty `type` searches all. ValueError for a type that no passage has.
        """
        passages, index = self._index(type)
        return [passages[hit.position] for hit in index.search(query, k)]

    def _index(self, type: str) -> tuple[tuple[Passage, ...], TextIndex]:
        if type not in self._indices:
            chosen = tuple(passage for passage in self._passages if type in ("", passage.type))
            if type and not chosen:
                known = ", ".join(self.types) or "none"
                raise ValueError(f"no passage has the type {type[:40]!r} (types: {known})")
            texts = [passage.text for passage in chosen]
            self._indices[type] = chosen, TextIndex(texts, self._embedder, self._file(texts))
        return self._indices[type]

    def _file(self, texts: Sequence[str]) -> Path | None:
        if self._folder is None:
            return None
        digest = hashlib.sha256()
        for text in texts:
            digest.update(hashlib.sha256(text.encode()).digest())
        return self._folder / index_name(digest.hexdigest()[:16], self._embedder)
