"""Does evolution help on seeds that nobody developed with? The demo, once a seed, one after another.

    python benchmarks/seeds.py [keep] [SEED …] [key=value …]

Each seed has its own videos to learn from, its own sealed test, and a cache of its own, so that nothing
depends on what other runs left behind; the cache is removed when the seed is done, unless `keep` is given.
Prints a Markdown table, and exits 1 when the final harness does not beat the initial one as `Bounds` says.
Further settings go to `evolve`; with `cache=…` among them, all seeds share that cache, and it stays.
"""

import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import fmean

from evoharness.records.evolution import SealedNumbers, Summary

SEEDS = (101, 102, 103, 104, 105)
SETTINGS = ("preset=quick", "samples.questions=43")
"""Of each of the 7 sealed videos 43 questions are asked: 301 for each seed."""
COLUMNS = (
    *("seed", "questions", "initial", "final", "difference", "p"),
    *("frames before → after", "ratio", "tokens before → after", "ratio", "retained by round", "minutes"),
)


@dataclass(frozen=True)
class Bounds:
    """What has to hold over all seeds together."""

    gain: float = 5.0
    """Least mean gain, in points."""
    loss: float = 2.0
    """Most that a single seed may lose, in points."""
    frames: float = 1.25
    """Most frames of the final harness for each one of the initial harness, mean of the seeds' ratios."""
    questions: int = 300
    """Fewest sealed questions of a seed."""


@dataclass(frozen=True)
class SeedResult:
    """What one seed came to."""

    seed: int
    test: SealedNumbers
    retained: tuple[str, ...]
    """What each round kept; a dash where it kept nothing."""
    minutes: float
    """Wall time, sample videos included where they had to be made."""

    @property
    def gain(self) -> float:
        """Final minus initial accuracy on the sealed test, in points."""
        return 100 * (self.test.final - self.test.initial)

    @property
    def frames_ratio(self) -> float:
        """Frames of the final harness for each one of the initial harness."""
        return self.test.frames.final / max(1e-9, self.test.frames.initial)

    @property
    def tokens_ratio(self) -> float:
        """Tokens likewise."""
        return self.test.tokens.final / max(1e-9, self.test.tokens.initial)


def run_seed(seed: int, settings: Sequence[str], runs: Path, keep: bool = False) -> SeedResult:
    """Evolve with that seed; RuntimeError when the run fails, or ends without a sealed test.

    The cache of a seed that failed stays, so that its run can be gone on with.
    """
    began = time.monotonic()
    cache = runs / f"cache-{seed}"
    done = subprocess.run(evolve_command(seed, settings, runs, cache), check=False)
    minutes = (time.monotonic() - began) / 60
    found = sorted(runs.glob(f"*-seed-{seed}/summary.json"))
    if done.returncode or not found:
        raise RuntimeError(f"seed {seed}: evolve ended with {done.returncode}; see {runs}")
    result = result_of(Summary.model_validate_json(found[-1].read_text(encoding="utf-8")), minutes)
    if not keep:
        shutil.rmtree(cache, ignore_errors=True)
    return result


def evolve_command(seed: int, settings: Sequence[str], runs: Path, cache: Path) -> list[str]:
    """The command of a seed; a cache among the settings comes before the seed's own."""
    own = [f"seed={seed}", f"runs={runs}", f"name=seed-{seed}"]
    if not any(setting.startswith("cache=") for setting in settings):
        own.append(f"cache={cache}")
    return [sys.executable, "-m", "evoharness.evolve", *settings, *own]


def result_of(summary: Summary, minutes: float) -> SeedResult:
    """The numbers of a finished run; RuntimeError when it has no sealed test."""
    if summary.test is None:
        raise RuntimeError(f"seed {summary.seed}: no sealed test ({summary.status}: {summary.message})")
    retained = tuple(one.change or one.retained or "–" for one in summary.rounds)
    return SeedResult(summary.seed, summary.test, retained, minutes)


def table(results: Sequence[SeedResult]) -> str:
    """The results in Markdown, with a last line of means."""
    rows = [
        (
            str(result.seed),
            str(result.test.questions),
            f"{result.test.initial:.1%}",
            f"{result.test.final:.1%}",
            f"{result.gain:+.1f}",
            f"{result.test.p_value:.4f}" if result.test.p_value >= 0.0001 else "< 0.0001",
            f"{result.test.frames.initial:.0f} → {result.test.frames.final:.0f}",
            f"{result.frames_ratio:.2f}",
            f"{result.test.tokens.initial:,.0f} → {result.test.tokens.final:,.0f}",
            f"{result.tokens_ratio:.2f}",
            "; ".join(result.retained).replace("|", "\\|"),
            f"{result.minutes:.1f}",
        )
        for result in results
    ]
    tests = [result.test for result in results]
    means = (
        "mean",
        f"{fmean(test.questions for test in tests):.0f}",
        f"{fmean(test.initial for test in tests):.1%}",
        f"{fmean(test.final for test in tests):.1%}",
        f"{fmean(result.gain for result in results):+.1f}",
        "",
        f"{fmean(test.frames.initial for test in tests):.0f}"
        f" → {fmean(test.frames.final for test in tests):.0f}",
        f"{fmean(result.frames_ratio for result in results):.2f}",
        f"{fmean(test.tokens.initial for test in tests):,.0f}"
        f" → {fmean(test.tokens.final for test in tests):,.0f}",
        f"{fmean(result.tokens_ratio for result in results):.2f}",
        "",
        f"{fmean(result.minutes for result in results):.1f}",
    )
    lines = [COLUMNS, ("---",) * len(COLUMNS), *rows, means]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def shortcomings(results: Sequence[SeedResult], bounds: Bounds | None = None) -> list[str]:
    """What does not hold, in words; empty when all is well."""
    bounds = bounds or Bounds()
    gain = fmean(result.gain for result in results)
    ratio = fmean(result.frames_ratio for result in results)
    found = []
    if gain < bounds.gain:
        found.append(f"the mean gain is {gain:+.1f} points, less than {bounds.gain:g}")
    if ratio > bounds.frames:
        found.append(f"the mean ratio of frames is {ratio:.2f}, more than {bounds.frames:g}")
    for result in results:
        if result.gain < -bounds.loss:
            found.append(f"seed {result.seed} loses {-result.gain:.1f} points, more than {bounds.loss:g}")
        if result.test.questions < bounds.questions:
            found.append(f"seed {result.seed} has {result.test.questions} questions, not {bounds.questions}")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0, 1 when something does not hold or a run fails, 2 for arguments that do not do."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    keep = "keep" in words
    numbers = [word for word in words if "=" not in word and word != "keep"]
    if not all(number.isdigit() for number in numbers):
        print("usage: python benchmarks/seeds.py [keep] [SEED …] [key=value …]", file=sys.stderr)
        return 2
    seeds = [int(number) for number in numbers] or list(SEEDS)
    settings = (*SETTINGS, *(word for word in words if "=" in word))
    runs = Path("runs") / "seeds" / f"{datetime.now():%Y%m%d-%H%M%S}"
    results: list[SeedResult] = []
    failures = []
    for seed in seeds:
        try:
            results.append(run_seed(seed, settings, runs, keep))
        except RuntimeError as error:
            failures.append(str(error))
    if results:
        print(f"\n{table(results)}\n")
        failures += shortcomings(results)
    for failure in failures:
        print(f"not met: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
