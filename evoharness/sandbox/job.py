"""What a backend asks of the process or thread that does the work, and what it makes of the end."""

import hashlib
from collections.abc import Mapping
from typing import Any

from evoharness.sandbox.result import HostApi, Kind, SandboxLevel, SandboxLimits, SandboxResult, Violation
from evoharness.sandbox.session import Session

Job = dict[str, Any]


def run_job(
    source: str, entry: str, arguments: Mapping[str, Any], api: HostApi, limits: SandboxLimits
) -> Job:
    """Call `entry(api, **arguments)` of the source."""
    return {
        "verb": "run",
        "source": source,
        "entry": entry,
        "arguments": dict(arguments),
        "data": dict(api.data),
        "methods": {name: list(method.arguments.model_fields) for name, method in api.methods.items()},
        "limits": limits.model_dump(),
    }


def check_job(source: str, entry: str) -> Job:
    """Find what the language policy does not allow in the source."""
    return {"verb": "check", "source": source, "entry": entry}


def result_of(
    job: Job,
    kind: Kind,
    end: Mapping[str, Any],
    session: Session,
    level: SandboxLevel,
    cpu_seconds: float = 0.0,
    peak_bytes: int = 0,
) -> SandboxResult:
    """The result of a job that ended in that way."""
    return SandboxResult(
        kind=kind,
        value=end.get("value"),
        message=end.get("message", ""),
        line=end.get("line", 0),
        calls=session.calls,
        fuel=end.get("fuel", 0),
        prints=end.get("prints", ""),
        own_seconds=session.own_seconds,
        host_seconds=session.host_seconds,
        cpu_seconds=cpu_seconds,
        peak_bytes=peak_bytes,
        source_hash=hashlib.sha256(job["source"].encode("utf-8", "surrogatepass")).hexdigest(),
        level=level,
    )


def violations_of(result: SandboxResult) -> list[Violation]:
    """The violations that a check found."""
    if result.kind in ("finished", "policy_violation"):
        return [Violation(line=int(line), message=str(message)) for line, message in result.value or ()]
    return [Violation(line=0, message=f"the source breaks the compiler ({result.kind})")]
