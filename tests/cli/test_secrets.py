"""A key on the command line is refused in one line that does not repeat it, before anything is written."""

from pathlib import Path

import pytest

from evoharness.cli import Command, run_command

EVALUATE = Command(
    name="evaluate", purpose="Stands for any command.", job=lambda *_: pytest.fail("was begun")
)


@pytest.mark.parametrize("sweep", [(), ("-m",)])
@pytest.mark.parametrize(
    "argument",
    [
        "backbone.parameters.solver={api_key: planted}",
        "backbone.parameters={solver: {extra_body: {api_key: planted}}}",
        "backbone.parameters.solver.api_key=planted",
        "backbone.options.profiles.judge={secret: planted}",
        "backbone.parameters.user=sk-planted-0123456789",
        "backbone.key=sk-planted-0123456789",
        "embedder.options.api_key=planted",
        "embedder.options={auth: {accessToken: planted}}",
        "embedder.key=sk-planted-0123456789",
        "hydra.job.env_set.OPENAI_API_KEY=sk-planted-0123456789",
    ],
)
def test_a_key_is_refused(
    argument: str,
    sweep: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_command(EVALUATE, [*sweep, argument, "questions=q.jsonl"]) == 2
    told = capsys.readouterr()
    assert "planted" not in told.out + told.err
    assert "may hold a key" in told.err
    assert len(told.err.splitlines()) == 1
    assert list(tmp_path.rglob("*")) == []


def test_a_key_in_a_file_is_refused_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mine"
    (folder / "backbone").mkdir(parents=True)
    (folder / "backbone" / "own.yaml").write_text(
        "name: litellm\nmodels: {default: openai/a}\nparameters: {solver: {api_key: planted}}\n"
    )
    monkeypatch.chdir(tmp_path)
    code = run_command(EVALUATE, ["--config-dir", str(folder), "backbone=own", "questions=q.jsonl"])
    told = capsys.readouterr().err
    assert code == 2
    assert "backbone.parameters.solver.api_key may hold a key" in told
    assert "planted" not in told
