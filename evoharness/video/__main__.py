"""`python -m evoharness.video`: look at a file from the command line."""

import argparse
import json
import math
import os
import sys
from dataclasses import replace
from pathlib import Path

from evoharness.errors import UserError
from evoharness.records.frame import Detail, Frame
from evoharness.video.probe import probe
from evoharness.video.video import Video


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 when it went well, 2 after one line about what the user can put right."""
    parser = argparse.ArgumentParser(prog="python -m evoharness.video", description="Look at a video file.")
    commands = parser.add_subparsers(dest="command", required=True)
    probing = commands.add_parser("probe", help="print what the file is as one JSON object")
    probing.add_argument("file", type=Path, metavar="FILE")
    framing = commands.add_parser("frames", help="write pictures as PNG files named by their true times")
    framing.add_argument("file", type=Path, metavar="FILE")
    framing.add_argument(
        "--times",
        type=_seconds,
        nargs="+",
        required=True,
        metavar="S",
        help="seconds from the first picture, in any order",
    )
    framing.add_argument("--out", type=Path, required=True, metavar="DIR", help="made if it is not there")
    framing.add_argument(
        "--detail",
        choices=[level.value for level in Detail],
        help="as a model would see it at that level; without it the picture as it is displayed",
    )
    given = parser.parse_args(arguments)
    try:
        if given.command == "probe":
            _say(_as_json(probe(given.file).model_dump()))
        else:
            write_frames(
                Video(given.file), given.times, given.out, Detail(given.detail) if given.detail else None
            )
        sys.stdout.flush()
    except UserError as error:
        print(str(error).encode("utf-8", "backslashreplace").decode(), file=sys.stderr)
        return 2
    except BrokenPipeError:
        # the reader of our output went away (`… | head`): nothing is left to say, not even at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def write_frames(video: Video, times: list[float], out: Path, detail: Detail | None = None) -> None:
    """Write the picture on display at each time, once, as `<seconds>.png`, and print the paths.

    The seconds are those of the picture: it began then, at or before the time that was asked for. What is
    odd about the file, or was lost, is told on the error stream.
    """
    import cv2

    frames = video.frames(sorted(times), detail or Detail.LARGE)
    if detail is None:
        frames = [replace(frame, width=video.info.width, height=video.info.height) for frame in frames]
    for warning in video.info.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    if min(times) < 0:
        print("note: the video begins at 0 s", file=sys.stderr)
    if max(times) > video.info.duration:
        print(f"note: the video ends at {video.info.duration:.3f} s", file=sys.stderr)
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, pixels in zip(_names(frames), video.pixels(frames), strict=True):
            encoded = cv2.imencode(".png", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR))[1]
            (out / name).write_bytes(encoded.tobytes())
            _say(str(out / name))
    except OSError as error:
        raise UserError(f"{error.filename or out}: cannot be written ({error.strerror})") from error
    for failure in video.losses.replaced:
        print(f"warning: a reader was replaced: {failure}", file=sys.stderr)
    if video.losses.damaged:
        print(f"warning: damaged in parts: {len(video.losses.damaged)} of the pictures", file=sys.stderr)
    if video.losses.pictures:
        lost = ", ".join(f"{video.index.time(number):.3f}" for number in sorted(video.losses.pictures))
        print(f"warning: could not be decoded, the one before stands in: {lost}", file=sys.stderr)


def _names(frames: list[Frame]) -> list[str]:
    """One name a frame: its seconds, with as many decimals as tell all of them apart, three at least."""
    names: list[str] = []
    for decimals in (3, 6, 9):
        names = [f"{frame.time:.{decimals}f}.png" for frame in frames]
        if len(set(names)) == len(names):
            break
    return names


def _seconds(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


_seconds.__name__ = "number of seconds"  # what argparse calls it in its one line of complaint


def _as_json(facts: dict[str, object]) -> str:
    text = json.dumps(facts, indent=2, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:  # bytes in a path that are no text, or a terminal without accents
        return json.dumps(facts, indent=2)
    return text


def _say(text: str) -> None:
    encoding = sys.stdout.encoding or "ascii"
    print(text.encode(encoding, "backslashreplace").decode(encoding))


if __name__ == "__main__":
    sys.exit(main())
