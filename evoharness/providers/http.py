"""One small request, without a library that takes long to import."""

import http.client
import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MOST_BYTES = 4_000_000
PIECE = 65_536
"""Bytes that are read at a time, at the most."""


class NoAnswer(Exception):
    """Nobody answered; the message says why in a few words."""


@dataclass(frozen=True)
class Answer:
    """What a server said."""

    status: int
    text: str
    kind: str
    """Its content type."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A key that is sent to one address does not go on to another."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:  # noqa: ARG002
        return None


_OPENER = urllib.request.build_opener(_NoRedirects())


def ask(
    url: str, headers: Mapping[str, str], timeout_s: float, body: Mapping[str, Any] | None = None
) -> Answer:
    """GET, or POST when there is a body; tried twice when the connection breaks. Raises NoAnswer."""
    try:
        return _ask(url, headers, timeout_s, body)
    except NoAnswer as problem:
        if isinstance(problem.__cause__, ConnectionRefusedError | socket.gaierror):
            raise
    return _ask(url, headers, timeout_s, body)


def _ask(url: str, headers: Mapping[str, str], timeout_s: float, body: Mapping[str, Any] | None) -> Answer:
    data = None if body is None else json.dumps(body).encode()
    sent = {"Accept": "application/json", "Content-Type": "application/json", **headers}
    request = urllib.request.Request(url, data=data, headers=sent)
    try:
        with _reply(request, timeout_s) as response:
            return _read(response, timeout_s)
    except urllib.error.URLError as error:
        reason = error.reason
        cause = reason if isinstance(reason, Exception) else error
        raise NoAnswer(_words(cause, timeout_s)) from cause
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NoAnswer(_words(error, timeout_s)) from error


def _reply(request: urllib.request.Request, timeout_s: float) -> Any:
    """Whatever its status."""
    try:
        return _OPENER.open(request, timeout=timeout_s)
    except urllib.error.HTTPError as refused:
        return refused


def _read(response: Any, timeout_s: float) -> Answer:
    """What is said. TimeoutError when it takes too long as a whole: that of a connection begins anew with
    every byte."""
    end = time.monotonic() + timeout_s
    text = bytearray()
    while len(text) < MOST_BYTES and (piece := response.read1(PIECE)):
        text += piece
        if time.monotonic() > end:
            raise TimeoutError
    kind = str(response.headers.get("Content-Type", "")).partition(";")[0]
    return Answer(response.status, text.decode("utf-8", "replace"), kind)


def _words(error: Exception, timeout_s: float) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {timeout_s:g} s"
    if isinstance(error, socket.gaierror):
        return "there is no host of that name"
    if isinstance(error, http.client.HTTPException):
        return "what answers there does not speak HTTP"
    # Of other errors only the kind is told: the text of a ValueError may quote a header, which holds a key.
    return (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
