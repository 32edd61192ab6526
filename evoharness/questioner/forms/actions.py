"""What happens, who does it, what somebody does."""

from collections.abc import Iterator

from evoharness.questioner import english
from evoharness.questioner.forms.base import TEXT, Candidate, Craft, Draft, candidates, hull, opening
from evoharness.questioner.view import SLACK_S, Item, MemoryView
from evoharness.records.interval import Interval
from evoharness.records.question import FineType


def happens_while(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """The event during the showing of a text."""
    for cue in craft.brief_first(a for a in view.anchors if a.kind == TEXT):
        inside = [
            (interval, event)
            for event in view.events
            for interval in event.intervals
            if cue.start - 0.1 <= interval.middle <= cue.interval.end + 0.1 and not view.ambiguous(event)
        ]
        for interval, event in craft.shuffled(inside)[:2]:
            anchor = craft.anchor(view, cue, barred=(event.name,))
            away = [e for e in view.events if not e.near(cue.interval)]
            wrong = craft.wrong(event.name, candidates(away), interval, event.segments, anchor.names)
            if wrong is None:
                continue
            yield Draft(
                text=craft.pick(
                    (
                        f"What happens {anchor.during}?",
                        f"Which of these takes place {anchor.during}?",
                        f"What can be seen happening {anchor.during}?",
                    )
                ),
                answer=event.name,
                wrong=wrong,
                interval=hull((opening(anchor.interval), interval)),
                support=(*anchor.ids, *event.ids),
                fine_type=FineType.ACTION,
                about=(cue.name, event.name),
            )


def happens_between(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """The event within a stated stretch of time."""
    for event in craft.brief_first(e for e in view.events if not view.ambiguous(e)):
        moment = craft.pick(event.intervals)
        start, end = max(0, int(moment.start) - 2), min(int(view.duration), int(moment.end) + 3)
        if not 2 <= end - start <= 30:
            continue
        window = Interval(start=start, end=end)
        away = [e for e in view.events if not e.near(window)]
        wrong = craft.wrong(event.name, candidates(away), moment, event.segments)
        if wrong is not None:
            times = f"between {english.clock(start)} and {english.clock(end)}"
            yield Draft(
                text=craft.pick((f"What happens {times}?", f"Which of these can be seen {times}?")),
                answer=event.name,
                wrong=wrong,
                interval=window,
                support=event.ids,
                fine_type=FineType.SEGMENT_CONTENT,
                about=(event.name,),
            )


def _scene(
    view: MemoryView, craft: Craft, event: Item
) -> tuple[str, Interval, tuple[str, ...], tuple[str, ...], Interval] | None:
    """A text shown during the event, as phrase, interval, names, ids and moment; None when there is none."""
    cues = [
        a
        for a in view.anchors
        if a.kind == TEXT and a.start - 0.1 <= event.interval.middle <= a.interval.end + 0.1
    ]
    if cues:
        anchor = craft.anchor(view, craft.pick(cues))
        return (
            anchor.during,
            hull((opening(anchor.interval), event.interval)),
            anchor.names,
            anchor.ids,
            anchor.moment,
        )
    return None


def _moment(event: Item) -> str:
    return f"at about {english.clock(event.start)}"


def does_what(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """What a named actor does at a named moment; the other options are what is done elsewhere."""
    for event in craft.brief_first(e for e in view.events if e.subject and e.once):
        around = event.interval
        same = [e for e in view.of_actor(event.subject) if e is not event]
        if any(e.near(around) for e in same):
            continue
        scene = _scene(view, craft, event)
        when, interval, names, ids, moment = scene or (_moment(event), around, (), (), around)
        options = [
            Candidate(e.predicate, e.intervals, e.segments)
            for e in view.events
            if e is not event and e.subject and not (e in same and e.near(moment, slack=2 * SLACK_S))
        ]
        wrong = craft.wrong(event.predicate, options, around, event.segments, (*names, event.subject))
        if wrong is None:
            continue
        do = "do" if english.plural_subject(event.subject) else "does"
        yield Draft(
            text=craft.pick(
                (
                    f"What {do} {event.subject} do {when}?",
                    f"{english.upper_first(when)}, what happens to {event.subject}?",
                )
            ),
            answer=event.predicate,
            wrong=wrong,
            interval=interval,
            support=(*ids, *event.ids),
            fine_type=FineType.ACTION,
            about=(event.name, "does"),
        )


def who_acts(view: MemoryView, craft: Craft) -> Iterator[Draft]:
    """Who or what does something that only one actor does."""
    predicates: dict[tuple[str, ...], set[str]] = {}
    for event in view.events:
        predicates.setdefault(english.content(event.predicate), set()).add(event.subject)
    for event in craft.brief_first(e for e in view.events if e.subject):
        if len(predicates[english.content(event.predicate)]) > 1 or any(
            e is not event
            and english.contains_in_order(english.content(e.predicate), english.content(event.predicate))
            for e in view.events
        ):
            continue
        others = [e for e in view.events if e.subject and e.subject != event.subject]
        options = [Candidate(e.subject, e.intervals, e.segments) for e in others]
        wrong = craft.wrong(event.subject, options, event.interval, event.segments, (event.predicate,))
        if wrong is None:
            continue
        yield Draft(
            text=craft.pick(
                (
                    f"Who or what {event.predicate} in the video?",
                    f"Which of these {event.predicate} at some point?",
                )
            ),
            answer=event.subject,
            wrong=wrong,
            interval=event.interval,
            support=event.ids,
            fine_type=FineType.INSTRUMENT,
            about=(event.name, "who"),
        )
