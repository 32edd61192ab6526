"""`python -m evoharness.ask`: one question on one video."""

import sys
from typing import TYPE_CHECKING

from evoharness.cli import Call, Command, Numbers, run_command
from evoharness.records.amounts import how_many

if TYPE_CHECKING:
    from evoharness.config import AskConfig
    from evoharness.records.outcome import Answered, TraceStep


def ask(config: "AskConfig", call: Call) -> Numbers:  # noqa: ARG001
    """Answer one question and say from which looks; without an answer the command ends with 1."""
    from evoharness.cli.options import read_options
    from evoharness.cli.parts import (
        ANSWERING_ROLES,
        books_of,
        check_code,
        check_models,
        harness_of,
        needed,
        sandbox_level,
        workbench_config,
    )
    from evoharness.records.json_values import printable
    from evoharness.records.paths import as_path
    from evoharness.records.question import PublicQuestion
    from evoharness.runs.progress import describe_spend
    from evoharness.solver import solve
    from evoharness.video import Video, probe

    path = as_path(needed(config.video, "video", "lecture.mp4"))
    text = needed(config.question, "question", "'what is shown first?'")
    options = read_options(config.options)
    probe(path)
    harness = harness_of(config.harness)
    question = PublicQuestion(id="asked", video=path.stem, text=text, options=options)
    check_models(config, ANSWERING_ROLES)
    with books_of(config) as books:
        bench = workbench_config(config, books).build()
        try:
            sandbox_level(config, bench)
            check_code(bench, harness)
            answered = solve(
                question, Video(path.absolute()), harness, bench.solver_bench, config.limits.of_solver()
            )
        finally:
            bench.close()
    if config.trace:
        print_trace(answered)
    if answered.choice is not None:
        print(f"{chr(65 + answered.choice)}. {options[answered.choice]}")
    elif answered.status == "ok":
        print(printable(answered.text))
    else:
        print(f"no answer ({answered.status}): {printable(answered.message)}")
    if answered.choice is not None and answered.text and answered.text != options[answered.choice]:
        print(printable(answered.text))
    guess = ", a guess: nothing that was seen bears on it" if answered.guessed else ""
    spend = answered.spend
    used = [answered.trace.strategy, how_many(spend.frames, "frame"), describe_spend(spend)]
    print(f"({', '.join(filter(None, used))}{guess})")
    return {"status": answered.status, "choice": answered.choice, "frames": spend.frames}


def print_trace(answered: "Answered") -> None:
    """Every step of the answer, the frames it looked at and what came back."""
    skills = f", skills: {', '.join(answered.trace.skills)}" if answered.trace.skills else ""
    print(f"strategy {answered.trace.strategy}{skills}")
    for line in answered.trace.reading:
        print(f"read by {line}" if line is answered.trace.reading[0] else line)
    for number, step in enumerate(answered.trace.steps, start=1):
        _print_step(number, step)
    print()


def _print_step(number: int, step: "TraceStep") -> None:
    import json

    looked = ""
    if step.frame_times:
        first, last = min(step.frame_times), max(step.frame_times)
        looked = f"  {how_many(len(step.frame_times), 'frame')}, {clock(first)}–{clock(last)}"
    print(
        f"{number:3}. {step.call}({_short(step.arguments)}){looked}  "
        f"[{step.seconds:.1f}s, {step.tokens:,} tokens]"
    )
    result = step.result
    observations = result.get("observations") if isinstance(result, dict) else None
    if isinstance(observations, list):
        for seen in observations[:12]:
            if isinstance(seen, dict) and "text" in seen:
                start = seen.get("start")
                at = f"{clock(float(start))}  " if isinstance(start, int | float) else ""
                print(f"       {at}{' '.join(str(seen['text']).split())[:160]}")
        if len(observations) > 12:
            print(f"       … {len(observations) - 12} more")
        if unread := result.get("unread"):
            print(f"       {unread} {'answer' if unread == 1 else 'answers'} of the model could not be read")
    elif result is not None:
        print(f"       → {json.dumps(result, ensure_ascii=False)[:300]}")


def clock(seconds: float) -> str:
    """`1:02:03.4`, `2:03.4`."""
    minutes, rest = divmod(round(seconds, 1), 60)
    hours, minutes = divmod(int(minutes), 60)
    return f"{hours}:{minutes:02d}:{rest:04.1f}" if hours else f"{minutes}:{rest:04.1f}"


def _short(arguments: "dict[str, object]") -> str:
    import json

    parts = []
    for name, value in arguments.items():
        text = json.dumps(value, ensure_ascii=False)
        parts.append(f"{name}={text if len(text) <= 60 else text[:57] + '…'}")
    return ", ".join(parts)


COMMAND = Command(
    name="ask",
    purpose="Answers one question about one video.",
    job=ask,
    examples=(
        "video=lecture.mp4 'question=What is written on the first slide?' 'options=[\"Cells\", \"Atoms\"]'",
        "video=lecture.mp4 'question=…' 'options=[…]' harness=exported/ trace=true",
    ),
    exit_code=lambda numbers: 0 if numbers["status"] == "ok" else 1,
)


def main() -> int:
    """Run the command line."""
    return run_command(COMMAND)


if __name__ == "__main__":
    sys.exit(main())
