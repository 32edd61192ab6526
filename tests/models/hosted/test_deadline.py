"""A call ends by its deadline, whatever its connection does."""

import threading
import time
from contextvars import ContextVar

import pytest

from evoharness.models.hosted.deadline import within

PATIENCE_S = 10.0


def test_gives_what_the_call_gives() -> None:
    assert within(PATIENCE_S, lambda: 7) == 7


def test_raises_what_the_call_raises() -> None:
    def fails() -> None:
        raise LookupError("not there")

    with pytest.raises(LookupError, match="not there"):
        within(PATIENCE_S, fails)


def test_the_call_sees_the_context_of_the_caller() -> None:
    whose: ContextVar[str] = ContextVar("whose")
    whose.set("mine")
    assert within(PATIENCE_S, whose.get) == "mine"


def test_one_thread_makes_one_call_after_another() -> None:
    first = within(PATIENCE_S, threading.get_ident)
    assert [within(PATIENCE_S, threading.get_ident) for _ in range(5)] == [first] * 5


def test_calls_at_the_same_time_have_threads_of_their_own() -> None:
    together = threading.Barrier(4, timeout=PATIENCE_S)
    threads = [threading.Thread(target=within, args=(PATIENCE_S, together.wait)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert not together.broken


def test_a_late_call_is_left_and_ends_at_its_next_step() -> None:
    ended = threading.Event()

    def drips() -> None:
        try:
            while True:
                time.sleep(0.02)  # a byte now and then
        finally:
            ended.set()

    began = time.monotonic()
    with pytest.raises(TimeoutError, match=r"no end within 0\.1 s"):
        within(0.1, drips)
    assert time.monotonic() - began < PATIENCE_S
    assert ended.wait(PATIENCE_S)
    assert within(PATIENCE_S, lambda: 7) == 7


def test_what_a_call_gave_is_not_kept() -> None:
    import gc
    import weakref

    class Reply:
        """Something that can be told to be gone."""

    kept = weakref.ref(within(PATIENCE_S, Reply))
    gc.collect()
    assert kept() is None
