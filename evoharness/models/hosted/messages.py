"""A prompt as the messages of a chat."""

from collections.abc import Mapping, Sequence
from typing import Any

from evoharness.models.hosted.clip import Clip
from evoharness.models.hosted.pictures import Picture
from evoharness.models.hosted.profiles import Profile, SchemaSupport
from evoharness.models.prompting import Prompt
from evoharness.records.frame import Frame

Message = dict[str, Any]


def to_messages(
    prompt: Prompt, pictures: Sequence[Picture], clip: Clip | None, profile: Profile
) -> list[Message]:
    """System and user message; `pictures` are those of the frames of the prompt, in their order.

    With a `clip`, it stands for all frames: it comes first, and the times of the frames are told in one line.
    """
    system: Message = {"role": "system", "content": prompt.system}
    if not pictures and clip is None:
        text = "\n\n".join(part for part in prompt.parts if isinstance(part, str))
        return [system, {"role": "user", "content": text}]
    content = (
        _with_clip(prompt, clip, profile) if clip is not None else _with_pictures(prompt, pictures, profile)
    )
    return [system, {"role": "user", "content": content}]


def _with_pictures(prompt: Prompt, pictures: Sequence[Picture], profile: Profile) -> list[dict[str, Any]]:
    following = iter(pictures)
    content: list[dict[str, Any]] = []
    for part in prompt.parts:
        if isinstance(part, Frame):
            image = {"url": next(following).url}
            if profile.image_detail is not None:
                image["detail"] = profile.image_detail
            content.append({"type": "image_url", "image_url": image})
        else:
            content.append({"type": "text", "text": f"{part}\n" if profile.joins_texts else part})
    return content


def _with_clip(prompt: Prompt, clip: Clip, profile: Profile) -> list[dict[str, Any]]:
    texts: list[str] = []
    labels: list[str] = []
    for part, following in zip(prompt.parts, [*prompt.parts[1:], ""], strict=True):
        if isinstance(part, str):
            (labels if isinstance(following, Frame) else texts).append(part)
    if labels:
        told = "; ".join(labels)
        texts.insert(
            len(texts) - 1 if len(texts) > 1 else len(texts),
            f"The frames are given as one video, sampled {clip.fps:g} times a second; its begin is the first "
            f"of them. {told}",
        )
    video = {
        "file_data": clip.video.url,
        "format": clip.video.mime,
        "detail": "high" if profile.video_tokens > 100 else "low",
        "video_metadata": {"fps": clip.fps, "start_offset": "0s", "end_offset": f"{clip.seconds:g}s"},
    }
    return [{"type": "file", "file": video}, *({"type": "text", "text": text} for text in texts)]


def corrected(messages: Sequence[Message], answer: str, error: str) -> list[Message]:
    """The messages, then what the model answered to them, and what is wrong with it."""
    shown = answer if len(answer) <= 20_000 else answer[:20_000] + " …"
    request = (
        f"That answer cannot be used: {error}\n"
        "Write the whole answer again, corrected, as one JSON object and nothing else."
    )
    said = [{"role": "assistant", "content": shown}] if shown.strip() else []
    return [*messages, *said, {"role": "user", "content": request}]


def response_format(prompt: Prompt, mode: SchemaSupport) -> Mapping[str, Any] | None:
    """The parameter `response_format` for a prompt; None when the model knows nothing of the kind."""
    if mode == "none":
        return None
    if mode == "object":
        return {"type": "json_object"}
    return {
        "type": "json_schema",
        "json_schema": {"name": prompt.name, "schema": dict(prompt.schema), "strict": True},
    }
