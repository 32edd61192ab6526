"""The loop of a worker process: receive a job and an item, do it, send back what came out.

A worker is one thread wide, because several of them share the machine. It ignores Ctrl-C, which is
the parent's to handle, and ends when the parent's end of the pipe is closed, however that came about.
"""

import pickle
import signal
import traceback
from multiprocessing.connection import Connection
from typing import Any

from evoharness.evaluation.executor import JobFailed
from evoharness.evaluation.workbench import WorkbenchConfig

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "OPENCV_FOR_THREADS_NUM": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
"""Set by the parent around the start of a worker: libraries read these when they are loaded."""


def work(connection: Connection, config: WorkbenchConfig) -> None:
    """Serve jobs until the connection is closed or `None` is received."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    bench = config.build()
    try:
        while (message := connection.recv()) is not None:
            job, item = pickle.loads(message)
            try:
                result = job(bench, item)
                answer = pickle.dumps((True, result, bench.take_used()))
            except Exception as error:
                answer = pickle.dumps((False, _sendable(error), bench.take_used()))
            connection.send_bytes(answer)
    except (EOFError, OSError):
        pass
    finally:
        bench.close()


def _sendable(error: Exception) -> Exception:
    """The error itself when it survives pickling, with the worker's traceback as a note."""
    told = traceback.format_exc()
    error.add_note(f"In a worker:\n{told}")
    try:
        returned: Any = pickle.loads(pickle.dumps(error))
    except Exception:
        return JobFailed(told)
    return error if type(returned) is type(error) else JobFailed(told)
