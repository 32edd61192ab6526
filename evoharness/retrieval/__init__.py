"""Search by meaning and by words: embedders, one index class, fusion of rankings."""

from evoharness.retrieval.embedders import (
    Embedder,
    EmbedderUnavailable,
    WordLlamaEmbedder,
    embedder_names,
    make_embedder,
)
from evoharness.retrieval.index import TextIndex, index_name
from evoharness.retrieval.ranking import Hit, fuse
from evoharness.retrieval.words import words

__all__ = [
    "Embedder",
    "EmbedderUnavailable",
    "Hit",
    "TextIndex",
    "WordLlamaEmbedder",
    "embedder_names",
    "fuse",
    "index_name",
    "make_embedder",
    "words",
]
