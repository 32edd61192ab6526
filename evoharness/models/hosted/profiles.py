"""What a model takes: how many pictures, how many bytes, JSON by schema, video. Data, not code.

The figures are those that providers document; where a server says otherwise while it is being used, that
counts (see `seats`). What is not known here is taken for an OpenAI-compatible server of unknown strength.
"""

import hashlib
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, Literal

from pydantic import ValidationError

from evoharness.errors import UserError
from evoharness.records.base import Record
from evoharness.records.mistakes import in_words

MB = 1_000_000
SchemaSupport = Literal["schema", "object", "none"]


class Profile(Record):
    """Capabilities of one model, and how its tokens are guessed before a call."""

    max_images: int = 96
    """Pictures in one request; 0: it cannot see."""
    max_request_bytes: int = 20 * MB
    """All pictures of a request together, as they are sent."""
    max_image_bytes: int = 5 * MB
    """One picture, before it is written as text."""
    max_side: int = 4096
    """Pixels of the longer side of a picture."""
    json_mode: SchemaSupport = "schema"
    """Answers by JSON schema, answers that are JSON, or neither."""
    video: bool = False
    """Takes video as such, with its own sampling."""
    video_from: int = 24
    """From how many frames on they are sent as a video, if it takes any."""
    video_tokens: int = 300
    """Only frames of at most so many tokens are sent as a video, which is seen less sharply."""
    max_video_bytes: int = 15 * MB
    """A video, before it is written as text."""
    image_detail: str | None = None
    """OpenAI's `detail` of a picture; None: not said."""
    thinking_tokens: int = 0
    """Room for thoughts that are not shown but count as output, beyond the limit of a task."""
    pixels_per_token: float = 600.0
    """Pixels of a picture to a token: the most tokens that a picture may be charged."""
    least_image_tokens: int = 85
    """Tokens of the smallest picture."""
    joins_texts: bool = False
    """Runs the texts of a message together without a space between them."""
    refuses: tuple[str, ...] = ()
    """Parameters that are known not to be accepted, as litellm names them."""

    @property
    def version(self) -> str:
        """Changes with every figure; part of the backbone's id."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:8]

    def image_tokens(self, width: int, height: int) -> int:
        """The most tokens that a picture of that size may be charged."""
        return max(self.least_image_tokens, round(width * height / self.pixels_per_token))

    def changed(self, **values: Any) -> "Profile":
        """With other figures; ValidationError for what is no figure of a profile."""
        return Profile.model_validate({**self.model_dump(), **values})


_KNOWN: tuple[tuple[str, dict[str, Any]], ...] = (
    ("openai/*", {"max_images": 500, "max_request_bytes": 48 * MB, "image_detail": "high"}),
    ("openai/gpt-5*", {"thinking_tokens": 8192}),
    ("openai/o[1-9]*", {"thinking_tokens": 8192}),
    ("azure/*", {"max_images": 50, "max_request_bytes": 48 * MB, "image_detail": "high"}),
    (
        "gemini/*",
        {"max_images": 900, "max_request_bytes": 18 * MB, "video": True, "least_image_tokens": 1120},
    ),
    ("gemini/gemini-*", {"thinking_tokens": 8192}),
    ("gemini/gemini-2.0-*", {"thinking_tokens": 0, "least_image_tokens": 258}),
    ("vertex_ai/gemini-*", {"max_images": 900, "max_request_bytes": 18 * MB, "video": True}),
    ("vertex_ai/gemini-*", {"thinking_tokens": 8192, "least_image_tokens": 1120}),
    ("anthropic/*", {"max_images": 100, "max_request_bytes": 30 * MB, "max_image_bytes": 4 * MB}),
    ("anthropic/*", {"max_side": 2000}),
    ("dashscope/*", {"max_images": 250, "max_request_bytes": 15 * MB}),
    ("dashscope/qwen3.7-*", {"thinking_tokens": 8192}),
    ("deepseek/*", {"json_mode": "object", "thinking_tokens": 8192}),
    ("deepseek/deepseek-chat", {"max_images": 0}),
    ("deepseek/deepseek-reasoner", {"max_images": 0}),
    ("deepseek/deepseek-v4-pro*", {"max_images": 0}),
    ("mistral/*", {"max_images": 8}),
    ("groq/*", {"max_images": 5, "max_request_bytes": 4 * MB, "json_mode": "object"}),
    ("ollama*/*", {"max_images": 32, "max_request_bytes": 48 * MB, "joins_texts": True}),
    ("hosted_vllm/*", {"max_images": 256, "max_request_bytes": 48 * MB}),
    ("openrouter/*", {"max_images": 96, "max_request_bytes": 18 * MB}),
)
"""Pattern of a model's id → what is known of it; later entries add to earlier ones."""
_OWN_SERVER: dict[str, Any] = {"thinking_tokens": 0, "image_detail": None}
"""A model of that name on a server of one's own is another model."""


def profile_of(
    model: str,
    own_server: bool = False,
    changes: Mapping[str, Mapping[str, Any]] | None = None,
    role: str = "",
) -> Profile:
    """The profile of a model.

    `own_server`: it is not at its provider's address. `changes`: pattern of a model's id, provider, or role
    → figures that differ.
    """
    known: dict[str, Any] = {}
    for pattern, values in _KNOWN:
        if fnmatchcase(model, pattern):
            known.update(values)
    if own_server and model.startswith("openai/"):
        known.update(_OWN_SERVER)
    profile = Profile(**known)
    for whose, changed in (changes or {}).items():
        if whose in (role, model.partition("/")[0]) or fnmatchcase(model, whose):
            try:
                profile = profile.changed(**changed)
            except (ValidationError, TypeError) as error:
                first = error.errors(include_input=False)[0] if isinstance(error, ValidationError) else None
                said = (
                    f"{'.'.join(map(str, first['loc']))}: {in_words(first)}"
                    if first
                    else "figures are needed"
                )
                raise UserError(f"profiles.{whose}: {said}") from None
    return profile
