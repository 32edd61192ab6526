"""Many memories are searched as one, and what is added to them is all that is embedded."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evoharness.memory import Corpus, MemoryReader
from evoharness.records.memory import VideoMemory
from evoharness.retrieval import WordLlamaEmbedder
from tests.memory.test_reading import segment

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

EMBEDDER = WordLlamaEmbedder()


def told(video: str, *actions: str) -> VideoMemory:
    """A memory in which the cook does these things, one a segment."""
    segments = tuple(
        segment(n, action, f"{video} {n}", f"[1.0-2.0] {video}") for n, action in enumerate(actions)
    )
    return VideoMemory(
        video=video, duration=60.0 * len(actions), root=video, super_events=(), segments=segments
    )


MEMORIES = {
    "soup": told("soup", "chops the onions", "boils water in a pot", "pours the soup"),
    "bread": told("bread", "kneads the dough", "heats the oven"),
    "garden": told("garden", "waters the roses"),
}


class Listening:
    """Remembers what it embeds."""

    id = "listening"

    def __init__(self) -> None:
        self.heard: list[str] = []

    def embed(self, texts: "Sequence[str]") -> "NDArray[np.float32]":
        self.heard += texts
        return EMBEDDER.embed(texts)


@pytest.mark.parametrize(
    ("query", "video", "segment_id"),
    [("cutting onions", "soup", "s0000"), ("kneads dough", "bread", "s0000"), ("roses", "garden", "s0000")],
)
def test_the_video_and_the_time_are_found(query: str, video: str, segment_id: str) -> None:
    found = Corpus(MEMORIES, EMBEDDER).search(query, 3)
    assert (found[0].video, found[0].segment, found[0].interval.start) == (video, segment_id, 10)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_levels() -> None:
    corpus = Corpus(MEMORIES, EMBEDDER)
    assert {one.kind for one in corpus.search("an oven", 20, ["segment"])} == {"segment"}
    assert [one.video for one in corpus.search("garden", 1, ["transcript"])] == ["garden"]
    assert corpus.search("bread 1", 1, ["text"])[0].text == "bread 1"
    assert len(corpus.search("cook", 100)) == 18


def test_one_memory_is_searched_as_by_its_reader() -> None:
    reader = MemoryReader(MEMORIES["soup"], EMBEDDER)
    corpus = Corpus({"soup": MEMORIES["soup"]}, EMBEDDER)
    alone = reader.search_nodes("boiling water", 9)
    assert [one.id for one in corpus.search("boiling water", 9)] == [one.id for one in alone]


def test_only_what_is_new_is_embedded(tmp_path: Path) -> None:
    two = {name: MEMORIES[name] for name in ("soup", "bread")}
    Corpus(two, Listening(), tmp_path).search("cook")
    more = Listening()
    found = Corpus(MEMORIES, more, tmp_path).search("cook", 18)
    assert found == Corpus(MEMORIES, EMBEDDER).search("cook", 18)
    assert any("roses" in text for text in more.heard)
    assert not any("dough" in text for text in more.heard)
    fewer = Listening()
    assert {one.video for one in Corpus(two, fewer, tmp_path).search("cook", 18)} == {"soup", "bread"}
    assert len(fewer.heard) == 2  # the query, and a text that shows that the vectors are its own


@pytest.mark.parametrize("arguments", [{"query": ""}, {"query": "x", "k": 0}, {"query": "x", "kinds": ["y"]}])
def test_senseless_arguments(arguments: "dict[str, object]") -> None:
    with pytest.raises(ValueError, match=r"`(query|k|kinds)`"):
        Corpus(MEMORIES, EMBEDDER).search(**arguments)  # type: ignore[arg-type]


def test_nothing_to_search() -> None:
    assert Corpus({}, EMBEDDER).search("anything") == []
