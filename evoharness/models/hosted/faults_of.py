"""What an exception of LiteLLM means: one of our faults, in one line that holds no secret.

LiteLLM's classes alone do not say it: a refused connection, a reset and a page of HTML all come as an
internal server error of the provider. So the chain of causes, the status and the words are looked at too.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evoharness.models.hosted.faults import CallFailed, Fault
from evoharness.models.hosted.retrying import asked_wait

LONGEST_MESSAGE = 300
RENAMED = {"max_tokens": "max_completion_tokens"}
"""Parameters that newer models know under another name."""
_NOT_CONNECTED = {"ConnectError", "ConnectTimeout", "ConnectionRefusedError", "gaierror"}
_BROKEN = {"ReadError", "WriteError", "RemoteProtocolError", "ConnectionResetError", "IncompleteRead"}
_SLOW = {"ReadTimeout", "WriteTimeout", "PoolTimeout", "TimeoutError", "Timeout"}
_BLOCKED = re.compile(
    r"content.?(policy|filter|management)|safety system|usage policy|data_?inspection_?failed|responsibleai"
    r"|prohibited_content|flagged|moderation",
    re.IGNORECASE,
)
_NO_MONEY = re.compile(
    r"insufficient.?(quota|balance|funds)|current quota|credit balance|billing|arrearage", re.IGNORECASE
)
_KEYLESS = re.compile(r"missing credentials|api_key client option must be set", re.IGNORECASE)
_NO_KEY = re.compile(r"api.?key.{0,40}(not|missing|must|invalid|expired|required)", re.IGNORECASE)
_NO_PROVIDER = re.compile(r"provider not provided", re.IGNORECASE)
_NO_MODEL = re.compile(r"model.?not.?found|unknown model|no such model", re.IGNORECASE)
_TOO_MUCH = re.compile(
    r"too (large|long|many)|context.?(length|window|size)|maximum.{0,20}(tokens|length|images)|exceeds? the"
    r"|at most \d+ (image|picture|video)|payload size",
    re.IGNORECASE,
)
_MOST = r"(?:at most|maximum(?: number)?(?: of| is)|limit(?: of| is)|up to|<=|>)\s*(?P<{0}>\d{{1,4}})\b"
_MOST_IMAGES = re.compile(
    _MOST.format("before") + r"[^.]*\bimage|\bimages?\b[^.]*?" + _MOST.format("after"), re.IGNORECASE
)
_BLIND = re.compile(
    r"image(?: input|_url|s)? (?:is|are)? ?not supported|not support (?:image|vision|multi.?modal)"
    r"|not a (?:vision|multi.?modal)|no (?:endpoints found that )?support(?:s|ed)? (?:for )?image",
    re.IGNORECASE,
)
_NOT_TAKEN = re.compile(
    r"support|recogni|unknown|unexpected|not (?:allowed|permitted|accepted)|extra|invalid|deprecated|only",
    re.IGNORECASE,
)
_SECRETS = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|key)[-_][A-Za-z0-9_\-*]{8,}|\bAIza[\w-]{16,}|(?i:bearer)\s+\S+"
    r"|(?i:(?:api[-_]?key|key|token)=)[^&\s'\"]+"
)


def failed_call(
    error: Exception, parameters: Iterable[str], secrets: Iterable[str | None], now: float
) -> CallFailed:
    """What went wrong. `parameters`: names of those that were sent; `secrets`: what no message may hold."""
    causes = [type(cause).__name__ for cause in _chain(error)]
    status = getattr(error, "status_code", None)
    raw = _raw(error)
    wait = asked_wait(_headers(error), raw, now)
    named = _named(error, raw, parameters)
    fault = _fault(causes, status if isinstance(status, int) else 0, raw, wait, named)
    said = scrubbed(_words(fault, status, causes, raw), secrets)
    return CallFailed(
        fault,
        said,
        retry_after_s=wait if fault in (Fault.BUSY, Fault.SERVER) else None,
        parameter=named if fault is Fault.PARAMETER else None,
        most_images=_most_images(raw) if fault is Fault.TOO_LARGE else None,
    )


def scrubbed(text: str, secrets: Iterable[str | None]) -> str:
    """One line without anything that is, or looks like, a key."""
    for secret in sorted((secret for secret in secrets if secret and len(secret) > 3), key=len, reverse=True):
        text = text.replace(secret, "[key]")
    text = " ".join(_SECRETS.sub("[key]", text).split())
    return text if len(text) <= LONGEST_MESSAGE else text[:LONGEST_MESSAGE] + "…"


def _fault(causes: list[str], status: int, raw: str, wait: float | None, named: str | None) -> Fault:
    kind = causes[0]
    if _NOT_CONNECTED & set(causes):
        return Fault.NO_CONNECTION
    if kind == "UnsupportedParamsError" and named:
        return Fault.PARAMETER
    if kind == "ContentPolicyViolationError" or (status in (400, 403, 422) and _BLOCKED.search(raw)):
        return Fault.BLOCKED
    if kind == "PaymentRequiredError" or status == 402:
        return Fault.QUOTA
    if status in (400, 403, 429) and wait is None and _NO_MONEY.search(raw):
        return Fault.QUOTA
    if status in (401, 403) or _KEYLESS.search(raw) or (status == 400 and _NO_KEY.search(raw)):
        return Fault.KEY
    if status == 404 or _NO_PROVIDER.search(raw) or (status == 400 and _NO_MODEL.search(raw)):
        return Fault.MODEL
    if status == 429:
        return Fault.BUSY
    if kind == "ContextWindowExceededError" or status == 413 or _BLIND.search(raw):
        return Fault.TOO_LARGE
    if status in (400, 422):
        if named and _NOT_TAKEN.search(raw):
            return Fault.PARAMETER
        return Fault.TOO_LARGE if _TOO_MUCH.search(raw) else Fault.REQUEST
    if _SLOW & set(causes) or status in (408, 504):
        return Fault.TIMEOUT
    return Fault.DROPPED if _BROKEN & set(causes) else Fault.SERVER


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def _raw(error: Exception) -> str:
    """What the provider said, without LiteLLM's own prefixes."""
    text = getattr(error, "message", None) or str(error)
    return re.sub(r"^(?:litellm\.)?(?:\w+(?:Error|Exception|Timeout)\b\s*[:-]?\s*)+", "", str(text)).strip()


def _headers(error: Exception) -> Mapping[str, str]:
    for source in (getattr(error, "response", None), error):
        for name in ("headers", "litellm_response_headers"):
            headers = getattr(source, name, None)
            if headers:
                return dict(headers)
    return {}


def _named(error: Exception, raw: str, parameters: Iterable[str]) -> str | None:
    """The parameter that a refusal is about: the one that the reply names, else the first in its words."""
    sent = set(parameters)
    body: Any = getattr(error, "body", None)
    said = body.get("param") if isinstance(body, dict) else None
    if isinstance(said, str) and (top := re.split(r"[.\[]", said)[0]) in sent:
        return top
    places = {name: match.start() for name in sent if (match := re.search(rf"\b{re.escape(name)}\b", raw))}
    return min(places, key=lambda name: places[name]) if places else None


def _most_images(raw: str) -> int | None:
    """How many pictures the server takes; None when it does not say."""
    if _BLIND.search(raw):
        return 0
    match = _MOST_IMAGES.search(raw)
    return int(match["before"] or match["after"]) if match else None


def _words(fault: Fault, status: object, causes: list[str], raw: str) -> str:
    if fault is Fault.NO_CONNECTION:
        if "gaierror" in causes:
            return "there is no such host"
        return "connection refused" if "ConnectionRefusedError" in causes else "no connection"
    if fault is Fault.DROPPED:
        return "the connection broke"
    if fault is Fault.TIMEOUT and _SLOW & set(causes):
        return "no answer in time"
    if raw.startswith("error - ") or "Expecting value" in raw:
        return "the reply is no JSON"
    return f"{raw or causes[0]} ({status})" if isinstance(status, int) else raw or causes[0]
