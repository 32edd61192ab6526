"""Passages of background knowledge, and the files that hold them.

A file is JSONL, one passage a line:

| field | needed | meaning |
|---|---|---|
| `text` | yes | what is found and handed to the harness; a paragraph, say |
| `id` | no | unique in the file; by default the file's name and the number of the line |
| `type` | no | what a search may be narrowed to, for instance `abstract` or `technique` |
| `source` | no | where it is from, in words: a reference, a title |

Blank lines are skipped. Other fields are ignored, so that people's own may stay.
"""

import json
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from evoharness.errors import UserError
from evoharness.records.base import Record
from evoharness.records.mistakes import in_words


class KnowledgeFileError(UserError):
    """A file of passages that cannot be used; the message names the file and the line."""


class Passage(Record):
    """A piece of general knowledge, of no video in particular."""

    id: str
    """Unique in its knowledge base."""
    type: str = ""
    """What kind of passage it is; searches can be narrowed to one type."""
    text: str = Field(pattern=r"\S")  # a pattern refuses what is no Unicode, too
    """What it says."""
    source: str = ""
    """Where it is from, in words."""


def load_passages(path: Path) -> list[Passage]:
    """The passages of a JSONL file, in order.

    `KnowledgeFileError` names the file and the line that does not do.
    """
    try:
        content = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise KnowledgeFileError(f"there is no file of knowledge {path}") from error
    except (OSError, ValueError) as error:  # ValueError: no UTF-8, or no possible path
        raise KnowledgeFileError(f"the file of knowledge {path} cannot be read: {error}") from error
    passages: list[Passage] = []
    lines: dict[str, int] = {}
    for number, line in enumerate(content.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        passage = _passage(where, line, f"{path.stem}-{number:04d}")
        if passage.id in lines:
            raise KnowledgeFileError(f"{where}: the id {passage.id!r} was used in line {lines[passage.id]}")
        lines[passage.id] = number
        passages.append(passage)
    if not passages:
        raise KnowledgeFileError(f"{path} holds no passage: each line has to be a JSON object with `text`")
    return passages


def _passage(where: str, line: str, default_id: str) -> Passage:
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise KnowledgeFileError(f"{where}: no JSON: {error}") from error
    if not isinstance(row, dict):
        raise KnowledgeFileError(f"{where}: a JSON object is needed")
    given = {name: row[name] for name in Passage.model_fields if row.get(name) not in (None, "")}
    if isinstance(given.get("id"), int):
        given["id"] = str(given["id"])
    if "text" not in given:
        raise KnowledgeFileError(f"{where}: the field `text` is missing")
    if isinstance(given["text"], str) and not given["text"].strip():
        raise KnowledgeFileError(f"{where}: `text`: it is blank")
    try:
        return Passage.model_validate({"id": default_id, **given})
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise KnowledgeFileError(f"{where}: `{field}`: {in_words(first)}") from error
