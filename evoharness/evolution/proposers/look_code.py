"""The code of new looks, as templates: an answer first, the places to look at where it is in doubt, the look.

`EVIDENCE` and `FIRST` stand for what a strategy answers from and for its answer; numbers in braces come from
a `Look`. All of it is general: ordinary English, times as clocks show them, and the interface of `ctx`.
"""

SIGNS = (
    *("too small to", "too far away to", "too dark to", "too blurred to", "unreadable", "illegible"),
    *("not legible", "not readable", "hard to read", "cannot be read", "cannot be made out"),
)
"""Words with which a model says that it could not see something well enough."""

PLACED = '''
def placed(evidence):
    """Statements with a time, out of evidence of any nesting."""
    found = []
    for item in evidence:
        if isinstance(item, list):
            found += placed(item)
        elif isinstance(item, dict):
            if item.get("text") and item.get("start") is not None and item.get("end") is not None:
                found.append(item)
            found += placed(list(item.values()))
    return found
'''

ANSWER_FIRST = """
evidence = EVIDENCE
first = FIRST
if first["scores"] and max(first["scores"]) >= {unless}:
    return first
"""

GATHER = """
asked = question["text"] + " / " + " / ".join(question["options"])
gathered = [item for item in placed([evidence])[:1800] if item["start"] <= ctx.video.duration]
"""

LIKE_QUESTION = """
likeness = ctx.similar(question["text"], [item["text"] for item in gathered])
ranked = sorted(range(len(gathered)), key=lambda index: -likeness[index])
places = []
for index in ranked[:{spans}]:
    places.append([gathered[index]["start"] - {before}, gathered[index]["end"] + {after}])
"""

LIKE_OPTIONS = """
places = []
for option in question["options"]:
    likeness = ctx.similar(option, [item["text"] for item in gathered])
    if likeness:
        best = gathered[likeness.index(max(likeness))]
        place = [best["start"] - {before}, best["end"] + {after}]
        if place not in places:
            places.append(place)
places = places[:{spans}]
"""

BESIDE = r"""
later = ctx.find("(?i)\\b(after|next|follow|then|later|subsequent)", question["text"])
earlier = ctx.find("(?i)\\b(before|previous|prior|preced|earlier|until)", question["text"])
likeness = ctx.similar(question["text"], [item["text"] for item in gathered])
ranked = sorted(range(len(gathered)), key=lambda index: -likeness[index])
places = []
for index in ranked[:{spans}]:
    reach_back = {before} if earlier or not later else 0.0
    reach_on = {after} if later or not earlier else 0.0
    places.append([gathered[index]["start"] - reach_back, gathered[index]["end"] + reach_on])
"""

UNSEEN = """
gaps = []
seen_until = 0.0
for item in sorted(gathered, key=lambda item: item["start"]):
    if item["start"] > seen_until:
        gaps.append([seen_until - {before}, item["start"] + {after}])
    seen_until = max(seen_until, item["end"])
if ctx.video.duration > seen_until:
    gaps.append([seen_until - {before}, ctx.video.duration])
places = sorted(gaps, key=lambda gap: gap[0] - gap[1])[:{spans}]
"""

CANDIDATES = """
places = []
for candidate in {looked}["candidates"][:{spans}]:
    places.append([candidate["start"] - {before}, candidate["end"] + {after}])
"""

UNREADABLE = """
hidden = []
for item in gathered:
    for sign in {signs}:
        if sign in item["text"].lower():
            hidden.append(item)
            break
likeness = ctx.similar(asked, [item["text"] for item in hidden])
ranked = sorted(range(len(hidden)), key=lambda index: -likeness[index])
places = []
for index in ranked[:{spans}]:
    middle = (hidden[index]["start"] + hidden[index]["end"]) / 2
    places.append([middle - {before}, middle + {after}])
"""

NAMED_TIMES = r"""
places = []
for clock in ctx.find("\\b[0-9]{{1,2}}(:[0-9]{{2}}){{1,2}}\\b", asked):
    seconds = 0
    for number in clock["text"].split(":"):
        seconds = 60 * seconds + int(number)
    place = [seconds - {before}, seconds + {after}]
    if seconds <= ctx.video.duration and place not in places:
        places.append(place)
places = places[:{spans}]
"""

EVERYWHERE = """
part = ctx.video.duration / {spans}
half = max(1 / {fps}, ctx.video.duration / {frames}) / 2
places = []
for number in range({spans}):
    places.append([min(number * part + half, (number + 1) * part), (number + 1) * part])
"""

LOOK = """
observed = []
if places:
    observed = ctx.look(places, {fps}, {frames}, ctx.params.{detail}, asked)["observations"]
"""

OWN_NAMES = frozenset(
    {"evidence", "first", "asked", "gathered", "observed", "places", "place", "part", "half"}
    | {"likeness", "ranked", "best", "later", "earlier", "reach_back", "reach_on", "gaps", "seen_until"}
    | {"clock", "seconds", "hidden", "sign", "middle"}
    | {"index", "item", "option", "candidate", "number", "gap"}
)
"""Names that this code assigns."""
