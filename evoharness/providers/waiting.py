"""How long a server asks to wait before it is asked again."""

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

_IN_WORDS = re.compile(
    r"(?:retry(?:ing)? (?:in|after)|try again in|\"retryDelay\":\s*\")\s*(\d+(?:\.\d+)?)\s*(ms|s|m)?",
    re.IGNORECASE,
)
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}


def asked_wait(headers: Mapping[str, str], message: str, now: float) -> float | None:
    """How many seconds a reply asks to wait; None when it does not say.

    Read from `retry-after-ms`, from `Retry-After` (seconds or a date), or from the words of the message.
    """
    plain = {name.lower(): value.strip() for name, value in headers.items()}
    if re.fullmatch(r"\d+(\.\d+)?", milliseconds := plain.get("retry-after-ms", "")):
        return float(milliseconds) / 1000
    given = plain.get("retry-after", "")
    if re.fullmatch(r"\d+(\.\d+)?", given):
        return float(given)
    if given:
        try:
            return max(0.0, parsedate_to_datetime(given).timestamp() - now)
        except (ValueError, TypeError, OverflowError):
            pass
    match = _IN_WORDS.search(message)
    return float(match[1]) * _UNITS[(match[2] or "s").lower()] if match else None


def headers_of(error: BaseException) -> Mapping[str, str]:
    """The headers of the reply that an exception of litellm is about, wherever it keeps them."""
    for source in (getattr(error, "response", None), error):
        for name in ("headers", "litellm_response_headers"):
            headers = getattr(source, name, None)
            if headers:
                return dict(headers)
    return {}
