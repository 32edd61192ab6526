"""How records reach the disk: a file is the old one or the new one, never half of either.

A file is written beside its target, flushed to the disk and renamed over it. A crash can leave a
stray temporary file, never a torn record; the price is one fsync a file.
"""

import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

Model = TypeVar("Model", bound=BaseModel)


def write_atomically(path: Path, content: str | bytes, *, durable: bool = True) -> None:
    """Replace `path` by `content` as one step; OSError when the folder cannot be written.

    Not `durable`: it survives the process at once, but a machine that loses power may leave an empty file or
    half of one; for what can be checked when it is read, and done again.
    """
    data = content.encode() if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_json(path: Path, value: BaseModel | Any) -> None:
    """Write a record, or any JSON value, as readable JSON."""
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    write_atomically(path, json.dumps(plain, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def write_jsonl(path: Path, records: Iterable[BaseModel]) -> None:
    """Write records, one JSON object a line."""
    write_atomically(path, "".join(record.model_dump_json() + "\n" for record in records))


def read_jsonl(path: Path, model: type[Model]) -> list[Model]:
    """Read what `write_jsonl` wrote; ValueError names the file and the line that does not fit."""
    records = []
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                records.append(model.model_validate_json(line))
            except ValueError as error:
                raise ValueError(f"{path}, line {number}: {error}") from error
    return records
