"""One harness, one public question, one answer."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from evoharness.harness import Harness
from evoharness.models.backbone import BackboneError, CannotGoOn
from evoharness.records.json_values import one_line, shown
from evoharness.records.outcome import APPARATUS, OK, SANDBOX_PREFIX, UNPARSED, Answered, Trace
from evoharness.records.question import PublicQuestion
from evoharness.retrieval import EmbedderUnavailable
from evoharness.sandbox import SandboxLimits, SandboxResult, SandboxUnavailable
from evoharness.solver.bench import SolverBench, SolverLimits
from evoharness.solver.consulting import Consulting
from evoharness.solver.context import host_api
from evoharness.solver.evidence import gathered
from evoharness.solver.generated import GeneratedTools
from evoharness.solver.looking import Looking
from evoharness.solver.meter import Meter, Stop
from evoharness.solver.recalling import Recalling
from evoharness.solver.skills import allowed_tools, fired, guidance
from evoharness.solver.thinking import Thinking
from evoharness.solver.toolbox import Toolbox

if TYPE_CHECKING:
    from evoharness.video import Video


def solve(
    question: PublicQuestion,
    video: "Video",
    harness: Harness,
    bench: SolverBench,
    limits: SolverLimits,
    trial: int = 0,
) -> Answered:
    """Answer a question about a video: route by duration, run the strategy, read its answer.

    What a strategy or a model does ends in a status, never in an exception. `trial` sets repetitions
    apart. Only a file that cannot be read (`NotAVideo`), the end of all calls (`CannotGoOn`: a budget that is
    used up, a provider that is lost) and defects of this program are raised.
    """
    duration = video.info.duration
    route = harness.route(duration)
    skills = fired(harness.skills, question.text)
    words = guidance(skills)
    meter = Meter(bench.backbone, limits)
    looking = Looking(video, harness.parameters, meter, words)
    recalling = Recalling((lambda: bench.memory(video)) if route.memory else None)
    consulting = Consulting(bench.knowledge)
    calls: dict[str, Callable[[Any], Any]] = {
        "remaining": lambda _: meter.remaining(),
        "look": looking.look,
        "localize": looking.localize,
        "frame": looking.frame,
        "search": recalling.search,
        "summary": recalling.summary,
        "super_events": recalling.super_events,
        "segments": recalling.segments,
        "records": recalling.records,
        "between": recalling.between,
        "enumerate": recalling.enumerate,
        "transcript": recalling.transcript,
        "knowledge": consulting.knowledge,
    }
    generated = GeneratedTools(harness.tools, bench.sandbox, recalling)
    calls["tool"] = generated.run
    allowed = allowed_tools(harness.tool_policy, question.text)
    toolbox = Toolbox(calls, harness.parameters, route.memory, generated.choices, consulting.choices, allowed)
    thinking = Thinking(question, looking, toolbox, meter, bench.embedder, words, trial)
    for name in ("decide", "call", "reason", "verify", "similar", "find", "answer"):
        calls[name] = getattr(thinking, name)

    def answered(status: str, message: str = "", **found: Any) -> Answered:
        trace = Trace(
            strategy=route.strategy,
            skills=tuple(skill.name for skill in skills),
            steps=tuple(meter.steps),
            reading=video.reading,
        )
        return Answered(
            question=question.id, status=status, message=message, spend=meter.spend, trace=trace, **found
        )

    plan = [step for skill in skills for step in skill.plan]
    try:
        if plan:
            arguments = {"steps": [step.model_dump() for step in plan], "query": question.text}
            seen = meter.traced("plan", arguments, lambda: looking.follow(plan, question.text))
            thinking.planned = gathered(seen, "plan")
        if route.memory:
            recalling.open()  # building it is not the strategy's time
        result = bench.sandbox.run(
            harness.strategies[route.strategy],
            "strategy",
            {"question": {"text": question.text, "options": list(question.options)}},
            host_api(calls, harness.parameters, duration, meter),
            SandboxLimits(total_seconds=limits.seconds + 60),
        )
    except Stop as stop:
        return answered(stop.status, str(stop))
    except CannotGoOn:
        raise
    except (SandboxUnavailable, EmbedderUnavailable, BackboneError) as error:
        # The last of these while a memory is built.
        return answered(APPARATUS, str(error))
    if result.kind != "finished":
        return answered(f"{SANDBOX_PREFIX}{result.kind}", _where(result))
    choice, text = _read(result.value, len(question.options))
    if choice is None and (question.options or not text):
        message = f"the strategy returned {shown(result.value, 80)}: return what ctx.answer(…) gives"
        if thinking.unanswered and isinstance(result.value, dict) and result.value.get("choice") is None:
            message = one_line(thinking.unanswered, 300)
        return answered(UNPARSED, message, text=text)
    return answered(OK, choice=choice, text=text, guessed=thinking.guessed)


def _read(value: Any, options: int) -> tuple[int | None, str]:
    """The choice and the text of what a strategy returned; None when it is no index of an option."""
    if not isinstance(value, dict):
        return None, ""
    choice, text = value.get("choice"), value.get("text")
    valid = isinstance(choice, int) and not isinstance(choice, bool) and 0 <= choice < options
    return (choice if valid else None), (text if isinstance(text, str) else "")


def _where(result: SandboxResult) -> str:
    return f"line {result.line}: {result.message}" if result.line else result.message
