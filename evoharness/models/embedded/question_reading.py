"""What a question asks, in which relation of time to what, read from ordinary English."""

import re
from dataclasses import dataclass
from enum import StrEnum

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
    ordinal: int | None
    """Which of the things in a row (1: the first, -1: the last)."""
    occurrence: int | None
    """Which time the same thing happens (1: the first, -1: the last)."""
    immediate: bool
    """Whether the nearest neighbour in time is asked for (right after, next)."""
    superlative: str | None
    """`longest`, `most`, `fewest`, `earliest`, … when things are compared."""


_WH = r"(?:what|which|who|whom|whose|where|how|why|does|do|did|in which|in what|at what|at which|on which|of what)"
_END = rf"(?=\s*(?:[,;:?!]|\.(?:\s|$)|$)|\s+{_WH}\s)"
_NEAR = r"(?:immediately|right|directly|just|straight|shortly|soon|the moment|the instant|the first thing)"
_RELATIONS: tuple[tuple[Relation, re.Pattern[str]], ...] = tuple(
    (relation, re.compile(pattern, re.IGNORECASE))
    for relation, pattern in (
        (Relation.BETWEEN, rf"\b(?:in )?between (?P<one>[^,?]+?) and (?P<two>.+?){_END}"),
        (Relation.BETWEEN, rf"\bafter (?P<one>[^,?]+?) (?:and|but) before (?P<two>.+?){_END}"),
        (
            Relation.AFTER,
            rf"\b(?P<near>{_NEAR} )?(?:after|(?<!the )following(?= (?:the|a|an|this|that|\ue000))|as soon as|once|subsequent to|since)(?: that| the time)?"
            rf" (?P<one>.+?){_END}",
        ),
        (
            Relation.BEFORE,
            rf"\b(?P<near>{_NEAR} )?(?:before|prior to|preceding|ahead of|leading up to|until|till|by the time)"
            rf" (?P<one>.+?){_END}",
        ),
        (Relation.AFTER, rf"\b(?:follows|comes after|succeeds) (?P<one>.+?){_END}"),
        (Relation.BEFORE, rf"\b(?:precedes|leads up to) (?P<one>.+?){_END}"),
        (
            Relation.DURING,
            rf"\b(?:while|during|(?:at|in) the (?:moment|time|instant|scene|part|frame|shot|segment)"
            rf"(?: (?:when|that|where|in which|of))?|at the same time as|alongside|simultaneously with|as"
            rf"|(?<!^)when(?=ever\b)?)\s(?P<one>.+?){_END}",
        ),
    )
)
_LEADING_WHEN = re.compile(rf"^when (?P<one>[^?]+?),\s*(?={_WH}\b)", re.IGNORECASE)
_COUNT = re.compile(
    r"\bhow (?:many|often)\b|\b(?:the )?(?:total )?number of\b(?! the)|\bcount (?:the|of|how)\b|\bhow many\b",
    re.IGNORECASE,
)
_DURATION = re.compile(
    r"\bhow long\b|\bhow much time\b|\bhow many (?:seconds|minutes)\b|\b(?:the|what) duration\b|\bfor how\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"^when\b|[.,;]\s*when (?:does|do|did|is|are|was|were|can)\b|\b(?:at|around|about)? ?(?:what|which) "
    r"(?:times?|seconds?|minutes?|moment|point|timestamp|instant|intervals?)\b|\btime ?stamp\b|\b(?:in )?(?:which|what) part\b",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"\b(?:order|sequence|sequentially|chronolog\w*|timeline|arrang\w+|in what succession)\b", re.IGNORECASE
)
_TRUTH = re.compile(
    r"\b(?:statements?|claims?|descriptions?|assertions?|sentences?)\b.*\b(?:true|correct|accurate|right|false|"
    r"incorrect|wrong|holds?|match\w*|supported|untrue|inaccurate|describ\w+)\b"
    r"|\b(?:is|are) (?:true|correct|false|incorrect|not true|accurate)\b"
    r"|\bwhich of (?:the following|these|the options)[^,]* (?:true|correct|false|incorrect|accurate)\b",
    re.IGNORECASE,
)
_TOPIC = re.compile(
    r"\b(?:main(?:ly)?|primar\w+|overall|central|general) (?:\w+ )?(?:topic|subject|idea|theme|content|purpose|point|"
    r"message|focus|about|activity|event|goal)\b|\bmainly\b|\bprimarily\b|\bsummar\w+\b|\bwhat (?:is|was) "
    r"(?:the|this|that) (?:\w+ )?(?:video|clip|recording|lecture|film|footage)(?: \w+)? about\b|\btopic\b|\btheme\b"
    r"|\bbest describes? (?:the|this) (?:whole |entire |overall )?(?:video|clip|recording|content|procedure|lecture)\b"
    r"|\b(?:title|headline) (?:for|of) (?:the|this) (?:video|clip)\b|\bgenre\b|\b(?:kind|type|sort) of video\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\bwhy\b|\breason\b|\bwhat (?:caused?|causes|led to|leads to|makes|made|triggers?|triggered|prompt\w*)\b"
    r"|\bbecause of what\b|\bresponsible for\b|\bpurpose of\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|never|except|neither|nor|without|missing|absent|omitted|skipped|false|incorrect|untrue|inaccurate|wrong"
    r"|fails? to|cannot)\b|n[’']t\b",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r"\bnext\b|\bimmediately\b|\b(?:right|just|directly|straight) (?:after|before)\b|\bthen (?:happens|occurs)\b",
    re.IGNORECASE,
)
_SUPERLATIVE = re.compile(
    r"\b(longest|shortest|most|fewest|least|largest|biggest|smallest|earliest|latest|longer|shorter|more|fewer|larger"
    r"|bigger|smaller|earlier|later|sooner|briefest)\b(?! (?:likely|probable|probably|accurate|accurately|appropriate"
    r"|suitable|closely|plausible|plausibly|than (?:once|one|twice)))",
    re.IGNORECASE,
)
_FIRST = re.compile(
    r"\b(?:first|initially|at the (?:very )?(?:start|beginning|outset)|to begin with|opening)\b", re.I
)
_LAST = re.compile(r"\b(?:last|finally|at the (?:very )?end|final|in the end|closing|ultimately)\b", re.I)
_ORDINAL = re.compile(
    r"(?<!which )(?<!what )(?<!each )(?<!per )(?<!\d )\b(?:"
    rf"(?P<word>{'|'.join(ORDINAL_WORDS)})|(?P<digits>\d{{1,2}})(?:st|nd|rd|th)|(?P<last>last|final))\b",
    re.IGNORECASE,
)
_EXPLICIT = re.compile(
    r"\((?P<one>[a-h]|\d|[ivx]+)\)\s*|(?<!\w)(?P<two>[a-h]|\d)\)\s*|(?<![\w.])(?P<three>\d)\.\s+",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    r"\b(?:in|on|within|during|of|throughout|over|across) (?:the|this|that) (?:\w+ )?"
    r"(?:video|recording|clip|footage|film|screen|frame|picture|image|scene)\b", re.IGNORECASE
)
_PRONOUN = re.compile(r"\b(?:it|its|they|their|them|he|she|his|her)\b", re.IGNORECASE)
_EVENT_NOUN = re.compile(
    r"\b(?:the )?(?:arrival|entry|entrance|appearance|departure|start|beginning|end|disappearance)(?: of)?\b",
    re.I,
)
_OCCURRENCE = re.compile(
    r"\b(?:for |on )?(?:the |its |his |her |their )(?:very )?(?P<which>\w+) (?:time|occasion|appearance)\b",
    re.IGNORECASE,
)


def _asked(text: str) -> Asked:
    if _TRUTH.search(text):
        return Asked.TRUTH
    if _DURATION.search(text):
        return Asked.DURATION
    if _COUNT.search(text):
        return Asked.COUNT
    if _ORDER.search(text):
        return Asked.ORDER
    if _REASON.search(text):
        return Asked.REASON
    if _TIME.search(text):
        return Asked.TIME
    if _TOPIC.search(text):
        return Asked.TOPIC
    return Asked.PHRASE


def _split_relation(text: str) -> tuple[Relation | None, tuple[str, ...], str, bool]:
    leading = _LEADING_WHEN.search(text)
    if leading:
        rest = text[: leading.start()] + text[leading.end() :]
        return Relation.DURING, (leading["one"],), rest, False
    for relation, pattern in _RELATIONS:
        match = pattern.search(text)
        if match is None:
            continue
        groups = match.groupdict()
        anchors = tuple(
            part.strip() for part in (groups.get("one"), groups.get("two")) if part and part.strip()
        )
        if not any(HELD.search(anchor) or content_terms(anchor) for anchor in anchors):
            continue
        rest = f"{text[: match.start()]} {text[match.end() :]}"
        return relation, anchors, rest, bool(groups.get("near"))
    return None, (), text, False


def _ordinal(text: str) -> int | None:
    for match in _ORDINAL.finditer(text):
        if match["last"]:
            return -1
        if match["digits"]:
            return int(match["digits"])
        return ORDINAL_WORDS[match["word"].lower()]
    return None


def occurrence_named(text: str) -> tuple[int | None, str]:
    """Which time something happens (1: the first, -1: the last), and the text without saying so."""
    for match in _OCCURRENCE.finditer(text):
        which = _ordinal(match["which"])
        if which is not None:
            return which, f"{text[: match.start()]} {text[match.end() :]}"
    return None, text


def place_named(text: str) -> tuple[int | None, str]:
    """Which one in a row is named (1: the first, -1: the last), and the text without saying so."""
    held = Quotations(text)
    place = _ordinal(held.text)
    return (None, text) if place is None else (place, held.restore(_ORDINAL.sub(" ", held.text)))


def read_question(text: str) -> Reading:
    """Read a question; never fails: what it cannot read asks for a phrase, in no relation of time."""
    held = Quotations(" ".join(text.split()))
    asked = _asked(held.text)
    relation, anchors, rest, near = _split_relation(held.text)
    if asked is Asked.TIME and relation is Relation.DURING:
        relation, anchors, rest = None, (), held.text
    occurrence, rest = occurrence_named(rest)
    if relation is None and asked in (Asked.PHRASE, Asked.REASON):
        if _FIRST.search(rest):
            relation = Relation.FIRST
        elif _LAST.search(rest):
            relation = Relation.LAST
    ordinal = _ordinal(rest)
    if ordinal is not None:
        rest = _ORDINAL.sub(" ", rest)
    superlative = _SUPERLATIVE.search(rest)
    return Reading(
        text=text,
        asked=asked,
        relation=relation,
        anchors=_resolved(tuple(held.restore(anchor) for anchor in anchors)),
        focus=held.restore(" ".join(_WHOLE.sub(" ", rest).split())).strip(" ,.?!"),
        negated=bool(_NEGATION.search(rest)),
        ordinal=ordinal,
        occurrence=occurrence,
        immediate=near or bool(_NEXT.search(held.text)),
        superlative=superlative.group(1).lower() if superlative else None,
    )


def _resolved(anchors: tuple[str, ...]) -> tuple[str, ...]:
    """A second anchor that says `it` or `its` speaks of the first one's thing."""
    if len(anchors) < 2 or not _PRONOUN.search(anchors[1]) or len(content_terms(anchors[1])) > 2:
        return anchors
    thing = _EVENT_NOUN.sub(" ", anchors[0])
    return anchors[0], _PRONOUN.sub(lambda _: f" {thing} ", anchors[1])


def labelled_items(text: str) -> dict[str, str]:
    """The items a question lists with labels, as in `(1) … (2) …` or `(a) … (b) …`, by label."""
    marks = list(_EXPLICIT.finditer(text))
    if len(marks) < 2:
        return {}
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return {
        (mark["one"] or mark["two"] or mark["three"]).lower(): text[mark.end() : end].strip(" ,;.?")
        for mark, end in zip(marks, ends, strict=True)
    }
