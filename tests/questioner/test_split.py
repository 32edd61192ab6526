"""Evolution and validation share no video."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoharness.questioner import split_by_video, split_videos
from evoharness.records.question import Question, QuestionKind

VIDEOS = st.sets(st.text(min_size=1, max_size=5), min_size=1, max_size=40)


@given(VIDEOS, st.integers(0, 9))
def test_a_third_of_the_videos_is_for_evolution(videos: set[str], seed: int) -> None:
    learning, judging = split_videos(videos, random.Random(seed))
    assert sorted([*learning, *judging]) == sorted(videos)
    if len(videos) >= 2:
        assert learning
        assert judging
        assert abs(len(learning) - len(videos) / 3) <= 1
    else:
        assert judging == []


@given(st.lists(st.sampled_from("abcdefghi"), min_size=2, max_size=60), st.integers(0, 9))
def test_no_video_is_on_both_sides_and_no_question_is_lost(keys: list[str], seed: int) -> None:
    asked = [
        Question(id=str(n), video=key, kind=QuestionKind.SPATIAL, text="Where?", options=("a", "b"), answer=0)
        for n, key in enumerate(keys)
    ]
    split = split_by_video(asked, random.Random(seed))
    assert not {q.video for q in split.evolution} & {q.video for q in split.validation}
    assert sorted(q.id for q in (*split.evolution, *split.validation)) == sorted(q.id for q in asked)
    assert split == split_by_video(asked, random.Random(seed))


@pytest.mark.parametrize("share", [0.0, 1.0, -0.5])
def test_a_share_must_leave_something_on_both_sides(share: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        split_videos(["a", "b"], random.Random(0), share)
