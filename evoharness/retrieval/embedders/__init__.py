"""Texts as vectors: an embedder by name."""

from evoharness.retrieval.embedders.base import Embedder, EmbedderUnavailable
from evoharness.retrieval.embedders.registry import embedder_names, make_embedder
from evoharness.retrieval.embedders.wordllama import WordLlamaEmbedder

__all__ = ["Embedder", "EmbedderUnavailable", "WordLlamaEmbedder", "embedder_names", "make_embedder"]
