"""Starting the server in a process of its own, and talking to it beside the calls it serves."""

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.server.faults import PASSING

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Counts:
    """What a server says that it served."""

    calls: int
    """Completions that were worked out, and are to be paid for whether or not they arrive."""
    prompt_tokens: int
    completion_tokens: int
    requests: int
    """Everything that was asked of a model, in vain or not."""
    open: int
    most_open: int
    faults: dict[str, int]
    tasks: dict[str, int]
    embeddings: int
    """Requests for vectors that were worked out, beside the completions."""
    embedded_tokens: int
    transcriptions: int
    """Sounds that were listened to, likewise."""
    transcribed_tokens: int


@dataclass(frozen=True)
class ModelServer:
    """A running server."""

    address: str
    """Its base address, ending in /v1."""

    def counts(self) -> Counts:
        """What was served since the last reset."""
        return Counts(**self._control("counts"))

    def reset(self) -> None:
        """Count from zero again, and forget all faults."""
        self._control("faults")
        self._control("pace", seconds=0)
        self._control("reset")

    def fail(self, share: float, kinds: Sequence[str] = PASSING, seed: int = 0) -> None:
        """Fail the first attempts of that share of all requests, chosen by their content."""
        self._control("faults", share=share, kinds=list(kinds), seed=seed)

    def script(self, *kinds: str) -> None:
        """Let this happen to the next requests; `ok` lets one pass."""
        self._control("faults", script=list(kinds))

    def always(self, kind: str) -> None:
        """Let this happen to every request."""
        self._control("faults", always=kind)

    def pace(self, seconds: float) -> None:
        """Take at least so long for every answer, as providers do."""
        self._control("pace", seconds=seconds)

    def _control(self, what: str, **asked: Any) -> dict[str, Any]:
        url = f"{self.address.removesuffix('/v1')}/control/{what}"
        request = urllib.request.Request(url, json.dumps(asked).encode(), method="POST")
        with urllib.request.urlopen(request, timeout=30) as reply:
            value: dict[str, Any] = json.load(reply)
            return value


@contextmanager
def model_server(
    *,
    models: Sequence[str] = ("embedded",),
    key: str | None = None,
    latency_s: float | None = None,
    workers: int = 2,
) -> Iterator[ModelServer]:
    """A server for the time of the block; see `serving.Settings` for what it takes."""
    arguments = [f"--workers={workers}", *(f"--model={name}" for name in models)]
    if key is not None:
        arguments.append(f"--key={key}")
    if latency_s is not None:
        arguments.append(f"--latency={latency_s}")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    with subprocess.Popen(
        [sys.executable, "-m", "tests.server", *arguments],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            assert address, "the server did not start"
            yield ModelServer(address)
        finally:
            process.stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
