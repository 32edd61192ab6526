"""A small HTTP server that replies by script, for tests of what happens on the wire.

It reads each request whole, keeps it, and performs the next action of its script; the last action is
repeated. It knows nothing of tasks: what it says is what the test told it to say.
"""

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Request:
    """What arrived."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    at: float
    """When it was read, by the monotonic clock."""


class Connection:
    """The reply side of one request."""

    def __init__(self, handler: BaseHTTPRequestHandler) -> None:
        self._handler = handler

    def send(
        self,
        status: int,
        body: bytes,
        headers: Mapping[str, str] | None = None,
        content_type: str = "application/json",
        promised: int | None = None,
    ) -> None:
        """Reply in one write; `promised` bytes are announced when that is not the length of the body."""
        fields = {"content-type": content_type, "content-length": str(promised or len(body))}
        head = f"HTTP/1.1 {status} Scripted\r\n" + "".join(
            f"{name}: {value}\r\n" for name, value in {**fields, **(headers or {})}.items()
        )
        self._handler.wfile.write(head.encode() + b"\r\n" + body)
        self._handler.wfile.flush()

    def drip(self, body: bytes, every_s: float, blanks: int) -> None:
        """Reply with so many blanks before the body, one at a time."""
        head = (
            f"HTTP/1.1 200 Scripted\r\ncontent-type: application/json\r\ncontent-length: {blanks + len(body)}"
        )
        self._handler.wfile.write(head.encode() + b"\r\n\r\n")
        for _ in range(blanks):
            self._handler.wfile.write(b" ")
            self._handler.wfile.flush()
            time.sleep(every_s)
        self._handler.wfile.write(body)

    def reset(self) -> None:
        """Drop the connection with a TCP reset."""
        self._handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._handler.close_connection = True
        self._handler.connection.close()


Action = Callable[[Request, Connection], None]


def completion(
    content: str | None,
    *,
    prompt_tokens: int = 11,
    completion_tokens: int = 7,
    finish_reason: str = "stop",
    **message: Any,
) -> dict[str, Any]:
    """A chat completion as OpenAI writes it."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **message},
                "finish_reason": finish_reason,
            }
        ],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


def says(content: str | None, **fields: Any) -> Action:
    """Answer with a completion of that text."""
    return sends(200, completion(content, **fields))


def answers(value: Any, **fields: Any) -> Action:
    """Answer with that value as JSON."""
    return says(json.dumps(value), **fields)


def sends(status: int, body: Any, headers: Mapping[str, str] | None = None, **options: Any) -> Action:
    """Reply with a status and a body: bytes as they are, anything else as JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return lambda _, connection: connection.send(status, data, headers, **options)


def fails(
    status: int, message: str = "scripted failure", headers: Mapping[str, str] | None = None, **error: Any
) -> Action:
    """Reply with an error as OpenAI writes it."""
    return sends(status, {"error": {"message": message, "type": "scripted", **error}}, headers)


def stalls(seconds: float) -> Action:
    """Say nothing for that long, then drop the connection."""

    def act(_: Request, connection: Connection) -> None:
        time.sleep(seconds)
        connection.reset()

    return act


def drips(every_s: float, blanks: int) -> Action:
    """Send a good reply after so many blanks, one every so many seconds."""
    body = json.dumps(completion('{"text": "x"}')).encode()
    return lambda _, connection: connection.drip(body, every_s, blanks)


def resets(_: Request, connection: Connection) -> None:
    """Drop the connection before a reply."""
    connection.reset()


def resets_mid_body(_: Request, connection: Connection) -> None:
    """Send half a reply, then drop the connection."""
    body = json.dumps(completion("half")).encode()
    connection.send(200, body[: len(body) // 2], promised=len(body))
    connection.reset()


@dataclass
class ScriptedServer:
    """Where it listens, what it was asked, and what it does next."""

    address: str
    requests: list[Request] = field(default_factory=list)
    script: list[Action] = field(default_factory=list)
    close: Callable[[], None] = lambda: None
    """Stops listening, as a server that went down."""
    most_at_once: int = 0
    """The largest number of requests that were open at the same time."""
    _open: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def will(self, *actions: Action) -> None:
        """Perform these in order; the last one from then on."""
        self.script = list(actions)

    @property
    def bodies(self) -> Sequence[dict[str, Any]]:
        """The JSON of all requests."""
        return [request.body for request in self.requests]

    def _next(self, request: Request) -> Action:
        with self._lock:
            self.requests.append(request)
            return self.script.pop(0) if len(self.script) > 1 else self.script[0]

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._lock:
            self._open += 1
            self.most_at_once = max(self.most_at_once, self._open)
        try:
            yield
        finally:
            with self._lock:
                self._open -= 1


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


@contextmanager
def scripted_server() -> Iterator[ScriptedServer]:
    """A server on a free port of the loopback address, for the time of the block."""

    open_connections: list[socket.socket] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            open_connections.append(self.connection)

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get("content-length", 0)))
            request = Request(self.path, dict(self.headers.items()), json.loads(data), time.monotonic())
            with state._counted():
                try:
                    state._next(request)(request, Connection(self))
                except OSError:
                    self.close_connection = True

        def log_message(self, *_: Any) -> None:
            pass

        def finish(self) -> None:
            with suppress(OSError, ValueError):
                super().finish()

    server = _Server(("127.0.0.1", 0), Handler)
    state = ScriptedServer(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()

    def close() -> None:
        server.shutdown()
        server.server_close()
        thread.join()
        for connection in open_connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    state.close = close
    try:
        yield state
    finally:
        close()
