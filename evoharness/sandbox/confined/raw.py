"""One run of any Python at all: no language layer, so that only the system holds it.

For trying what the system layers hold. Nothing can be imported once a run is confined, so whatever an
attack may want is imported here, in the fork server of such runs.
"""

import ctypes
import fcntl
import json
import mmap
import multiprocessing.shared_memory
import random
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
from typing import Any

from . import framing

IMPORTED = (
    ctypes, fcntl, json, mmap, multiprocessing.shared_memory, random, resource, select, shutil, signal,
    struct, subprocess, tempfile, threading, time,
)  # fmt: skip


def serve(connection: socket.socket) -> None:
    """Read one job from the host, call its function without `ctx`, send what it returned."""
    job = framing.receive(connection, largest=framing.LARGEST_FROM_HOST)
    end: dict[str, Any]
    try:
        names: dict[str, Any] = {}
        exec(compile(job["source"], f"<{job['entry']}>", "exec"), names)
        value = names[job["entry"]](None, **job["arguments"])
        end = {"kind": "finished", "value": value}
    except MemoryError:
        end = {"kind": "memory_limit_exceeded", "message": "out of memory"}
    except Exception as error:
        end = {"kind": "strategy_error", "message": f"{type(error).__name__}: {error}"[:500]}
    framing.send(connection, {"end": end})
