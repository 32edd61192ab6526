"""`python -m evoharness.video.readers.worker`: what runs in a process of a reader (see `apart`)."""

import json
import os
import pickle
import signal
import struct
import sys
from typing import IO

from evoharness.video.readers.apart import HEADER, Job
from evoharness.video.readers.choice import DECORD
from evoharness.video.readers.protocol import Losses, Reader, ReaderFailed

SPARE_S = 30
"""Seconds by which the kernel's deadline lies behind that of the parent, who is to be the first."""


def main() -> int:
    """Work on jobs until nobody is there to send more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, who then closes the pipe
    # What libraries print must not come between the pictures.
    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    while job := _next_job(sys.stdin.buffer):
        losses = Losses()
        try:
            patience = iter(job.patience)
            _end_after(next(patience, 0))
            for pixels in _reader(job, losses).read(job.wanted):
                signal.alarm(0)  # the deadline is for decoding: whoever asked may be busy with the one before
                _send(out, HEADER.pack(b"P", pixels.shape[0], pixels.shape[1]))
                _send(out, pixels.data.cast("B"))
                _end_after(next(patience, 0))
            signal.alarm(0)
            text = json.dumps([sorted(losses.pictures), sorted(losses.damaged)]).encode()
            _send(out, HEADER.pack(b"E", len(text), 0) + text)
        except BrokenPipeError:
            return 0
        except Exception as error:
            signal.alarm(0)
            said = str(error) if isinstance(error, ReaderFailed) else f"{type(error).__name__}: {error}"
            text = said.encode()[:1000]
            _send(out, HEADER.pack(b"F", len(text), 0) + text)
    return 0


def _reader(job: Job, losses: Losses) -> Reader:
    if job.reader == DECORD:
        from evoharness.video.readers.decord import DecordReader

        return DecordReader(job.path, job.index, threads=job.threads)
    from evoharness.video.readers.pyav import PyAVReader

    return PyAVReader(job.path, job.index, sound=job.sound, threads=job.threads, losses=losses)


def _end_after(seconds: float) -> None:
    """Be ended by the kernel then, even if no line of Python is run any more."""
    signal.alarm(int(seconds) + SPARE_S)


def _next_job(pipe: IO[bytes]) -> Job | None:
    head = pipe.read(8)
    if len(head) < 8:
        return None
    data = pipe.read(struct.unpack("<Q", head)[0])
    job = pickle.loads(data)
    assert isinstance(job, Job)
    return job


def _send(out: IO[bytes], data: "bytes | memoryview") -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[out.write(rest) :]


if __name__ == "__main__":
    sys.exit(main())
