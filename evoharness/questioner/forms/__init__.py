"""The question forms: each computes its reference from records, and checks its wrong options against them.

A form is a function `(view, craft) -> drafts`; a new one is written in the module of its family and listed
here. Evolution may only weigh forms, so that every reference stays computed.
"""

from evoharness.questioner.forms import (
    actions,
    attributes,
    counting,
    localization,
    order,
    reasoning,
    spatial,
    summaries,
    texts,
)
from evoharness.questioner.forms.base import Anchor, Candidate, Craft, Draft, Form
from evoharness.records.question import QuestionKind as Kind

FORMS: tuple[Form, ...] = (
    Form("repeats", Kind.COUNTING, counting.repeats),
    Form("repeats_of_verb", Kind.COUNTING, counting.repeats_of_verb),
    Form("counted_at", Kind.COUNTING, counting.counted_at),
    Form("texts_shown", Kind.COUNTING, counting.texts_shown),
    Form("times_of_verb", Kind.COUNTING, counting.times_of_verb),
    Form("kinds_of_thing", Kind.COUNTING, counting.kinds_of_thing),
    Form("shown_while", Kind.ENTITIES_ATTRIBUTES, texts.shown_while),
    Form("label_beside", Kind.ENTITIES_ATTRIBUTES, texts.label_beside),
    Form("longest_shown", Kind.ENTITIES_ATTRIBUTES, texts.longest_shown),
    Form("colour_of_actor", Kind.ENTITIES_ATTRIBUTES, attributes.colour_of_actor),
    Form("colour_it_takes", Kind.ENTITIES_ATTRIBUTES, attributes.colour_it_takes),
    Form("property_of_thing", Kind.ENTITIES_ATTRIBUTES, attributes.property_of_thing),
    Form("seen_while", Kind.ENTITIES_ATTRIBUTES, attributes.seen_while),
    Form("seen_alongside", Kind.ENTITIES_ATTRIBUTES, attributes.seen_alongside),
    Form("happens_while", Kind.ACTIONS_EVENTS, actions.happens_while),
    Form("happens_between", Kind.ACTIONS_EVENTS, actions.happens_between),
    Form("does_what", Kind.ACTIONS_EVENTS, actions.does_what),
    Form("who_acts", Kind.ACTIONS_EVENTS, actions.who_acts),
    Form("place_of_text", Kind.SPATIAL, spatial.place_of_text),
    Form("place_of_thing", Kind.SPATIAL, spatial.place_of_thing),
    Form("place_of_event", Kind.SPATIAL, spatial.place_of_event),
    Form("side_of_movement", Kind.SPATIAL, spatial.side_of_movement),
    Form("direction_of_movement", Kind.SPATIAL, spatial.direction_of_movement),
    Form("next_text", Kind.TEMPORAL_ORDER, order.next_text),
    Form("previous_text", Kind.TEMPORAL_ORDER, order.previous_text),
    Form("next_event", Kind.TEMPORAL_ORDER, order.next_event),
    Form("previous_event", Kind.TEMPORAL_ORDER, order.previous_event),
    Form("earliest_or_latest", Kind.TEMPORAL_ORDER, order.earliest_or_latest),
    Form("order_of_three", Kind.TEMPORAL_ORDER, order.order_of_three),
    Form("when_it_begins", Kind.RETRIEVAL_LOCALIZATION, localization.when_it_begins),
    Form("in_which_stretch", Kind.RETRIEVAL_LOCALIZATION, localization.in_which_stretch),
    Form("text_at", Kind.RETRIEVAL_LOCALIZATION, texts.text_at),
    Form("cause_of", Kind.CAUSAL, reasoning.cause_of),
    Form("effect_of", Kind.CAUSAL, reasoning.effect_of),
    Form("topic_of_part", Kind.TOPIC, reasoning.topic_of_part),
    Form("main_subject", Kind.TOPIC, reasoning.main_subject),
    Form("heading_over", Kind.TOPIC, reasoning.heading_over),
    Form("only_once", Kind.ANOMALY, summaries.only_once),
    Form("only_briefly", Kind.ANOMALY, summaries.only_briefly),
    Form("summary_of_part", Kind.SUMMARIZATION, summaries.summary_of_part),
    Form("account_of_stretch", Kind.SUMMARIZATION, summaries.account_of_stretch),
)
"""Every form, grouped by kind."""


def forms_of(kind: Kind) -> tuple[Form, ...]:
    """The forms of one kind."""
    return tuple(form for form in FORMS if form.kind is kind)


__all__ = ["FORMS", "Anchor", "Candidate", "Craft", "Draft", "Form", "forms_of"]
