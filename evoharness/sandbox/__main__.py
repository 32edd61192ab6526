"""`python -m evoharness.sandbox check FILE`: what the language policy does not allow in a file."""

import argparse
import sys
from pathlib import Path

from evoharness.sandbox.backends import check_source


def main(arguments: list[str] | None = None) -> int:
    """Run one verb; 1 when there are violations, 2 when the file cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m evoharness.sandbox", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    check = verbs.add_parser("check", help="print the violations of one file")
    check.add_argument("file", type=Path)
    check.add_argument("--entry", choices=("strategy", "tool"), default="strategy")
    chosen = parser.parse_args(arguments)
    try:
        source = chosen.file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        print(f"cannot read {chosen.file}: {error}", file=sys.stderr)
        return 2
    violations = check_source(source, chosen.entry)
    for violation in violations:
        print(f"{chosen.file}: {violation}")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
