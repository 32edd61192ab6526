"""`python -m evoharness.models cache`: looking at the responses that are kept, and making them fewer."""

import time
from pathlib import Path

import pytest

from evoharness.errors import UserError
from evoharness.models.__main__ import main, size_in_bytes
from evoharness.models.response_cache import RESPONSES_FILE, ResponseCache
from tests.models.sharing import response


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    cache = ResponseCache(tmp_path / RESPONSES_FILE)
    for number in range(20):
        cache.put(str(number), response(str(number)))
    cache.close()
    return tmp_path


def test_show_says_how_much_is_kept(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "show", str(folder)]) == 0
    assert f"{folder / RESPONSES_FILE}: 20 answers, " in capsys.readouterr().out


def test_prune_by_size_says_what_went(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "prune", "--size", "2K", str(folder)]) == 0
    assert "removed 1" in capsys.readouterr().out
    assert 0 < ResponseCache(folder / RESPONSES_FILE).facts().bytes <= 2000


def test_prune_by_age(folder: Path) -> None:
    assert main(["cache", "prune", "--days", "1", str(folder)]) == 0
    assert ResponseCache(folder / RESPONSES_FILE).facts().responses == 20
    time.sleep(0.02)
    assert main(["cache", "prune", "--days", "0", str(folder / RESPONSES_FILE)]) == 0
    assert ResponseCache(folder / RESPONSES_FILE).facts().responses == 0


def test_an_empty_cache_is_no_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "show", str(tmp_path / "nowhere")]) == 0
    assert "no answers are kept" in capsys.readouterr().out
    assert not (tmp_path / "nowhere").exists()


def test_the_cache_of_the_environment_is_meant(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVOHARNESS_CACHE", str(folder))
    assert main(["cache", "show"]) == 0
    assert "20 answers" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "say how much may stay: --days N, --size SIZE, or both"),
        (["--size", "much"], "--size much is no size"),
        (["--days", "-1"], "--days -1 must be 0 or more"),
        (["--days", "nan"], "--days nan must be 0 or more"),
    ],
)
def test_mistakes_are_told_in_one_line(
    folder: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cache", "prune", *arguments, str(folder)]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert ResponseCache(folder / RESPONSES_FILE).facts().responses == 20


def test_a_damaged_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / RESPONSES_FILE).write_text("no database " * 1000)
    assert main(["cache", "show", str(tmp_path)]) == 2
    assert f"{tmp_path / RESPONSES_FILE} cannot be used" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "size"), [("500", 500), ("500M", 5 * 10**8), ("1.5 GB", 15 * 10**8), ("2g", 2 * 10**9)]
)
def test_sizes_are_read_as_people_write_them(text: str, size: int) -> None:
    assert size_in_bytes(text) == size


@pytest.mark.parametrize("text", ["", "M", "-3M", "3X", "1e9"])
def test_other_sizes_are_none(text: str) -> None:
    with pytest.raises(UserError, match="is no size"):
        size_in_bytes(text)
