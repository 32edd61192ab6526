"""A harness H = (P, C, λ, T) as a value: skills, strategies, parameters with routes and policy, tools."""

import difflib
import hashlib
import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

import yaml
from pydantic import model_validator

from evoharness.harness.parameters import Parameters
from evoharness.harness.route import Route
from evoharness.records.base import Record
from evoharness.records.tool import HOST_NAMES, ManifestError, read_manifest

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_IDENTIFIER = re.compile(r"[a-z][a-z0-9_]{0,63}")


class Harness(Record):
    """Everything about a video agent except its frozen model. Immutable; every change makes another one."""

    parameters: Parameters = Parameters()
    """λ (Table 6)."""
    routes: tuple[Route, ...]
    """In order of `until_s`; the last one takes every duration."""
    tool_policy: dict[str, tuple[str, ...]] = {}
    """Trigger (see `solver.skills`) → tools that `ctx.decide` may choose; the first that fires counts.

    `default` is used when none fires. Without it, every tool that the route offers is allowed.
    """
    strategies: dict[str, str]
    """Name → source with `def strategy(ctx, question)`."""
    skills: dict[str, dict[str, str]] = {}
    """Name → files of its folder (relative POSIX path → text); `SKILL.md` is always among them."""
    tools: dict[str, dict[str, str]] = {}
    """Name → `<name>.py` with `def tool(memory, **arguments)`, and `<name>.json`, its manifest."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not self.routes or self.routes[-1].until_s is not None:
            raise ValueError("routes: the last route must take every duration (until_s: null)")
        limits = [route.until_s for route in self.routes[:-1]]
        if any(limit is None for limit in limits) or sorted(limits, key=float) != limits:  # type: ignore[arg-type]
            raise ValueError(f"routes: until_s must grow from route to route, not {limits}")
        for route in self.routes:
            if route.strategy not in self.strategies:
                known = ", ".join(sorted(self.strategies)) or "none"
                raise ValueError(f"routes: there is no strategy {route.strategy!r} (there are: {known})")
        for name in [*self.strategies, *self.tools]:
            if not _IDENTIFIER.fullmatch(name):
                raise ValueError(f"{name!r} is no name for a strategy or a tool (use a-z, 0-9, _)")
        for name, files in self.skills.items():
            if not _NAME.fullmatch(name):
                raise ValueError(f"{name!r} is no name for a skill (use letters, digits, . _ -)")
            if "SKILL.md" not in files:
                raise ValueError(f"skill {name}: its folder has no SKILL.md")
            for path in files:
                if not all(_NAME.fullmatch(part) for part in path.split("/")):
                    raise ValueError(f"skill {name}: {path!r} is no path for a file of a skill")
        for name, files in self.tools.items():
            if set(files) != {f"{name}.py", f"{name}.json"}:
                raise ValueError(f"tool {name}: needs exactly {name}.py and {name}.json")
            if name in HOST_NAMES:
                raise ValueError(f"tool {name}: the host has something of that name; choose another one")
            try:
                read_manifest(files[f"{name}.json"])
            except ManifestError as error:
                raise ValueError(f"tool {name}: {name}.json: {error}") from error
        return self

    def files(self) -> dict[str, str]:
        """The harness as files: POSIX path → text, sorted by path."""
        files = {"harness.yaml": self._yaml()}
        for name, source in self.strategies.items():
            files[f"strategies/{name}.py"] = source
        for name, content in self.skills.items():
            files.update({f"skills/{name}/{path}": text for path, text in content.items()})
        for content in self.tools.values():
            files.update({f"tools_generated/{path}": text for path, text in content.items()})
        return dict(sorted(files.items()))

    @cached_property
    def fingerprint(self) -> str:
        """sha256 (hexadecimal) of the sorted (POSIX path, sha256 of the bytes) pairs of `files()`."""
        return fingerprint_of(checksums(self.files()))

    def route(self, duration: float) -> Route:
        """The route of a video of `duration` seconds."""
        return next(route for route in self.routes if route.takes(duration))

    def diff(self, other: "Harness") -> str:
        """What turns this harness into the other one, as a unified diff; empty when they are the same."""
        before, after = self.files(), other.files()
        parts: list[str] = []
        for path in sorted(before.keys() | after.keys()):
            lines = difflib.unified_diff(
                before.get(path, "").splitlines(keepends=True),
                after.get(path, "").splitlines(keepends=True),
                f"a/{path}" if path in before else "/dev/null",
                f"b/{path}" if path in after else "/dev/null",
            )
            parts.extend(line if line.endswith("\n") else line + "\n" for line in lines)
        return "".join(parts)

    def with_parameters(self, **values: Any) -> Self:
        """Other parameter values; ValueError for an unknown name or a value out of bounds."""
        return self._changed(parameters=self.parameters.changed(**values))

    def with_routes(self, routes: tuple[Route, ...]) -> Self:
        """Another routing table."""
        return self._changed(routes=routes)

    def with_tool_policy(self, policy: Mapping[str, tuple[str, ...]]) -> Self:
        """Another tool policy."""
        return self._changed(tool_policy=dict(policy))

    def with_strategy(self, name: str, source: str) -> Self:
        """A strategy added or replaced."""
        return self._changed(strategies={**self.strategies, name: source})

    def with_skill(self, name: str, files: Mapping[str, str]) -> Self:
        """A skill added or replaced."""
        return self._changed(skills={**self.skills, name: dict(files)})

    def without_skill(self, name: str) -> Self:
        """A skill removed; KeyError when there is none of that name."""
        return self._changed(skills={key: self.skills[key] for key in self.skills.keys() - {self._has(name)}})

    def with_tool(self, name: str, files: Mapping[str, str]) -> Self:
        """A generated tool added or replaced."""
        return self._changed(tools={**self.tools, name: dict(files)})

    def _has(self, skill: str) -> str:
        if skill not in self.skills:
            raise KeyError(skill)
        return skill

    def _changed(self, **fields: Any) -> Self:
        unchanged = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**{**unchanged, **fields})

    def _yaml(self) -> str:
        settings = self.model_dump(mode="json", include={"parameters", "routes", "tool_policy"})
        return yaml.safe_dump(settings, sort_keys=False, allow_unicode=True, width=110)


def checksums(files: Mapping[str, str]) -> dict[str, str]:
    """POSIX path → sha256 (hexadecimal) of the UTF-8 bytes, sorted by path."""
    return {path: hashlib.sha256(files[path].encode()).hexdigest() for path in sorted(files)}


def fingerprint_of(sums: Mapping[str, str]) -> str:
    """sha256 (hexadecimal) over sorted (path, checksum) pairs."""
    lines = "".join(f"{sums[path]}  {path}\n" for path in sorted(sums))
    return hashlib.sha256(lines.encode()).hexdigest()
