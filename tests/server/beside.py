"""What the server does beside completions: vectors of texts, and what is heard in a sound."""

import hashlib
import io
import json
import wave
from collections.abc import Mapping
from dataclasses import dataclass
from email.parser import BytesParser
from email.policy import HTTP
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evoharness.retrieval import WordLlamaEmbedder

EMBEDDINGS, TRANSCRIPTIONS = "/v1/embeddings", "/v1/audio/transcriptions"
PATHS = (EMBEDDINGS, TRANSCRIPTIONS)
CHARACTERS_A_TOKEN = 4
TOKENS_A_SECOND = 10
LOUD = 1000
"""Loudest sample, of 32,768, of a second in which something is heard."""


@dataclass(frozen=True)
class Asked:
    """One request."""

    path: str
    fields: Mapping[str, Any]
    digest: str
    """Of everything that is asked; the same when it is asked again."""

    @property
    def model(self) -> str:
        """Whom it is for."""
        return str(self.fields.get("model"))


@dataclass(frozen=True)
class Given:
    """An answer, and what a provider would charge for it."""

    body: Mapping[str, Any]
    prompt_tokens: int
    completion_tokens: int = 0


def read(path: str, headers: Mapping[str, str], data: bytes) -> Asked:
    """A request as JSON or as a form."""
    if path == EMBEDDINGS:
        return Asked(path, json.loads(data), hashlib.sha256(data).hexdigest())
    head = f"content-type: {headers['content-type']}\r\n\r\n".encode()
    form = BytesParser(policy=HTTP).parsebytes(head + data)
    fields: dict[str, Any] = {}
    digest = hashlib.sha256()
    for part in form.iter_parts():
        name, content = part.get_param("name", header="content-disposition"), part.get_payload(decode=True)
        assert isinstance(content, bytes)
        fields[str(name)] = content if name == "file" else content.decode().strip()
        digest.update(f"{name}:".encode() + content)
    return Asked(path, fields, digest.hexdigest())


def answer(asked: Asked, fault: str | None) -> Given:
    """What the server says; with the fault of an answer that is none, there is nothing in it."""
    given = _vectors(asked) if asked.path == EMBEDDINGS else _heard(asked)
    if fault == "malformed_answer":
        return Given({**given.body, "data": []}, given.prompt_tokens, given.completion_tokens)
    return given


@cache
def _embedder() -> "WordLlamaEmbedder":
    from evoharness.retrieval import WordLlamaEmbedder

    return WordLlamaEmbedder()


def _vectors(asked: Asked) -> Given:
    texts = asked.fields["input"]
    if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
        raise ValueError("input: texts are needed")
    tokens = sum(1 + len(text) // CHARACTERS_A_TOKEN for text in texts)
    rows = _embedder().embed(texts)
    data = [
        {"object": "embedding", "index": n, "embedding": [float(x) for x in row]}
        for n, row in enumerate(rows)
    ]
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return Given({"object": "list", "model": asked.model, "data": data, "usage": usage}, tokens)


def _heard(asked: Asked) -> Given:
    """A segment for every second in which it is loud."""
    import numpy as np

    with wave.open(io.BytesIO(asked.fields["file"])) as sound:
        rate = sound.getframerate()
        samples = np.frombuffer(sound.readframes(sound.getnframes()), dtype="<i2").astype(np.int32)
    starts = range(0, len(samples), rate)
    loud = [n for n, at in enumerate(starts) if abs(samples[at : at + rate]).max() > LOUD]
    segments = [{"id": n, "start": n, "end": n + 1, "text": f" Tone number {n}."} for n in loud]
    text = "".join(str(segment["text"]) for segment in segments)
    given, received = len(starts) * TOKENS_A_SECOND, len(text) // CHARACTERS_A_TOKEN
    usage = {
        "type": "tokens",
        "input_tokens": given,
        "output_tokens": received,
        "total_tokens": given + received,
    }
    body = {"text": text.strip(), "segments": segments, "usage": usage}
    return Given(body, given, received)
