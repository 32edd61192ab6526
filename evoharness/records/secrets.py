"""What looks like a key, so that it is refused before it is written down."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_NAME = re.compile(
    r"api_?key|access_?key|private_?key|(^|_)token$|secret|passw|credential|authorization|bearer|headers|cookie",
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"(?<![\w./-])(?:(?:sk|pk|rk|gsk|xai|hf|ghp|gho|nvapi|pplx|AIza|AKIA|[Bb]earer)[-_ ]?"
    r"(?=[\w-]*\d)[\w-]{12,}|eyJ[\w-]{10,}\.[\w-]{10,})"
)
_NAMED_IN_TEXT = re.compile(r"([A-Za-z_][\w-]*)[\"']?\s*[:=]")


def is_secret_name(name: str) -> bool:
    """Whether what goes by that name may well be a key: api_key, accessToken, extra-headers, …"""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_")
    return bool(_NAME.search(snake))


def looks_secret(text: str) -> bool:
    """Whether a text holds what providers' keys look like (`sk-…`, `AIza…`, `Bearer …`)."""
    return bool(_VALUE.search(text))


def secrets_in(value: Any, name: str = "") -> Iterator[str]:
    """Dotted names of what looks like a key inside mappings and lists, at any depth; never what it holds."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            under = f"{name}.{key}" if name else str(key)
            if is_secret_name(str(key)):
                yield under
            elif looks_secret(str(key)):  # the name itself may be the key
                yield name or "a name"
            else:
                yield from secrets_in(inner, under)
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for inner in value:
            yield from secrets_in(inner, name)
    elif isinstance(value, str) and looks_secret(value):
        yield name


def secret_in_text(text: str) -> bool:
    """The same for a mapping that is still a text, such as `{api_key: …}`."""
    return looks_secret(text) or any(is_secret_name(name) for name in _NAMED_IN_TEXT.findall(text))


def told(name: str) -> str:
    """Why something of that name is refused, and what to do instead; without its value."""
    section = "embedder" if name.startswith("embedder") else "backbone"
    return (
        f"{name} may hold a key, and configurations are written down: name the environment variable that "
        f"holds it with {section}.key"
    )
