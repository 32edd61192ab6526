"""A key that is no good ends a command before any work, in one line that does not hold it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.providers.scripted_server import Received, Said, ScriptedServer


def evolve(folder: Path, address: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "evoharness.evolve", "backbone=vllm", f"backbone.api_base={address}"]
    command += ["backbone.models.default=hosted_vllm/small", "backbone.key=MY_KEY", "display=plain"]
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("key", ["planted-first\nplanted-second", "planted blank", "plant\u00e9d-key"])
def test_a_key_that_cannot_be_sent_is_told_before_any_work(tmp_path: Path, key: str) -> None:
    def listing(_: Received) -> Said:
        return Said({"object": "list", "data": [{"id": "small"}]})

    with ScriptedServer(listing) as server:
        done = evolve(tmp_path, f"{server.address}/v1", MY_KEY=key)
        assert server.received == []
    assert done.returncode == 2
    assert "MY_KEY cannot be sent" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert "plant" not in done.stdout + done.stderr
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"plant" not in written
