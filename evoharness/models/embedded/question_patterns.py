"""The ways in which English asks and relates: regular expressions for `question_reading`.

They are about the language of questions in general, whoever asks them and of whatever video.
"""

import re

_CASELESS = re.IGNORECASE
HELD_QUOTATION = "\ue000"

_WH = r"(?:what|which|who|whom|whose|where|how|why|does|do|did|(?:in|at|on|of) (?:which|what))"
_END = rf"(?=\s*(?:[,;:?!]|\.(?:\s|$)|$)|\s+{_WH}\s)"
_NEAR = r"(?:immediately|right|directly|just|straight|shortly|soon|the moment|the instant)"
_STRETCH = (
    r"(?:moment|time|instant|scene|part|frame|shot|segment|step|stage|phase|section|chapter|slide|period"
    r"|round)"
)
_CONTAINER = r"(?:step|stage|phase|scene|section|chapter|segment|slide|period|round|instruction|heading)"
_PICTURE = r"(?:picture|screen|frame|image|view|display)"
_AUXILIARY = r"(?:does|do|did|is|are|was|were|can|could|will|has|have)"

BETWEEN = (
    rf"\b(?:in )?between (?P<one>[^,?]+?) and (?P<two>.+?){_END}",
    rf"\bafter (?P<one>[^?]+?),? (?:and|but) (?:still )?before (?P<two>.+?){_END}",
)
AFTER = (
    rf"\b(?P<near>{_NEAR} )?(?:after|(?<!the )following(?= (?:the|a|an|this|that|{HELD_QUOTATION}))"
    rf"|as soon as|once"
    rf"|subsequent to|since)(?: that| the time)? (?P<one>.+?){_END}",
    rf"\b(?:follows|comes after|succeeds) (?P<one>.+?){_END}",
)
BEFORE = (
    rf"\b(?P<near>{_NEAR} )?(?:before|prior to|preceding|ahead of|leading up to|until|till|by the time)"
    rf" (?P<one>.+?){_END}",
    rf"\b(?:precedes|leads up to) (?P<one>.+?){_END}",
)
DURING = (
    rf"\b(?:while|during|(?:at|in|within|throughout) the {_STRETCH}(?: (?:when|that|where|(?:in|at) which"
    rf"|of))?"
    r"|at the same time as|alongside|together with|simultaneously with|as"
    r"|(?<!^)(?<!about )(?<!exactly )when(?!ever))"
    rf"\s(?P<one>.+?){_END}",
)
LEADING_WHEN = re.compile(rf"^when (?P<one>[^?]+?),\s*(?={_WH}\b)", _CASELESS)
CONTAINER_ASKED = re.compile(
    rf"\b(?:(?P<preposition>during|after|before|until|till|since|throughout)\s+(?P<any>which|what)"
    rf"|(?:in|at|on|to|within) (?:which|what) (?={_CONTAINER}\b))\s*(?P<noun>\w+)?\s*(?P<clause>[^?.]*)",
    _CASELESS,
)
"""`During which step does …`: the clause is the moment, and the phrase with `which` what is asked for."""

CONTAINER = re.compile(rf"\b{_CONTAINER}\b", _CASELESS)
"""Nouns for parts of a video that a heading opens."""
COUNT = re.compile(
    r"\bhow (?:many|often)\b|\b(?:total )?number of\b(?! the)|\bcount (?:the|of|how)\b", _CASELESS
)
DURATION = re.compile(
    r"\bhow long\b|\bhow much time\b|\bhow many (?:seconds|minutes)\b|\b(?:the|what) duration\b", _CASELESS
)
TIME = re.compile(
    rf"(?:^|[.,;:]\s*|\b(?:about|roughly|exactly|and) )when {_AUXILIARY}\b"
    r"|\b(?:what|which) (?:two )?(?:times?|seconds?|minutes?|moment|point|timestamp|instant|intervals?)\b"
    rf"|\btime ?stamp\b|\b(?:which|what) (?:part|third|half|quarter)\b(?! of (?:the|this) {_PICTURE})",
    _CASELESS,
)
ORDER = re.compile(
    r"\b(?:order|sequence|sequentially|chronolog\w*|timeline|arrang\w+|in what succession)\b", _CASELESS
)
TRUTH = re.compile(
    r"\b(?:statements?|claims?|descriptions?|assertions?|sentences?)\b.*\b(?:true|correct|accurate|right"
    r"|false"
    r"|incorrect|wrong|holds?|match\w*|supported|untrue|inaccurate|describ\w+|agrees?|fits?)\b"
    r"|\b(?:is|are) (?:true|correct|false|incorrect|not true|accurate)\b"
    r"|\bwhich of (?:the following|these|the options)[^,]* (?:true|correct|false|incorrect|accurate)\b",
    _CASELESS,
)
TOPIC = re.compile(
    r"\b(?:main(?:ly)?|primar\w+|overall|central|general) (?:\w+ )?(?:topic|subject|idea|theme|content"
    r"|purpose|point"
    r"|message|focus|about|activity|event|goal)\b|\bmainly\b|\bprimarily\b|\bsummar\w+\b|\btopic\b|\btheme\b"
    r"|\bwhat (?:is|was) (?:the|this|that) (?:\w+ )?(?:video|clip|recording|lecture|film"
    r"|footage)(?: \w+)? about\b"
    r"|\bbest describes? (?:the|this) (?:whole |entire |overall )?(?:video|clip|recording|content"
    r"|procedure|lecture)\b"
    r"|\b(?:title|headline) (?:for|of) (?:the|this) (?:video|clip)\b|\bgenre\b|\b(?:kind|type"
    r"|sort) of video\b",
    _CASELESS,
)
REASON = re.compile(
    r"\bwhy\b|\breason\b|\bwhat (?:caused?|causes|led to|leads to|makes|made|triggers?|triggered|prompt\w*)\b"
    r"|\bbecause of what\b|\bresponsible for\b|\bpurpose of\b",
    _CASELESS,
)
NEGATION = re.compile(
    r"\b(?:not|never|except|neither|nor|without|missing|absent|omitted|skipped|fails? to|cannot)\b|n[’']t\b",
    _CASELESS,
)
UNTRUE = re.compile(r"\b(?:false|incorrect|untrue|inaccurate|wrong)\b", _CASELESS)
ODD_ONE = re.compile(
    r"\b(?:odd one out|odd one|(?:does|do) ?n[o’']t (?:belong|fit|match)|not like the (?:others?|rest)"
    r"|unlike the "
    r"(?:others?|rest)|differs?|different from the (?:others?|rest)|breaks? the (?:pattern|rule|row)"
    r"|stands? out"
    r"|out of (?:place|line)|exception)\b",
    _CASELESS,
)
_BARELY = r"(?:just|only|merely|hardly|barely|scarcely|about|under|at most|all of) "
_SHORT = r"(?:(?:very|rather|quite|extremely) )?(?:short|brief|fleeting|momentary)"
BRIEF = re.compile(
    rf"\b(?:briefly|momentarily|fleetingly|short-lived|in passing|for (?:{_BARELY})?(?:a|an|half a|one)"
    r" (?:moment|instant|second|blink|split second)(?: or (?:less|so))?"
    rf"|for {_BARELY}two seconds|for (?:{_BARELY})?a couple of seconds(?: at most)?"
    r"|no (?:longer|more) than (?:a|one) (?:second|moment|heartbeat)"
    r"|a (?:moment|second) or less|less than (?:a|one) second"
    rf"|(?:for )?(?:{_BARELY})?(?:a fraction of a second|(?:the )?(?:blink|twinkling) of an eye)"
    rf"|(?:for )?(?:{_BARELY})?an? {_SHORT} (?:moment|instant|time|while|period|glimpse|appearance)"
    r"(?! (?:after|before|later|earlier|ago)\b)"
    r"|flash(?:es|ed|ing)?(?: up)?|blinks?(?: up)?|flicker(?:s|ed|ing)? up|quickly gone(?: again)?"
    r"|almost (?:at once|immediately|instantly)(?! (?:after|before)\b)"
    r"|almost as soon as (?:it|they) (?:has |have )?(?:appear(?:s|ed)?|comes?|came))\b",
    _CASELESS,
)
"""What is said of something that is there for a moment only."""
NEXT = re.compile(
    r"\bnext\b|\bimmediately\b|\b(?:right|just|directly|straight) (?:after|before)\b|\bthen (?:happens"
    r"|occurs)\b",
    _CASELESS,
)
NEXT_ONE = re.compile(
    r"\b(?:the )?(?:next|following|subsequent)\b|\b(?:that|which) (?:follows|comes (?:next|after))\b",
    _CASELESS,
)
SUPERLATIVE = re.compile(
    r"\b(longest|shortest|most|fewest|least|largest|biggest|smallest|earliest|latest|longer|shorter|more"
    r"|fewer|larger"
    r"|bigger|smaller|earlier|later|sooner|briefest)\b(?! (?:likely|probable|probably|accurate|accurately"
    r"|appropriate"
    r"|suitable|closely|plausible|plausibly|than (?:once|an?|one|twice)))",
    _CASELESS,
)
FIRST = re.compile(
    r"\b(?:first|initially|at the (?:very )?(?:start|beginning|outset)|to begin with|opening)\b", _CASELESS
)
LAST = re.compile(r"\b(?:last|finally|at the (?:very )?end|final|in the end|closing|ultimately)\b", _CASELESS)
LABELLED = re.compile(
    r"\((?P<one>[a-h]|\d|[ivx]+)\)\s*|(?<!\w)(?P<two>[a-h]|\d)\)\s*|(?<![\w.])(?P<three>\d)\.\s+", _CASELESS
)
WHOLE = re.compile(
    r"\b(?:in|on|within|during|of|throughout|over|across) (?:the|this|that) (?:\w+ )?"
    rf"(?:video|recording|clip|footage|film|scene|{_PICTURE})\b",
    _CASELESS,
)
"""The video or its picture as a whole: says nothing of what is asked."""
PRONOUN = re.compile(r"\b(?:it|its|they|their|them|he|she|his|her)\b", _CASELESS)
NOUN_PHRASE = re.compile(r"\b(?:the|an?|this|that)\b.*", _CASELESS)
EVENT_NOUN = re.compile(
    r"\b(?:the )?(?:arrival|entry|entrance|appearance|departure|start|beginning|end|disappearance)(?: of)?\b",
    _CASELESS,
)
OCCURRENCE = re.compile(
    r"\b(?:for |on )?(?:the |its |his |her |their )(?:very )?(?P<which>\w+) (?:time|occasion|appearance)\b",
    _CASELESS,
)
ASKING = re.compile(
    rf"\b(?:what|which|who|whom|whose|where|how|why|when)\b(?: {_AUXILIARY}\b)?|\b{_AUXILIARY}\b", _CASELESS
)
"""Question words and the auxiliaries of their clause."""
