"""An index finds the same whether it was built now or before, in one step or several; damage is no harm."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evoharness.retrieval import Hit, TextIndex, WordLlamaEmbedder, words
from evoharness.retrieval.meaning import MeaningRanking
from evoharness.retrieval.wording import WordRanking

if TYPE_CHECKING:
    from numpy.typing import NDArray

REAL = WordLlamaEmbedder()
COLOURS = ("red", "blue", "green", "striped", "grey")
THINGS = ("circle", "valve", "onion", "ladder", "piano", "river")
TEXTS = [f"the {colour} {thing} moves {n} times" for n in range(4) for colour in COLOURS for thing in THINGS]


class Counting:
    """Remembers what it was asked to embed; `turned` makes it another model of the same name."""

    def __init__(self, name: str = "counting", turned: bool = False) -> None:
        self.id = name
        self.asked: list[str] = []
        self._turned = turned

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        self.asked += texts
        vectors = REAL.embed(texts)
        return np.roll(vectors, 7, axis=1) if self._turned else vectors


def found(index: TextIndex) -> list[list[Hit]]:
    """What a few searches give."""
    queries = ("the striped valve", "music", "moves 3 times", "阀门")
    return [index.search(query, 7) for query in queries] + [index.by_meaning("fruit", 5, 0.1)]


class TestKept:
    def test_nothing_is_embedded_again(self, tmp_path: Path) -> None:
        file = tmp_path / "index" / "texts.index"
        first = found(TextIndex(TEXTS, Counting(), file))
        assert file.is_file()
        again = Counting()
        assert found(TextIndex(TEXTS, again, file)) == first == found(TextIndex(TEXTS, Counting()))
        assert len(set(again.asked) & set(TEXTS)) <= 1

    def test_only_what_is_new_is_embedded(self, tmp_path: Path) -> None:
        file = tmp_path / "texts.index"
        found(TextIndex(TEXTS[:100], Counting(), file))
        more = Counting()
        shuffled = random.Random(1).sample(TEXTS, len(TEXTS))
        assert found(TextIndex(shuffled, more, file)) == found(TextIndex(shuffled, Counting()))
        assert set(TEXTS[100:]) <= set(more.asked)
        assert len(set(more.asked) & set(TEXTS[:100])) <= 1
        fewer = Counting()
        assert found(TextIndex(TEXTS[50:], fewer, file)) == found(TextIndex(TEXTS[50:], Counting()))
        assert len(set(fewer.asked) & set(TEXTS)) <= 1

    def test_a_text_is_embedded_once(self) -> None:
        embedder = Counting()
        index = TextIndex(["a red circle", "a blue circle", "a red circle"] * 30, embedder)
        assert [hit.position for hit in index.by_meaning("a red circle", 4)] == [0, 2, 3, 5]
        assert embedder.asked.count("a red circle") == 2

    def test_an_index_of_another_embedder_is_not_used(self, tmp_path: Path) -> None:
        file = tmp_path / "texts.index"
        found(TextIndex(TEXTS, Counting("one"), file))
        other = Counting("another")
        found(TextIndex(TEXTS, other, file))
        assert set(TEXTS) <= set(other.asked)

    def test_nor_that_of_another_model_by_the_same_name(self, tmp_path: Path) -> None:
        file = tmp_path / "texts.index"
        found(TextIndex(TEXTS, Counting(), file))
        turned = Counting(turned=True)
        assert found(TextIndex(TEXTS, turned, file)) == found(TextIndex(TEXTS, Counting(turned=True)))
        assert set(TEXTS) <= set(turned.asked)

    def test_a_damaged_file_is_built_anew(self, tmp_path: Path) -> None:
        file = tmp_path / "texts.index"
        expected = found(TextIndex(TEXTS, Counting(), file))
        whole = file.read_bytes()
        rng = random.Random(5)
        for number in range(60):
            damaged = bytearray(whole)
            if number % 3 == 0:
                damaged = damaged[: rng.randrange(len(damaged))]
            elif number % 3 == 1:
                for _ in range(rng.randrange(1, 20)):
                    damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
            else:
                start = rng.randrange(len(damaged))
                damaged[start : start + rng.randrange(1, 4000)] = rng.randbytes(rng.randrange(4000))
            file.write_bytes(damaged)
            assert found(TextIndex(TEXTS, Counting(), file)) == expected

    def test_where_nothing_can_be_written_it_is_built_each_time(self, tmp_path: Path) -> None:
        (tmp_path / "taken").write_text("a file, and no folder")
        file = tmp_path / "taken" / "texts.index"
        assert found(TextIndex(TEXTS, Counting(), file)) == found(TextIndex(TEXTS, Counting()))

    @given(st.lists(st.text(max_size=12), max_size=8), st.lists(st.text(max_size=12), max_size=8))
    @settings(deadline=None, max_examples=40)
    def test_any_texts_can_follow_any_others(
        self, tmp_path_factory: pytest.TempPathFactory, first: list[str], second: list[str]
    ) -> None:
        file = tmp_path_factory.mktemp("kept") / "texts.index"
        for texts in (first, second, first + second):
            index = TextIndex(texts, REAL, file)
            assert found(index) == found(TextIndex(texts, REAL))


@pytest.fixture(scope="module")
def vectors() -> "NDArray[np.float32]":
    """Of 3,000 sentences."""
    rng = random.Random(2)
    said = [f"{rng.choice(COLOURS)} {rng.choice(THINGS)} {rng.choice(TEXTS)} {n}" for n in range(3000)]
    return REAL.embed(said)


class TestGraph:
    def test_it_finds_nearly_all_that_is_nearest(self, vectors: "NDArray[np.float32]") -> None:
        graph = MeaningRanking(vectors, graph_from=100)
        flat = MeaningRanking(vectors)
        assert graph.is_graph
        assert not flat.is_graph
        share = []
        for query in REAL.embed(["a piano", "something striped", "water flows", "who cuts the onion", "9"]):
            near = {row for row, _ in graph.near(query[None], 50)}
            share.append(len(near & {row for row, _ in flat.near(query[None], 50)}) / 50)
            assert graph.nearest(query[None], 50) == flat.nearest(query[None], 50)
        assert np.mean(share) > 0.97

    def test_it_comes_out_the_same_and_is_kept(self, vectors: "NDArray[np.float32]") -> None:
        graph = MeaningRanking(vectors, graph_from=100)
        assert np.array_equal(graph.array(), MeaningRanking(vectors, graph_from=100).array())
        again = MeaningRanking.from_array(graph.array(), graph_from=100)
        query = REAL.embed(["a ladder by the river"])
        assert again.near(query, 20) == graph.near(query, 20)
        assert np.array_equal(again.vectors(), vectors)

    def test_an_index_over_many_texts_grows_with_them(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("evoharness.retrieval.meaning.GRAPH_FROM", 50)
        file = tmp_path / "texts.index"
        for texts in (TEXTS[:40], TEXTS[:90], TEXTS, TEXTS[10:]):
            embedder = Counting()
            index = TextIndex(texts, embedder, file)
            assert found(index) == found(TextIndex(texts, REAL))
            assert index.prepared().meaning.is_graph == (len(texts) > 50)
        assert len(set(embedder.asked) & set(TEXTS)) <= 1

    def test_it_is_extended(self, vectors: "NDArray[np.float32]") -> None:
        grown = MeaningRanking(vectors[:2000], graph_from=100).extended(vectors[2000:])
        assert len(grown) == 3000
        assert np.array_equal(grown.vectors(), vectors)
        assert grown.near(vectors[2500][None], 1)[0][0] == 2500
        turned = MeaningRanking(vectors[:90], graph_from=100).extended(vectors[90:200])
        assert turned.is_graph
        assert len(turned) == 200


class TestWords:
    @given(
        st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=6), min_size=1, max_size=40),
        st.lists(st.sampled_from("abcdefghij"), max_size=6),
        st.integers(1, 12),
    )
    @settings(deadline=None, max_examples=150)
    def test_the_best_are_those_of_bm25s(self, worded: list[list[str]], asked: list[str], k: int) -> None:
        import bm25s

        hits = WordRanking.of(worded).best(asked, k)
        if not asked or not any(worded):
            assert hits == []
            return
        index = bm25s.BM25(k1=1.2, b=0.75)
        index.index(worded, show_progress=False)
        scores = index.get_scores(asked)
        assert [hit.score for hit in hits] == pytest.approx(
            sorted(scores[scores > 0], reverse=True)[:k], rel=1e-4
        )
        assert [hit.score for hit in hits] == pytest.approx(scores[[hit.position for hit in hits]], rel=1e-4)
        assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.position))

    def test_what_need_not_be_looked_at_makes_no_difference(self, monkeypatch: pytest.MonkeyPatch) -> None:
        rng = random.Random(3)
        common, rare = "abcd", [f"w{n}" for n in range(200)]
        worded = [
            [*(word for word in common if rng.random() < 0.7), *rng.choices(rare, k=3)] for _ in range(3000)
        ]
        ranking = WordRanking.of(worded)
        for _ in range(200):
            asked = [*rng.choices(common, k=3), *rng.choices(rare, k=rng.randrange(4))]
            k = rng.choice([1, 5, 50])
            monkeypatch.setattr("evoharness.retrieval.wording.COMMON", 500)
            few = ranking.best(asked, k)
            monkeypatch.setattr("evoharness.retrieval.wording.COMMON", 10_000)
            assert ranking.best(asked, k) == few

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("고양이가 왔다", ["고양이가", "고양", "양이", "이가", "왔다"]),
            ("東京々", ["東", "京", "々", "東京", "京々"]),
            ("แมว", ["แ", "ม", "ว", "แม", "มว"]),
            ("Ven\u00adtil Zu\u200bg", ["ventil", "zu", "g"]),
            ("كِتَاب كتاب", ["كتاب", "كتاب"]),
            ("ＡＢＣ Straße", ["abc", "strasse"]),
            ("བོད་ཡིག", ["བོད", "ཡིག"]),
            ("don't_stop 3.5", ["don", "t", "stop", "3", "5"]),
        ],
    )
    def test_scripts(self, text: str, found: list[str]) -> None:
        assert words(text) == found

    def test_the_short_way_for_plain_letters_gives_the_same(self) -> None:
        plain = "".join(map(chr, range(128))) * 2
        assert words(plain) == words(plain + "\u00a0")
