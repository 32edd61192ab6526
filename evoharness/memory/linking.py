"""The same somebody or something, met again in a later segment."""

from collections.abc import Sequence

from evoharness.records.memory import Entity, EntityKind, Relation, RelationKind, Segment
from evoharness.retrieval import words

_EMPTY_WORDS = frozenset({"a", "an", "the", "of", "with", "in", "on", "and", "its", "his", "her"})


def link_entities(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """The segments with a `same_as` edge from each entity to its last appearance in an earlier one.

    Two entities are the same when their kind and all words of name and attributes agree, and these say
    enough: at least two words, or a proper name. "Person" alone is nobody in particular.
    """
    last_met: dict[tuple[EntityKind, frozenset[str]], str] = {}
    linked = []
    for segment in segments:
        edges = []
        met: dict[tuple[EntityKind, frozenset[str]], str] = {}
        for entity in segment.entities:
            identity = _identity(entity)
            if identity is None or identity in met:
                continue
            met[identity] = entity.id
            if identity in last_met:
                edges.append(Relation(source=entity.id, target=last_met[identity], kind=RelationKind.SAME_AS))
        last_met.update(met)
        linked.append(segment.model_copy(update={"relations": (*segment.relations, *edges)}))
    return tuple(linked)


def _identity(entity: Entity) -> tuple[EntityKind, frozenset[str]] | None:
    told = frozenset(words(" ".join((entity.name, *entity.attributes)))) - _EMPTY_WORDS
    proper = entity.name[:1].isupper() and entity.kind in (EntityKind.PERSON, EntityKind.LOCATION)
    return (entity.kind, told) if len(told) >= 2 or (told and proper) else None
