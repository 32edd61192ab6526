"""`python -m evoharness.sandbox`: check a file against the language policy, measure the sandbox."""

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
    verbs.add_parser("bench", help="measure a run and a host call")
    chosen = parser.parse_args(arguments)
    if chosen.verb == "bench":
        from evoharness.sandbox.bench import measure

        print(measure().model_dump_json(indent=2))
        return 0
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
