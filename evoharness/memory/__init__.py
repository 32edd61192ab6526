"""The hierarchical memory of a video: its builder, its place on disk, its reads, and search across many."""

from evoharness.memory.builder import build_memory
from evoharness.memory.corpus import Corpus, FoundIn
from evoharness.memory.graph import memory_graph, render_tree
from evoharness.memory.looking import pointing
from evoharness.memory.nodes import Node
from evoharness.memory.reader import Found, MemoryReader
from evoharness.memory.repair import repair
from evoharness.memory.settings import MemorySettings
from evoharness.memory.showing import page_of
from evoharness.memory.store import MemoryStore

__all__ = [
    "Corpus",
    "Found",
    "FoundIn",
    "MemoryReader",
    "MemorySettings",
    "MemoryStore",
    "Node",
    "build_memory",
    "memory_graph",
    "page_of",
    "pointing",
    "render_tree",
    "repair",
]
