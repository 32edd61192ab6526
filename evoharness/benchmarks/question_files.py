"""Question files: JSONL or CSV, one question a line or row.

| field | needed | meaning |
|---|---|---|
| `video` | yes | name of the video: its file name, the same without the suffix, or a path |
| `question` (or `text`) | yes | the question |
| `options` | for multiple choice | JSONL: a list of texts; CSV: a JSON list, or columns `A`, `B`, `C`, … |
| `answer` | for multiple choice | text of the option, its letter, or its index from 0 |
| `reference_text` | for open questions | the right answer in words |
| `id` | no | unique in the file; by default the file's name and the number of the row |
| `kind` | no | one of the ten kinds; `retrieval_localization` by default |
| `fine_type`, `form`, `source_interval`, … | no | the other fields of `records.Question` |

A text that is exactly one of the options is that option; otherwise a letter or a number is its place.
Fields that are none of these are ignored, so that people's own columns may stay.
"""

import csv
import io
import json
import re
import string
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evoharness.errors import UserError
from evoharness.records.mistakes import in_words
from evoharness.records.question import Question, QuestionKind
from evoharness.records.storage import write_atomically

_COLUMNS = (
    "id",
    "video",
    "question",
    "options",
    "answer",
    "kind",
    "fine_type",
    "form",
    "reference_text",
    "source_segments",
    "source_interval",
    "support",
    "policy_version",
)
_LISTS = ("options", "source_segments", "source_interval", "support")


class QuestionFileError(UserError):
    """A question file that cannot be used; the message names the file and the line."""


def read_questions(path: Path) -> list[Question]:
    """The questions of a `.jsonl` or `.csv` file, in order.

    `QuestionFileError` names the file and the row that does not do.
    """
    try:
        content = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise QuestionFileError(f"there is no question file {path}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise QuestionFileError(f"{path} cannot be read: {error}") from error
    suffix = path.suffix.lower()
    if suffix in {".jsonl", ".ndjson"}:
        rows = _jsonl_rows(path, content)
    elif suffix == ".csv":
        rows = _csv_rows(path, content)
    else:
        raise QuestionFileError(f"{path} is no question file: its name has to end in .jsonl or .csv")
    questions: list[Question] = []
    seen: dict[str, int] = {}
    for number, row in rows:
        question = _question(path, number, row, f"{path.stem}-{len(questions) + 1:04d}")
        if question.id in seen:
            raise QuestionFileError(
                f"{path}, line {number}: the id {question.id!r} was used in line {seen[question.id]}"
            )
        seen[question.id] = number
        questions.append(question)
    if not questions:
        raise QuestionFileError(f"{path} holds no question")
    return questions


def write_questions(path: Path, questions: Iterable[Question]) -> None:
    """Write questions as `.jsonl` or `.csv`, by the suffix; `read_questions` gives them back."""
    rows = [_row(question) for question in questions]
    if path.suffix.lower() == ".csv":
        table = io.StringIO()
        writer = csv.DictWriter(table, _COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({key: _csv_cell(row, key) for key in _COLUMNS})
        write_atomically(path, table.getvalue())
    else:
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        write_atomically(path, "".join(lines))


def attach_videos(questions: Sequence[Question], videos: Mapping[str, Path]) -> list[Question]:
    """The questions with `video` replaced by the key of the video they mean.

    A question may name its video by key, file name, name without suffix, or path. UserError names those
    that are not among `videos`.
    """
    keys: dict[str, str | None] = {}
    attached: list[Question] = []
    for question in questions:
        if question.video not in keys:
            keys[question.video] = _key_of(question.video, videos)
        key = keys[question.video]
        if key is not None:
            attached.append(question.model_copy(update={"video": key}))
    missing = [name for name, key in keys.items() if key is None]
    if missing:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        raise UserError(
            f"no file for {', '.join(missing[:3])}{more} among the {len(videos)} videos, "
            f"needed by {len(questions) - len(attached)} of {len(questions)} questions"
        )
    return attached


def _key_of(name: str, videos: Mapping[str, Path]) -> str | None:
    if name in videos:
        return name
    parts = Path(name).parts
    for tail in (parts, parts[-1:]):  # the path as far as it is given; else the file alone, wherever it lies
        found = [key for key, path in videos.items() if tail and _ends_with(path, tail)]
        if len(found) > 1:
            raise UserError(f"the video {name} could be {' or '.join(str(videos[key]) for key in found[:3])}")
        if found:
            return found[0]
    return None


def _ends_with(path: Path, tail: tuple[str, ...]) -> bool:
    return path.parts[-len(tail) :] == tail or path.with_suffix("").parts[-len(tail) :] == tail


def _jsonl_rows(path: Path, content: str) -> list[tuple[int, dict[str, Any]]]:
    rows = []
    for number, line in enumerate(content.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise QuestionFileError(f"{path}, line {number}: no JSON: {error}") from error
        if not isinstance(row, dict):
            raise QuestionFileError(f"{path}, line {number}: a JSON object is needed")
        rows.append((number, row))
    return rows


def _csv_rows(path: Path, content: str) -> list[tuple[int, dict[str, Any]]]:
    reader = csv.DictReader(io.StringIO(content, newline=""))
    rows: list[tuple[int, dict[str, Any]]] = []
    try:
        for raw in reader:
            row: dict[str, Any] = {key.strip(): value for key, value in raw.items() if key and value}
            if not row:
                continue
            for name in _LISTS:
                if isinstance(row.get(name), str) and row[name].lstrip().startswith(("[", "{")):
                    row[name] = json.loads(row[name])
            if "options" not in row:
                letters = [letter for letter in string.ascii_uppercase if letter in row]
                if letters:
                    row["options"] = [row[letter] for letter in letters]
            rows.append((reader.line_num, row))
    except (csv.Error, ValueError) as error:
        raise QuestionFileError(f"{path}, line {reader.line_num}: {error}") from error
    return rows


def _question(path: Path, number: int, row: Mapping[str, Any], default_id: str) -> Question:
    text = row.get("question") or row.get("text")
    if not isinstance(text, str) or not text.strip():
        raise QuestionFileError(f"{path}, line {number}: the field `question` is missing")
    video = row.get("video")
    if not isinstance(video, str) or not video.strip():
        raise QuestionFileError(f"{path}, line {number}: the field `video` is missing")
    options = row.get("options") or ()
    if isinstance(options, str) or not all(isinstance(option, str | int | float) for option in options):
        raise QuestionFileError(f"{path}, line {number}: `options` has to be a list of texts")
    options = tuple(str(option) for option in options)
    values = {name: row[name] for name in Question.model_fields if row.get(name) not in (None, "")}
    values |= {
        "id": str(row.get("id") or default_id),
        "video": video,
        "text": text,
        "options": options,
        "answer": _answer(path, number, options, row.get("answer")),
        "kind": row.get("kind") or QuestionKind.RETRIEVAL_LOCALIZATION,
    }
    if not options and not values.get("reference_text") and row.get("answer") not in (None, ""):
        values["reference_text"] = str(row["answer"])
    try:
        return Question.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        message = in_words(first)
        raise QuestionFileError(f"{path}, line {number}: {f'{where}: ' if where else ''}{message}") from error


def _answer(path: Path, number: int, options: Sequence[str], answer: Any) -> int | None:
    if not options:
        return None
    if answer is None or answer == "" or isinstance(answer, bool):
        raise QuestionFileError(f"{path}, line {number}: the field `answer` is missing")
    typed = answer
    if isinstance(answer, str):
        said = answer.strip()
        for index, option in enumerate(options):
            if option.strip() == said:
                return index
        for index, option in enumerate(options):
            if option.strip().casefold() == said.casefold():
                return index
        letter = re.fullmatch(r"\(?([A-Za-z])[).:]?", said)
        if letter:
            answer = string.ascii_uppercase.index(letter[1].upper())
        elif said.isascii() and said.isdigit():
            answer = int(said)
    if not isinstance(answer, int) or not 0 <= answer < len(options):
        raise QuestionFileError(
            f"{path}, line {number}: the answer {typed!r} is none of the {len(options)} options"
        )
    return answer


def _row(question: Question) -> dict[str, Any]:
    dumped = question.model_dump(mode="json")
    dumped["question"] = dumped.pop("text")
    ordered = {name: dumped[name] for name in _COLUMNS}
    always = {"id", "video", "question", "kind"}
    return {name: value for name, value in ordered.items() if name in always or value not in (None, "", [])}


def _csv_cell(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if value is None:
        return ""
    if name == "answer":
        options = row["options"]
        letter = string.ascii_uppercase[value] if value < 26 else ""
        ambiguous = any(option.strip().casefold() == letter.casefold() for option in options)
        return str(options[value]) if ambiguous or not letter else letter
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
