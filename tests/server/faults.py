"""How the server fails, and when: by a script, or at the first attempt of a share of all requests."""

import hashlib
import random
from dataclasses import dataclass, field

PASSING = (
    "busy",
    "busy_until",
    "error_500",
    "error_503",
    "stall",
    "reset",
    "reset_mid_body",
    "malformed_body",
    "truncated_body",
    "wrong_type",
    "malformed_answer",
    "truncated_answer",
    "empty_choices",
)
"""Faults that are over at the next attempt.

busy: 429; busy_until: 429 with Retry-After; stall: silence, then the connection breaks; reset: it breaks in
place of a reply; the bodies are no JSON, or end early; the answers are fine HTTP around a text that is no
JSON, or whose end is missing, or around no choice at all.
"""
LASTING = ("refusal", "blocked", "empty_answer", "filtered")
"""Ways of not answering that asking again would not change."""
KINDS = (*PASSING, *LASTING, "error_400", "error_401", "error_404")
WHOLE = ("malformed_answer", "truncated_answer", "refusal", "empty_choices", "empty_answer", "filtered")
"""Replies that arrive as they were sent."""
LOST = ("stall", "reset", "reset_mid_body", "malformed_body", "truncated_body", "wrong_type")
"""Replies that were worked out, and are paid for, and do not arrive as they were meant to."""


@dataclass
class Faults:
    """Decides how a request fails."""

    share: float = 0.0
    """Of the first attempts; those that fail are chosen by their content."""
    kinds: tuple[str, ...] = PASSING
    seed: int = 0
    script: list[str] = field(default_factory=list)
    """What happens to the next requests, in order; `ok` lets one pass. It comes before the share."""
    always: str | None = None
    """What happens to every request."""
    attempts: dict[str, int] = field(default_factory=dict)
    """Digest of a request → how often it came."""

    def next(self, digest: str, first_turn: bool) -> str | None:
        """How a request fails; None: it does not. `first_turn`: it is not about an earlier answer."""
        self.attempts[digest] = attempt = self.attempts.get(digest, 0) + 1
        if self.script:
            kind = self.script.pop(0)
            return None if kind == "ok" else kind
        if self.always is not None:
            return self.always
        if attempt > 1 or not first_turn or not self.share:
            return None
        chance = random.Random(hashlib.sha256(f"{self.seed}:{digest}".encode()).hexdigest())
        return chance.choice(self.kinds) if chance.random() < self.share else None
