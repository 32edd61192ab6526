"""`python -m evoharness.video`: look at a file from the command line."""

import argparse
import sys
from pathlib import Path

from evoharness.errors import UserError
from evoharness.records.frame import Detail
from evoharness.video.probe import probe
from evoharness.video.video import Video


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 when it went well, 2 after one line about what the user can put right."""
    parser = argparse.ArgumentParser(prog="python -m evoharness.video", description="Look at a video file.")
    commands = parser.add_subparsers(dest="command", required=True)
    probing = commands.add_parser("probe", help="print what the file is as one JSON object")
    probing.add_argument("file", type=Path, metavar="FILE")
    framing = commands.add_parser("frames", help="write pictures as PNG files named by their times")
    framing.add_argument("file", type=Path, metavar="FILE")
    framing.add_argument(
        "--times", type=float, nargs="+", required=True, help="seconds from the first picture"
    )
    framing.add_argument("--out", type=Path, required=True, metavar="DIR")
    framing.add_argument("--detail", type=Detail, choices=list(Detail), default=Detail.LARGE)
    given = parser.parse_args(arguments)
    try:
        if given.command == "probe":
            print(probe(given.file).model_dump_json(indent=2))
        else:
            write_frames(Video(given.file), given.times, given.out, given.detail)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def write_frames(video: Video, times: list[float], out: Path, detail: Detail) -> None:
    """Write `<stem>-<seconds>.png` for the picture on display at each time, and print the paths."""
    import cv2

    frames = video.frames(sorted(times), detail)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{out}: cannot be written ({error.strerror})") from error
    for frame, pixels in zip(frames, video.pixels(frames), strict=True):
        target = out / f"{video.path.stem}-{frame.time:.3f}.png"
        encoded = cv2.imencode(".png", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR))[1]
        target.write_bytes(encoded.tobytes())
        print(target)


if __name__ == "__main__":
    sys.exit(main())
