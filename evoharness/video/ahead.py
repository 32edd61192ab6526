"""Reading ahead: the next pictures are decoded while somebody is busy with this one."""

from collections.abc import Generator, Iterator
from queue import Empty, Queue
from threading import Thread
from typing import Any, TypeVar

Item = TypeVar("Item")
WAIT_S = 0.05


def ahead(items: Iterator[Item], most: int = 3) -> Generator[Item, None, None]:
    """The same items in the same order, at most so many of them made before they are asked for.

    They are made in a thread of their own. What is raised there is raised here; and when the caller loses
    interest, the thread ends before this generator does.
    """
    ready: Queue[tuple[str, Any]] = Queue(most)
    unwanted: list[bool] = []

    def make() -> None:
        try:
            for item in items:
                ready.put(("item", item))
                if unwanted:
                    break
        except BaseException as error:
            ready.put(("error", error))
        else:
            if isinstance(items, Generator):
                items.close()
            ready.put(("end", None))

    maker = Thread(target=make, name="reading ahead", daemon=True)
    maker.start()
    try:
        while True:
            kind, value = ready.get()
            if kind == "end":
                return
            if kind == "error":
                raise value
            yield value
    finally:
        unwanted.append(True)
        while maker.is_alive():  # it may wait for room
            try:
                ready.get(timeout=WAIT_S)
            except Empty:
                continue
        maker.join()
