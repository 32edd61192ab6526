"""`python -m evoharness.harness show DIR`: what a harness folder holds."""

import argparse
import sys
from pathlib import Path

from evoharness.errors import UserError
from evoharness.harness.folder import initial_harness, load_harness
from evoharness.harness.harness import Harness
from evoharness.harness.parameters import parameter_specs


def main(arguments: list[str] | None = None) -> int:
    """Run one verb and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m evoharness.harness", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    show = verbs.add_parser("show", help="print the parts of a harness")
    show.add_argument("folder", help="a harness folder, or `initial`")
    diff = verbs.add_parser("diff", help="print what turns one harness into another")
    diff.add_argument("before", help="a harness folder, or `initial`")
    diff.add_argument("after", help="a harness folder, or `initial`")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.verb == "show":
            print(described(_harness(chosen.folder)))
        else:
            print(_harness(chosen.before).diff(_harness(chosen.after)), end="")
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def described(harness: Harness) -> str:
    """A harness in words: fingerprint, routes, parameters with what was changed, names of the rest."""
    lines = [f"fingerprint  {harness.fingerprint}", "routes"]
    for route in harness.routes:
        sign = "<=" if route.including else "<"
        reach = "every other video" if route.until_s is None else f"videos {sign} {route.until_s:g} s"
        lines.append(f"  {reach}: {route.strategy}{' with memory' if route.memory else ''}")
    lines.append("parameters")
    for spec in parameter_specs():
        value = getattr(harness.parameters, spec.name)
        note = "" if value == spec.initial else f"  (initially {spec.initial})"
        lines.append(f"  {spec.name:20} {value} {spec.unit}{note}")
    for title, names in (
        ("strategies", harness.strategies),
        ("skills", harness.skills),
        ("tools", harness.tools),
    ):
        lines.append(f"{title}  {', '.join(sorted(names)) or 'none'}")
    return "\n".join(lines)


def _harness(place: str) -> Harness:
    return initial_harness() if place == "initial" else load_harness(Path(place))


if __name__ == "__main__":
    sys.exit(main())
