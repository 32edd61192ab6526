"""What models answered, kept by the content of the question: asked again, it costs nothing.

One SQLite file in the cache folder (WAL mode, so many threads and processes may use it at once) serves all
runs of a user. The key holds everything that an answer depends on, the version of the prompt included: what
is asked otherwise is never answered from here, and nothing in the file ever has to be invalidated.
"""

import hashlib
import json
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, get_args

from evoharness.errors import UserError
from evoharness.models.backbone import Refused, Unparsed
from evoharness.models.response_file import is_busy, is_readable, open_to_read, open_to_write
from evoharness.records.base import Record
from evoharness.records.spend import Spend

RESPONSES_FILE = "responses.sqlite"
"""Name of the file in the cache folder."""
CacheMode = Literal["off", "read", "on"]
DAY_S = 86_400.0
LONGEST_MESSAGE = 4000
"""Letters that are kept of why a question gave no output."""
Result = TypeVar("Result")


class CachedResponse(Record):
    """What a model answered once, and what that call took."""

    answer: str
    """The answer on the wire: JSON text that was found to fit the schema."""
    spend: Spend
    """What was paid for it then."""
    notes: tuple[str, ...] = ()
    """What the backbone had to do for it that the caller should know."""


class _Paid(Spend):
    """A spend as it is written, with notes where there are any: rows of earlier versions have none."""

    notes: tuple[str, ...] = ()


class _Failure(Record):
    """A question that was paid for and gave no output."""

    kind: Literal["refused", "unparsed"]
    message: str


class _Flight:
    """A question that is being asked."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.threads = 0
        """Those that ask it or wait for it."""


_FLIGHTS: dict[tuple[str, str], _Flight] = {}
"""(file, key) → what is in flight in this process."""
_FLIGHTS_LOCK = threading.Lock()


class CacheUnusable(UserError):
    """The file of responses cannot be read or written; the message names it and the way out."""


@dataclass(frozen=True)
class CacheFacts:
    """What is in the file."""

    responses: int
    bytes: int
    """Size of the answers, without what the database adds."""
    file_bytes: int
    """Size of the file on the disk."""
    oldest_days: float | None
    """Days since the response that was not used for longest was used; None for an empty file."""


@dataclass(frozen=True)
class Pruned:
    """What a pruning removed."""

    responses: int
    bytes: int


def cache_key(
    backbone_id: str,
    task_name: str,
    prompt_version: str,
    content_digest: str,
    sampling: Mapping[str, Any],
    sample: int,
) -> str:
    """Everything that an answer depends on, as 64 hexadecimal digits.

    `content_digest` stands for the rendered prompt with its frames; `sampling` is temperature, limits and
    further parameters of the call (JSON values; 0 and 0.0 are the same); `sample` is the trial or vote.
    """
    parts = [backbone_id, task_name, prompt_version, content_digest, _plain(sampling), sample]
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class ResponseCache:
    """Responses by key; may be used from many threads, and by many processes at once.

    `off` never answers and keeps nothing, `read` answers and keeps nothing, `on` does both. A file that
    cannot be used (no database, damaged, read-only, on a full disk) costs no run: `warn` is told once, in one
    line, and from then on nothing is kept (what is there still answers, if it can be read) or the file is
    left alone.
    """

    def __init__(self, path: Path, mode: str = "on", warn: Callable[[str], None] | None = None) -> None:
        """`path` is made when something is first kept; UserError for an unknown `mode`."""
        if mode not in get_args(CacheMode):
            raise UserError(f"cache={mode} is not known: use {', '.join(get_args(CacheMode))}")
        self.path = path
        self.mode = cast(CacheMode, mode)
        self._warn = warn or _to_stderr
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._reads = mode != "off"
        self._writes = mode == "on"

    def get(self, key: str) -> CachedResponse | None:
        """What was answered to that, or None."""
        found = self._try(lambda file: self._found(file, key)) if self._reads else None
        if found is None:
            return None
        try:
            paid = _Paid.model_validate_json(found[1])
            spend = Spend(**paid.model_dump(exclude={"notes"}))
            return CachedResponse(answer=found[0], spend=spend, notes=paid.notes)
        except ValueError:  # written by another version: as good as not there
            return None

    def put(self, key: str, response: CachedResponse) -> None:
        """Keep a response, replacing what was kept under that key."""
        if not self._writes:
            return
        paid = (
            _Paid(**response.spend.model_dump(), notes=response.notes) if response.notes else response.spend
        )
        spend = paid.model_dump_json()
        size = len(response.answer.encode("utf-8", "surrogatepass")) + len(spend) + len(key)
        row = (key, response.answer, spend, size, time.time())

        def keep(file: sqlite3.Connection) -> None:
            with file:
                file.execute("INSERT OR REPLACE INTO responses VALUES (?, ?, ?, ?, ?)", row)

        self._try(keep, writing=True)

    def failure(self, key: str) -> Refused | Unparsed | None:
        """How asking that ended when it gave no output, to be raised again; None when it did not.

        In the same words, since these go into traces, and from there into further questions.
        """
        kept = self.get(_failed(key))
        if kept is None:
            return None
        try:
            failure = _Failure.model_validate_json(kept.answer)
        except ValueError:  # written by another version
            return None
        error = (Refused if failure.kind == "refused" else Unparsed)(failure.message)
        error.cached = True
        return error.costing(kept.spend)

    def put_failure(self, key: str, error: Refused | Unparsed) -> None:
        """Keep that asking it was paid for and gave no output."""
        kind: Literal["refused", "unparsed"] = "refused" if isinstance(error, Refused) else "unparsed"
        failure = _Failure(kind=kind, message=str(error)[:LONGEST_MESSAGE])
        self.put(_failed(key), CachedResponse(answer=failure.model_dump_json(), spend=error.spend))

    @contextmanager
    def flight(self, key: str) -> Iterator[None]:
        """Let one thread of this process at a time ask that; the others find what it kept.

        Where nothing is kept nobody waits for anybody.
        """
        if not self._writes:
            yield
            return
        name = (str(self.path.absolute()), key)
        with _FLIGHTS_LOCK:
            flight = _FLIGHTS.setdefault(name, _Flight())
            flight.threads += 1
        try:
            with flight.lock:
                yield
        finally:
            with _FLIGHTS_LOCK:
                flight.threads -= 1
                if not flight.threads:
                    del _FLIGHTS[name]

    def prune(self, max_age_days: float | None = None, max_bytes: int | None = None) -> Pruned:
        """Remove what was not used for `max_age_days`, then the longest unused until `max_bytes` are left.

        The space is given back to the disk. CacheUnusable when the file cannot be changed.
        """
        with self._lock:
            if not self.path.exists():
                return Pruned(0, 0)
            try:
                file = self._open(writing=True)
                pruned = _prune(file, max_age_days, max_bytes)
                if pruned.responses:
                    file.execute("VACUUM")
                    file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                return pruned
            except (sqlite3.Error, OSError) as error:
                raise CacheUnusable(_unusable(self.path, error)) from error

    def facts(self) -> CacheFacts:
        """How much is kept; CacheUnusable when the file cannot be read."""
        with self._lock:
            if not self.path.exists():
                return CacheFacts(0, 0, 0, None)
            try:
                query = "SELECT COUNT(*), COALESCE(SUM(bytes), 0), MIN(used) FROM responses"
                count, size, oldest = self._open(writing=False).execute(query).fetchone()
                on_disk = sum(part.stat().st_size for part in _parts(self.path) if part.exists())
            except (sqlite3.Error, OSError) as error:
                raise CacheUnusable(_unusable(self.path, error)) from error
        days = None if oldest is None else max(0.0, (time.time() - oldest) / DAY_S)
        return CacheFacts(int(count), int(size), on_disk, days)

    def close(self) -> None:
        """Release the file; it is opened again when it is used again."""
        with self._lock:
            self._release()

    def _try(self, use: Callable[[sqlite3.Connection], Result], writing: bool = False) -> Result | None:
        """What `use` makes of the open file; None, after a warning, when the file lets it down."""
        with self._lock:
            if not self._reads or (writing and not self._writes):
                return None
            try:
                if not writing and self._connection is None and not self.path.exists():
                    return None
                return use(self._open(writing=self._writes))
            except (sqlite3.Error, OSError) as error:
                if writing and self._connection is not None and is_busy(error):
                    return None  # others write for long, as pruning does: what comes after it is kept
                self._let_down(error)
        return None if writing else self._try(use)

    def _let_down(self, error: Exception) -> None:
        """Go on with less: without keeping responses when they can still be read, else without the file."""
        self._release()
        if self._writes and self.path.exists() and is_readable(self.path):
            self._writes = False
            self._warn(f"{_unusable(self.path, error)}; responses are read from it and none is added")
            return
        self._reads = self._writes = False
        self._warn(f"{_unusable(self.path, error)}; going on without it")

    def _found(self, file: sqlite3.Connection, key: str) -> tuple[str, str] | None:
        row = file.execute("SELECT answer, spend, used FROM responses WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        answer, spend, used = row
        if self._writes and time.time() - used > DAY_S:  # once a day is enough to know what is in use
            with suppress(sqlite3.OperationalError), file:
                file.execute("UPDATE responses SET used = ? WHERE key = ?", (time.time(), key))
        return str(answer), str(spend)

    def _open(self, writing: bool) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = open_to_write(self.path) if writing else open_to_read(self.path)
        return self._connection

    def _release(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _prune(file: sqlite3.Connection, max_age_days: float | None, max_bytes: int | None) -> Pruned:
    count = freed = 0
    with file:
        file.execute("BEGIN IMMEDIATE")
        if max_age_days is not None:
            before = time.time() - max_age_days * DAY_S
            query = "SELECT COUNT(*), COALESCE(SUM(bytes), 0) FROM responses WHERE used < ?"
            count, freed = file.execute(query, (before,)).fetchone()
            file.execute("DELETE FROM responses WHERE used < ?", (before,))
        if max_bytes is not None:
            held = file.execute("SELECT COALESCE(SUM(bytes), 0) FROM responses").fetchone()[0]
            going: list[tuple[str]] = []
            for key, size in file.execute("SELECT key, bytes FROM responses ORDER BY used, key"):
                if held <= max_bytes:
                    break
                going.append((key,))
                held, freed = held - size, freed + size
            file.executemany("DELETE FROM responses WHERE key = ?", going)
            count += len(going)
    return Pruned(int(count), int(freed))


def _failed(key: str) -> str:
    """The key under which the failure of a question is kept."""
    return f"{key}-failed"


def _parts(path: Path) -> tuple[Path, ...]:
    return (path, path.with_name(f"{path.name}-wal"))


def _unusable(path: Path, error: Exception) -> str:
    said = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
    return f"the file of model responses {path} cannot be used ({said})"


def _plain(value: Any) -> Any:
    """A JSON value in which whole numbers look alike, whatever their type."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _to_stderr(message: str) -> None:
    print(f"warning: {message}", file=sys.stderr, flush=True)
