"""A harness folder loads as it was saved, or says which file is not as it was."""

import subprocess
import sys
from pathlib import Path

import pytest

from evoharness.errors import UserError
from evoharness.harness import Harness, HarnessStore, initial_harness, load_harness, save_harness
from evoharness.harness.__main__ import main

MANIFEST = '{"signature": {}, "purpose": "count", "kinds": ["counting"], "tests": [{"equals": 0}]}\n'
COUNT = {"count.py": "def tool(memory):\n    return 0\n", "count.json": MANIFEST}


@pytest.fixture
def full() -> Harness:
    harness = initial_harness().with_parameters(detail_fps=4)
    harness = harness.with_skill("re-look", {"SKILL.md": "look again, café\n", "notes/why.md": "because\n"})
    return harness.with_tool("count", COUNT)


def test_a_saved_harness_loads_as_the_same_harness(full: Harness, tmp_path: Path) -> None:
    save_harness(full, tmp_path / "a b" / "h")
    loaded = load_harness(tmp_path / "a b" / "h")
    assert loaded == full
    assert loaded.fingerprint == full.fingerprint


@pytest.mark.parametrize(
    "path",
    ["harness.yaml", "strategies/overview.py", "skills/re-look/notes/why.md", "tools_generated/count.py"],
)
def test_a_changed_or_missing_file_is_named(full: Harness, tmp_path: Path, path: str) -> None:
    save_harness(full, tmp_path / "h")
    file = tmp_path / "h" / path
    file.write_text(file.read_text() + "\n")
    with pytest.raises(UserError, match=f"{path} differs"):
        load_harness(tmp_path / "h")
    file.unlink()
    with pytest.raises(UserError, match=f"{path}( is missing)?"):
        load_harness(tmp_path / "h")


def test_an_added_file_is_named(full: Harness, tmp_path: Path) -> None:
    save_harness(full, tmp_path / "h")
    (tmp_path / "h" / "strategies" / "extra.py").write_text("def strategy(ctx, question):\n    return None\n")
    with pytest.raises(UserError, match=r"extra\.py was added"):
        load_harness(tmp_path / "h")


def test_without_checksums_a_folder_can_be_edited_by_hand(full: Harness, tmp_path: Path) -> None:
    save_harness(full, tmp_path / "h")
    (tmp_path / "h" / "checksums.json").unlink()
    settings = tmp_path / "h" / "harness.yaml"
    settings.write_text("# mine\n" + settings.read_text().replace("detail_fps: 4.0", "detail_fps: 3.0"))
    assert load_harness(tmp_path / "h") == full.with_parameters(detail_fps=3)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("parameters: {detail_fps: 99}", "parameters.detail_fps"),
        ("parameters: {speed: 99}", "parameters.speed"),
        ("routes: [{strategy: nowhere}]", "nowhere"),
        ("- a list", "expected"),
        ("routes: [", "not YAML"),
    ],
)
def test_a_wrong_setting_is_one_clear_line(tmp_path: Path, line: str, says: str) -> None:
    (tmp_path / "harness.yaml").write_text(line + "\n")
    with pytest.raises(UserError, match=says) as caught:
        load_harness(tmp_path)
    assert "harness.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_wrong_manifest_names_tool_field_and_way_out(full: Harness, tmp_path: Path) -> None:
    save_harness(full, tmp_path / "h")
    (tmp_path / "h" / "checksums.json").unlink()
    (tmp_path / "h" / "tools_generated" / "count.json").write_text(MANIFEST.replace("counting", "count"))
    with pytest.raises(UserError, match=r"tool count: count\.json: kinds, item 1: .*'counting'") as caught:
        load_harness(tmp_path / "h")
    assert "\n" not in str(caught.value)


def test_no_harness_at_all(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no harness\.yaml"):
        load_harness(tmp_path / "nowhere")


def test_saving_never_overwrites(full: Harness, tmp_path: Path) -> None:
    (tmp_path / "h").mkdir()
    (tmp_path / "h" / "precious.txt").write_text("mine")
    with pytest.raises(UserError, match="exists already"):
        save_harness(full, tmp_path / "h")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["h", "precious.txt"]


@pytest.mark.parametrize("place", ["file/h", "n" * 300, f"{'n' * 300}/h"], ids=["file", "name", "parent"])
def test_a_place_that_cannot_be_written_is_one_line(full: Harness, tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    for write in (save_harness, lambda harness, folder: HarnessStore(folder).put(harness)):
        with pytest.raises(UserError, match="cannot"):
            write(full, tmp_path / place)
    with pytest.raises(UserError):
        load_harness(tmp_path / place)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_folder_without_rights_is_one_line(full: Harness, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    save_harness(full, locked / "h")
    locked.chmod(0)
    program = (
        "import sys; from pathlib import Path; from evoharness.errors import UserError; "
        "from evoharness.harness import HarnessStore, initial_harness, load_harness, save_harness\n"
        "import os; harness, place = initial_harness(), Path(sys.argv[1])\n"
        "if os.geteuid() == 0: os.seteuid(65534)\n"
        "for act in (lambda: save_harness(harness, place / 'h'), lambda: load_harness(place / 'h'),\n"
        "            lambda: save_harness(harness, place), lambda: HarnessStore(place).put(harness)):\n"
        "    try: act()\n"
        "    except UserError as error: print(error)\n"
    )
    tmp_path.chmod(0o755)
    command = [sys.executable, "-c", program, locked.name]
    try:
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    finally:
        locked.chmod(0o755)
    assert done.stdout.count("Permission denied") == 4, done.stdout


def test_the_store_keeps_a_harness_once(full: Harness, tmp_path: Path) -> None:
    store = HarnessStore(tmp_path / "harnesses")
    fingerprint = store.put(full)
    stamp = store.path(fingerprint).stat().st_mtime_ns
    assert store.put(full) == fingerprint
    assert store.path(fingerprint).stat().st_mtime_ns == stamp
    assert store.get(fingerprint) == full
    with pytest.raises(UserError):
        store.get("0" * 64)


def test_show_prints_what_was_changed(
    full: Harness, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_harness(full, tmp_path / "h")
    assert main(["show", str(tmp_path / "h")]) == 0
    printed = capsys.readouterr().out
    assert full.fingerprint in printed
    assert "detail_fps           4.0 frames/s  (initially 2.0)" in printed
    assert main(["show", str(tmp_path / "nowhere")]) == 2
    assert "no harness.yaml" in capsys.readouterr().err
    assert main(["diff", "initial", str(tmp_path / "h")]) == 0
    assert "+  detail_fps: 4.0" in capsys.readouterr().out
