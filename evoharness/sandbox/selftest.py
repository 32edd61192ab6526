"""Runs the attacks that ship with the package, and says what each came to."""

import time
from collections.abc import Callable, Iterator, Sequence

from evoharness.records.base import Record
from evoharness.sandbox.attacks import SUCCESS, Attack, load_attacks
from evoharness.sandbox.attacks.victims import SECRET, Victims
from evoharness.sandbox.backends import make_sandbox
from evoharness.sandbox.process import ProcessSandbox
from evoharness.sandbox.result import KINDS, SandboxBackend, SandboxLevel, SandboxLimits, SandboxResult

ATTACK_LIMITS = SandboxLimits(steps=100_000, cpu_seconds=1, own_seconds=1.5, total_seconds=5.0)
"""Limits of an attack: tight ones, since many attacks use all that they are given."""
_NEXT = "def strategy(ctx, question):\n    return [6 * 7]\n"


class Trial(Record):
    """What came of one attack, or of one piece of ordinary code."""

    attack: Attack
    kind: str
    """How it ended; the name of the error when the sandbox itself failed."""
    seconds: float
    wrong: tuple[str, ...] = ()
    """What should not have been; empty: it was held, or ran as it should."""


class Report(Record):
    """All that was tried."""

    level: SandboxLevel
    trials: tuple[Trial, ...]
    skipped: int = 0
    """Raw attacks that were not tried, because the level is too weak for them."""

    @property
    def failed(self) -> list[Trial]:
        """What got through, ended without a kind, or did not run although it should."""
        return [trial for trial in self.trials if trial.wrong]


class Proving:
    """The sandbox of that name, one without the language layer, and victims for what runs in them."""

    def __init__(
        self, allow_weaker: bool = False, limits: SandboxLimits = ATTACK_LIMITS, backend: str = "process"
    ) -> None:
        self._limits = limits
        self._victims = Victims()
        self._boxes: dict[bool, SandboxBackend] = {
            False: make_sandbox(backend, allow_weaker),
            True: ProcessSandbox(allow_weaker, raw=True),
        }

    def __enter__(self) -> "Proving":
        self._victims.__enter__()
        try:
            self.level = self._boxes[False].level
            if self.level.sufficient:
                assert self._boxes[True].level == self.level
            self._victims.remember()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for box in self._boxes.values():
            box.close()
        self._victims.__exit__(None, None, None)

    def try_out(self, attack: Attack) -> Trial:
        """Run one attack, look at the victims, and run something ordinary after it."""
        started = time.perf_counter()
        wrong: list[str] = []
        try:
            result = self.run(attack)
            kind = str(result.kind)
            wrong += _judged(attack, result)
        except Exception as error:  # the host broke: the worst that an attack can do to it
            kind = type(error).__name__
            wrong.append(f"the host raised {kind}: {error}"[:300])
        seconds = time.perf_counter() - started
        wrong += self._victims.harm()
        wrong += self._next_run(attack.raw)
        return Trial(attack=attack, kind=kind, seconds=round(seconds, 3), wrong=tuple(wrong))

    def run(self, attack: Attack) -> SandboxResult:
        """Run one attack; its result, unjudged."""
        api, question = self._victims.call_surface()
        source = attack.filled(self._victims.targets)
        limits = SandboxLimits() if attack.ordinary else self._limits
        return self._boxes[attack.raw].run(source, "strategy", {"question": question}, api, limits)

    def _next_run(self, raw: bool) -> list[str]:
        api, question = self._victims.call_surface()
        try:
            result = self._boxes[raw].run(_NEXT, "strategy", {"question": question}, api, SandboxLimits())
        except Exception as error:
            return [f"the next run raised {type(error).__name__}: {error}"[:300]]
        return [] if result.value == [42] else [f"the next run did not work ({result.kind})"]


def self_test(
    attacks: Sequence[Attack] | None = None,
    allow_weaker: bool = False,
    limits: SandboxLimits = ATTACK_LIMITS,
    backend: str = "process",
    on_level: Callable[[SandboxLevel], None] = lambda _: None,
    on_trial: Callable[[Trial], None] = lambda _: None,
) -> Report:
    """Try out all attacks (or those given), one after the other.

    Below `landlock` and `seccomp` raw attacks are not tried: there is nothing to hold them. Raises
    SandboxUnavailable when the sandbox does not start.
    """
    chosen = [
        attack for attack in (load_attacks() if attacks is None else attacks) if backend not in attack.not_in
    ]
    with Proving(allow_weaker, limits, backend) as proving:
        on_level(proving.level)
        tried = [attack for attack in chosen if not attack.raw or proving.level.sufficient]
        trials = []
        for attack in tried:
            trials.append(proving.try_out(attack))
            on_trial(trials[-1])
        return Report(level=proving.level, trials=tuple(trials), skipped=len(chosen) - len(tried))


def _judged(attack: Attack, result: SandboxResult) -> Iterator[str]:
    if result.kind not in KINDS:
        yield f"ended as {result.kind}, which is no kind"
    if attack.ordinary:
        if result.kind != "finished":
            yield f"did not run: {result.kind}, line {result.line}: {result.message}"
        elif attack.value is not None and result.value != attack.value:
            yield f"returned {result.value!r} instead of {attack.value!r}"
        return
    if isinstance(result.value, str) and result.value.startswith(SUCCESS):
        yield f"got through: {result.value[:100]!r}"
    if SECRET in result.model_dump_json():
        yield "told a secret of the host"
    if attack.kinds and result.kind not in attack.kinds:
        yield f"ended as {result.kind} ({result.message}); expected {' or '.join(attack.kinds)}"
