"""What a question asks, in which relation of time to what, read from ordinary English."""

import re
from dataclasses import dataclass
from enum import StrEnum

from evoharness.models.embedded import question_patterns as patterns
from evoharness.models.embedded.english import HELD, ORDINAL_WORDS, Quotations, content_terms


class Asked(StrEnum):
    """What kind of thing would answer."""

    COUNT = "count"
    TIME = "time"
    DURATION = "duration"
    ORDER = "order"
    TRUTH = "truth"
    TOPIC = "topic"
    REASON = "reason"
    PHRASE = "phrase"


class Relation(StrEnum):
    """Where in time the answer lies."""

    AFTER = "after"
    BEFORE = "before"
    BETWEEN = "between"
    DURING = "during"
    FIRST = "first"
    LAST = "last"


@dataclass(frozen=True)
class Reading:
    """A question, read."""

    text: str
    asked: Asked
    relation: Relation | None
    anchors: tuple[str, ...]
    """The phrases that name the moments the relation speaks of; two for `between`."""
    focus: str
    """The question without its anchors: what the answer is about."""
    negated: bool
    """Whether the option that does not fit is asked for."""
    odd_one: bool
    """Whether the one that differs from its neighbours is asked for."""
    brief: bool
    """Whether something that lasts a moment only is spoken of."""
    container: bool
    """Whether the part of the video that holds the anchor is asked for."""
    ordinal: int | None
    """Which of the things in a row (1: the first, -1: the last)."""
    occurrence: int | None
    """Which time the same thing happens (1: the first, -1: the last)."""
    immediate: bool
    """Whether the nearest neighbour in time is asked for (right after, next)."""
    superlative: str | None
    """`longest`, `most`, `fewest`, `earliest`, … when things are compared."""


_RELATIONS: tuple[tuple[Relation, re.Pattern[str]], ...] = tuple(
    (relation, re.compile(pattern, re.IGNORECASE))
    for relation, alternatives in (
        (Relation.BETWEEN, patterns.BETWEEN),
        (Relation.AFTER, patterns.AFTER),
        (Relation.BEFORE, patterns.BEFORE),
        (Relation.DURING, patterns.DURING),
    )
    for pattern in alternatives
)
_INVERTED = {
    "after": Relation.BEFORE,
    "since": Relation.BEFORE,
    "before": Relation.AFTER,
    "until": Relation.AFTER,
}
_ORDINAL = re.compile(
    r"(?<!which )(?<!what )(?<!each )(?<!per )(?<!\ba )(?<!\d )\b(?:"
    rf"(?P<word>{'|'.join(ORDINAL_WORDS)})|(?P<digits>\d{{1,2}})(?:st|nd|rd|th)|(?P<last>last|final))\b",
    re.IGNORECASE,
)


def _asked(text: str) -> Asked:
    for asked, pattern in (
        (Asked.TRUTH, patterns.TRUTH),
        (Asked.DURATION, patterns.DURATION),
        (Asked.COUNT, patterns.COUNT),
        (Asked.ORDER, patterns.ORDER),
        (Asked.REASON, patterns.REASON),
        (Asked.TIME, patterns.TIME),
        (Asked.TOPIC, patterns.TOPIC),
    ):
        if pattern.search(text):
            return asked
    return Asked.PHRASE


def _split_relation(text: str) -> tuple[Relation | None, tuple[str, ...], str, bool]:
    """The relation, its anchors, the rest of the question, and whether the nearest is meant."""
    container = patterns.CONTAINER_ASKED.search(text)
    if container and content_terms(container["clause"]):
        relation = _INVERTED.get((container["preposition"] or "").lower(), Relation.DURING)
        clause = f"{text[: container.start()]} {patterns.ASKING.sub(' ', container['clause'])}"
        return relation, (" ".join(clause.split()),), container["noun"] or "", False
    leading = patterns.LEADING_WHEN.search(text)
    if leading:
        rest = text[: leading.start()] + text[leading.end() :]
        return Relation.DURING, (leading["one"],), rest, False
    for relation, pattern in _RELATIONS:
        for match in pattern.finditer(text):
            groups = match.groupdict()
            named = (groups.get("one"), groups.get("two"))
            anchors = tuple(part.strip() for part in named if part and part.strip())
            if not any(HELD.search(anchor) or content_terms(anchor) for anchor in anchors):
                continue
            return (
                relation,
                anchors,
                f"{text[: match.start()]} {text[match.end() :]}",
                bool(groups.get("near")),
            )
    return None, (), text, False


def _ordinal(text: str) -> int | None:
    for match in _ORDINAL.finditer(text):
        if match["last"]:
            return -1
        return int(match["digits"]) if match["digits"] else ORDINAL_WORDS[match["word"].lower()]
    return None


def occurrence_named(text: str) -> tuple[int | None, str]:
    """Which time something happens (1: the first, -1: the last), and the text without saying so."""
    for match in patterns.OCCURRENCE.finditer(text):
        which = _ordinal(match["which"])
        if which is not None:
            return which, f"{text[: match.start()]} {text[match.end() :]}"
    return None, text


def place_named(text: str) -> tuple[int | None, str]:
    """Which one in a row is named (1: the first, -1: the last), and the text without saying so."""
    held = Quotations(text)
    place = _ordinal(held.text)
    return (None, text) if place is None else (place, held.restore(_ORDINAL.sub(" ", held.text)))


def without_brevity(text: str) -> str:
    """The text without words that say how shortly something is seen."""
    return patterns.BRIEF.sub(" ", text)


def read_question(text: str) -> Reading:
    """Read a question; never fails: what it cannot read asks for a phrase, in no relation of time."""
    held = Quotations(" ".join(text.split()))
    asked = _asked(held.text)
    brief = bool(patterns.BRIEF.search(held.text))
    relation, anchors, rest, near = _split_relation(without_brevity(held.text))
    if asked is Asked.TIME and relation is Relation.DURING:
        relation, anchors, rest = None, (), without_brevity(held.text)
    odd_one = bool(patterns.ODD_ONE.search(rest))
    rest = patterns.ODD_ONE.sub(" ", rest)
    negated = bool(patterns.NEGATION.search(rest)) or (
        asked is Asked.TRUTH and bool(patterns.UNTRUE.search(rest))
    )
    occurrence, rest = occurrence_named(rest)
    if relation is None and asked in (Asked.PHRASE, Asked.REASON):
        if patterns.FIRST.search(rest):
            relation = Relation.FIRST
        elif patterns.LAST.search(rest):
            relation = Relation.LAST
    ordinal = _ordinal(rest)
    superlative = patterns.SUPERLATIVE.search(rest)
    rest = patterns.WHOLE.sub(" ", _ORDINAL.sub(" ", rest))
    focus = held.restore(" ".join(rest.split())).strip(" ,.?!")
    return Reading(
        text=text,
        asked=asked,
        relation=relation,
        anchors=_resolved(tuple(held.restore(anchor) for anchor in anchors), focus),
        focus=focus,
        negated=negated and not odd_one,
        odd_one=odd_one,
        brief=brief,
        container=patterns.CONTAINER_ASKED.search(held.text) is not None and relation is Relation.DURING,
        ordinal=ordinal,
        occurrence=occurrence,
        immediate=near or bool(patterns.NEXT.search(held.text)),
        superlative=superlative.group(1).lower() if superlative else None,
    )


def _resolved(anchors: tuple[str, ...], focus: str) -> tuple[str, ...]:
    """Anchors that say `it` or `its` and little else speak of the first anchor's thing, or of the focus."""
    resolved: list[str] = []
    for anchor in anchors:
        if patterns.PRONOUN.search(anchor) and len(content_terms(anchor)) <= 2:
            thing = patterns.EVENT_NOUN.sub(" ", resolved[0]) if resolved else _subject(focus)
            anchor = patterns.PRONOUN.sub(lambda _, thing=thing: f" {thing} ", anchor, count=1)  # type: ignore[misc]
        resolved.append(" ".join(anchor.split()))
    return tuple(resolved)


def _subject(focus: str) -> str:
    """What a clause speaks of: from its first article on, without question words."""
    plain = patterns.ASKING.sub(" ", focus)
    named = patterns.NOUN_PHRASE.search(plain)
    return named.group(0) if named else plain


def labelled_items(text: str) -> dict[str, str]:
    """The items a question lists with labels, as in `(1) … (2) …` or `(a) … (b) …`, by label."""
    marks = list(patterns.LABELLED.finditer(text))
    if len(marks) < 2:
        return {}
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return {
        (mark["one"] or mark["two"] or mark["three"]).lower(): text[mark.end() : end].strip(" ,;.?")
        for mark, end in zip(marks, ends, strict=True)
    }
