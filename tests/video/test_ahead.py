"""Reading ahead changes when items are made, and nothing else."""

import threading
import time
from collections.abc import Iterator

import pytest

from evoharness.video.ahead import ahead


def names_of_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate()]


@pytest.mark.parametrize("count", [0, 1, 3, 50])
def test_all_items_come_in_order(count: int) -> None:
    assert list(ahead(iter(range(count)))) == list(range(count))
    assert "reading ahead" not in names_of_threads()


def test_not_more_than_so_many_are_made_ahead() -> None:
    made = []

    def numbers() -> Iterator[int]:
        for number in range(100):
            made.append(number)
            yield number

    items = ahead(numbers(), most=3)
    assert next(items) == 0
    time.sleep(0.1)
    assert len(made) <= 5
    items.close()
    assert "reading ahead" not in names_of_threads()
    assert len(made) < 12


def test_what_is_raised_comes_in_its_place() -> None:
    def numbers() -> Iterator[int]:
        yield 1
        raise OSError("no more")

    items = ahead(numbers())
    assert next(items) == 1
    with pytest.raises(OSError, match="no more"):
        next(items)
    assert "reading ahead" not in names_of_threads()


def test_the_next_item_is_made_while_one_is_used() -> None:
    second_is_made = threading.Event()

    def numbers() -> Iterator[int]:
        yield 1
        second_is_made.set()
        yield 2

    items = ahead(numbers())
    assert next(items) == 1
    assert second_is_made.wait(10)
    assert list(items) == [2]
