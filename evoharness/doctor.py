"""`python -m evoharness.doctor`: what works on this machine, and what is missing for the rest."""

import importlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.cli import Call, Command, Numbers, run_command

if TYPE_CHECKING:
    from evoharness.config import DoctorConfig
    from evoharness.providers import Endpoint

PACKAGES = (
    "av",
    "decord",
    "opencv-python-headless",
    "rapidocr",
    "onnxruntime",
    "faiss-cpu",
    "bm25s",
    "wordllama",
    "RestrictedPython",
    "networkx",
    "hydra-core",
    "pydantic",
    "litellm",
)
OPTIONAL = (
    "sentence-transformers",
    "pydantic-monty",
    "ray",
    "mcp",
    "hydra-joblib-launcher",
    "hydra-submitit-launcher",
)
SERVER_PATIENCE_S = 0.5
EMBEDDER = "override /embedder@_global_.embedder"
"""Under this name the defaults of a backbone's file choose an embedder."""


def doctor(config: "DoctorConfig", call: Call) -> Numbers:  # noqa: ARG001
    """Try every part once and say how it went; `problems` counts what the default needs and cannot have."""
    import evoharness

    problems = 0
    _say("evoharness", f"{evoharness.__version__}, Python {sys.version.split()[0]}, {os.cpu_count()} CPUs")
    for name, check in CHECKS:
        try:
            _say(name, check())
        except Exception as error:  # whatever is broken is what this command is here to report
            problems += 1
            _say(name, f"DOES NOT WORK: {type(error).__name__}: {' '.join(str(error).split())}")
    problems += _say_folder("cache", config.cache) + _say_folder("runs", config.runs)
    print()
    print(
        "everything that the default needs works" if not problems else f"{problems} of these need attention"
    )
    return {"problems": problems}


def _say(name: str, text: str) -> None:
    print(f"{name:<12} {text}")


def _say_folder(name: str, text: str) -> int:
    from evoharness.records.paths import as_path

    folder = as_path(text).absolute()
    existing = folder
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        _say(name, f"{folder}: CANNOT BE WRITTEN")
        return 1
    free = shutil.disk_usage(existing).free / 1e9
    held = ""
    if folder.is_dir():
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        held = f", holds {size / 1e6:,.1f} MB"
    _say(name, f"{folder}{held}, {free:,.1f} GB free")
    return 0


def packages() -> str:
    """Versions of what the default needs; an error names what is missing."""
    missing = [name for name in PACKAGES if _version(name) is None and name != "decord"]
    if missing:
        raise ImportError(f"not installed: {', '.join(missing)}")
    return ", ".join(f"{name} {_version(name) or '–'}" for name in PACKAGES)


def extras() -> str:
    """Which optional packages are there."""
    there = [f"{name} {_version(name)}" for name in OPTIONAL if _version(name)]
    absent = [name for name in OPTIONAL if not _version(name)]
    return f"{', '.join(there) or 'none'} (not installed: {', '.join(absent) or 'none'})"


def readers() -> str:
    """Write a small video, read a picture of it back, and say which libraries read videos here."""
    import av

    _read_back()
    found = [f"PyAV {av.__version__} (FFmpeg {'.'.join(map(str, av.library_versions['libavcodec']))})"]
    try:
        found.append(f"decord {importlib.import_module('decord').__version__}")
    except Exception:  # a broken decord, too, is one that nothing here depends on
        found.append("decord is not there: PyAV reads everything")
    return ", ".join(found)


def _read_back() -> None:
    """RuntimeError when the last picture of a video of two seconds, black and then white, is not white."""
    import av
    import numpy as np

    from evoharness.records.frame import Detail
    from evoharness.video import Video

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "two seconds.mp4"
        with av.open(str(path), "w") as container:
            stream = container.add_stream("libx264", rate=1)
            stream.width, stream.height, stream.pix_fmt = 64, 64, "yuv420p"
            for level in (0, 255):
                picture = np.full((64, 64, 3), level, dtype=np.uint8)
                container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
            container.mux(stream.encode(None))
        video = Video(path)
        (seen,) = video.pixels(video.frames([1.5], Detail.NORMAL))
        if seen.mean() < 200:
            raise RuntimeError("a video that was just written is not read back as it was")


def embedder() -> str:
    """Embed two sentences with the default embedder."""
    from evoharness.retrieval import make_embedder

    model = make_embedder("wordllama")
    vectors = model.embed(["a red circle", "a crimson disc"])
    return f"{model.id}, {vectors.shape[1]} dimensions"


def backbone() -> str:
    """Make the default backbone."""
    from evoharness.models.registry import make_backbone
    from evoharness.retrieval import make_embedder

    return make_backbone("embedded", embedder=make_embedder("wordllama"), cache_dir=None).id


def backbones() -> str:
    """Names of all backbones, those of other packages included."""
    from evoharness.models.registry import backbone_names

    return ", ".join(backbone_names())


def models() -> str:
    """What each file of configs/backbone/ needs to be used here; keys are named, their values never shown."""
    from importlib.resources import files

    import yaml

    from evoharness.models.registry import LITELLM
    from evoharness.models.settings import HostedSettings
    from evoharness.retrieval.embedders.hosted import endpoint_of

    configs = files("evoharness.configs")
    lines = []
    for file in sorted(configs.joinpath("backbone").iterdir(), key=lambda file: file.name):
        if not file.name.endswith(".yaml"):
            continue
        section = yaml.safe_load(file.read_text(encoding="utf-8"))
        chosen = {name: value for each in section.pop("defaults", ()) for name, value in each.items()}
        endpoints: list[Endpoint] = []
        if section.pop("name") == LITELLM:
            endpoints += HostedSettings(**section).endpoints().values()
        if name := chosen.get(EMBEDDER):
            embedder = configs.joinpath("embedder", f"{name}.yaml").read_text(encoding="utf-8")
            options = yaml.safe_load(embedder)
            if options.pop("name") == LITELLM:
                endpoints.append(endpoint_of(**options))
        state = _state(endpoints) if endpoints else "ready"
        lines.append(f"backbone={file.name.removesuffix('.yaml'):<16} {state}")
    return f"\n{' ' * 13}".join(lines)


def _state(endpoints: "Sequence[Endpoint]") -> str:
    """Which keys are set and which are not; for servers of one's own, whether somebody answers."""
    from evoharness.providers import NoAnswer, ask, missing_key

    there: dict[str, None] = {}
    absent: dict[str, None] = {}
    servers: dict[str, None] = {}
    for endpoint in endpoints:
        if endpoint.needs_key:
            missing = missing_key(endpoint)
            named = missing or next(name for name in endpoint.key_variables if os.environ.get(name))
            (absent if missing else there)[named] = None
        elif endpoint.address is not None:
            servers[endpoint.address] = None
    parts = [f"{', '.join(absent)} not set"] if absent else []
    parts += [f"{', '.join(there)} set"] if there else []
    for address in servers:
        try:
            ask(address, {}, SERVER_PATIENCE_S)
            parts.append(f"a server answers at {address}")
        except NoAnswer as problem:
            parts.append(f"no server at {address} ({problem})")
    return "; ".join(parts)


def sandbox() -> str:
    """Run a strategy in the default sandbox."""
    from evoharness.sandbox import HostApi, SandboxLimits, make_sandbox

    source = "def strategy(ctx, question):\n    return {'choice': 0, 'text': question['text']}\n"
    backend = make_sandbox("process")
    try:
        result = backend.run(
            source, "strategy", {"question": {"text": "ready"}}, HostApi(data={}, methods={}), SandboxLimits()
        )
        if result.kind != "finished":
            raise RuntimeError(f"{result.kind}: {result.message}")
        return f"process, level {backend.level}"
    finally:
        backend.close()


def harness() -> str:
    """Load the initial harness."""
    from evoharness.harness import initial_harness

    initial = initial_harness()
    return f"initial {initial.fingerprint[:12]}, strategies {', '.join(sorted(initial.strategies))}"


CHECKS: tuple[tuple[str, Callable[[], str]], ...] = (
    ("packages", packages),
    ("extras", extras),
    ("readers", readers),
    ("embedder", embedder),
    ("backbone", backbone),
    ("backbones", backbones),
    ("models", models),
    ("sandbox", sandbox),
    ("harness", harness),
)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


COMMAND = Command(
    name="doctor",
    purpose="Says what works on this machine: packages, readers, models, sandbox, folders. Exit 1: not all.",
    job=doctor,
    exit_code=lambda numbers: 1 if numbers["problems"] else 0,
)


def main() -> int:
    """Run the command line."""
    return run_command(COMMAND)


if __name__ == "__main__":
    sys.exit(main())
