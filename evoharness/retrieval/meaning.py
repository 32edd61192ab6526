"""Vectors ranked by their cosine with a query: all compared, or, where there are very many, by a graph."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

GRAPH_FROM = 10_000
"""More vectors than this are searched by a graph. To compare so many takes about two milliseconds, and a
graph about a second to build; `benchmarks/retrieval.py` measures both."""
NEIGHBOURS = 32
BUILDING_BREADTH = 40
SEARCHING_BREADTH = 128
"""Candidates that a search of the graph keeps in view: more than 99 of 100 of the nearest are found."""


class MeaningRanking:
    """Rows of unit length in FAISS: flat, or HNSW beyond `graph_from` rows.

    Built by one thread, as a graph that several build comes out otherwise each time.
    """

    def __init__(self, vectors: "Vectors", graph_from: int | None = None) -> None:
        """`vectors`: shape (n, d), n at least 1. `graph_from`: None is `GRAPH_FROM`."""
        graph_from = GRAPH_FROM if graph_from is None else graph_from
        self._index = _flat(vectors.shape[1]) if len(vectors) <= graph_from else _graph(vectors.shape[1])
        self._graph_from = graph_from
        _add(self._index, vectors)

    def __len__(self) -> int:
        return int(self._index.ntotal)

    @property
    def width(self) -> int:
        """Numbers in a row."""
        return int(self._index.d)

    @property
    def is_graph(self) -> bool:
        """Whether `near` may miss a row."""
        return hasattr(self._index, "hnsw")

    def vectors(self) -> "Vectors":
        """All rows, shape (n, d)."""
        rows: Vectors = self._index.reconstruct_n(0, len(self))
        return rows

    def vector(self, row: int) -> "Vectors":
        """One row, shape (d,)."""
        found: Vectors = self._index.reconstruct(row)
        return found

    def extended(self, vectors: "Vectors") -> "MeaningRanking":
        """These rows and further ones, shape (m, d), behind them; this ranking is used up."""
        import numpy as np

        if not self.is_graph and len(self) + len(vectors) > self._graph_from:
            return MeaningRanking(np.concatenate([self.vectors(), vectors]), self._graph_from)
        _add(self._index, vectors)
        return self

    def near(self, query: "Vectors", k: int) -> list[tuple[int, float]]:
        """The `k` rows nearest to a query, shape (1, d), with their cosines; best first.

        Of a graph, nearly always.
        """
        if not self.is_graph:
            return self.nearest(query, k)
        import faiss

        breadth = faiss.SearchParametersHNSW(efSearch=max(SEARCHING_BREADTH, 2 * k))  # type: ignore[attr-defined]
        scores, rows = self._index.search(query, min(k, len(self)), params=breadth)
        return _pairs(rows, scores)

    def nearest(self, query: "Vectors", k: int) -> list[tuple[int, float]]:
        """The same, all rows being compared."""
        import faiss

        everything = faiss.downcast_index(self._index.storage) if self.is_graph else self._index
        scores, rows = everything.search(query, min(k, len(self)))
        return _pairs(rows, scores)

    def array(self) -> "NDArray[np.uint8]":
        """Everything in one array of bytes, to be kept."""
        import faiss

        kept: NDArray[np.uint8] = faiss.serialize_index(self._index)
        return kept

    @classmethod
    def from_array(cls, kept: "NDArray[np.uint8]", graph_from: int | None = None) -> "MeaningRanking":
        """What `array` gave; built anew when it is to be a graph now and was none, or the other way round."""
        import faiss

        ranking = cls.__new__(cls)
        ranking._index = faiss.deserialize_index(kept)
        ranking._graph_from = GRAPH_FROM if graph_from is None else graph_from
        if ranking.is_graph != (len(ranking) > ranking._graph_from):
            return cls(ranking.vectors(), graph_from)
        return ranking


def _flat(width: int) -> Any:
    import faiss

    return faiss.IndexFlatIP(width)


def _graph(width: int) -> Any:
    import faiss

    graph = faiss.IndexHNSWFlat(width, NEIGHBOURS, faiss.METRIC_INNER_PRODUCT)
    graph.hnsw.efConstruction = BUILDING_BREADTH
    return graph


def _add(index: Any, vectors: "Vectors") -> None:
    import faiss
    import numpy as np

    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        index.add(np.ascontiguousarray(vectors, dtype=np.float32))
    finally:
        faiss.omp_set_num_threads(threads)


def _pairs(rows: "NDArray[np.int64]", scores: "Vectors") -> list[tuple[int, float]]:
    return [(row, score) for row, score in zip(rows[0].tolist(), scores[0].tolist(), strict=True) if row >= 0]
