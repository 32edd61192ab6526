"""What is asked, about what, and how the answers are laid out."""

import re
from collections import Counter

from evoharness.records.question import Question, QuestionKind
from evoharness.samples import demand_of, plan_timeline
from evoharness.samples.questions.choose import all_drafts, stretches
from evoharness.samples.timeline import Timeline
from tests.samples.asking import TIMELINES, named, questions_of
from tests.samples.viewer import Viewer


def test_questions_are_the_same_each_time() -> None:
    timeline = TIMELINES[0]
    assert questions_of(timeline) == questions_of(plan_timeline(timeline.seed, timeline.index))


def test_answers_are_options_and_positions_are_balanced(asked: list[tuple[Timeline, Question]]) -> None:
    positions = Counter(question.answer for _, question in asked)
    assert set(positions) == {0, 1, 2, 3}
    assert max(positions.values()) - min(positions.values()) <= len(TIMELINES)
    for timeline, question in asked:
        assert len(question.options) == 4
        assert question.answer is not None
        assert question.options[question.answer] == question.reference_text
        assert question.video == timeline.video
        assert question.fine_type is not None
        assert question.source_interval is not None
        assert question.source_interval.end <= timeline.duration + 1


def test_support_names_records_of_the_timeline(asked: list[tuple[Timeline, Question]]) -> None:
    for timeline, question in asked:
        known = {r.id for records in (timeline.texts, timeline.things, timeline.events) for r in records}
        assert question.support
        assert set(question.support) <= known


def test_a_question_that_quotes_or_answers_with_a_text_has_it_in_its_support(
    asked: list[tuple[Timeline, Question]],
) -> None:
    for timeline, question in asked:
        reads = any(identifier.startswith("text/") for identifier in question.support)
        written = {text.text for text in timeline.texts}
        if '"' in question.text or question.reference_text in written:
            assert reads, question


def test_most_videos_have_enough_to_ask_about() -> None:
    assert all(len(questions_of(timeline)) == 30 for timeline in TIMELINES)
    four_minutes = [t for t in TIMELINES if 200 < t.duration < 300]
    for timeline in four_minutes:
        assert len(questions_of(timeline, 45)) == 45


def test_every_kind_is_asked_about(asked: list[tuple[Timeline, Question]]) -> None:
    kinds = Counter(question.kind for _, question in asked)
    assert set(kinds) == set(QuestionKind)
    assert all(share >= 0.02 * len(asked) for share in kinds.values())


def test_a_third_or_more_is_demanding_and_much_needs_no_text(asked: list[tuple[Timeline, Question]]) -> None:
    demands = Counter(demand_of(question) for _, question in asked)
    assert demands[""] <= 2 / 3 * len(asked)
    assert all(demands[demand] > 0 for demand in ("brief", "small", "window"))
    seeing = [q for _, q in asked if not any(s.startswith("text/") for s in q.support)]
    assert 0.4 * len(asked) <= len(seeing) <= 0.65 * len(asked)


def test_a_long_recording_is_asked_about_in_stretches() -> None:
    timeline = plan_timeline(3, 0, longest_minutes=20)
    parts = stretches(timeline)
    assert timeline.duration > 14 * 60
    assert len(parts) >= 3
    questions = questions_of(timeline, 60)
    assert len(questions) == 60
    late = [q for q in questions if q.source_interval and q.source_interval.start > timeline.duration / 2]
    assert len(late) > 15
    viewer = Viewer(timeline)
    for question in questions:
        between = re.match(r"Between (\d+):(\d+) and (\d+):(\d+), how many times does", question.text)
        if between:
            a, b, c, d = map(int, between.groups())
            seen = [r for r in viewer.of[named(question)[0]] if 60 * a + b - 1 <= r.start <= 60 * c + d + 1]
            assert str(len(seen)) == question.reference_text


def test_drafts_never_offer_the_answer_as_a_distractor() -> None:
    for timeline in TIMELINES[:5]:
        for draft in all_drafts(timeline):
            assert draft.answer not in draft.others, draft
