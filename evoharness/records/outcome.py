"""One question answered once by one harness: the trace, what it cost and how it ended."""

from typing import Any

from evoharness.records.base import Record
from evoharness.records.spend import Spend

OK = "ok"
UNPARSED = "unparsed"
REFUSED = "refused"
OVER_LIMIT = "over_limit"
APPARATUS = "apparatus"
SANDBOX_PREFIX = "sandbox:"


class TraceStep(Record):
    """One call of a strategy, with its arguments and its result; enough to replay it without a model."""

    call: str
    """Name of the `ctx` method."""
    arguments: dict[str, Any]
    """What it was called with (JSON)."""
    result: Any
    """What it returned (JSON), or `{"error": …}`."""
    frames: int = 0
    """Frames shown during the call."""
    frame_times: tuple[float, ...] = ()
    """Which frames, in seconds."""
    tokens: int = 0
    """Tokens of the call, in both directions."""
    seconds: float = 0.0
    """Wall time of the call."""
    notes: tuple[str, ...] = ()
    """What a backbone had to do otherwise than asked, such as showing fewer frames than were chosen."""


class Trace(Record):
    """Every step of one answer, in order."""

    strategy: str
    """Name of the strategy that was routed to."""
    skills: tuple[str, ...] = ()
    """Names of the skills that fired."""
    steps: tuple[TraceStep, ...] = ()
    reading: tuple[str, ...] = ()
    """Which reader the pictures came from and why, then what was lost or replaced on the way."""


class Answered(Record):
    """What a Solver gives back for one public question; it knows nothing of the reference."""

    question: str
    """Opaque id of the public question."""
    status: str
    """`ok`, `unparsed`, `refused`, `over_limit`, `sandbox:<kind>` or `apparatus`."""
    choice: int | None = None
    """Index of the chosen option; None when none was chosen."""
    text: str = ""
    """The answer in words."""
    guessed: bool = False
    """The backbone had nothing to go on and said so."""
    message: str = ""
    """Why it did not end well; empty when it did."""
    spend: Spend = Spend()
    """What the answer takes, whether or not it was reused."""
    reused: bool = False
    """A harness that must answer alike had answered before: no model was asked again."""
    trace: Trace


class Outcome(Record):
    """An answered question with its reward."""

    harness: str
    """Fingerprint of the harness."""
    question: str
    """Readable id of the question; `answered.question` is the one that no other question shares."""
    trial: int = 0
    """Which repetition; part of every cache key."""
    reward: float | None
    """0 or 1 for options, 1 to 5 for open answers; None for `apparatus`, which is no evidence."""
    answered: Answered

    @property
    def status(self) -> str:
        """How it ended."""
        return self.answered.status

    @property
    def correct(self) -> bool:
        """Whether the highest reward for options was reached."""
        return self.reward == 1.0
