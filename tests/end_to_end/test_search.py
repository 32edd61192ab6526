"""Many videos are searched as one, by what is remembered of them."""

import re
import shutil

import pytest

from tests.end_to_end.conftest import GROUP, Finished, World

pytestmark = GROUP
LINE = re.compile(r"^ +\d+\. (\w+)  \d\d:\d\d\.\d(–\d\d:\d\d\.\d)?  (event|entity|text|segment)  \S")


@pytest.fixture
def videos(tiny: Finished, world: World) -> World:
    """Two of the videos of the run, under names of their own."""
    (world.folder / "seen").mkdir()
    for name, video in zip(("one", "two"), tiny.samples, strict=False):
        shutil.copy(video, world.folder / "seen" / f"{name}.mp4")
    return world


def test_what_is_found_has_its_video_and_its_time(videos: World) -> None:
    ended = videos.run("search", "videos=seen", "query=the text is shown", "k=8", "display=silent")
    assert ended.code == 0, ended.text
    lines = [LINE.match(line) for line in ended.out.splitlines()]
    assert len(lines) == 8
    assert {found[1] for found in lines if found is not None} == {"one", "two"}
    whole = videos.run("search", "videos=seen", "query=what happens", "kind=segment", "k=1", "display=silent")
    assert whole.code == 0, whole.text
    assert "  segment  " in whole.out
    assert len(whole.out.splitlines()) == 1
    again = videos.run("search", "videos=seen", "query=the text is shown", "k=8", "display=silent")
    assert again.out == ended.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["videos=seen"], "query=… is needed"),
        (["query=a ball"], "videos=… is needed"),
        (["videos=seen", "query=a ball", "kind=sound"], "node, text, transcript, segment"),
        (["videos=seen", "query=a ball", "k=0"], "at least 1"),
        (["videos=nowhere", "query=a ball"], "nowhere"),
    ],
)
def test_a_mistake_is_one_line(videos: World, arguments: list[str], said: str) -> None:
    ended = videos.run("search", *arguments)
    assert ended.code == 2, ended.text
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1
