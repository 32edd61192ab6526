"""What an exception of LiteLLM means: one of our faults, in one line that holds no secret.

LiteLLM's classes alone do not say it: a refused connection, a reset and a page of HTML all come as an
internal server error of the provider. So the chain of causes, the status and the words are looked at too.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evoharness.models.hosted.faults import CallFailed, Fault
from evoharness.models.hosted.output_limit import NAMES as OUTPUT_NAMES
from evoharness.models.hosted.output_limit import OutputLimit, output_limit
from evoharness.models.hosted.retrying import asked_wait
from evoharness.providers import without_secrets
from evoharness.providers.waiting import headers_of

LONGEST_MESSAGE = 300
LONGEST_REPLY = 2_000
"""Letters of what a server says that are looked at."""
LONGEST_SCRUBBED = 16_000
RENAMED = {"max_tokens": "max_completion_tokens"}
"""Parameters that newer models know under another name."""
_NOT_CONNECTED = {"ConnectError", "ConnectTimeout", "ConnectionRefusedError", "gaierror"}
_STATUS_ERRORS = {"HTTPStatusError", "MaskedHTTPStatusError", "APIStatusError"}
"""Among the causes of a failure when the server replied with a status that is none of success."""
_OWN_WORDS = {"ValueError", "TypeError", "UnicodeEncodeError", "LocalProtocolError", "InvalidHeader"}
"""Errors raised before anything is sent; their texts may quote a header with its key."""
_BAD_HEADER = re.compile(r"(?:invalid|illegal) header|header value|leading whitespace", re.IGNORECASE)
_BROKEN = {"ReadError", "WriteError", "RemoteProtocolError", "ConnectionResetError", "IncompleteRead"}
_SLOW = {"ReadTimeout", "WriteTimeout", "PoolTimeout", "TimeoutError", "Timeout"}
_BLOCKED = re.compile(
    r"content.?(policy|filter|management)|safety system|usage policy|data_?inspection_?failed|responsibleai"
    r"|prohibited_content|flagged|moderation",
    re.IGNORECASE,
)
_NO_IMAGE = re.compile(
    r"(?:not|in)(?: an?)?[ -]?valid (?:image|picture)"
    r"|(?:decode|process|read|load|parse) (?:the |this )?image",
    re.IGNORECASE,
)
_NO_MONEY = re.compile(r"current quota|billing", re.IGNORECASE)
_SURELY_NO_MONEY = re.compile(
    r"insufficient.?(?:quota|balance|funds|credit)|credit balance|out of credit|arrearage"
    r"|billing_hard_limit|quota_exhausted",
    re.IGNORECASE,
)
_TRACE = re.compile(r"Traceback \(most recent call last\)|\bFile \"[^\"]+\", line \d+")
_KEYLESS = re.compile(r"missing credentials|api_key client option must be set", re.IGNORECASE)
_NO_KEY = re.compile(r"api.?key.{0,40}(not|missing|must|invalid|expired|required)", re.IGNORECASE)
_NO_PROVIDER = re.compile(r"provider not provided", re.IGNORECASE)
_NO_MODEL = re.compile(
    r"model.?not.?found|(?:unknown|no such|invalid) model|model\b.{0,120}?"
    r"(?:not (?:found|exist|supported|available|served)|does ?n[o']t exist|is unknown)",
    re.IGNORECASE | re.DOTALL,
)
_MODEL_NAMED = re.compile(r"model.?not.?found|unknown model|no such model", re.IGNORECASE)
_PASSING = re.compile(
    r"restart|starting|upstream|temporar|try again|retry|loading|warming|unavailable|overload|not ready",
    re.IGNORECASE,
)
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
    error: Exception, parameters: Mapping[str, Any] | Iterable[str], secrets: Iterable[str | None], now: float
) -> CallFailed:
    """What went wrong. `parameters`: those that were sent; `secrets`: what no message may hold."""
    causes = [type(cause).__name__ for cause in _chain(error)]
    status = getattr(error, "status_code", None)
    whole = _raw(error)
    raw = f"{whole[:LONGEST_REPLY]} {_codes(error)}".strip()
    wait = asked_wait(headers_of(error), raw, now)
    named = _named(error, raw, parameters)
    limit = _output_limit(raw, parameters) if status in (400, 413, 422) else None
    fault = _fault(causes, status if isinstance(status, int) else 0, raw, wait, named, limit)
    said = scrubbed(_words(fault, status, error, causes, without_secrets(whole, secrets)), secrets)
    answered = _STATUS_ERRORS & set(causes) or "PoolTimeout" in causes
    return CallFailed(
        fault,
        said,
        retry_after_s=wait if fault in (Fault.BUSY, Fault.SERVER) else None,
        parameter=named if fault is Fault.PARAMETER else None,
        most_images=_most_images(raw) if fault is Fault.TOO_LARGE else None,
        output_limit=limit if fault is Fault.OUTPUT else None,
        served=fault in (Fault.TIMEOUT, Fault.DROPPED, Fault.SERVER) and not answered,
    )


def scrubbed(text: str, secrets: Iterable[str | None]) -> str:
    """One line without anything that is, or looks like, a key."""
    text = without_secrets(text[:LONGEST_SCRUBBED], secrets)[:LONGEST_REPLY]
    text = " ".join(_SECRETS.sub("[key]", text).split())
    return text if len(text) <= LONGEST_MESSAGE else text[:LONGEST_MESSAGE] + "…"


def _fault(
    causes: list[str],
    status: int,
    raw: str,
    wait: float | None,
    named: str | None,
    limit: OutputLimit | None,
) -> Fault:
    kind = causes[0]
    if _NOT_CONNECTED & set(causes):
        return Fault.NO_CONNECTION
    if kind == "UnsupportedParamsError" and named:
        return Fault.PARAMETER
    if not _NO_IMAGE.search(raw) and (
        kind == "ContentPolicyViolationError" or (status in (400, 403, 422) and _BLOCKED.search(raw))
    ):
        return Fault.BLOCKED
    if kind == "PaymentRequiredError" or status == 402 or _is_out_of_money(status, raw, wait):
        return Fault.QUOTA
    if status in (401, 403) or _KEYLESS.search(raw) or (status == 400 and _NO_KEY.search(raw)):
        return Fault.KEY
    if _OWN_WORDS & set(causes) and not _STATUS_ERRORS & set(causes) and _BAD_HEADER.search(raw):
        return Fault.KEY
    if status == 404 and _PASSING.search(raw) and not _NO_MODEL.search(raw):
        return Fault.SERVER
    if status == 404 or _NO_PROVIDER.search(raw) or (status == 400 and _MODEL_NAMED.search(raw)):
        return Fault.MODEL
    if status == 429:
        return Fault.BUSY
    if limit is not None:
        return Fault.OUTPUT
    if kind == "ContextWindowExceededError" or status == 413 or _BLIND.search(raw):
        return Fault.TOO_LARGE
    if status in (400, 422):
        if named and _NOT_TAKEN.search(raw):
            return Fault.PARAMETER
        return Fault.TOO_LARGE if _TOO_MUCH.search(raw) else Fault.REQUEST
    if _SLOW & set(causes) or status in (408, 504):
        return Fault.TIMEOUT
    return Fault.DROPPED if _BROKEN & set(causes) else Fault.SERVER


def _is_out_of_money(status: int, raw: str, wait: float | None) -> bool:
    """Whether the account is; a provider that merely limits the rate mentions quotas and billing too."""
    if status not in (400, 403, 429):
        return False
    if _SURELY_NO_MONEY.search(raw):
        return True
    if status == 429:
        return wait is None and re.search("current quota", raw, re.IGNORECASE) is not None
    return wait is None and _NO_MONEY.search(raw) is not None


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def _raw(error: Exception) -> str:
    """What the provider said, without LiteLLM's own prefixes; the begin of it."""
    text = str(getattr(error, "message", None) or error)[:LONGEST_SCRUBBED]
    return re.sub(r"^(?:litellm\.)?(?:\w+(?:Error|Exception|Timeout)\b\s*[:-]?\s*)+", "", text).strip()


def _codes(error: Exception) -> str:
    """The codes in which the provider says what is wrong, where its reply has the usual form."""
    found: list[str] = []
    for cause in _chain(error):
        body: Any = getattr(cause, "body", None)
        if isinstance(body, dict):
            found += [body[name][:80] for name in ("code", "type") if isinstance(body.get(name), str)]
    return " ".join(dict.fromkeys(found))


def _output_limit(raw: str, parameters: Mapping[str, Any] | Iterable[str]) -> OutputLimit | None:
    """The most tokens of an answer, when that is what the refusal is about."""
    if not isinstance(parameters, Mapping):
        return None
    asked = next((parameters[name] for name in OUTPUT_NAMES if parameters.get(name)), None)
    return output_limit(raw, asked) if isinstance(asked, int) else None


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


def _words(fault: Fault, status: object, error: Exception, causes: list[str], raw: str) -> str:
    if _quotes_itself(error, raw):
        return "the request cannot be sent: a header, perhaps the key, has letters that none may have"
    if fault is Fault.NO_CONNECTION:
        if "gaierror" in causes:
            return "there is no such host"
        return "connection refused" if "ConnectionRefusedError" in causes else "no connection"
    if fault is Fault.DROPPED:
        return "the connection broke"
    if fault is Fault.TIMEOUT and _SLOW & set(causes):
        return "no answer in time"
    if raw.startswith("error - ") or "JSONDecodeError" in causes:
        return "the reply is no JSON"
    trace = _TRACE.search(raw)
    if trace is not None or "ValidationError" in causes:
        said = "" if trace is None else raw[: trace.start()].strip(" :-\n")
        if not said or "Invalid response object" in said or trace is None:
            return "the reply has not the form of a completion"
        raw = said
    return f"{raw or causes[0]} ({status})" if isinstance(status, int) else raw or causes[0]


def _quotes_itself(error: Exception, raw: str) -> bool:
    """Whether the text is that of an error which was raised here, about what was to be sent."""
    if _STATUS_ERRORS & {type(cause).__name__ for cause in _chain(error)}:
        return False
    if _BAD_HEADER.search(raw[:LONGEST_REPLY]):
        return True
    own = (str(cause) for cause in _chain(error) if type(cause).__name__ in _OWN_WORDS)
    return any(said and (said in raw or raw in said) for said in own)
