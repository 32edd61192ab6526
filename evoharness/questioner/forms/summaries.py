"""What is unusual, and what a stretch of the video amounts to."""

from collections.abc import Iterator, Sequence

from evoharness.questioner import english
from evoharness.questioner.forms.base import TEXT, Candidate, Craft, Draft, candidates, hull, opening
from evoharness.questioner.policy import DistractorMode
from evoharness.questioner.view import Item, MemoryView
from evoharness.records.interval import Interval
from evoharness.records.question import FineType


def only_once(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """What is done a single time, among things that are done at least three times."""
    done: dict[tuple[str, ...], list[Item]] = {}
    for event in view.events:
        if event.subject:
            done.setdefault(english.content(event.predicate), []).append(event)
    times = {key: sum(len(e.intervals) for e in found) for key, found in done.items()}
    often = [
        Candidate(
            f"something {done[k][0].predicate}",
            tuple(i for e in done[k] for i in e.intervals),
            tuple(s for e in done[k] for s in e.segments),
        )
        for k, count in times.items()
        if count >= 3
    ]
    for key in craft.shuffled(k for k, count in times.items() if count == 1):
        event = done[key][0]
        if any(
            k != key and (english.contains_in_order(k, key) or english.contains_in_order(key, k))
            for k in done
        ):
            continue
        answer = f"something {event.predicate}"
        wrong = craft.wrong(answer, often, event.interval, event.segments)
        if wrong is None:
            continue
        rivals = [
            e for k, found in done.items() if f"something {found[0].predicate}" in wrong for e in done[k]
        ]
        yield Draft(
            text=craft.pick(
                (
                    "Which of these happens only once in the video?",
                    "One of these is the exception: it occurs a single time. Which one?",
                )
            ),
            answer=answer,
            wrong=wrong,
            interval=event.interval,
            support=(*event.ids, *(r for e in rivals for r in e.ids)),
            fine_type=FineType.CASE_SPECIFIC,
            about=(event.name,),
        )


def only_briefly(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """The text that flashes up (at most 2 s), among texts that stay for 6 s or more."""
    lasting = [t for t in view.texts if t.seconds >= 6]
    for item in craft.shuffled(t for t in view.texts if t.once and t.seconds <= 2 and not view.ambiguous(t)):
        wrong = craft.wrong(item.name, candidates(lasting), item.interval, item.segments)
        if wrong is None:
            continue
        rivals = [t for t in lasting if t.name in wrong]
        yield Draft(
            text=craft.pick(
                (
                    "Which of these texts is shown only for a moment, unlike the others?",
                    "One of these texts flashes up only briefly. Which one?",
                )
            ),
            answer=item.name,
            wrong=wrong,
            interval=item.interval,
            support=(*item.ids, *(r for t in rivals for r in t.ids)),
            fine_type=FineType.CASE_SPECIFIC,
            about=(item.name,),
        )


def summary_of_part(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """The summary of a segment, among the summaries of other segments."""
    told = [(s, _first_sentence(s.summary)) for s in view.segments]
    told = [(s, text) for s, text in told if len(english.tokens(text)) >= 4]
    for segment, text in craft.shuffled(told):
        options = [Candidate(other, (s.interval,), (s.id,)) for s, other in told if s is not segment]
        wrong = craft.wrong(
            text, options, segment.interval, close=lambda a, b: english.fold(a) == english.fold(b)
        )
        if wrong is None:
            continue
        where = f"from {english.clock(segment.interval.start)} to {english.clock(segment.interval.end)}"
        yield Draft(
            text=craft.pick(
                (
                    f"Which of these sums up the video {where} best?",
                    f"Which summary fits the part of the video {where}?",
                )
            ),
            answer=text,
            wrong=wrong,
            interval=segment.interval,
            support=(
                *(t.id for t in segment.texts),
                *(e.id for e in segment.events),
                *(n.id for n in segment.entities),
            ),
            fine_type=FineType.SEGMENT_CONTENT,
            about=(segment.id,),
        )


def _first_sentence(summary: str, most: int = 220) -> str:
    """The summary, cut after a sentence or a whole word where it has more than `most` characters."""
    text = english.clean(summary)
    if len(text) <= most:
        return text
    head = text[:most]
    stop = max(head.rfind(". "), head.rfind("; "))
    return head[:stop] if stop > 40 else head[: head.rfind(" ")].rstrip(" ,;")


def account_of_stretch(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """What three things a stretch of at most 45 s shows, in order; wrong accounts are of other stretches,
    or, with neighbouring distractors, of the same things in another order."""
    usable = sorted((a for a in view.anchors if len(a.name) <= 45), key=lambda a: a.start)
    triples = []
    for position, item in enumerate(usable):
        rest = [a for a in usable[position + 1 : position + 60] if a.start - item.start <= 45.0]
        second = next((a for a in rest if a.start >= item.start + 2.0), None)
        third = second and next((a for a in rest if a.start >= second.start + 2.0), None)
        if second and third:
            triples.append((item, second, third))
    for three in craft.shuffled(triples):
        start, end = max(0, int(three[0].start) - 1), int(three[2].start) + 2
        scope = Interval(start=start, end=max(end, start))
        others = [t for t in triples if not any(i.near(scope) for i in t)]
        options = [Candidate(_account(t), tuple(i.interval for i in t)) for t in others]
        if craft.mode is DistractorMode.NEIGHBOURING:
            a, b, c = three
            options = [Candidate(_account(t), (scope,)) for t in ((b, a, c), (a, c, b), (c, b, a))] + options
        wrong = craft.wrong(_account(three), options, scope, close=lambda x, y: x == y)
        if wrong is None:
            continue
        where = f"from {english.clock(start)} to {english.clock(end)}"
        yield Draft(
            text=craft.pick(
                (
                    f"Which account of the video {where} is right?",
                    f"What does the video show {where}?",
                )
            ),
            answer=_account(three),
            wrong=wrong,
            interval=hull(opening(i.interval) for i in three),
            support=tuple(r for i in three for r in i.ids),
            fine_type=FineType.SEGMENT_CONTENT,
            about=tuple(i.name for i in three),
        )


def _account(three: Sequence[Item]) -> str:
    parts = [f'"{i.name}" is shown' if i.kind == TEXT else i.name for i in three]
    return f"first {parts[0]}, then {parts[1]}, and then {parts[2]}"
