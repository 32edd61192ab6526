"""What tests of hosted models share: a scripted server, a clock that costs no time, drawn frames."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from evoharness.models.hosted import LiteLLMBackbone
from evoharness.models.hosted.clock import Clock
from evoharness.models.hosted.retrying import RetryPolicy
from evoharness.models.settings import Rates
from evoharness.records.frame import Frame
from tests.models.hosted.server import ScriptedServer, scripted_server

MODEL = "openai/scripted"
KEY = "sk-planted-0123456789abcdef"


@dataclass
class Waits:
    """Time that passes only when somebody waits."""

    time: float = 1_000_000.0
    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        """Let it pass."""
        self.slept.append(seconds)
        self.time += max(0.0, seconds)

    @property
    def clock(self) -> Clock:
        """As backbones take it."""
        return Clock(lambda: self.time, self.sleep)


class Drawn:
    """A source of frames: noise that its seed and the frame's time determine."""

    def pixels(self, frames: Sequence[Frame]) -> Iterator[NDArray[np.uint8]]:
        """See `FrameSource`."""
        for frame in frames:
            rng = np.random.default_rng(round(frame.time * 1000))
            coarse = rng.integers(0, 256, (frame.height // 8 + 1, frame.width // 8 + 1, 3), dtype=np.uint8)
            yield coarse.repeat(8, 0).repeat(8, 1)[: frame.height, : frame.width]


def drawn(count: int, width: int = 64, height: int = 32, gap: float = 0.5) -> tuple[Frame, ...]:
    """Frames of one source, `gap` seconds apart, from 0 on."""
    source = Drawn()
    return tuple(Frame(f"drawn:{k}:{width}x{height}", k * gap, width, height, source) for k in range(count))


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server that replies by script."""
    with scripted_server() as server:
        yield server


@pytest.fixture
def waits() -> Waits:
    """A clock that costs no time."""
    return Waits()


@pytest.fixture
def make(
    server: ScriptedServer, waits: Waits, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., LiteLLMBackbone]:
    """Makes backbones that call the server with a key, and wait by the clock."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def make(model: str = MODEL, **options: Any) -> LiteLLMBackbone:
        options.setdefault("api_base", server.address)
        options.setdefault("clock", waits.clock)
        options.setdefault("rates", Rates(timeout_s=5.0))
        options.setdefault("retries", RetryPolicy(attempts=4))
        return LiteLLMBackbone({"default": model}, **options)

    return make
