"""How much of the ideal rate is reached when models are waited for, and what a call costs the client.

    python -m benchmarks.throughput [questions=2000] [workers=2] [in_flight=16] [latency=0.1]

A server that answers every call after `latency` seconds is asked through LiteLLM, by `workers` processes that
keep `in_flight` questions each in flight. At best every place always waits: workers x in_flight / latency
calls a second. Two rows: `asked` puts each question to the model in one call; `answered` has the Solver
answer it, with a strategy in the sandbox that looks at a few frames first. Prints a Markdown table and exits
1 when the questions asked reach less than 85 % of the ideal rate, or a call costs the client 10 ms or more.

The overhead of a call is what it takes longer than the latency: at the median, and with nothing else in
flight (`alone`).
"""

import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from evoharness.evaluation import Evaluator, ProcessExecutor, Workbench, WorkbenchConfig
from evoharness.harness import Harness, initial_harness
from evoharness.models.reasoning_tasks import AnswerQuestion
from evoharness.records.question import Question
from tests.server import model_server

LEAST_SHARE = 0.85
MOST_OVERHEAD_S = 0.010
OPTIONS = ("the red circle", "the blue square", "the green star", "nothing of the kind")
WARM_UP = 4
"""Questions for each place before the clock starts: clients are imported, connections opened."""
LOOKING = '''
def strategy(ctx, question):
    """A look at four frames, then the answer."""
    seen = ctx.look([[0, ctx.video.duration]], fps=1, max_frames=4, detail="small", prompt=question["text"])
    return ctx.answer(seen["observations"])
'''


@dataclass(frozen=True)
class Setting:
    """What is measured."""

    questions: int = 2000
    workers: int = 2
    in_flight: int = 16
    """In each worker."""
    latency: float = 0.1
    """Seconds after which the server answers."""

    @property
    def ideal(self) -> float:
        """Calls a second when every place always waits."""
        return self.workers * self.in_flight / self.latency


@dataclass(frozen=True)
class Rate:
    """What was measured."""

    name: str
    questions: int
    calls: int
    seconds: float
    ideal: float
    """Calls a second at best."""
    overhead: float | None
    """Seconds of a call beyond the latency, at the median; None where calls are not timed one by one."""

    @property
    def share(self) -> float:
        """Of the ideal rate, from 0 to 1."""
        return self.calls / self.seconds / self.ideal


def asked(bench: Workbench, text: str) -> float:
    """Job: put a question to the model; how long that took."""
    began = time.perf_counter()
    bench.backbone.run(AnswerQuestion(text=text, options=OPTIONS))
    return time.perf_counter() - began


def measure_asking(executor: ProcessExecutor, setting: Setting) -> Rate:
    """Each question is one call."""
    list(executor.map(asked, texts("warm", WARM_UP * setting.workers * setting.in_flight)))
    began = time.perf_counter()
    taken = [seconds for _, seconds in executor.map(asked, texts("asked", setting.questions))]
    seconds = time.perf_counter() - began
    overhead = median(taken) - setting.latency
    return Rate("asked", setting.questions, setting.questions, seconds, setting.ideal, overhead)


def measure_alone(executor: ProcessExecutor, setting: Setting) -> Rate:
    """One call at a time."""
    taken = []
    began = time.perf_counter()
    for text in texts("alone", max(20, setting.questions // 50)):
        taken += [seconds for _, seconds in executor.map(asked, [text])]
    seconds = time.perf_counter() - began
    overhead = median(taken) - setting.latency
    return Rate("asked alone", len(taken), len(taken), seconds, 1 / setting.latency, overhead)


def measure_answering(
    executor: ProcessExecutor, setting: Setting, video: Path, served: Callable[[], int]
) -> Rate:
    """Each question is answered by a strategy: two calls."""
    harness = looking_harness()
    evaluator = Evaluator(executor, {"video": video})
    evaluator.evaluate([harness], questions("warm", WARM_UP * setting.workers * setting.in_flight))
    before = served()
    began = time.perf_counter()
    outcomes = evaluator.evaluate([harness], questions("answered", setting.questions))[harness.fingerprint]
    seconds = time.perf_counter() - began
    failed = [outcome.answered.message for outcome in outcomes if outcome.status != "ok"]
    assert not failed, failed[0]
    return Rate("answered", setting.questions, served() - before, seconds, setting.ideal, None)


def looking_harness() -> Harness:
    """A harness whose every route leads to the strategy above."""
    harness = initial_harness()
    return harness.with_strategy(harness.route(1.0).strategy, LOOKING)


def texts(name: str, count: int) -> list[str]:
    """Questions that no cache has seen."""
    return [f"What enters from the left in scene {name} {number}?" for number in range(count)]


def questions(name: str, count: int) -> list[Question]:
    """The same, as questions about a video."""
    return [
        Question.model_validate(
            {
                "id": f"{name}-{number}",
                "video": "video",
                "kind": "actions_events",
                "text": text,
                "options": OPTIONS,
                "answer": 0,
            }
        )
        for number, text in enumerate(texts(name, count))
    ]


def write_video(path: Path) -> Path:
    """Ten seconds of grey."""
    import av
    import numpy as np

    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("libx264", rate=4)
        stream.width, stream.height, stream.pix_fmt = 320, 192, "yuv420p"
        for number in range(40):
            picture = np.full((192, 320, 3), 40 + 4 * number, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
    return path


def measure(setting: Setting) -> list[Rate]:
    """All rows, against one server."""
    with (
        tempfile.TemporaryDirectory(prefix="throughput-") as folder,
        model_server(latency_s=setting.latency) as server,
    ):
        config = WorkbenchConfig(
            cache_dir=Path(folder),
            backbone="litellm",
            backbone_options={
                "models": {"default": "hosted_vllm/embedded"},
                "api_base": server.address,
                "rates": {"concurrency": setting.workers * setting.in_flight},
            },
        )
        executor = ProcessExecutor(config, setting.workers, in_flight=setting.in_flight)
        try:
            rows = [measure_asking(executor, setting), measure_alone(executor, setting)]
            video = write_video(Path(folder) / "video.mp4")
            rows.append(measure_answering(executor, setting, video, lambda: server.counts().calls))
        finally:
            executor.close()
        return rows


def table(rows: Sequence[Rate]) -> str:
    """Markdown."""
    lines = [
        "| what | questions | calls | seconds | calls a second | ideal | share | overhead of a call, p50 |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        overhead = "–" if row.overhead is None else f"{row.overhead * 1000:.1f} ms"
        lines.append(
            f"| {row.name} | {row.questions:,} | {row.calls:,} | {row.seconds:.1f} "
            f"| {row.calls / row.seconds:.0f} | {row.ideal:.0f} | {row.share:.0%} | {overhead} |"
        )
    return "\n".join(lines)


def shortcomings(rows: Sequence[Rate]) -> list[str]:
    """What does not hold."""
    found = []
    by_name: Mapping[str, Rate] = {row.name: row for row in rows}
    if by_name["asked"].share < LEAST_SHARE:
        found.append(f"{by_name['asked'].share:.0%} of the ideal rate, less than {LEAST_SHARE:.0%}")
    overhead = by_name["asked alone"].overhead
    if overhead is not None and overhead >= MOST_OVERHEAD_S:
        found.append(f"a call costs the client {overhead * 1000:.1f} ms")
    return found


def main(arguments: Sequence[str]) -> int:
    """Measure and print; the exit code."""
    given = dict(argument.split("=", 1) for argument in arguments)
    numbers = {name: float(value) if name == "latency" else int(value) for name, value in given.items()}
    rows = measure(Setting(**numbers))  # type: ignore[arg-type]
    print(table(rows))
    for shortcoming in shortcomings(rows):
        print(shortcoming)
    return 1 if shortcomings(rows) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
