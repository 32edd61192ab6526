"""Kinds of records as describers call them."""

import re

from evoharness.records.memory import EntityKind, RelationKind

LONGEST = 100
"""Letters of a word that may be a kind."""

_ENTITIES = {
    **{kind.value: kind for kind in EntityKind},
    "people": EntityKind.GROUP,
    "crowd": EntityKind.GROUP,
    "man": EntityKind.PERSON,
    "woman": EntityKind.PERSON,
    "child": EntityKind.PERSON,
    "human": EntityKind.PERSON,
    "place": EntityKind.LOCATION,
    "scene": EntityKind.LOCATION,
    "setting": EntityKind.LOCATION,
    "thing": EntityKind.OBJECT,
    "item": EntityKind.OBJECT,
    "animal": EntityKind.OBJECT,
    "tool": EntityKind.OBJECT,
}
_RELATIONS = {
    **{kind.value: (kind, False) for kind in RelationKind},
    "does": (RelationKind.PERFORMS, False),
    "performed_by": (RelationKind.PERFORMS, True),
    "received_by": (RelationKind.RECEIVES, True),
    "uses_tool": (RelationKind.USES, False),
    "used_by": (RelationKind.USES, True),
    "happens_at": (RelationKind.HAPPENS_IN, False),
    "takes_place_in": (RelationKind.HAPPENS_IN, False),
    "enables": (RelationKind.CAUSES, False),
    "leads_to": (RelationKind.CAUSES, False),
    "caused_by": (RelationKind.CAUSES, True),
    "precedes": (RelationKind.BEFORE, False),
    "after": (RelationKind.BEFORE, True),
    "follows": (RelationKind.BEFORE, True),
    "overlap": (RelationKind.OVERLAPS, False),
    "during": (RelationKind.OVERLAPS, False),
    "has_part": (RelationKind.PART_OF, True),
    "contains": (RelationKind.LOCATED_IN, True),
    "in": (RelationKind.LOCATED_IN, False),
    "inside": (RelationKind.LOCATED_IN, False),
    "near": (RelationKind.NEXT_TO, False),
    "beside": (RelationKind.NEXT_TO, False),
    "is_same_as": (RelationKind.SAME_AS, False),
    "labels": (RelationKind.ANNOTATES, False),
    "describes": (RelationKind.ANNOTATES, False),
}


def entity_kind(called: str) -> EntityKind | None:
    """What an entity is; None for a word that stands for none of the kinds."""
    return _ENTITIES.get(_plain(called))


def relation_kind(called: str) -> tuple[RelationKind | None, bool]:
    """How two records are related, None for a word that stands for none of the kinds; and whether it is
    said the other way round: `after` is `before` from the target to the source."""
    return _RELATIONS.get(_plain(called), (None, False))


def _plain(called: str) -> str:
    return re.sub(r"[\W_]+", "_", called[:LONGEST].casefold()).strip("_")
