"""The backbone that needs no model: a modest perceiver and a matcher of evidence, both on the CPU."""

from evoharness.models.embedded.backbone import EmbeddedBackbone

__all__ = ["EmbeddedBackbone"]
