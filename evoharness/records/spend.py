"""What an answer, a stage or a run has used."""

from evoharness.records.base import Record


class Spend(Record):
    """Model calls, tokens, frames and money; adds up with `+`."""

    calls: int = 0
    """Calls to a backbone."""
    input_tokens: int = 0
    """Tokens given, those of frames included."""
    output_tokens: int = 0
    """Tokens received."""
    frames: int = 0
    """Frames shown to a backbone."""
    cost_usd: float | None = 0.0
    """Money in US dollars; None as soon as the price of one call is unknown."""

    @property
    def tokens(self) -> int:
        """Tokens in both directions."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: "Spend") -> "Spend":
        known = self.cost_usd is not None and other.cost_usd is not None
        return Spend(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            frames=self.frames + other.frames,
            cost_usd=(self.cost_usd or 0.0) + (other.cost_usd or 0.0) if known else None,
        )
