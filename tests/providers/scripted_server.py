"""A real HTTP server on this machine whose answers a test writes down beforehand."""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Received:
    """One request."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        """The JSON that was sent."""
        return json.loads(self.raw)


@dataclass(frozen=True)
class Said:
    """One answer."""

    content: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    drop: bool = False
    """Close the connection instead."""


Answering = Callable[[Received], Said]


class ScriptedServer:
    """Serves on a free port as long as the block lasts; `received` has every request in order."""

    def __init__(self, answering: Answering) -> None:
        self.answering = answering
        self.received: list[Received] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._serve()

            def do_POST(self) -> None:
                self._serve()

            def _serve(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = Received(self.command, self.path, headers, raw)
                outer.received.append(request)
                said = outer.answering(request)
                if said.drop:
                    self.close_connection = True
                    return
                is_text = isinstance(said.content, str)
                data = (said.content if is_text else json.dumps(said.content)).encode()
                self.send_response(said.status)
                kind = "text/html" if is_text else "application/json"
                for name, value in {"Content-Type": kind, **said.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def address(self) -> str:
        """`http://127.0.0.1:port`."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def refusal(status: int, message: str, **headers: str) -> Said:
    """An error as OpenAI's protocol words it."""
    return Said({"error": {"message": message, "type": "error", "code": None}}, status, headers)
