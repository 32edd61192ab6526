"""Questions for one video: kinds by the policy's proportions, forms by its weights, as records allow."""

import hashlib
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evoharness.questioner import english
from evoharness.questioner.forms import Craft, Draft, Form, forms_of
from evoharness.questioner.policy import Policy
from evoharness.questioner.view import MemoryView
from evoharness.records.memory import VideoMemory
from evoharness.records.question import Question, QuestionKind


@dataclass(frozen=True)
class Generated:
    """What was made of one memory, and what its records did not give."""

    questions: tuple[Question, ...]
    wanted: dict[QuestionKind, int]
    """How many of each kind the proportions ask for."""

    @property
    def shortfalls(self) -> dict[QuestionKind, int]:
        """How many questions of a kind are missing, for the kinds whose records ran out."""
        made = dict.fromkeys(self.wanted, 0)
        for question in self.questions:
            made[question.kind] = made.get(question.kind, 0) + 1
        return {kind: n - made[kind] for kind, n in self.wanted.items() if made[kind] < n}


def generate(
    memory: VideoMemory, video_key: str, policy: Policy, count: int, rng: random.Random
) -> list[Question]:
    """At most `count` questions about one video; see `generate_counted`."""
    return list(generate_counted(memory, video_key, policy, count, rng).questions)


def generate_counted(
    memory: VideoMemory, video_key: str, policy: Policy, count: int, rng: random.Random
) -> Generated:
    """At most `count` questions whose references are computed from the records of `memory`.

    Kinds get their shares by largest remainder; what a kind cannot fill goes to the others, again by
    proportion. The same memory, policy, count and state of `rng` give the same questions.
    """
    view = MemoryView(memory)
    wanted = apportion(count, policy.proportions)
    sources = {
        kind: _Source(kind, view, policy, rng) for kind, share in policy.proportions.items() if share > 0
    }
    made: dict[str, Question] = {}
    turned_to = dict(wanted)
    while sources and len(made) < count:
        for kind, number in turned_to.items():
            if kind not in sources:
                continue
            for _ in range(number):
                question = sources[kind].next(video_key, made)
                if question is None:
                    del sources[kind]
                    break
                made[question.id] = question
        turned_to = apportion(count - len(made), {kind: policy.proportions[kind] for kind in sources})
    ordered = sorted(made.values(), key=lambda q: (list(QuestionKind).index(q.kind), q.form, q.id))
    return Generated(tuple(ordered), wanted)


def apportion(count: int, shares: Mapping[QuestionKind, float]) -> dict[QuestionKind, int]:
    """`count` split by shares (any positive scale) with the largest remainders rounded up."""
    total = sum(shares.values())
    if total <= 0 or count <= 0:
        return dict.fromkeys(shares, 0)
    exact = {kind: count * share / total for kind, share in shares.items()}
    parts = {kind: int(value) for kind, value in exact.items()}
    order = sorted(exact, key=lambda kind: (parts[kind] - exact[kind], list(QuestionKind).index(kind)))
    for kind in order[: count - sum(parts.values())]:
        parts[kind] += 1
    return parts


class _Source:
    """Questions of one kind, one at a time, from its forms by weight, until the records are used up."""

    def __init__(self, kind: QuestionKind, view: MemoryView, policy: Policy, rng: random.Random) -> None:
        self._view = view
        self._policy = policy
        self._rng = random.Random(rng.getrandbits(64))
        self._seen: set[tuple[str, ...]] = set()
        self._made: dict[str, int] = {}
        self._drafts: dict[Form, Iterator[Draft]] = {}
        for form in forms_of(kind):
            craft = Craft(
                rng=random.Random(rng.getrandbits(64)),
                options=policy.options,
                mode=policy.mode(kind),
                relate=policy.relating(kind),
                brief=policy.brief,
            )
            if policy.weight(form.name) > 0:
                self._drafts[form] = form.make(self._view, craft)

    def next(self, video_key: str, made: Mapping[str, Question]) -> Question | None:
        """A question unlike those already made; None when no form has one left."""
        while self._drafts:
            form = min(self._drafts, key=self._turn)
            draft = next(self._drafts[form], None)
            if draft is None:
                del self._drafts[form]
                continue
            about = (form.name, *draft.about)
            wording = (*english.tokens(draft.text), "?", *english.tokens(draft.answer))
            if about in self._seen or wording in self._seen:
                continue
            question = self._written(form, draft, video_key)
            if question is not None and question.id not in made:
                self._seen |= {about, wording}
                self._made[form.name] = self._made.get(form.name, 0) + 1
                return question
        return None

    def _turn(self, form: Form) -> float:
        """Forms take turns by weight, in an order that varies: the smallest is next."""
        return (self._made.get(form.name, 0) + self._rng.random()) / self._policy.weight(form.name)

    def _written(self, form: Form, draft: Draft, video_key: str) -> Question | None:
        options = list(draft.options)
        if not draft.ordered:
            options = [draft.answer, *draft.wrong]
            self._rng.shuffle(options)
        if (
            not draft.support
            or len({option.strip().casefold() for option in options}) != self._policy.options
        ):
            return None
        content = "\x1f".join((video_key, form.name, draft.text, *options))
        return Question(
            id=f"{video_key}/{hashlib.sha256(content.encode()).hexdigest()[:12]}",
            video=video_key,
            kind=form.kind,
            fine_type=draft.fine_type,
            form=form.name,
            text=draft.text,
            options=tuple(options),
            answer=options.index(draft.answer),
            reference_text=draft.answer,
            source_segments=self._view.segments_in(draft.interval),
            source_interval=draft.interval,
            support=tuple(dict.fromkeys(draft.support)),
            policy_version=self._policy.fingerprint,
        )
