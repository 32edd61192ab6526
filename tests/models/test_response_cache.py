"""Model responses are kept by content, shared by threads and processes, and never stand in the way."""

import os
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evoharness.errors import UserError
from evoharness.models.backbone import Refused, Unparsed
from evoharness.models.response_cache import _FLIGHTS, CacheUnusable, ResponseCache, cache_key
from evoharness.records.spend import Spend
from tests.models import sharing
from tests.models.sharing import response


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "responses.sqlite"


def age(path: Path, key: str, days: float) -> None:
    """Make a response look unused for so long."""
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE responses SET used = ? WHERE key = ?", (time.time() - days * 86_400, key))
    connection.close()


def test_who_writes_for_long_costs_what_came_meanwhile_and_no_more(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evoharness.models.response_file.WAIT_S", 0.05)
    warnings: list[str] = []
    cache = ResponseCache(path, warn=warnings.append)
    cache.put("before", response("before"))
    age(path, "before", 3)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    cache.put("meanwhile", response("meanwhile"))
    assert cache.get("before") == response("before")
    other.execute("ROLLBACK")
    other.close()
    cache.put("after", response("after"))
    again = ResponseCache(path, "read")
    assert (again.get("meanwhile"), again.get("after")) == (None, response("after"))
    assert warnings == []


def test_what_was_kept_is_found_by_another_process_later(path: Path) -> None:
    ResponseCache(path).put("a", response("a"))
    again = ResponseCache(path)
    assert again.get("a") == response("a")
    assert again.get("b") is None


def test_reading_alone_adds_nothing(path: Path) -> None:
    ResponseCache(path).put("a", response("a"))
    reading = ResponseCache(path, "read")
    reading.put("b", response("b"))
    assert reading.get("a") == response("a")
    assert reading.get("b") is None
    assert ResponseCache(path).get("b") is None


def test_off_neither_answers_nor_makes_a_file(path: Path) -> None:
    off = ResponseCache(path, "off")
    off.put("a", response("a"))
    assert off.get("a") is None
    assert not path.parent.exists()


def test_looking_into_a_cache_that_is_not_there_makes_none(path: Path) -> None:
    for mode in ("read", "on"):
        assert ResponseCache(path, mode).get("a") is None
    assert not path.exists()


def test_an_unknown_mode_is_told() -> None:
    with pytest.raises(UserError, match="cache=maybe is not known: use off, read, on"):
        ResponseCache(Path("nowhere"), "maybe")


BASE = ("model-1", "Answer", "0123", "content", {"temperature": 0, "seed": 3}, 0)


@pytest.mark.parametrize(
    "other",
    [
        ("model-2", *BASE[1:]),
        (BASE[0], "Verify", *BASE[2:]),
        (*BASE[:2], "4567", *BASE[3:]),
        (*BASE[:3], "other", *BASE[4:]),
        (*BASE[:4], {"temperature": 0.5, "seed": 3}, 0),
        (*BASE[:5], 1),
        ("model-1Answer", "", *BASE[2:]),
    ],
)
def test_whatever_an_answer_depends_on_is_in_its_key(other: tuple[object, ...]) -> None:
    assert cache_key(*BASE) != cache_key(*other)  # type: ignore[arg-type]


def test_the_same_sampling_written_otherwise_has_the_same_key() -> None:
    assert cache_key(*BASE) == cache_key(*BASE[:4], {"seed": 3.0, "temperature": 0.0}, 0)


@given(st.text(), st.text())
def test_no_two_contents_share_a_key_by_how_they_are_joined(one: str, two: str) -> None:
    joined = cache_key("m", one, two, "d", {}, 0)
    assert len(joined) == 64
    assert (joined == cache_key("m", one + two, "", "d", {}, 0)) == (two == "")


def test_processes_and_threads_share_a_file(path: Path) -> None:
    assert sharing.together(sharing.read_and_write, 3, path, 16, 60) == [0, 0, 0]
    assert ResponseCache(path).facts().responses == 60


def test_pruning_does_not_disturb_those_who_read_and_write(path: Path) -> None:
    assert sharing.together(sharing.prune_again_and_again, 3, path, 8, 40) == [0, 0, 0]


def test_a_killed_process_loses_nothing_that_it_kept(path: Path) -> None:
    process = sharing.start(sharing.keep_and_die, path, 50)
    process.join(30)
    assert process.exitcode == 9
    cache = ResponseCache(path)
    assert [cache.get(str(key)) for key in range(50)] == [response(str(key)) for key in range(50)]


def _nonsense(path: Path) -> None:
    path.write_bytes(os.urandom(8192))


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])
    path.with_name(f"{path.name}-wal").unlink(missing_ok=True)


def _foreign(path: Path) -> None:
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE responses (name TEXT)")
    connection.close()


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("damage", [_nonsense, _cut, _foreign, _folder])
@pytest.mark.parametrize("mode", ["read", "on"])
def test_a_damaged_file_costs_a_warning_and_no_run(
    path: Path, damage: Callable[[Path], None], mode: str
) -> None:
    first = ResponseCache(path)
    for key in range(40):
        first.put(str(key), response(str(key)))
    first.close()
    damage(path)
    warnings: list[str] = []
    cache = ResponseCache(path, mode, warnings.append)
    for key in range(40):
        assert cache.get(str(key)) in (None, response(str(key)))
        cache.put(str(key), response(str(key)))
    assert 1 <= len(warnings) <= 2
    assert str(path) in warnings[0]
    assert "\n" not in warnings[0]


@pytest.mark.parametrize("damage", [_nonsense, _cut, _foreign, _folder])
def test_a_damaged_file_is_named_when_it_is_looked_at(path: Path, damage: Callable[[Path], None]) -> None:
    first = ResponseCache(path)
    for key in range(40):
        first.put(str(key), response(str(key)))
    first.close()
    damage(path)
    with pytest.raises(CacheUnusable, match=r"responses\.sqlite cannot be used"):
        ResponseCache(path).prune(max_bytes=0)


def test_a_read_only_file_still_answers() -> None:
    with TemporaryDirectory() as folder:  # not pytest's, which no other user may enter
        path = Path(folder) / "cache" / "responses.sqlite"
        cache = ResponseCache(path)
        cache.put("a", response("a"))
        cache.close()
        path.chmod(0o444)
        path.parent.chmod(0o555)
        Path(folder).chmod(0o755)
        process = sharing.start(sharing.use_what_is_read_only, path)
        process.join(30)
        path.parent.chmod(0o755)
        assert process.exitcode == 0


def test_a_response_of_another_version_is_none(path: Path) -> None:
    cache = ResponseCache(path)
    cache.put("a", response("a"))
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("""UPDATE responses SET spend = '{"coins": 3}'""")
    connection.close()
    assert cache.get("a") is None


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(), st.text())
def test_any_text_can_be_kept(tmp_path: Path, key: str, answer: str) -> None:
    cache = ResponseCache(tmp_path / "any.sqlite")
    kept = response("x").model_copy(update={"answer": answer})
    cache.put(key, kept)
    assert cache.get(key) == kept
    cache.close()


def test_what_was_not_used_for_long_is_pruned(path: Path) -> None:
    cache = ResponseCache(path)
    for key in ("old", "read lately", "new"):
        cache.put(key, response(key))
    age(path, "old", 40)
    age(path, "read lately", 40)
    assert cache.get("read lately") is not None
    assert cache.prune(max_age_days=30).responses == 1
    assert cache.get("old") is None
    assert cache.get("read lately") is not None


def test_the_longest_unused_go_until_the_size_fits(path: Path) -> None:
    cache = ResponseCache(path)
    for number in range(300):
        cache.put(str(number), response(str(number)))
        age(path, str(number), 300 - number)
    before = cache.facts()
    pruned = cache.prune(max_bytes=before.bytes // 10)
    after = cache.facts()
    assert pruned.bytes == before.bytes - after.bytes
    assert pruned.responses == before.responses - after.responses
    assert after.bytes <= before.bytes // 10 < after.bytes + before.bytes // 300 + 40
    assert after.file_bytes < before.file_bytes / 2, "the disk has the space back"
    assert cache.get("299") is not None
    assert cache.get("0") is None


def test_pruning_what_is_not_there_is_nothing(path: Path) -> None:
    assert ResponseCache(path).prune(max_bytes=0).responses == 0
    assert not path.exists()


def test_a_response_is_found_in_far_less_than_a_call_takes(path: Path) -> None:
    cache = ResponseCache(path)
    for key in range(200):
        cache.put(str(key), response(str(key)))
    began = time.perf_counter()
    threads = [threading.Thread(target=cache.get, args=(str(key),)) for key in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (time.perf_counter() - began) / 200 < 0.005


def test_the_price_of_a_response_stays_unknown(path: Path) -> None:
    kept = response("a").model_copy(update={"spend": Spend(calls=1, cost_usd=None)})
    ResponseCache(path).put("a", kept)
    assert ResponseCache(path).get("a") == kept


@pytest.mark.parametrize("kind", [Refused, Unparsed])
def test_a_question_without_an_answer_is_kept_with_its_kind_and_its_price(
    path: Path, kind: type[Refused | Unparsed]
) -> None:
    spend = Spend(calls=2, input_tokens=5)
    ResponseCache(path).put_failure("a", kind("x" * 9_000).costing(spend))
    again = ResponseCache(path)
    found = again.failure("a")
    assert type(found) is kind
    assert found.cached
    assert found.spend == spend
    assert found.paid == Spend()
    assert len(str(found)) == 4_000
    assert again.get("a") is None
    assert again.failure("b") is None
    again.put("b-failed", response("b"))  # something that is no failure
    assert again.failure("b") is None


def test_one_thread_at_a_time_asks_a_question_whatever_object_it_uses(path: Path) -> None:
    asking: list[int] = []
    most: list[int] = []

    def ask(number: int) -> None:
        with ResponseCache(path).flight("a"):
            asking.append(number)
            most.append(len(asking))
            time.sleep(0.002)
            asking.remove(number)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 20
    with pytest.raises(ZeroDivisionError), ResponseCache(path).flight("a"):
        raise ZeroDivisionError
    assert _FLIGHTS == {}
    with ResponseCache(path, "read").flight("a"), ResponseCache(path, "read").flight("a"):
        pass  # nothing is kept, so nobody waits
