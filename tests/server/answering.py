"""What the server says: the embedded backbone's answers, or the smallest object that fits a schema."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evoharness.records.frame import Frame
from tests.server.reading import pictures_of, task_of
from tests.server.writing import written

if TYPE_CHECKING:
    from evoharness.models.embedded import EmbeddedBackbone

CHARACTERS_A_TOKEN = 4


@dataclass(frozen=True)
class Said:
    """An answer, and what a provider would charge for it."""

    content: str
    prompt_tokens: int
    completion_tokens: int


_backbone: "EmbeddedBackbone | None" = None


def answer(data: bytes) -> Said:
    """What the embedded backbone says to a request; runs in a worker process.

    Nothing but the request bears on it: percepts are kept by all the pictures of a request together.
    """
    global _backbone
    body = json.loads(data)
    task = task_of(body)
    if _backbone is None:
        from evoharness.models.embedded import EmbeddedBackbone
        from evoharness.retrieval import WordLlamaEmbedder

        _backbone = EmbeddedBackbone(WordLlamaEmbedder())
    content = json.dumps(written(task, _backbone.run(task).output), ensure_ascii=False)
    return Said(content, prompt_tokens(body, task), len(content) // CHARACTERS_A_TOKEN)


def prompt_tokens(body: Mapping[str, Any], task: Any) -> int:
    """Text at four characters a token, pictures at one for each 32 x 32 pixels."""
    single = getattr(task, "frame", None)
    frames: Sequence[Frame] = (single,) if single is not None else getattr(task, "frames", ())
    return text_tokens(body) + sum(frame.tokens for frame in frames)


def text_tokens(body: Mapping[str, Any]) -> int:
    """Tokens of all texts of a request."""
    characters = 0
    for message in body["messages"]:
        content = message["content"]
        parts = [content] if isinstance(content, str) else [part.get("text", "") for part in content]
        characters += sum(map(len, parts))
    return characters // CHARACTERS_A_TOKEN


def pictures_digest(body: Mapping[str, Any]) -> bytes:
    """Identity of the pictures of a request, for sending those who look at the same to one worker."""
    digest = hashlib.sha256()
    for label, url in pictures_of(body):
        digest.update(label[-24:].encode())
        digest.update(url.encode())
    return digest.digest()


def least(schema: Mapping[str, Any]) -> Any:
    """The smallest value that a strict schema allows; texts are one word, so that they say something."""
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            return {name: least(inner) for name, inner in schema.get("properties", {}).items()}
        case "array":
            return []
        case "string":
            return "something"
        case "boolean":
            return True
    return 0
