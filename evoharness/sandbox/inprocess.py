"""The `inprocess` backend: the language layer alone, in a thread of this process. For tests.

Nothing but the language policy stands between the source and this process: memory is not limited, and what
no step counts cannot be stopped. Its level is `none`, so it runs only with consent.
"""

import contextlib
import socket
import threading
from collections.abc import Mapping
from typing import Any

from evoharness.sandbox.confined import framing
from evoharness.sandbox.job import Job, check_job, result_of, run_job, violations_of
from evoharness.sandbox.result import (
    HostApi,
    SandboxLevel,
    SandboxLimits,
    SandboxResult,
    Violation,
    demand_level,
)
from evoharness.sandbox.session import Session


class UnsafeInProcessSandbox:
    """Runs source in this process, unconfined; `allow_weaker` must say that this is wanted."""

    level = SandboxLevel(layers=())

    def __init__(self, allow_weaker: bool = False) -> None:
        self._allow_weaker = allow_weaker

    def run(
        self, source: str, entry: str, arguments: Mapping[str, Any], api: HostApi, limits: SandboxLimits
    ) -> SandboxResult:
        """Call `entry(api, **arguments)` of the source in a thread of its own."""
        demand_level(self.level, self._allow_weaker)
        return self._session(run_job(source, entry, arguments, api, limits), api, limits)

    def check(self, source: str, entry: str) -> list[Violation]:
        """What the language policy does not allow in a source."""
        return violations_of(self._session(check_job(source, entry), HostApi({}), SandboxLimits()))

    def close(self) -> None:
        """Nothing is kept between runs."""

    def _session(self, job: Job, api: HostApi, limits: SandboxLimits) -> SandboxResult:
        ours, theirs = socket.socketpair()
        with ours:
            threading.Thread(target=_serve, args=(theirs,), daemon=True).start()
            session = Session(ours, api, limits)
            session.begin(self.level)
            kind, end = session.conduct(job)
        return result_of(job, kind, end, session, self.level)


def _serve(connection: socket.socket) -> None:
    from evoharness.sandbox.confined.execute import serve

    with connection, contextlib.suppress(framing.Closed):
        framing.receive(connection)  # limits of the process, which there is none of
        framing.send(connection, {"ready": []})
        serve(connection, limit_recursion=_keep_recursion)


def _keep_recursion(_: int) -> None:
    """The limit belongs to all threads of this process."""
