"""Which words are shown: during something, beside something, longest."""

from collections.abc import Iterator

from evoharness.questioner import english
from evoharness.questioner.forms.base import TEXT, Craft, Draft, candidates, hull, opening
from evoharness.questioner.view import SLACK_S, Item, MemoryView
from evoharness.records.interval import Interval
from evoharness.records.memory import RelationKind
from evoharness.records.question import FineType


def shown_while(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """The text that is on screen while an event happens, or together with another text."""
    for item in craft.brief_first(view.anchors):
        together = [
            text
            for text in view.texts
            if text is not item
            and not view.ambiguous(text)
            and any(_shared(item, own) for own in text.intervals)
        ]
        for text in craft.shuffled(together)[:1]:
            anchor = craft.anchor(view, item, barred=(text.name,))
            away = [t for t in view.texts if not t.near(item.interval)]
            own = next(i for i in text.intervals if _shared(item, i))
            wrong = craft.wrong(text.name, candidates(away), own, text.segments, anchor.names)
            if wrong is None:
                continue
            other = "other " if item.kind == TEXT and anchor.names == (item.name,) else ""
            yield Draft(
                text=craft.pick(
                    (
                        f"Which {other}text is shown {anchor.during}?",
                        f"What {other}text can be read on the screen {anchor.during}?",
                        f"Which of these texts can be seen {anchor.during}?",
                    )
                ),
                answer=text.name,
                wrong=wrong,
                interval=hull((anchor.interval, opening(_overlap(own, item.interval)))),
                support=(*anchor.ids, *text.ids),
                fine_type=FineType.FINDING,
                about=(item.name, text.name),
            )


def _shared(item: Item, own: Interval) -> bool:
    """Whether text and item are surely there together: not only at the edge of a longer showing."""
    if not own.overlaps(item.interval):
        return False
    common = _overlap(own, item.interval).duration
    shortest = min(own.duration, item.interval.duration)
    return common >= min(shortest, SLACK_S)


def _overlap(a: Interval, b: Interval) -> Interval:
    return Interval(start=max(a.start, b.start), end=min(a.end, b.end))


def label_beside(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """The label that belongs to a thing, where the memory relates the two."""
    kinds = {RelationKind.NEXT_TO, RelationKind.ATTACHED_TO, RelationKind.ANNOTATES, RelationKind.LOCATED_IN}
    texts = {record: item for item in view.texts for record in item.ids}
    things = {record: thing for thing in view.things for record in thing.ids}
    labels: dict[str, set[str]] = {}
    found = []
    for segment in view.segments:
        spans = {text.id: text for text in segment.texts}
        for relation in segment.relations:
            for one, other in ((relation.source, relation.target), (relation.target, relation.source)):
                if relation.kind in kinds and one in spans and one in texts and other in things:
                    labels.setdefault(things[other].name, set()).add(texts[one].name)
                    found.append((spans[one], texts[one], things[other]))
    for record, item, thing in craft.shuffled(found):
        if len(labels[thing.name]) > 1:
            continue
        others = [t for t in view.texts if t is not item]
        wrong = craft.wrong(item.name, candidates(others), record.interval, item.segments, (thing.name,))
        if wrong is not None:
            yield Draft(
                text=craft.pick(
                    (
                        f"What does the label next to the {thing.name} say?",
                        f"Which words are written beside the {thing.name}?",
                    )
                ),
                answer=item.name,
                wrong=wrong,
                interval=record.interval,
                support=(record.id, *thing.ids),
                fine_type=FineType.FINDING,
                about=(thing.name,),
            )


def longest_shown(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """Which of four texts stays longest: at least twice as long as, and 6 s longer than, the others."""
    for item in craft.shuffled(t for t in view.texts if t.once and t.seconds >= 8):
        shorter = [t for t in view.texts if t.seconds + 6 <= item.seconds and 2 * t.seconds <= item.seconds]
        wrong = craft.wrong(item.name, candidates(shorter), item.interval, item.segments)
        if wrong is None:
            continue
        rivals = [t for t in shorter if t.name in wrong]
        yield Draft(
            text=craft.pick(
                (
                    "Which of these texts stays on screen the longest?",
                    "Of these texts, which one is shown for the longest time?",
                )
            ),
            answer=item.name,
            wrong=wrong,
            interval=hull((item.interval, *(i for t in rivals for i in t.intervals))),
            support=(*item.ids, *(record for t in rivals for record in t.ids)),
            fine_type=FineType.COMPARISON,
            about=(item.name,),
        )


def text_at(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """The text on screen at a time of day of the video."""
    for item in craft.brief_first(t for t in view.texts if not view.ambiguous(t)):
        moment = craft.pick(item.intervals)
        when = round(moment.middle)
        if not moment.start - 0.5 <= when <= moment.end + 0.5:
            continue
        around = Interval(start=max(0.0, when - 2.0), end=when + 2.0)
        away = [t for t in view.texts if not t.near(around)]
        wrong = craft.wrong(item.name, candidates(away), moment, item.segments)
        if wrong is not None:
            at = english.clock(when)
            yield Draft(
                text=craft.pick(
                    (
                        f"Which text is on screen at about {at}?",
                        f"What can be read at about {at} in the video?",
                        f"At around {at}, which of these texts is shown?",
                    )
                ),
                answer=item.name,
                wrong=wrong,
                interval=moment
                if moment.duration <= 8
                else Interval(start=max(0.0, when - 3.0), end=when + 3.0),
                support=item.ids,
                fine_type=FineType.SEGMENT_CONTENT,
                about=(item.name,),
            )
