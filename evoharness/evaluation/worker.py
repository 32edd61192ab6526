"""The loop of a worker process: receive a job and an item, do it, send back what came out.

A worker computes in one thread, because several of them share the machine; one whose jobs mostly wait for
a network does several of them at once, each in a thread of its own. It ignores Ctrl-C, which is the
parent's to handle. It ends when the parent's end of the pipe is closed, and at once when the parent is gone.
"""

import os
import pickle
import signal
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Any

from evoharness.evaluation.executor import JobFailed, place_of
from evoharness.evaluation.workbench import Workbench, WorkbenchConfig
from evoharness.records.spend import Used

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "OPENCV_FOR_THREADS_NUM": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
"""Set by the parent around the start of a worker: libraries read these when they are loaded."""


NOTE = -1
"""Number of a message that is about no item: a line for the user."""
STOP = signal.SIGUSR1
"""Tells a worker that jobs are to end as soon as they can be taken up again where they ended."""
TOLD = -2
"""Number of a message that is about no item: how far a job is."""
READY = -3
"""Number of a message that is about no item: all is imported, and items are taken up."""


def work(connection: Connection, config: WorkbenchConfig, in_flight: int = 1) -> None:
    """Serve jobs, `in_flight` of them at a time, until the connection is closed or `None` is received.

    A message is the pickled (number, job, item), and so is its answer: (number, whether the job succeeded,
    its result or error, what it used). The first is about item READY. A line for the user is sent as the
    result of item NOTE, and what a job tells of itself as the result of item TOLD.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    bench = config.build()
    sending = Lock()

    def send(message: bytes) -> None:
        with sending:
            connection.send_bytes(message)

    def note(said: str) -> None:
        with suppress(OSError):
            send(pickle.dumps((NOTE, True, said, Used())))

    def tell(what: object) -> None:
        with suppress(OSError):
            send(pickle.dumps((TOLD, True, what, Used())))

    bench.note, bench.tell = note, tell
    asked = Event()
    signal.signal(STOP, lambda *_: asked.set())
    bench.stopping = asked.is_set
    if parent := parent_process():
        Thread(target=_end_with, args=(parent.sentinel,), name="parent", daemon=True).start()
    try:
        if in_flight > 1:
            bench.prepare()
        send(pickle.dumps((READY, True, None, Used())))
        if in_flight == 1:
            while (message := connection.recv()) is not None:
                send(_done(bench, message))
        else:
            _side_by_side(connection, bench, in_flight, send)
    except (EOFError, OSError):
        pass
    finally:
        bench.close()


def _end_with(parent: int) -> None:
    """End this process as soon as its parent is gone: nobody waits for what it is doing."""
    wait([parent])
    os._exit(1)


def _side_by_side(
    connection: Connection, bench: Workbench, in_flight: int, send: Callable[[bytes], None]
) -> None:
    messages: SimpleQueue[bytes] = SimpleQueue()

    def serve() -> None:
        while True:
            message = messages.get()
            try:
                answer = _done(bench, message)
            except BaseException:  # nobody would ever hear of this item: as when there is only one thread
                os._exit(1)
            with suppress(OSError):
                send(answer)

    for number in range(in_flight):
        Thread(target=serve, name=f"job-{number}", daemon=True).start()
    while (message := connection.recv()) is not None:
        messages.put(message)


def _done(bench: Workbench, message: bytes) -> bytes:
    number, job, item = pickle.loads(message)
    try:
        result = job(bench, item)
        return pickle.dumps((number, True, result, bench.take_used()))
    except Exception as error:
        return pickle.dumps((number, False, _sendable(error), bench.take_used()))


def _sendable(error: Exception) -> Exception:
    """The error itself when it survives pickling, with the worker's traceback as a note."""
    told, place = traceback.format_exc(), place_of(error)
    error.add_note(f"In a worker:\n{told}")
    failed = JobFailed(told)
    for each in (error, failed):
        each.__dict__["place"] = place
    try:
        returned: Any = pickle.loads(pickle.dumps(error))
    except Exception:
        return failed
    return error if type(returned) is type(error) else failed
