"""From what a user typed after `videos=` to readable files with keys."""

import csv
import glob
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from evoharness.errors import UserError
from evoharness.records.paths import as_path
from evoharness.video.errors import NotAVideo
from evoharness.video.probe import probe

SIDECARS = frozenset(
    {".srt", ".vtt", ".ass", ".ssa", ".sub", ".idx", ".lrc", ".txt", ".md", ".rst", ".html", ".pdf"}
    | {".json", ".jsonl", ".csv", ".tsv", ".yaml", ".yml", ".toml", ".ini", ".xml", ".nfo", ".log", ".db"}
    | {".jpg", ".jpeg", ".png", ".webp", ".bmp", ".svg", ".py", ".sha256", ".md5", ".lock", ".part"}
    | {".m3u", ".m3u8", ".ffconcat", ".mpd"}  # lists of what lies there anyway
)
"""Endings of files that lie beside videos and are no mistake; they are passed over without a word."""

MANIFESTS = frozenset({".csv", ".jsonl"})


@dataclass(frozen=True)
class SkippedFile:
    """A file that cannot be used, and why, in one line."""

    path: Path
    reason: str


@dataclass(frozen=True)
class FoundVideos:
    """The readable videos by key, and the files that were skipped."""

    videos: dict[str, Path] = field(default_factory=dict)
    skipped: list[SkippedFile] = field(default_factory=list)


def find_videos(where: str) -> FoundVideos:
    """The videos of a folder (and the folders in it), of one file, of a glob or of a manifest.

    A manifest is CSV with a header, or JSONL, with `path` (relative to the manifest) and, if wanted, `id`
    and `source` (where a video is from: for people, not read). Without an id the key is the file's stem,
    made unique by a suffix. Every file is probed; one that is no video comes back as skipped. `UserError`
    when nothing is there to be probed at all, or when the manifest cannot be read.
    """
    try:
        listed = _listed(where, as_path(where))
    except OSError as error:
        raise UserError(f"{where}: cannot be looked at ({error.strerror})") from error
    return _probed(listed)


def _listed(where: str, path: Path) -> list[tuple[str | None, Path]]:
    """Id, where one is given, and path of each file."""
    listed: list[tuple[str | None, Path]]
    if path.is_dir():
        listed = [(None, file) for file in _files_below(path)]
        if not listed:
            raise UserError(f"{where}: no video in this folder")
    elif path.is_file() and path.suffix.lower() in MANIFESTS:
        listed = _read_manifest(path)
    elif path.is_file():
        listed = [(None, path)]
    else:
        matches = sorted(Path(match) for match in glob.glob(str(path), recursive=True))  # noqa: PTH207 (may be absolute)
        listed = [(None, match) for match in matches if match.is_file() and _may_be_video(match)]
        if not listed:
            raise UserError(f"{where}: no such file or folder, and no video matches it as a pattern")
    return listed


def _files_below(folder: Path) -> list[Path]:
    files = []
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if not hidden and _may_be_video(path) and path.is_file():
            files.append(path)
    return files


def _may_be_video(path: Path) -> bool:
    return not path.name.startswith(".") and path.suffix.lower() not in SIDECARS


def _probed(listed: Iterable[tuple[str | None, Path]]) -> FoundVideos:
    found = FoundVideos()
    for key, path in listed:
        try:
            probe(path)
        except NotAVideo as error:
            found.skipped.append(SkippedFile(path, error.reason))
        else:
            found.videos[_unique(key or path.stem, found.videos)] = path
    return found


def _unique(key: str, taken: Iterable[str]) -> str:
    candidate, number = key, 2
    while candidate in taken:
        candidate, number = f"{key}-{number}", number + 1
    return candidate


def _read_manifest(manifest: Path) -> list[tuple[str | None, Path]]:
    listed: list[tuple[str | None, Path]] = []
    try:
        text = manifest.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{manifest}: cannot be read as text ({error})") from error
    rows = _json_rows(manifest, text) if manifest.suffix.lower() == ".jsonl" else _csv_rows(text)
    ids = set()
    for line, row in rows:
        path = row.get("path")
        if not isinstance(path, str) or not path.strip():
            names = " ".join(", ".join(str(name) for name in row).split())
            instead = "" if "path" in row or not names else f"; what it has is {names[:80]}"
            raise UserError(f"{manifest}, line {line}: needs a `path`{instead}")
        key = str(row["id"]) if row.get("id") not in (None, "") else None
        if key is not None and key in ids:
            raise UserError(f"{manifest}, line {line}: the id {key!r} was given before")
        ids.add(key)
        listed.append((key, manifest.parent / as_path(path.strip())))
    if not listed:
        raise UserError(f"{manifest}: lists no video")
    return listed


def _csv_rows(text: str) -> list[tuple[int, dict[str, object]]]:
    reader = csv.DictReader(io.StringIO(text, newline=""))
    return [(reader.line_num, dict(row)) for row in reader]


def _json_rows(manifest: Path, text: str) -> list[tuple[int, dict[str, object]]]:
    rows = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise UserError(f"{manifest}, line {number}: not JSON ({error})") from error
        if not isinstance(row, dict):
            raise UserError(f"{manifest}, line {number}: needs an object with a `path`")
        rows.append((number, row))
    return rows
