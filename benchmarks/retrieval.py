"""How long it takes to load a memory and to search very many nodes.

    python -m benchmarks.retrieval [nodes=100000] [queries=200]

Memories of 1,000 nodes are made up (events, entities, texts in sentences of random words), and searched one
by one and as one corpus, with the default embedder. Prints a Markdown table and exits 1 when one of the aims
in it is missed. Times are wall time in this process, medians and 95th percentiles; `CPU` is the median of
what this thread computed meanwhile, which other work on the machine hardly changes. All is done by one
thread.

`load` begins with the files of a memory on the disk and ends with its first answer, everything that answer
needs being read: the memory, its index, the nodes. The libraries are imported and the weights of the
embedder read before, once in a process; `libraries and weights` is what that takes. `load anew` is the
same without a kept index: everything is embedded. A search is one query that was not asked before, its
embedding included; what parts of it take is shown below it. `recall` is the share of the 50 nearest texts
that the graph finds.
"""

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from evoharness.memory import MemoryReader
from evoharness.memory.corpus import Corpus
from evoharness.records.interval import Interval
from evoharness.records.memory import Entity, EntityKind, Event, Segment, VideoMemory, VisibleText
from evoharness.retrieval import Embedder, make_embedder
from evoharness.retrieval.meaning import GRAPH_FROM, MeaningRanking

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

Thing = TypeVar("Thing")
MOST_SEARCH_MS = 5.0
MOST_LOAD_MS = 50.0
NODES = 1000
"""Nodes of one memory."""
SEGMENTS = 20
NEAREST = 50
TOLD = {
    "how": "red|blue|green|small|large|bright|dark|wooden|metal|white|striped|round|old|empty|heavy|wet",
    "what": "circle|square|valve|pump|cook|onion|pot|hammer|pipe|wheel|bird|dog|camera|scalpel|needle|forceps"
    "|box|car|bridge|ladder|window|river|lamp|glove|rope|boat|cyclist|teacher|slide|diagram|drill|engine|piano",
    "does": "moves|enters|leaves|turns|opens|closes|cuts|pours|rotates|falls|holds|drops|lifts|pushes|pulls"
    "|shakes|covers|cleans|paints|measures",
    "where": "at the left|at the right|on the table|near the wall|under the bridge|in the kitchen"
    "|by the window|behind the car|in the garden|on the screen|beside the machine|in the middle",
}
WORDS = {part: told.split("|") for part, told in TOLD.items()}
IMPORTS = """
import time; began = time.perf_counter()
import faiss
from evoharness.memory import MemoryReader
from evoharness.retrieval import make_embedder
from evoharness.retrieval.keeping import kept
make_embedder("wordllama").embed(["a text"])
print(time.perf_counter() - began, time.process_time())
"""


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    what: str
    nodes: int
    wall: str
    p95: str = ""
    cpu: str = ""
    aim: str = ""
    missed: bool = False


class Times(NamedTuple):
    """How long something took, in milliseconds."""

    wall: float
    cpu: float


def timed(work: Callable[[], object]) -> Times:
    """What it takes."""
    began, computed = time.perf_counter(), time.thread_time()
    work()
    return Times(1000 * (time.perf_counter() - began), 1000 * (time.thread_time() - computed))


def each(things: Iterable[Thing], work: Callable[[Thing], object]) -> list[Times]:
    """What it takes for each of them."""
    return [timed(partial(work, thing)) for thing in things]


def row(what: str, nodes: int, times: Sequence[Times], most: float | None = None) -> Row:
    """Medians and 95th percentile; `most`: what the median of the wall time has to stay under."""
    wall = median(one.wall for one in times)
    p95 = sorted(one.wall for one in times)[min(len(times) - 1, len(times) * 95 // 100)]
    cpu = median(one.cpu for one in times)
    aim = f"< {most:g} ms" if most is not None else ""
    return Row(what, nodes, _ms(wall), _ms(p95), _ms(cpu), aim, most is not None and wall >= most)


def _ms(milliseconds: float) -> str:
    return f"{milliseconds:,.2f} ms"


def sentence(rng: random.Random) -> str:
    """Somebody does something somewhere."""
    a, b, c, d = (rng.choice(WORDS[part]) for part in ("how", "what", "does", "how"))
    return f"the {a} {b} {c} the {d} {rng.choice(WORDS['what'])} {rng.choice(WORDS['where'])}"


def queries(rng: random.Random, count: int) -> Iterator[str]:
    """What somebody would search for, never the same twice."""
    for number in range(count):
        yield f"who {rng.choice(WORDS['does'])} the {rng.choice(WORDS['what'])} in step {number}"


def memory(number: int) -> VideoMemory:
    """A memory of 1,000 nodes: of each 20 segments 25 events, 15 entities and 10 texts."""
    rng = random.Random(number)
    segments = []
    for at in range(SEGMENTS):
        name, start = f"s{at:04d}", 60.0 * at
        span = Interval(start=start, end=start + 60)
        events = tuple(
            Event(
                id=f"{name}/e{n:04d}",
                kind="action",
                interval=span,
                subject="",
                object="",
                action=rng.choice(WORDS["does"]),
                description=f"{sentence(rng)} in step {rng.randrange(1000)}",
            )
            for n in range(25)
        )
        entities = tuple(
            Entity(
                id=f"{name}/n{n:04d}",
                kind=EntityKind.OBJECT,
                name=rng.choice(WORDS["what"]),
                attributes=(rng.choice(WORDS["how"]),),
                description=f"{sentence(rng)}, seen {rng.randrange(100)} times",
                first_seen=start,
            )
            for n in range(15)
        )
        texts = tuple(
            VisibleText(
                id=f"{name}/t{n:04d}", text=f"Step {rng.randrange(1000)}: {sentence(rng)}", interval=span
            )
            for n in range(10)
        )
        segments.append(
            Segment(
                id=name, interval=span, summary=sentence(rng), events=events, entities=entities, texts=texts
            )
        )
    return VideoMemory(
        video=f"{number:04d}", duration=60.0 * SEGMENTS, root="", super_events=(), segments=tuple(segments)
    )


def measure_loading(folder: Path, embedder: Embedder) -> list[Row]:
    """From the disk to the first answer, with the index that is kept and without one."""
    file = folder / "memory.json"
    file.write_text(memory(0).model_dump_json())

    def load(index: Path | None, embedder: Embedder) -> None:
        read = VideoMemory.model_validate_json(file.read_bytes())
        assert MemoryReader(read, embedder, index).search_nodes("the red valve")

    load(folder, embedder)
    anew = [timed(lambda: load(None, fresh())) for _ in range(5)]
    times = [timed(lambda: load(folder, embedder)) for _ in range(31)]
    return [
        row("load a memory and answer", NODES, times, MOST_LOAD_MS),
        row("load anew", NODES, anew),
    ]


def fresh() -> Embedder:
    """An embedder that has seen no text yet, its weights being read."""
    embedder = make_embedder("wordllama")
    embedder.embed(["a text"])
    return embedder


def measure_process() -> Row:
    """What a new process needs once, before it can load anything."""
    times = []
    for _ in range(3):
        ended = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, check=True)
        wall, cpu = ended.stdout.split()
        times.append(Times(1000 * float(wall), 1000 * float(cpu)))
    return row("libraries and weights, once in a process", 0, times)


def measure_searching(folder: Path, embedder: Embedder, nodes: int, asked: int) -> list[Row]:
    """Search across memories, and what it consists of."""
    memories = {f"video {number}": memory(number) for number in range(nodes // NODES)}
    corpus = Corpus(memories, embedder, folder)
    building = timed(lambda: corpus.search("warm"))
    asking = list(queries(random.Random(1), asked))
    rows = [row("search", nodes, each(asking, corpus.search), MOST_SEARCH_MS)]
    (_, index), *_ = corpus._indexes.values()
    ranking, words = index.prepared().meaning, index.prepared().words
    vectors = [embedder.embed([query]) for query in asking]
    parts: dict[str, Callable[[int], object]] = {
        "– embedding of the query": lambda n: embedder.embed([f"{asking[n]} again"]),
        "– by meaning": lambda n: ranking.near(vectors[n], NEAREST),
        "– by meaning, all compared": lambda n: ranking.nearest(vectors[n], NEAREST),
        "– by words": lambda n: words.best(asking[n].split(), NEAREST),
    }
    for what, part in parts.items():
        rows.append(row(what, nodes, each(range(asked), part)))
    rows.append(recall(ranking, vectors, nodes))
    rows.append(row("build it: embed, graph, words", nodes, [building]))
    again = Corpus(memories, embedder, folder)
    rows.append(row("load what was built", nodes, [timed(lambda: again.search("warm"))]))
    more = Corpus({**memories, "new": memory(nodes)}, embedder, folder)
    rows.append(row("add a memory of 1,000 nodes", nodes + NODES, [timed(lambda: more.search("warm"))]))
    return rows


def recall(ranking: MeaningRanking, vectors: "Sequence[Vectors]", nodes: int) -> Row:
    """How many of the nearest are found."""
    found = total = 0
    for vector in vectors:
        near = {position for position, _ in ranking.near(vector, NEAREST)}
        nearest = {position for position, _ in ranking.nearest(vector, NEAREST)}
        found, total = found + len(near & nearest), total + len(nearest)
    return Row("recall of the graph", nodes, f"{found / total:.1%}", "", "", "≥ 98 %", found / total < 0.98)


def measure_threshold(embedder: Embedder, asked: int) -> list[Row]:
    """Flat against graph, where one becomes the other."""
    rng = random.Random(2)
    texts = list({f"{sentence(rng)} in step {rng.randrange(1000)}" for _ in range(GRAPH_FROM)})
    vectors = embedder.embed(texts)
    asking = [embedder.embed([query]) for query in queries(rng, asked)]
    rows = []
    for name, graph_from in (("flat", len(texts)), ("graph", 0)):
        rankings: list[MeaningRanking] = []
        building = timed(partial(build, rankings, vectors, graph_from))
        times = each(
            [(rankings[0], vector) for vector in asking], lambda pair: pair[0].near(pair[1], NEAREST)
        )
        rows += [row(f"{name}: by meaning", len(texts), times), row(f"{name}: build", len(texts), [building])]
    return rows


def build(rankings: list[MeaningRanking], vectors: "Vectors", graph_from: int) -> None:
    """One ranking more."""
    rankings.append(MeaningRanking(vectors, graph_from))


def table(rows: Sequence[Row]) -> str:
    """Markdown."""
    lines = ["| what | nodes | median | p95 | CPU | aim | |", "|---|---|---|---|---|---|---|"]
    for line in rows:
        met = "" if not line.aim else "missed" if line.missed else "met"
        cells = (
            line.what,
            f"{line.nodes:,}" if line.nodes else "",
            line.wall,
            line.p95,
            line.cpu,
            line.aim,
            met,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Measure and print; the exit code."""
    given = dict(argument.split("=", 1) for argument in arguments)
    nodes, asked = int(given.get("nodes", 100_000)), int(given.get("queries", 200))
    embedder = fresh()
    with tempfile.TemporaryDirectory(prefix="retrieval-") as name:
        folder = Path(name)
        rows = [measure_process(), *measure_loading(folder, embedder)]
        rows += measure_threshold(embedder, asked)
        rows += measure_searching(folder / "corpus", embedder, nodes, asked)
    print(table(rows))
    return 1 if any(row.missed for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
