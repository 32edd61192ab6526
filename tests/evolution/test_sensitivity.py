"""Which parameters matter: one step each way, and what it does to looks, answers and accuracy."""

from evoharness.evolution.sensitivity import inert, looked_at, parameter_effects, seen_and_said
from evoharness.harness import Parameters
from evoharness.records.outcome import Outcome, TraceStep
from tests.evolution.proposers.world import ASKED, World, harness


def test_each_step_is_compared_with_the_harness_as_it_is() -> None:
    world = World()
    effects = {effect.change: effect for effect in parameter_effects(harness(), ASKED, world)}
    right = {
        fps: sum(world.outcome(harness(detail_fps=fps), question).correct for question in ASKED)
        for fps in (1, 2, 4)
    }
    assert right[1] < right[2] < right[4]
    for change, fps in (("detail_fps 2.0 → 1.0", 1), ("detail_fps 2.0 → 4.0", 4)):
        effect = effects[change]
        assert (effect.subject, effect.questions, effect.looks) == ("detail_fps", len(ASKED), len(ASKED))
        assert effect.answers == abs(right[fps] - right[2])
        assert effect.delta == (right[fps] - right[2]) / len(ASKED)
    dearer = effects["overview_fps 1.0 → 2.0"]
    assert (dearer.answers, dearer.looks, dearer.delta) == (0, len(ASKED), 0.0)
    nothing = effects["chunk_s 300.0 → 600.0"]
    assert (nothing.answers, nothing.looks, nothing.delta) == (0, 0, 0.0)


def test_every_parameter_has_its_steps_in_the_order_of_declaration() -> None:
    subjects = [effect.subject for effect in parameter_effects(harness(), ASKED[:1], World())]
    assert list(dict.fromkeys(subjects)) == list(Parameters.model_fields)
    assert all(subjects.count(subject) in (1, 2) for subject in subjects)


def test_inert_is_what_changes_no_answer_in_either_direction() -> None:
    effects = parameter_effects(harness(), ASKED, World())
    assert inert(effects) == sorted(set(Parameters.model_fields) - {"detail_fps"})
    one_way = [e for e in effects if e.change == "detail_fps 2.0 → 4.0" or e.subject == "chunk_s"]
    still = one_way[0].model_copy(update={"answers": 0})
    assert inert([*one_way, still]) == (["chunk_s"])
    assert inert([]) == []


def test_what_the_apparatus_lost_is_no_evidence() -> None:
    lost = frozenset(question.id for question in ASKED[:10])
    effects = parameter_effects(harness(), ASKED, World(lost=lost))
    assert {effect.questions for effect in effects} == {len(ASKED) - 10}
    everything = frozenset(question.id for question in ASKED)
    effects = parameter_effects(harness(), ASKED, World(lost=everything))
    assert {(e.questions, e.answers, e.looks, e.delta) for e in effects} == {(0, 0, 0, 0.0)}


def test_the_same_frames_and_the_same_choice_are_the_same() -> None:
    one = World().outcome(harness(), ASKED[0])
    assert seen_and_said(one) == seen_and_said(one)

    def changed(**fields: object) -> Outcome:
        return one.model_copy(update={"answered": one.answered.model_copy(update=fields)})

    assert seen_and_said(changed(choice=3)) != seen_and_said(one)
    assert seen_and_said(changed(status="unparsed")) != seen_and_said(one)
    assert seen_and_said(changed(text="in other words")) == seen_and_said(one)
    (look,) = one.answered.trace.steps
    thought = TraceStep(call="reason", arguments={}, result={"text": "x"}, tokens=5)
    for steps, alike in (
        ((look, thought), True),
        ((look, look), False),
        ((), False),
        ((look.model_copy(update={"seconds": 9.0, "result": "x"}),), True),
        ((look.model_copy(update={"frame_times": (1.0,)}),), False),
        ((look.model_copy(update={"tokens": 1}),), False),
    ):
        other = changed(trace=one.answered.trace.model_copy(update={"steps": steps}))
        assert (seen_and_said(other) == seen_and_said(one)) == alike
        assert (looked_at(other) == looked_at(one)) == alike
