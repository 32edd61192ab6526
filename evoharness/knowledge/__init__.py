"""General knowledge beside the videos: passages from a file, and search over them."""

from evoharness.knowledge.base import KnowledgeBase
from evoharness.knowledge.passages import KnowledgeFileError, Passage, load_passages

__all__ = ["KnowledgeBase", "KnowledgeFileError", "Passage", "load_passages"]
