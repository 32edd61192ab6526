"""Counts what an answer uses, stops it at its limits, and keeps its trace."""

import time
from collections.abc import Callable
from typing import Any

from evoharness.models.backbone import Backbone, BackboneUnavailable, Refused, Unparsed, UnsupportedTask
from evoharness.models.task import Output, Task
from evoharness.records.frame import Frame
from evoharness.records.outcome import APPARATUS, OVER_LIMIT, REFUSED, TraceStep
from evoharness.records.spend import Spend
from evoharness.sandbox import HostCallError
from evoharness.solver.bench import SolverLimits


class Stop(Exception):
    """The answer ends here, whatever the strategy thinks of it."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status


class Meter:
    """Every call of the backbone for one question goes through here."""

    def __init__(self, backbone: Backbone, limits: SolverLimits) -> None:
        self._backbone = backbone
        self._limits = limits
        self._started = time.monotonic()
        self._shown: list[float] = []
        self._notes: list[str] = []
        self.spend = Spend()
        self.steps: list[TraceStep] = []

    def remaining(self) -> dict[str, float]:
        """Frames, calls and seconds that are left."""
        return {
            "frames": self._limits.frames - self.spend.frames,
            "calls": self._limits.calls - self.spend.calls,
            "seconds": round(max(0.0, self._limits.seconds - self._elapsed()), 1),
        }

    def ask(self, task: Task[Output], frames: tuple[Frame, ...] = ()) -> Output:
        """Run a task that shows `frames`. Raises Stop at a limit, a refusal or an outage, else Unparsed."""
        if self.spend.calls + 1 > self._limits.calls:
            raise Stop(OVER_LIMIT, f"more than {self._limits.calls} model calls")
        if self.spend.frames + len(frames) > self._limits.frames:
            raise Stop(OVER_LIMIT, f"more than {self._limits.frames} frames")
        if self._elapsed() > self._limits.seconds:
            raise Stop(OVER_LIMIT, f"more than {self._limits.seconds:g} s")
        try:
            reply = self._backbone.run(task)
        except Unparsed as error:
            self.spend += error.spend
            raise
        except Refused as error:
            self.spend += error.spend
            raise Stop(REFUSED, str(error)) from error
        except (BackboneUnavailable, UnsupportedTask) as error:
            raise Stop(APPARATUS, str(error)) from error
        self.spend = self.spend + reply.spend
        self._shown.extend(frame.time for frame in frames)
        self._notes.extend(reply.notes)
        return reply.output

    def traced(self, name: str, arguments: dict[str, Any], run: Callable[[], Any]) -> Any:
        """The result of `run`, recorded as one step; these calls do not nest."""
        before, shown, noted, started = self.spend, len(self._shown), len(self._notes), time.monotonic()
        result: Any = None
        try:
            result = run()
            return result
        except (Stop, HostCallError) as error:
            result = {"error": str(error)}
            raise
        finally:
            self.steps.append(
                TraceStep(
                    call=name,
                    arguments=arguments,
                    result=result,
                    frames=self.spend.frames - before.frames,
                    frame_times=tuple(round(at, 3) for at in self._shown[shown:]),
                    tokens=self.spend.tokens - before.tokens,
                    seconds=time.monotonic() - started,
                    notes=tuple(dict.fromkeys(self._notes[noted:])),
                )
            )

    def _elapsed(self) -> float:
        return time.monotonic() - self._started
