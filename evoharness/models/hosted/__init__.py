"""Models that are called over the network, or on a server of one's own, through LiteLLM."""

from evoharness.models.hosted.backbone import LiteLLMBackbone

__all__ = ["LiteLLMBackbone"]
