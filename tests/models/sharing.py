"""What real processes do with one file at once, for the tests of the response cache and the budget."""

import os
import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from multiprocessing.context import SpawnProcess
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from evoharness.models.budget import Budget, BudgetExceeded, Caps
from evoharness.models.response_cache import CachedResponse, ResponseCache
from evoharness.records.spend import Spend


def start(job: Callable[..., None], *arguments: Any) -> SpawnProcess:
    process = get_context("spawn").Process(target=job, args=arguments)
    process.start()
    return process


def together(job: Callable[..., None], count: int, *arguments: Any) -> list[int | None]:
    """Run `job(number, barrier, *arguments)` in `count` processes that begin together; exit codes."""
    barrier = get_context("spawn").Barrier(count)
    processes = [start(job, number, barrier, *arguments) for number in range(count)]
    for process in processes:
        process.join(60)
    return [process.exitcode for process in processes]


def response(key: str) -> CachedResponse:
    """The one response that belongs to a key."""
    return CachedResponse(answer=f'{{"of": "{key}"}}' * 20, spend=Spend(calls=1, input_tokens=len(key)))


def read_and_write(number: int, barrier: Barrier, path: Path, threads: int, keys: int) -> None:
    """Every thread of every process asks for every key, and adds what is not there."""
    cache = ResponseCache(path, warn=_fail)
    barrier.wait(30)

    def work(thread: int) -> None:
        order = [str(key) for key in range(keys)]
        random.Random(f"{number}/{thread}").shuffle(order)
        for key in order:
            found = cache.get(key)
            if found is None:
                cache.put(key, response(key))
                found = cache.get(key)
            assert found == response(key)

    _all(work, threads)


def prune_again_and_again(number: int, barrier: Barrier, path: Path, threads: int, keys: int) -> None:
    """The first process prunes while the others read and write."""
    if number:
        read_or_lose(number, barrier, path, threads, keys)
        return
    cache = ResponseCache(path)
    barrier.wait(30)
    for _ in range(10):
        cache.prune(max_bytes=2_000)


def read_or_lose(number: int, barrier: Barrier, path: Path, threads: int, keys: int) -> None:
    """Like `read_and_write`, where what was added may be gone again."""
    cache = ResponseCache(path, warn=_fail)
    barrier.wait(30)

    def work(thread: int) -> None:
        for key in range(keys):
            name = f"{number}/{thread}/{key}"
            cache.put(name, response(name))
            assert cache.get(name) in (None, response(name))

    _all(work, threads)


def use_up(number: int, barrier: Barrier, path: Path, caps: Caps, log: Path, threads: int) -> None:
    """Make calls until the budget refuses one, and write what each took to a log before it takes it."""
    budget = Budget(path, caps, patience_s=30)
    barrier.wait(30)
    writing = threading.Lock()

    def work(thread: int) -> None:
        rng = random.Random(f"{number}/{thread}")
        while True:
            most = Spend(
                calls=1,
                input_tokens=rng.randrange(1, 60),
                output_tokens=rng.randrange(40),
                cost_usd=rng.random() / 100,
            )
            try:
                reservation = budget.reserve(most)
            except BudgetExceeded:
                return
            if rng.random() < 0.2:  # the provider could not be reached
                budget.refund(reservation)
                continue
            took = most.model_copy(
                update={
                    "output_tokens": rng.randint(0, most.output_tokens),
                    "cost_usd": (most.cost_usd or 0.0) * rng.random(),
                }
            )
            with writing, log.with_suffix(f".{number}").open("a") as file:
                file.write(took.model_dump_json() + "\n")
            budget.settle(reservation, took)

    _all(work, threads)


def die_holding(path: Path, caps: Caps, estimate: Spend, count: int) -> None:
    """Reserve `count` times and die without a word, as a process that is killed does."""
    budget = Budget(path, caps)
    for _ in range(count):
        budget.reserve(estimate)
    os._exit(9)


def die_asking(path: Path, caps: Caps, estimate: Spend, count: int) -> None:
    """Send `count` calls, reserve as many, and die without a word."""
    budget = Budget(path, caps)
    for number in range(count):
        budget.sent(budget.reserve(estimate), str(number))
        budget.reserve(estimate)
    os._exit(9)


def keep_and_die(path: Path, keys: int) -> None:
    """Keep responses and die without closing the file."""
    cache = ResponseCache(path)
    for key in range(keys):
        cache.put(str(key), response(str(key)))
    os._exit(9)


def use_what_is_read_only(path: Path) -> None:
    """As a user who may read `path` and write nothing: it answers, it says so once, and it adds nothing."""
    if os.geteuid() == 0:
        os.setuid(65534)
    assert not os.access(path, os.W_OK)
    warnings: list[str] = []
    cache = ResponseCache(path, "on", warnings.append)
    cache.put("b", response("b"))
    assert cache.get("a") == response("a")
    assert cache.get("b") is None
    assert len(warnings) == 1
    assert "none is added" in warnings[0]
    assert ResponseCache(path, "read", _fail).get("a") == response("a")
    nowhere = ResponseCache(path.with_name("other.sqlite"), "on", warnings.append)
    nowhere.put("a", response("a"))
    assert nowhere.get("a") is None
    assert len(warnings) == 2


def _all(work: Callable[[int], None], threads: int) -> None:
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, range(threads)):
            pass  # an assertion that failed in a thread is raised here


def _fail(message: str) -> None:
    raise AssertionError(message)
