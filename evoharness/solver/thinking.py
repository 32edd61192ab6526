"""Calls of `ctx` that think: decide, reason, verify, compare, find, answer."""

import json
from typing import TYPE_CHECKING, Any

from evoharness.models.backbone import Unparsed
from evoharness.models.reasoning_tasks import AnswerQuestion, ChooseAction, Reason, VerifyClaim
from evoharness.records.evidence import Evidence
from evoharness.records.question import PublicQuestion
from evoharness.sandbox import HostCallError
from evoharness.solver import arguments as given
from evoharness.solver.evidence import gathered
from evoharness.solver.looking import Looking
from evoharness.solver.meter import Meter
from evoharness.solver.toolbox import Toolbox

if TYPE_CHECKING:
    from evoharness.retrieval import Embedder

MOST_MATCHES = 100
TRIAL_SAMPLES = 100
"""Samples of one trial: `sample` is below this, so trials never share one."""
UNREADABLE = "the model's words could not be read"


class Thinking:
    """The reasoning of one answer; it knows the public question and what it is handed."""

    def __init__(
        self,
        question: PublicQuestion,
        looking: Looking,
        toolbox: Toolbox,
        meter: Meter,
        embedder: "Embedder",
        guidance: str,
        trial: int,
    ) -> None:
        self._question = question
        self._looking = looking
        self._toolbox = toolbox
        self._meter = meter
        self._embedder = embedder
        self._guidance = guidance
        self._trial = trial
        self._history: list[str] = []
        self.planned: tuple[Evidence, ...] = ()
        """What the plans of the skills gathered; part of the evidence of every answer."""
        self.guessed = False
        """Whether the last answer had nothing to go on."""
        self.unanswered = ""
        """Why the last answer is none, where the model is why; empty when it is one."""

    def decide(self, call: given.Decide) -> dict[str, Any]:
        """The next tool call, or stop (equation 1 of MedClaw; the memory-tool decision of Table 6)."""
        tools = self._toolbox.choices(call.tools)
        if not tools:
            return {"stop": True, "tool": "", "arguments": {}}
        task = ChooseAction(
            question=self._question.text,
            options=self._question.options,
            duration=self._looking.duration,
            evidence=gathered(call.evidence),
            tools=tools,
            history=tuple(self._history),
            guidance=self._guidance,
        )
        try:
            chosen = self._meter.ask(task)
        except Unparsed as error:
            raise HostCallError(UNREADABLE) from error
        if chosen.stop or chosen.tool not in {tool.name for tool in tools}:
            return {"stop": True, "tool": "", "arguments": {}}
        return {"stop": False, "tool": chosen.tool, "arguments": chosen.arguments}

    def call(self, call: given.ToolCall) -> Any:
        """Run what `decide` chose."""
        self._history.append(f"{call.name} {json.dumps(call.arguments, ensure_ascii=False, sort_keys=True)}")
        return self._toolbox.run(call.name, call.arguments)

    def reason(self, call: given.Reasoned) -> dict[str, Any]:
        """Follow an instruction over evidence: {text}."""
        try:
            return {
                "text": self._meter.ask(Reason(prompt=call.prompt, evidence=gathered(call.evidence))).text
            }
        except Unparsed as error:
            raise HostCallError(UNREADABLE) from error

    def verify(self, call: given.Verify) -> dict[str, Any]:
        """Check a claim: {supported, confidence, text}."""
        frames = self._looking.chosen(call.frames)
        task = VerifyClaim(claim=call.claim, evidence=gathered(call.evidence), frames=frames)
        try:
            return self._meter.ask(task, frames).model_dump(mode="json")
        except Unparsed as error:
            raise HostCallError(UNREADABLE) from error

    def similar(self, call: given.Similar) -> list[float]:
        """Cosine of each text with `a`, from -1 to 1."""
        if not call.texts:
            return []
        vectors = self._embedder.embed([call.a, *call.texts])
        return [round(float(cosine), 6) for cosine in vectors[1:] @ vectors[0]]

    def find(self, call: given.Find) -> list[dict[str, Any]]:
        """Matches of a regular expression (RE2, in linear time): {text, start, end} in characters."""
        import re2

        options = re2.Options()
        options.log_errors = False  # the error is raised as well
        try:
            pattern = re2.compile(call.pattern, options)
        except re2.error as error:
            raise HostCallError(f"not a regular expression (RE2): {_said(error)}") from error
        matches: list[dict[str, Any]] = []
        for match in pattern.finditer(call.text):
            if len(matches) == MOST_MATCHES:
                break
            matches.append({"text": match.group(), "start": match.start(), "end": match.end()})
        return matches

    def answer(self, call: given.Answer) -> dict[str, Any]:
        """Choose an option, or answer in words where there are none: {choice, text, scores}."""
        evidence = (*self.planned, *gathered(call.evidence))
        frames = self._looking.chosen(call.frames)
        self.unanswered = ""
        try:
            if not self._question.options:
                prompt = f"{self._question.text}\n\n{self._guidance}".strip()
                text = self._meter.ask(Reason(prompt=prompt, evidence=evidence)).text
                self.unanswered = "" if text else "the model's answer has no words"
                return {"choice": None, "text": text, "scores": []}
            task = AnswerQuestion(
                text=self._question.text,
                options=self._question.options,
                evidence=evidence,
                frames=frames,
                guidance=self._guidance,
                sample=self._trial * TRIAL_SAMPLES + call.sample,
            )
            chosen = self._meter.ask(task, frames)
        except Unparsed as error:
            self.unanswered = f"the model's answer could not be read: {error}"
            return {"choice": None, "text": "", "scores": []}
        self.unanswered = "the model chose none of the options" if chosen.choice is None else ""
        self.guessed = chosen.guessed
        return {"choice": chosen.choice, "text": chosen.text, "scores": list(chosen.scores)}


def _said(error: Exception) -> str:
    """What RE2 says of a pattern, which it says in bytes."""
    said = error.args[0] if error.args else ""
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
