"""A harness on disk: a folder that people can read and edit, with checksums where it was saved by a program.

A folder is written beside its target and renamed into place, so a crash leaves the old state or the new one.
"""

import json
import shutil
import tempfile
from importlib.resources import files as package_files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from evoharness.errors import UserError
from evoharness.harness.harness import Harness, checksums, fingerprint_of
from evoharness.records.mistakes import in_words
from evoharness.records.storage import write_atomically, write_json

CHECKSUMS = "checksums.json"
"""Written by `save_harness`: the fingerprint, and the sha256 of each file."""


def initial_harness() -> Harness:
    """The harness that the package brings: `configs/harness/initial.yaml` and `strategies/`, no skills."""
    text = package_files("evoharness.configs").joinpath("harness", "initial.yaml").read_text("utf-8")
    return harness_from_settings(yaml.safe_load(text), "configs/harness/initial.yaml")


def harness_from_settings(settings: dict[str, Any], where: str) -> Harness:
    """A harness of the given parameters, routes and tool policy with the strategies of the package.

    UserError that names `where` when a setting is unknown or out of bounds.
    """
    return _assembled(settings, {"strategies": _sources(package_files("evoharness.strategies"))}, where)


def load_harness(folder: Path) -> Harness:
    """Read a harness folder; UserError names the file that is missing, differs or cannot be read.

    A folder with `checksums.json` must be exactly as it was saved. Delete that file to edit by hand.
    """
    try:
        return _loaded(folder)
    except OSError as error:
        raise UserError(f"cannot read {folder}: {error.strerror or error}") from error


def _loaded(folder: Path) -> Harness:
    manifest = folder / "harness.yaml"
    if not manifest.is_file():
        raise UserError(f"{folder} is no harness folder: it has no harness.yaml")
    _verify(folder)
    try:
        settings = yaml.safe_load(_text(manifest))
    except yaml.YAMLError as error:
        raise UserError(f"{manifest}: not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(settings, dict):
        raise UserError(f"{manifest}: expected parameters, routes and tool_policy")
    parts: dict[str, Any] = {"strategies": _sources(folder / "strategies"), "skills": {}, "tools": {}}
    for skill in _folders(folder / "skills"):
        paths = [path for path in sorted(skill.rglob("*")) if path.is_file() and not _ignored(path, skill)]
        parts["skills"][skill.name] = {path.relative_to(skill).as_posix(): _text(path) for path in paths}
    tools = folder / "tools_generated"
    for name in _sources(tools):
        parts["tools"][name] = {file: _text(tools / file) for file in (f"{name}.py", f"{name}.json")}
    return _assembled(settings, parts, str(manifest))


def save_harness(harness: Harness, folder: Path) -> None:
    """Write a harness folder with its checksums.

    UserError when the folder exists and is not empty, and when it cannot be written; nothing is left then.
    """
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UserError(f"{folder} exists already: choose another place, or remove it first")
        folder.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{folder.name[:64]}.", dir=folder.parent))
    except OSError as error:
        raise UserError(f"cannot write {folder}: {error.strerror or error}") from error
    try:
        content = harness.files()
        for path, text in content.items():
            write_atomically(staging / path, text)
        sums = checksums(content)
        write_json(staging / CHECKSUMS, {"fingerprint": harness.fingerprint, "files": sums})
        staging.chmod(0o755)
        staging.replace(folder)
    except OSError as error:
        shutil.rmtree(staging, ignore_errors=True)
        raise UserError(f"cannot write {folder}: {error.strerror or error}") from error


def _verify(folder: Path) -> None:
    recorded = folder / CHECKSUMS
    if not recorded.exists():
        return
    try:
        content = json.loads(_text(recorded))
        expected = {str(path): str(digest) for path, digest in content["files"].items()}
        fingerprint = str(content["fingerprint"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(
            f"{recorded}: not a list of checksums; delete it to load the folder as it is"
        ) from error
    way_out = f"restore it, or delete {recorded} to accept the folder as it is"
    found = {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path != recorded and not _ignored(path, folder)
    }
    for path in expected:
        if path not in found:
            raise UserError(f"{folder / path} is missing; {way_out}")
    for path, file in found.items():
        if path not in expected:
            raise UserError(f"{file} was added after the harness was saved; remove it, or delete {recorded}")
    sums = checksums({path: _text(file) for path, file in found.items()})
    for path, digest in expected.items():
        if sums[path] != digest:
            raise UserError(f"{folder / path} differs from what was saved; {way_out}")
    if fingerprint_of(sums) != fingerprint:
        raise UserError(f"{recorded}: its fingerprint does not belong to its files; {way_out}")


def _assembled(settings: dict[str, Any], parts: dict[str, Any], where: str) -> Harness:
    try:
        return Harness.model_validate({**settings, **parts})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UserError(f"{where}: {place + ': ' if place else ''}{in_words(first)}") from error


def _sources(folder: Traversable) -> dict[str, str]:
    """Name → source of the Python files of a folder, `__init__.py` left out."""
    if not folder.is_dir():
        return {}
    named = sorted((file.name, file) for file in folder.iterdir() if file.name.endswith(".py"))
    return {name.removesuffix(".py"): _text(file) for name, file in named if name != "__init__.py"}


def _folders(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return [path for path in sorted(folder.iterdir()) if path.is_dir() and not _ignored(path, folder)]


def _ignored(path: Path, folder: Path) -> bool:
    parts = path.relative_to(folder).parts
    return any(part.startswith(".") or part == "__pycache__" for part in parts)


def _text(file: Traversable) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise UserError(f"{file} is missing") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {file}: {error}") from error
