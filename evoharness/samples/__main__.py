"""`python -m evoharness.samples out=DIR videos=N seed=S [minutes=M] [questions=Q] [workers=W]`."""

import difflib
import os
import sys
import time
from collections.abc import Callable, Sequence

from evoharness.errors import UserError
from evoharness.records.paths import as_path

USAGE = """\
usage: python -m evoharness.samples out=DIR [videos=N] [seed=S] [minutes=M] [questions=Q] [workers=W]

Renders synthetic recordings with a known timeline into DIR, and writes questions about them.

  out=DIR        where to put them; recordings that are there already are kept
  videos=10      how many recordings
  seed=1         which ones: the same seed gives the same recordings
  minutes=8      the longest there may be, up to 60; above 8, every fifth one is long
  questions=30   questions for each recording, at most (0: none)
  workers=0      processes; 0: one a core"""


def _number(kind: Callable[[str], float], low: float, high: float) -> Callable[[str, str], float]:
    def parse(key: str, value: str) -> float:
        try:
            number = kind(value)
        except ValueError:
            number = float("nan")
        if not low <= number <= high:
            what = "a whole number" if kind is int else "a number"
            raise UserError(f"{key}={value}: {key} must be {what} from {low} to {high}")
        return number

    return parse


NUMBERS = {
    "videos": (_number(int, 1, 10_000), 10),
    "seed": (_number(int, 0, 2**63), 1),
    "minutes": (_number(float, 0.5, 60), 8),
    "questions": (_number(int, 0, 1_000), 30),
    "workers": (_number(int, 0, 256), 0),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status: 0, or 2 after a mistake of the user."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if {"-h", "--help"} & set(words):
        print(USAGE)
        return 0
    try:
        return _run(words)
    except UserError as error:
        return _mistake(str(error))
    except BrokenPipeError:
        # the reader of our output went away (`… | head`): nothing is left to say, not even at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _mistake(f"cannot write the recordings: {error}")
    except KeyboardInterrupt:
        print("stopped; run the same command again to go on", file=sys.stderr)
        return 130


def _mistake(said: str) -> int:
    print(f"samples: {' '.join(said.split())}", file=sys.stderr)
    return 2


def _run(words: list[str]) -> int:
    values = {key: float(default) for key, (_, default) in NUMBERS.items()}
    out = ""
    for word in words:
        key, equals, value = word.partition("=")
        if word.startswith("-"):
            raise UserError(f"unknown option {word}: settings are given as key=value; see --help")
        if not equals:
            raise UserError(f"{word!r} is no setting: settings are given as key=value; see --help")
        if key == "out":
            out = value
        elif key in NUMBERS:
            values[key] = NUMBERS[key][0](key, value)
        else:
            close = difflib.get_close_matches(key, ["out", *NUMBERS], n=1)
            raise UserError(
                f"there is no setting {key!r}{f': did you mean {close[0]}?' if close else '; see --help'}"
            )
    if not out.strip():
        raise UserError("out=… is needed, for example out=my_samples/")
    folder = as_path(out)
    if folder.exists() and not folder.is_dir():
        raise UserError(f"out={out} is a file, not a folder")

    from evoharness.samples.produce import render_samples

    began, done = time.monotonic(), 0

    def told(video: str, rendered: bool) -> None:
        nonlocal done
        done += 1
        state = "rendered" if rendered else "already there"
        print(f"[{done}/{values['videos']:g}] {video}  {state}  {time.monotonic() - began:.0f} s", flush=True)

    samples = render_samples(
        folder,
        int(values["videos"]),
        int(values["seed"]),
        longest_minutes=values["minutes"],
        workers=int(values["workers"]) or None,
        on_video=told,
    )
    minutes = sum(timeline.duration for timeline in samples.timelines.values()) / 60
    if values["questions"]:
        questions = samples.write_questions(int(values["questions"]))
        print(f"{len(questions)} questions in {samples.question_file}")
    print(f"{len(samples.keys)} recordings, {minutes:.1f} minutes, in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
