"""Search by meaning and by words: embedders, one index class, fusion of rankings."""

from evoharness.retrieval.embedder import Embedder, WordLlamaEmbedder, make_embedder
from evoharness.retrieval.index import Hit, TextIndex, fuse
from evoharness.retrieval.words import words

__all__ = ["Embedder", "Hit", "TextIndex", "WordLlamaEmbedder", "fuse", "make_embedder", "words"]
