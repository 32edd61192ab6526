"""What the options of a question are: numbers, times, sequences, refusals, or phrases."""

import re
from collections.abc import Sequence

from evoharness.models.embedded.clock import TimeMention, read_times
from evoharness.models.embedded.english import NUMBER_WORDS, Quotations, content_terms, stem, tokens

_LABEL = re.compile(r"^\s*(?:\(?[A-Ha-h]\)|[A-H][.:])\s+")
_NONE = re.compile(
    r"^(?:none(?: of (?:the|these|those|them)[\w ]*)?|nothing(?: else)?|neither(?: of [\w ]+)?"
    r"|no(?:ne)? (?:such )?[\w ]*(?:shown|appears?|visible|seen|happens?)"
    r"|not (?:shown|visible|mentioned|seen|present)[\w ]*"
    r"|(?:it|they) (?:is|are|do|does) not [\w ]+|(?:it|they) (?:never|doesn't|don't) [\w ]+)\.?$",
    re.IGNORECASE,
)
_STEP = re.compile(
    r"\s*(?:→|->|=>|;|, and then |,? then |, followed by |,? and finally |, finally |\s>\s)\s*", re.I
)
_FILLER = re.compile(
    r"^(?:(?:and )?(?:first|then|next|finally|lastly|last|afterwards|and)\b[, ]*)+(?:of all[, ]*)?", re.I
)
_PAIR = re.compile(
    r"^(?P<one>.+?)\s+(?:is |happens? |appears? |comes? |occurs? )?(?P<word>before|after)\s+(?P<two>.+)$"
)
_COUNTING_WORDS = "times time about around exactly only at least more than in total roughly approximately or"
_COUNTED = {
    *NUMBER_WORDS,
    *_COUNTING_WORDS.split(),
}
_AROUND_TIMES = (
    "within first last mark start beginning around roughly approximately exactly nearly almost after before "
    "second minute less more between"
)
_BESIDE_TIMES = frozenset(stem(word) for word in _AROUND_TIMES.split())
"""Words that an option may have beside its time and still be nothing but a time."""


def without_label(option: str) -> str:
    """The option without a letter in front."""
    return _LABEL.sub("", option).strip()


def is_none(option: str) -> bool:
    """Whether the option says that nothing fits."""
    return bool(_NONE.match(option.strip()))


def number_in(option: str) -> float | None:
    """The number that an option consists of, beside a unit or a noun; None when it has none or several."""
    found = []
    for token in tokens(option):
        if token in NUMBER_WORDS:
            found.append(float(NUMBER_WORDS[token]))
        elif re.fullmatch(r"\d+(?:\.\d+)?", token):
            found.append(float(token))
    return found[0] if len(found) == 1 else None


def numbers_in(options: Sequence[str]) -> list[float] | None:
    """The numbers of options that are all numbers, perhaps with the same noun; None otherwise."""
    found: list[float] = []
    nouns: set[tuple[str, ...]] = set()
    for option in options:
        number = number_in(option)
        if number is None or len(tokens(option)) > 5:
            return None
        found.append(number)
        nouns.add(tuple(t for t in tokens(option) if t not in _COUNTED and not t[0].isdigit()))
    return found if len({tuple(w.rstrip("s") for w in noun) for noun in nouns}) <= 1 else None


def times_in(options: Sequence[str]) -> list[TimeMention] | None:
    """The times of options that are all times; None otherwise."""
    found = []
    for option in options:
        times = read_times(option)
        if len(times) != 1:
            return None
        start, end = times[0].position
        if any(term not in _BESIDE_TIMES for term in content_terms(option[:start] + " " + option[end:])):
            return None
        found.append(times[0])
    return found


def plain_seconds(options: Sequence[str]) -> list[TimeMention] | None:
    """Options that are bare numbers, as seconds, for a question that asks for a time; None otherwise."""
    numbers = numbers_in(options)
    if numbers is None:
        return None
    return [TimeMention(number, number, (0, 0)) for number in numbers]


def sequence_in(option: str) -> tuple[str, ...]:
    """The steps of an option that names an order, in that order; empty when it names none."""
    held = Quotations(option)
    return tuple(held.restore(step) for step in _steps(held.text))


def _steps(option: str) -> list[str]:
    pair = _PAIR.match(option)
    if pair:
        one, two = pair["one"].strip(), pair["two"].strip()
        return [one, two] if pair["word"] == "before" else [two, one]
    steps = [part for step in _STEP.split(option) for part in re.split(r",\s*(?:and\s+)?", step)]
    steps = [_FILLER.sub("", step.strip(" ,.")).strip(" ,.") for step in steps]
    steps = [step for step in steps if step]
    return steps if len(steps) >= 2 else []


_FRACTION = re.compile(
    r"\b(?P<which>first|second|third|fourth|last|final|middle)\s+(?P<whole>half|third|quarter|fourth)\b", re.I
)
_PLACES = {"first": 1, "second": 2, "third": 3, "fourth": 4}
_PARTS = {"half": 2, "third": 3, "quarter": 4, "fourth": 4}


def parts_of_whole(option: str) -> float | None:
    """Which part of the video an option names, as a fraction: the beginning 0.15, the end 0.85."""
    fraction = _FRACTION.search(option)
    if fraction:
        parts = _PARTS[fraction["whole"].lower()]
        which = fraction["which"].lower()
        if which == "middle":
            return 0.5
        return (_PLACES.get(which, parts) - 0.5) / parts
    words = set(tokens(option))
    if len(words) > 8:
        return None
    if words & {"middle", "midway", "halfway", "mid", "center", "centre"}:
        return 0.5
    if words & {"beginning", "start", "early", "first", "opening", "initial", "initially"}:
        return 0.15
    if words & {"end", "late", "last", "closing", "final", "finally"}:
        return 0.85
    return None
