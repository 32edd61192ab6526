"""Frozen models: typed tasks, the backbones that do them, and how a backbone is made by name."""

from evoharness.models.backbone import (
    Backbone,
    BackboneError,
    BackboneUnavailable,
    MissingKey,
    Refused,
    Reply,
    UnknownModel,
    Unparsed,
    Unreachable,
    UnsupportedTask,
)
from evoharness.models.registry import backbone_names, make_backbone
from evoharness.models.task import Output, Role, Task

__all__ = [
    "Backbone",
    "BackboneError",
    "BackboneUnavailable",
    "MissingKey",
    "Output",
    "Refused",
    "Reply",
    "Role",
    "Task",
    "UnknownModel",
    "Unparsed",
    "Unreachable",
    "UnsupportedTask",
    "backbone_names",
    "make_backbone",
]
