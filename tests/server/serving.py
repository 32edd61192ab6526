"""HTTP/1.1 on raw streams: requests in, replies out, as cheap as it can be."""

import asyncio
import hashlib
import json
import socket
import struct
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

from tests.server import answering, beside
from tests.server.answering import Said
from tests.server.faults import KINDS, WHOLE, Faults
from tests.server.reading import name_of

STALL_S = 0.5
REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}


@dataclass
class Settings:
    """What a server does."""

    models: tuple[str, ...] = ("embedded",)
    """Names of the models that it has."""
    key: str | None = None
    """The key that calls need; None: none."""
    latency_s: float | None = None
    """Answer after so long with the least that fits the schema, instead of doing the task."""
    workers: int = 2
    """Processes that do tasks."""


@dataclass
class Tally:
    """What was served since the last reset."""

    calls: int = 0
    """Completions that were worked out, and are to be paid for whether or not they arrive."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    requests: int = 0
    """Everything that was asked of a model, in vain or not."""
    open: int = 0
    most_open: int = 0
    """The largest number of requests that were open at the same time."""
    faults: Counter[str] = field(default_factory=Counter)
    tasks: Counter[str] = field(default_factory=Counter)
    """How often each task was asked for."""
    embeddings: int = 0
    """Requests for vectors that were worked out, beside the completions."""
    embedded_tokens: int = 0
    transcriptions: int = 0
    """Sounds that were listened to, likewise."""
    transcribed_tokens: int = 0
    """In both directions."""


class Reply(Exception):
    """Ends a request with an error."""

    def __init__(self, status: int, message: str, code: str = "", headers: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.body = json.dumps({"error": {"message": message, "type": "test", "code": code}}).encode()
        self.headers = headers


class Dropped(Exception):
    """The connection ends here."""


class Server:
    """All that connections share."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.faults = Faults()
        self.tally = Tally()
        self.pace_s = 0.0
        self._said: dict[str, Said] = {}
        self._least: dict[str, str] = {}
        self._doing: dict[str, asyncio.Future[Said]] = {}
        # One pool a process: those who look at the same pictures go to the same one.
        self._pools = [
            ProcessPoolExecutor(1, mp_context=get_context("spawn"))
            for _ in range(0 if settings.latency_s is not None else settings.workers)
        ]

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until it ends."""
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                method, path, headers = _head(head)
                data = await reader.readexactly(int(headers.get("content-length", 0)))
                try:
                    await self._answer(method, path, headers, data, writer)
                except Reply as reply:
                    _send(writer, reply.status, reply.body, headers=reply.headers)
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError, Dropped):
            pass
        finally:
            writer.close()

    async def _answer(
        self, method: str, path: str, headers: Mapping[str, str], data: bytes, writer: asyncio.StreamWriter
    ) -> None:
        if path.startswith("/control/"):
            _send(writer, 200, json.dumps(self._control(path, json.loads(data or b"{}"))).encode())
            return
        if self.settings.key and headers.get("authorization") != f"Bearer {self.settings.key}":
            raise Reply(401, "Incorrect API key provided", "invalid_api_key")
        if path == "/v1/models":
            listed = [{"id": name, "object": "model"} for name in self.settings.models]
            _send(writer, 200, json.dumps({"object": "list", "data": listed}).encode())
            return
        if method != "POST" or path not in ("/v1/chat/completions", *beside.PATHS):
            raise Reply(404, f"there is no {path}")
        tally = self.tally
        tally.open += 1
        tally.requests += 1
        tally.most_open = max(tally.most_open, tally.open)
        try:
            if path in beside.PATHS:
                await self._do_beside(beside.read(path, headers, data), writer)
            else:
                await self._complete(json.loads(data), data, writer)
        finally:
            tally.open -= 1

    async def _do_beside(self, asked: beside.Asked, writer: asyncio.StreamWriter) -> None:
        fault = self._fault(asked.model, asked.digest, first_turn=True)
        if fault in _BEFORE:
            await _BEFORE[fault](writer)
            return
        try:
            given = await asyncio.to_thread(beside.answer, asked, fault)
        except ValueError as error:
            raise Reply(400, f"{type(error).__name__}: {error}") from error
        if asked.path == beside.EMBEDDINGS:
            self.tally.embeddings += 1
            self.tally.embedded_tokens += given.prompt_tokens
        else:
            self.tally.transcriptions += 1
            self.tally.transcribed_tokens += given.prompt_tokens + given.completion_tokens
        reply = json.dumps(given.body).encode()
        if fault is None or fault in WHOLE:
            _send(writer, 200, reply)
        else:
            await _spoil(writer, reply, fault)

    def _fault(self, model: Any, digest: str, first_turn: bool) -> str | None:
        """How a request fails; Reply where there is no such model."""
        if model not in self.settings.models:
            raise Reply(404, f"The model `{model}` does not exist", "model_not_found")
        fault = self.faults.next(digest, first_turn)
        if fault is not None:
            self.tally.faults[fault] += 1
        return fault

    async def _complete(self, body: Mapping[str, Any], data: bytes, writer: asyncio.StreamWriter) -> None:
        digest = hashlib.sha256(data).hexdigest()
        first_turn = not any(message["role"] == "assistant" for message in body["messages"])
        fault = self._fault(body.get("model"), digest, first_turn)
        if fault in _BEFORE:
            await _BEFORE[fault](writer)
            return
        try:
            said, _ = await asyncio.gather(self._say(body, data, digest), asyncio.sleep(self.pace_s))
        except ValueError as error:
            raise Reply(400, f"{type(error).__name__}: {error}") from error
        self.tally.calls += 1
        self.tally.prompt_tokens += said.prompt_tokens
        self.tally.completion_tokens += said.completion_tokens
        reply = _completion(body["model"], said, fault)
        if fault is None or fault in WHOLE:
            _send(writer, 200, reply)
        else:
            await _spoil(writer, reply, fault)

    async def _say(self, body: Mapping[str, Any], data: bytes, digest: str) -> Said:
        if self.settings.latency_s is not None:
            await asyncio.sleep(self.settings.latency_s)
            return self._least_said(body)
        self.tally.tasks[name_of(body)] += 1
        if digest in self._said:
            return self._said[digest]
        if digest not in self._doing:
            pictures = answering.pictures_digest(body)
            pool = self._pools[(pictures[0] if body_has_pictures(body) else data[-9]) % len(self._pools)]
            loop = asyncio.get_running_loop()
            self._doing[digest] = loop.run_in_executor(pool, answering.answer, data)
        try:
            self._said[digest] = await asyncio.shield(self._doing[digest])
        finally:
            self._doing.pop(digest, None)
        return self._said[digest]

    def _least_said(self, body: Mapping[str, Any]) -> Said:
        wanted = body["response_format"]["json_schema"]
        key = f"{wanted['name']}:{len(str(wanted['schema']))}"
        if key not in self._least:
            self._least[key] = json.dumps(answering.least(wanted["schema"]))
        content = self._least[key]
        return Said(content, answering.text_tokens(body), len(content) // answering.CHARACTERS_A_TOKEN)

    def _control(self, path: str, asked: dict[str, Any]) -> dict[str, Any]:
        if path == "/control/faults":
            self.faults = Faults(**asked)
            unknown = {*self.faults.kinds, *self.faults.script, self.faults.always} - {*KINDS, "ok", None}
            assert not unknown, unknown
        elif path == "/control/reset":
            self.tally = Tally(open=self.tally.open)
        elif path == "/control/pace":
            self.pace_s = float(asked["seconds"])
        return vars(self.tally)

    def close(self) -> None:
        """End the processes that do tasks."""
        for pool in self._pools:
            pool.shutdown(wait=False, cancel_futures=True)


def body_has_pictures(body: Mapping[str, Any]) -> bool:
    """Whether pictures come with a request."""
    return any(isinstance(message["content"], list) for message in body["messages"])


def _head(head: bytes) -> tuple[str, str, dict[str, str]]:
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    fields = (line.partition(":") for line in lines if line)
    return method, target.partition("?")[0], {name.lower(): value.strip() for name, _, value in fields}


def _send(
    writer: asyncio.StreamWriter,
    status: int,
    body: bytes,
    kind: str = "application/json",
    headers: str = "",
    promised: int | None = None,
) -> None:
    reason = REASONS.get(status, "Error")
    length = len(body) if promised is None else promised
    head = f"HTTP/1.1 {status} {reason}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n{headers}\r\n"
    writer.write(head.encode() + body)


def _completion(model: str, said: Said, fault: str | None) -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": said.content}
    finish = "stop"
    if fault == "malformed_answer":
        message["content"] = "I think that it is " + said.content[1 : len(said.content) // 2]
    elif fault == "truncated_answer":
        message["content"], finish = said.content[:7], "length"
    elif fault == "refusal":
        message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    elif fault == "empty_answer":
        message["content"] = ""
    elif fault == "filtered":
        message["content"], finish = "", "content_filter"
    choices = [{"index": 0, "message": message, "finish_reason": finish}]
    return json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": model,
            "choices": [] if fault == "empty_choices" else choices,
            "usage": {
                "prompt_tokens": said.prompt_tokens,
                "completion_tokens": said.completion_tokens,
                "total_tokens": said.prompt_tokens + said.completion_tokens,
            },
        }
    ).encode()


async def _spoil(writer: asyncio.StreamWriter, reply: bytes, fault: str) -> None:
    """A good reply, damaged on the way, or lost altogether."""
    if fault == "stall":
        await asyncio.sleep(STALL_S)
        _reset(writer)
    elif fault == "reset":
        _reset(writer)
    elif fault == "reset_mid_body":
        _send(writer, 200, reply[: len(reply) // 2], promised=len(reply))
        _reset(writer)
    elif fault == "truncated_body":
        _send(writer, 200, reply[: len(reply) // 2], promised=len(reply))
    elif fault == "malformed_body":
        _send(writer, 200, reply[: len(reply) // 2])
        return
    elif fault == "wrong_type":
        _send(writer, 200, b"<html><body>Bad gateway</body></html>", kind="text/html")
        return
    raise Dropped


def _reset(writer: asyncio.StreamWriter) -> None:
    """Break the connection with a TCP reset instead of ending it."""
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


async def _busy(_: asyncio.StreamWriter) -> None:
    raise Reply(429, "Rate limit reached", "rate_limit_exceeded")


async def _busy_until(_: asyncio.StreamWriter) -> None:
    raise Reply(429, "Rate limit reached", "rate_limit_exceeded", "retry-after: 1\r\n")


async def _error_500(_: asyncio.StreamWriter) -> None:
    raise Reply(500, "The server had an error")


async def _error_503(_: asyncio.StreamWriter) -> None:
    raise Reply(503, "The engine is overloaded")


async def _blocked(_: asyncio.StreamWriter) -> None:
    raise Reply(400, "Your request was rejected by our safety system", "content_policy_violation")


async def _error_400(_: asyncio.StreamWriter) -> None:
    raise Reply(400, "Something is wrong with the request")


async def _error_401(_: asyncio.StreamWriter) -> None:
    raise Reply(401, "Incorrect API key provided", "invalid_api_key")


async def _error_404(_: asyncio.StreamWriter) -> None:
    raise Reply(404, "The model does not exist", "model_not_found")


_BEFORE: dict[str | None, Any] = {
    "busy": _busy,
    "busy_until": _busy_until,
    "error_500": _error_500,
    "error_503": _error_503,
    "blocked": _blocked,
    "error_400": _error_400,
    "error_401": _error_401,
    "error_404": _error_404,
}
"""Faults that come before anything is worked out; nobody pays for them."""
