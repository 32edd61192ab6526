"""Texts are found by meaning and by words, in any script, the same way every time."""

import logging
import pickle
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evoharness.errors import UserError
from evoharness.retrieval import Embedder, Hit, TextIndex, WordLlamaEmbedder, fuse, make_embedder, words


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    """The default embedder, loaded once."""
    return make_embedder("wordllama")


class TestWords:
    def test_spaced_scripts(self) -> None:
        assert words("The valve's OPEN, Größe 10_mm!") == ["the", "valve", "s", "open", "grösse", "10", "mm"]
        assert words("हिन्दी में") == ["हिन्दी", "में"]

    def test_unspaced_scripts_give_characters_and_pairs(self) -> None:
        assert words("关闭阀门 now") == ["关", "闭", "阀", "门", "关闭", "闭阀", "阀门", "now"]

    @given(st.text())
    def test_any_text_has_words_without_spaces(self, text: str) -> None:
        assert all(word and not any(letter.isspace() for letter in word) for word in words(text))


class TestEmbedder:
    def test_rows_have_unit_length_and_related_texts_are_near(self, embedder: Embedder) -> None:
        vectors = embedder.embed(["the cook slices an onion", "chopping vegetables", "a rocket is launched"])
        assert vectors.shape == (3, 256)
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
        assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.1

    def test_nothing_to_embed(self, embedder: Embedder) -> None:
        assert embedder.embed([]).shape == (0, 256)
        assert np.array_equal(embedder.embed(["", "\ud800"])[0], np.zeros(256))

    @given(st.lists(st.text(max_size=40), max_size=6))
    @settings(deadline=None, max_examples=50)
    def test_a_vector_does_not_depend_on_its_neighbours(self, texts: list[str]) -> None:
        together = SHARED.embed(texts)
        assert np.isfinite(together).all()
        for text, row in zip(texts, together, strict=True):
            assert np.array_equal(SHARED._compute([text])[0], row)

    def test_seen_texts_are_fast_and_what_is_kept_is_bounded(self) -> None:
        small = WordLlamaEmbedder(kept=100)
        texts = [f"step {n} is shown" for n in range(400)]
        first = small.embed(texts)
        assert len(small._recent) <= 100
        assert np.array_equal(first, small.embed(texts))
        roomy = WordLlamaEmbedder()
        roomy.embed(texts)
        began = time.process_time()
        roomy.embed(texts)
        assert time.process_time() - began < 0.05

    def test_it_travels_without_its_weights(self, embedder: Embedder) -> None:
        packed = pickle.dumps(embedder)
        assert len(packed) < 1000
        again: Embedder = pickle.loads(packed)
        assert np.array_equal(again.embed(["a red circle"]), embedder.embed(["a red circle"]))

    def test_logging_is_left_alone(self, embedder: Embedder) -> None:
        embedder.embed(["x"])
        TextIndex(["a b", "c"], embedder).search("a", 1)
        probe = (
            "import logging; from evoharness.retrieval import *; e = make_embedder('wordllama');"
            "TextIndex(['a b', 'c'], e).search('a', 1); print(logging.getLogger().handlers)"
        )
        done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
        assert (done.stdout, done.stderr) == ("[]\n", "")
        assert logging.getLogger("bm25s").level == logging.WARNING

    def test_an_unknown_name_is_one_line(self) -> None:
        with pytest.raises(UserError, match=r"no embedder is called 'x'; there are: .*wordllama"):
            make_embedder("x")


SHARED = WordLlamaEmbedder()


class TestFusion:
    def test_two_rankings_that_agree_win(self) -> None:
        hits = fuse([[4, 1, 2], [1, 3]])
        assert [hit.position for hit in hits] == [1, 4, 3, 2]
        assert hits[0].score == pytest.approx(1 / 62 + 1 / 61)

    def test_equal_scores_go_by_position(self) -> None:
        assert [hit.position for hit in fuse([[7], [3]])] == [3, 7]

    def test_nothing(self) -> None:
        assert fuse([]) == []


TEXTS = [
    "a small red circle is at the left",
    'the text "Close the valve" is shown at the bottom',
    "a blue square enters from the right",
    "the cook chops vegetables on a board",
    "阀门在第三步之后关闭",
    "",
]


class TestIndex:
    def test_words_find_the_exact_name(self, embedder: Embedder) -> None:
        index = TextIndex(TEXTS, embedder)
        assert index.search("valve", 1)[0].position == 1
        assert index.search("关闭", 2)[0].position == 4

    def test_meaning_finds_what_shares_no_word(self, embedder: Embedder) -> None:
        assert TextIndex(TEXTS, embedder).search("cutting onions for dinner", 1)[0].position == 3

    def test_at_most_k_and_no_position_twice(self, embedder: Embedder) -> None:
        positions = [hit.position for hit in TextIndex(TEXTS, embedder).search("red square", 4)]
        assert len(positions) == len(set(positions)) == 4
        assert {0, 2} == set(positions[:2])

    def test_a_least_cosine_is_kept(self, embedder: Embedder) -> None:
        hits = TextIndex(TEXTS, embedder).by_meaning("a red circle", 10, minimum=0.5)
        assert [hit.position for hit in hits] == [0]
        assert hits[0].score >= 0.5

    @pytest.mark.parametrize(
        ("texts", "query", "k"), [([], "x", 3), (TEXTS, "  ", 3), (TEXTS, "x", 0), (TEXTS, "x", -1)]
    )
    def test_nothing_to_find(self, embedder: Embedder, texts: list[str], query: str, k: int) -> None:
        assert TextIndex(texts, embedder).search(query, k) == []

    def test_texts_without_words(self, embedder: Embedder) -> None:
        assert TextIndex(["", "?"], embedder).by_words("a", 3) == []
        assert len(TextIndex(["", "?"], embedder).search("a", 3)) == 2

    @given(st.lists(st.text(max_size=30), max_size=8), st.text(max_size=30))
    @settings(deadline=None, max_examples=50)
    def test_any_text_can_be_indexed_and_asked(self, texts: list[str], query: str) -> None:
        first = TextIndex(texts, SHARED).search(query, 5)
        assert first == TextIndex(texts, SHARED).search(query, 5)
        assert all(isinstance(hit, Hit) and 0 <= hit.position < len(texts) for hit in first)
