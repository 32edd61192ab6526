"""What can go wrong with one call, told apart by what can be done about it."""

from enum import StrEnum

from evoharness.models.hosted.output_limit import OutputLimit


class Fault(StrEnum):
    """Why a call gave no answer."""

    BUSY = "busy"
    """The provider asks to slow down (429)."""
    SERVER = "server"
    """The server failed (5xx), or sent something that is no reply."""
    TIMEOUT = "timeout"
    """Nothing came in time."""
    DROPPED = "dropped"
    """The connection broke during the call."""
    NO_CONNECTION = "no_connection"
    """There was nobody to connect to."""
    QUOTA = "quota"
    """The account is out of money or of quota: waiting does not help."""
    KEY = "key"
    """The key is missing, or not accepted (401, 403)."""
    MODEL = "model"
    """There is no such model, or no such path (404)."""
    PARAMETER = "parameter"
    """A parameter is not accepted; `CallFailed.parameter` names it."""
    OUTPUT = "output"
    """More tokens are asked for than the model gives; `CallFailed.output_limit` says how many it does."""
    TOO_LARGE = "too_large"
    """The request is larger than the model or the provider takes."""
    BLOCKED = "blocked"
    """The content is refused by the provider before the model answers."""
    REQUEST = "request"
    """The request is refused for another reason (400, 422)."""


class CallFailed(Exception):
    """One call that gave no answer. The message is one line without secrets."""

    def __init__(
        self,
        fault: Fault,
        message: str,
        *,
        retry_after_s: float | None = None,
        parameter: str | None = None,
        most_images: int | None = None,
        output_limit: OutputLimit | None = None,
        served: bool = False,
    ) -> None:
        super().__init__(message)
        self.fault = fault
        self.retry_after_s = retry_after_s
        """How long the server asks to wait, in seconds; None when it does not say."""
        self.parameter = parameter
        """The parameter that is not accepted, as litellm names it."""
        self.most_images = most_images
        """How many pictures the server takes, when it says so."""
        self.output_limit = output_limit
        self.served = served
        """The server may have done the work, and be paid for it: only its reply did not arrive whole."""
        self.attempts = 1
        """How many calls were made in vain."""
