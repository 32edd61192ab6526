"""`python -m evoharness.models cache show`: what is kept of models' answers, and making it smaller."""

import argparse
import re
import sys
from pathlib import Path

from evoharness.errors import UserError
from evoharness.models.response_cache import RESPONSES_FILE, ResponseCache
from evoharness.records.paths import as_path, default_cache

UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
ENOUGH = "say how much may stay: --days N, --size SIZE, or both"


def main(arguments: list[str] | None = None) -> int:
    """Run one verb and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m evoharness.models", description=__doc__)
    cache = parser.add_subparsers(dest="what", required=True).add_parser(
        "cache", help="answers that are kept"
    )
    verbs = cache.add_subparsers(dest="verb", required=True)
    show = verbs.add_parser("show", help="how many answers are kept, how large they are, and since when")
    prune = verbs.add_parser("prune", help="remove answers that were not used for long, or are too many")
    prune.add_argument("--days", type=float, help="remove what was not used for so many days")
    prune.add_argument("--size", help="remove the longest unused until this is left, such as 500M or 2G")
    for verb in (show, prune):
        verb.add_argument(
            "folder", nargs="?", default=default_cache(), help="the cache folder (default: %(default)s)"
        )
    chosen = parser.parse_args(arguments)
    try:
        responses = ResponseCache(_file(chosen.folder))
        if chosen.verb == "prune":
            _prune(responses, chosen.days, chosen.size)
        print(described(responses))
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def described(responses: ResponseCache) -> str:
    """The cache in one line."""
    facts = responses.facts()
    if facts.oldest_days is None:
        return f"{responses.path}: no answers are kept"
    return (
        f"{responses.path}: {facts.responses:,} answers, {facts.file_bytes / 1e6:,.1f} MB on the disk, "
        f"the longest unused since {facts.oldest_days:,.1f} days"
    )


def size_in_bytes(text: str) -> int:
    """`500M`, `2G`, `1.5 GB` or a number of bytes; UserError for anything else."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    if match is None:
        raise UserError(f"--size {text} is no size: write 500M or 2G")
    return round(float(match[1]) * UNITS[match[2].upper()])


def _prune(responses: ResponseCache, days: float | None, size: str | None) -> None:
    if days is None and size is None:
        raise UserError(ENOUGH)
    if days is not None and not days >= 0:
        raise UserError(f"--days {days:g} must be 0 or more")
    pruned = responses.prune(days, None if size is None else size_in_bytes(size))
    print(f"removed {pruned.responses:,} answers, {pruned.bytes / 1e6:,.1f} MB")


def _file(folder: str) -> Path:
    """The file of answers in a cache folder, or that file itself."""
    path = as_path(folder)
    return path if path.is_file() else path / RESPONSES_FILE


if __name__ == "__main__":
    sys.exit(main())
