"""Making and finding the run of a command."""

import sys
from pathlib import Path

import pytest

from evoharness.cli.runs import facts_of
from evoharness.config import EvaluateConfig
from evoharness.errors import UserError


def test_a_sandbox_that_cannot_be_had_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    with pytest.raises(UserError, match="sandbox=process cannot be used here: cannot start"):
        facts_of(EvaluateConfig(cache=str(tmp_path / "cache")))
