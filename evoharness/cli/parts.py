"""From the sections of a configuration to the parts that the rooms take."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from evoharness.cli.spending import caps_of, check_responses
from evoharness.errors import UserError
from evoharness.records.mistakes import in_words
from evoharness.records.paths import as_path

if TYPE_CHECKING:
    from evoharness.config import BackboneSection, Common, EmbedderSection, HarnessSection
    from evoharness.evaluation import Executor, Workbench, WorkbenchConfig
    from evoharness.harness import Harness
    from evoharness.models.settings import EmbedderTerms
    from evoharness.providers import Endpoint
    from evoharness.records.question import Question
    from evoharness.runs import Progress
    from evoharness.sandbox import SandboxLevel
    from evoharness.scoring import Judge


def needed(value: str | None, key: str, example: str) -> str:
    """The value of a setting that has no default; UserError when it was not given."""
    if value is None or not value.strip():
        raise UserError(f"{key}=… is needed, for example {key}={example}")
    return value


def workbench_config(config: "Common", budget_file: Path | None = None) -> "WorkbenchConfig":
    """What workers build their workbench from; UserError for a part of it that cannot be used.

    `budget_file`: where the workers of a run keep count of what they pay for.
    """
    from evoharness.config import AnsweringCommon
    from evoharness.evaluation import WorkbenchConfig

    if config.executor.workers is not None and config.executor.workers < 1:
        raise UserError(f"executor.workers={config.executor.workers}: at least 1 is needed")
    return WorkbenchConfig(
        cache_dir=usable_cache(config.cache),
        backbone=config.backbone.name,
        backbone_options=backbone_options(config, budget_file),
        embedder=config.embedder.name,
        embedder_options=embedder_options(config.embedder),
        embedder_terms=_embedder_terms(config.embedder),
        sandbox=config.sandbox.backend,
        allow_weaker_sandbox=config.sandbox.allow_weaker,
        budget=caps_of(config),
        outage_s=_outage_s(config) if _waits_for_network(config) else None,
        budget_file=budget_file,
        memory=_memory_settings(config.memory, config.backbone),
        segments_at_once=min(SEGMENTS_AT_ONCE, _in_flight(config)),
        knowledge=_knowledge_file(config.knowledge) if isinstance(config, AnsweringCommon) else None,
    )


def backbone_options(config: "Common", budget_file: Path | None = None) -> dict[str, Any]:
    """The arguments of the backbone; UserError names a mistake in them."""
    from dataclasses import asdict

    from evoharness.models.registry import LITELLM

    section = config.backbone
    if section.name != LITELLM:
        return dict(section.options)
    from evoharness.models.settings import hosted_settings

    values = {key: value for key, value in asdict(section).items() if key != "name"}
    values["budget"] = caps_of(config).model_dump()
    if budget_file is not None:
        values["budget_file"] = budget_file
    return hosted_settings(values).model_dump(mode="json", exclude_defaults=True)


def embedder_options(section: "EmbedderSection") -> dict[str, Any]:
    """The arguments of the embedder: those given; UserError for one that is a setting of its own."""
    settings = {name: name for name in ("model", "api_base", "key", "price", "rates")}
    settings |= {name: f"rates.{name}" for name in ("attempts", "timeout_s")}
    for name in section.options:
        if name in settings:
            setting = f"embedder.{settings[name]}"
            raise UserError(f"embedder.options.{name} is not taken: {setting} is the setting for it")
        if name in ("cache_dir", "calls"):
            raise UserError(f"embedder.options.{name} is not taken")
    given = {"model": section.model, "api_base": section.api_base, "key": section.key, **section.options}
    return {name: value for name, value in given.items() if value is not None}


def _embedder_terms(section: "EmbedderSection") -> "EmbedderTerms":
    """What its calls cost and how fast they may be made; UserError for what is no price and no rate."""
    from dataclasses import asdict

    from evoharness.models.settings import EmbedderTerms

    try:
        return EmbedderTerms(price=section.price, rates=asdict(section.rates))
    except ValueError as error:
        raise UserError(f"embedder.{_first_error(error)}") from error


def _waits_for_network(config: "Common") -> bool:
    """Whether a provider is called at all."""
    from evoharness.models.registry import LITELLM

    return not config.backbone.name.startswith("embedded") or config.embedder.name == LITELLM


WAITING_IN_FLIGHT = 16
"""Items in flight in each worker when a backbone waits for a network; more cost it more than they gain."""
SEGMENTS_AT_ONCE = 8
"""Segments of videos that each worker has described at the same time, at most: their decoded pictures lie on
the disk meanwhile, some hundred megabytes each."""
ANSWERING_ROLES = ("describer", "video_expert", "frame_verifier", "solver", "orchestrator")
"""Who takes part when questions are answered; proposing, judging and checking questions is for evolve."""
EVOLVING_ROLES = (*ANSWERING_ROLES, "proposer", "judge", "blind_answerer")


def check_models(config: "Common", roles: Sequence[str]) -> None:
    """UserError, before any work, for a key that is not set, a model that is not there, a server not up.

    Only the models of these `roles` are looked at, and the transcriber where there is something for it to do.
    Nothing is asked of anybody when only what comes with the package is used.
    """
    from evoharness.models.registry import LITELLM
    from evoharness.models.response_cache import RESPONSES_FILE
    from evoharness.providers import check_endpoints, check_keys, provider_named

    bench = workbench_config(config)
    endpoints: list[tuple[str, Endpoint]] = []
    embedding: list[tuple[str, Endpoint]] = []
    if bench.embedder == LITELLM:
        from evoharness.retrieval.embedders.hosted import endpoint_of

        embedding.append(("embedder.model", endpoint_of(**bench.embedder_options)))
    if bench.backbone == LITELLM:
        from evoharness.models.settings import hosted_settings

        settings = hosted_settings(bench.backbone_options)
        check_responses(bench.cache_dir / RESPONSES_FILE, settings.cache)
        wanted = {*roles, "transcriber"} if bench.memory.get("transcript") == "model" else {*roles}
        endpoints = settings.endpoints_by_setting(wanted)
    check_keys([*endpoints, *embedding])
    check_endpoints(embedding, "embedder.api_base")
    check_endpoints(endpoints, "backbone.api_base")
    if any(provider_named(endpoint.provider) is None for _, endpoint in endpoints):
        from evoharness.models.trial import check_by_trial

        check_by_trial(endpoints)


def sandbox_level(config: "Common", bench: "Workbench") -> "SandboxLevel":
    """How far the sandbox confines code here; UserError when it cannot, or not enough without consent."""
    from evoharness.sandbox import SandboxUnavailable, demand_level

    try:
        demand_level(bench.sandbox.level, config.sandbox.allow_weaker)
        return bench.sandbox.level
    except SandboxUnavailable as error:
        raise UserError(f"sandbox.backend={config.sandbox.backend} cannot be used here: {error}") from error


def check_code(bench: "Workbench", harness: "Harness") -> None:
    """UserError for strategies and tools that the language of the sandbox does not allow: none would run."""
    sources = [(f"strategies/{name}.py", text, "strategy") for name, text in harness.strategies.items()]
    for name, files in harness.tools.items():
        sources.append((f"tools_generated/{name}.py", files[f"{name}.py"], "tool"))
    for path, text, entry in sources:
        violations = bench.sandbox.check(text, entry)
        if violations:
            more = f" (and {len(violations) - 1} more)" if len(violations) > 1 else ""
            raise UserError(f"the harness cannot run: {path}, {violations[0]}{more}")


def _knowledge_file(text: str | None) -> Path | None:
    """The file of passages, read once so that a mistake in it is told before any work; None: no file."""
    if text is None:
        return None
    from evoharness.knowledge import load_passages

    path = as_path(text).absolute()
    load_passages(path)
    return path


def usable_cache(text: str) -> Path:
    """The cache folder, made if it was missing; UserError when it cannot be."""
    folder = as_path(text).absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot use the cache folder {folder}: {error.strerror or error}") from error
    return folder


@contextmanager
def executor_of(config: "Common", budget_file: Path | None = None) -> "Iterator[Executor]":
    """The executor of the configuration; its workers end with the block.

    `budget_file`: where the workers keep count of what they pay for; None: in a file of this block.
    """
    with ExitStack() as stack:
        if budget_file is None:
            budget_file = stack.enter_context(books_of(config))
        yield stack.enter_context(_executor(config, workbench_config(config, budget_file)))


@contextmanager
def books_of(config: "Common") -> "Iterator[Path | None]":
    """Where to keep count of what is paid for during a block; None: there are no caps to keep to."""
    if not caps_of(config):
        yield None
        return
    from evoharness.models.budget import BUDGET_FILE

    with TemporaryDirectory(prefix="evoharness-") as folder:
        yield Path(folder) / BUDGET_FILE


@contextmanager
def _executor(config: "Common", bench: "WorkbenchConfig") -> "Iterator[Executor]":
    from evoharness.evaluation import InlineExecutor, ProcessExecutor

    executor: Executor
    if config.executor.name == "process":
        executor = ProcessExecutor(bench, config.executor.workers, in_flight=_in_flight(config))
    elif config.executor.name == "inline":
        executor = InlineExecutor(bench)
    else:
        raise UserError(f"executor.name={config.executor.name} is not known: use process or inline")
    executor.on_note = lambda said: print(said, file=sys.stderr)
    try:
        yield executor
    finally:
        executor.close()


def _in_flight(config: "Common") -> int:
    """Items that each worker does at the same time."""
    asked = config.executor.in_flight
    if asked is None:
        return 1 if config.backbone.name.startswith("embedded") else WAITING_IN_FLIGHT
    if asked < 1:
        raise UserError(f"executor.in_flight={asked}: at least 1 is needed")
    return asked


def _outage_s(config: "Common") -> float:
    """How long a provider that answers nobody is waited for."""
    if config.executor.outage_s < 0:
        raise UserError(f"executor.outage_s={config.executor.outage_s:g}: it cannot be below 0")
    return config.executor.outage_s


def harness_of(section: "HarnessSection") -> "Harness":
    """The harness that is meant, with its parameters changed; UserError names what does not do."""
    harness = harness_at(section.source)
    if section.parameters:
        try:
            harness = harness.with_parameters(**section.parameters)
        except ValueError as error:
            raise UserError(f"harness.parameters: {_first_error(error)}") from error
    return harness


def harness_at(source: str) -> "Harness":
    """The initial harness, or the one in a folder."""
    from evoharness.harness import initial_harness, load_harness

    if source == "initial" and not Path(source).is_dir():
        return initial_harness()
    folder = as_path(source)
    if not folder.is_dir():
        raise UserError(f"harness={source}: there is no such folder (or use `initial`)")
    return load_harness(folder)


def videos_at(where: str, progress: "Progress") -> dict[str, Path]:
    """The readable videos there; each skipped file is noted in one line. UserError when none is left."""
    from evoharness.video import find_videos

    found = find_videos(where)
    for skipped in found.skipped:
        progress.note(f"skipped {skipped.path}: {' '.join(skipped.reason.split())}")
    if not found.videos:
        raise UserError(f"{where}: no file there can be used as a video")
    return {key: path.absolute() for key, path in found.videos.items()}


def question_set(
    questions: str, videos: str | None, progress: "Progress"
) -> "tuple[list[Question], dict[str, Path]]":
    """A question file and its videos: those given, or those in the folder of the file.

    Each question names its video by the key under which the mapping has it.
    """
    from evoharness.benchmarks import attach_videos, read_questions

    file = as_path(questions)
    read = read_questions(file)
    found = videos_at(videos if videos is not None else str(file.absolute().parent), progress)
    return attach_videos(read, found), found


def judge_for(questions: "Sequence[Question]") -> "Judge | None":
    """A judge where one is needed; UserError for open questions, which have none yet."""
    open_questions = [question for question in questions if not question.options]
    if open_questions:
        raise UserError(
            f"{len(open_questions)} of {len(questions)} questions have no options "
            f"(the first is {open_questions[0].id}): open answers need a judge, which is not there yet"
        )
    return None


def _memory_settings(values: Mapping[str, Any], backbone: "BackboneSection") -> dict[str, Any]:
    """The settings, checked; UserError names what does not do."""
    from evoharness.memory import MemorySettings

    unknown = sorted(set(values) - set(MemorySettings.model_fields))
    if unknown:
        known = ", ".join(MemorySettings.model_fields)
        raise UserError(f"there is no setting memory.{unknown[0]}: there are {known}")
    try:
        MemorySettings(**values)
    except ValueError as error:
        raise UserError(f"memory.{_first_error(error)}") from error
    if values.get("transcript") == "model":
        if backbone.name.startswith("embedded"):
            raise UserError(
                "memory.transcript=model needs a backbone that listens (backbone=openai, for example); "
                "memory.transcript=auto takes captions beside a video or in it"
            )
        if backbone.name == "litellm" and "transcriber" not in backbone.models:
            raise UserError("memory.transcript=model needs backbone.models.transcriber=provider/model")
    return dict(values)


def _first_error(error: ValueError) -> str:
    from pydantic import ValidationError

    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {in_words(first)}"
    return str(error)
