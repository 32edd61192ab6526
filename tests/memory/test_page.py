"""A memory as a page: everything is on it, nothing on it is markup, and it needs nobody else."""

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from evoharness.memory import MemoryStore, build_memory, page_of
from evoharness.memory.page import MOST_PICTURES, clock, render_page
from evoharness.memory.thumbnails import Picture, Thumbnails
from evoharness.models.perception_tasks import (
    DescribedEntity,
    DescribedEvent,
    DescribedRelation,
    DescribedText,
    DescribeSegment,
    SegmentDescription,
)
from evoharness.records.interval import Interval
from evoharness.records.memory import RelationKind, Segment, SuperEvent, VideoMemory
from evoharness.video import Video
from tests.memory.describer import GivenDescriber
from tests.video.recordings import record

HOSTILE = "<script>alert('x')</script> & \"quotes\" </style> {{ 7 * 7 }} \u202e"
EMPTY_ELEMENTS = {"meta", "img", "input"}


class Structure(HTMLParser):
    """What a page consists of; fails on an element that is closed where it was not opened."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note it."""
        self.elements.append((tag, dict(attrs)))
        if tag not in EMPTY_ELEMENTS:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """It closes the last one."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note what is read."""
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of every element of that name."""
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three scenes of a minute and a half, a picture each second; its name is awkward."""
    rng = np.random.default_rng(2)
    pictures = [
        rng.integers(0, 256, (4, 6, 3), dtype=np.uint8).repeat(24, 0).repeat(24, 1) for _ in range(270)
    ]
    path = tmp_path_factory.mktemp("page") / "Été <b>d'or & co.mp4"
    return record(path, pictures, [float(n) for n in range(270)])


def told(task: DescribeSegment) -> SegmentDescription:
    start = task.span.start
    return SegmentDescription(
        summary=f"from {start:.0f} s: {HOSTILE}",
        events=(DescribedEvent(start=start + 1, end=start + 4, description=f"it falls {HOSTILE}"),),
        entities=(DescribedEntity(name="red cup", first_seen=start + 2, spatial_hint=HOSTILE),),
        texts=(DescribedText(text=f"Step {HOSTILE}", start=start, end=start + 9),),
        relations=(DescribedRelation(source="entity:0", target="event:0", kind=RelationKind.PERFORMS),),
    )


@pytest.fixture(scope="module")
def page(video: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    store = MemoryStore(tmp_path_factory.mktemp("cache"), GivenDescriber(told))
    return page_of(store, Video(video))


def test_everything_that_is_recorded_is_on_it(page: str, video: Path) -> None:
    structure = Structure(page)
    read = " ".join(" ".join(structure.text).split())
    memory = build_memory(Video(video), GivenDescriber(told))
    assert video.name in read
    assert memory.root in read
    for segment in memory.segments:
        assert " ".join(segment.summary.split()) in read
        for text in segment.texts:
            assert " ".join(text.text.split()) in read
    assert "performs" in read
    ids = {attributes.get("id") for _, attributes in structure.elements}
    expected = {segment.id for segment in memory.segments} | {event.id for event in memory.super_events}
    assert expected <= ids
    assert {attributes["href"] for attributes in structure.all("a")} == {f"#{name}" for name in expected}


def test_pictures_lie_on_it_in_order_of_time(page: str) -> None:
    pictures = Structure(page).all("img")
    assert all(
        (each.get("src") or "data:image/jpeg;base64,/9j/").startswith("data:image/jpeg;base64,/9j/")
        for each in pictures
    )
    times = [float(each["data-t"] or "") for each in pictures if "data-t" in each]
    assert len(times) >= 6
    assert times == sorted(times)


def test_what_comes_from_a_video_is_never_markup(page: str) -> None:
    structure = Structure(page)
    assert len(structure.all("script")) == 1
    assert structure.all("b") == [{}] * len(structure.all("b"))
    assert "alert('x')" not in re.sub(r"&#39;", "", page)
    assert "49 " not in page.replace("{{ 7 * 7 }}", "")


def test_it_needs_nobody_else(page: str) -> None:
    structure = Structure(page)
    for tag, attributes in structure.elements:
        assert tag not in ("link", "iframe", "object", "form")
        for name in ("src", "href"):
            value = attributes.get(name) or "#"
            assert value.startswith(("#", "data:image/jpeg;base64,"))
    assert not re.search(r"https?://|url\(|@import", page)
    assert "default-src 'none'" in page


def test_pictures_are_taken_from_the_video_where_none_were_kept(video: Path, tmp_path: Path) -> None:
    store = MemoryStore(tmp_path, GivenDescriber(told))
    store.load_or_build(Video(video))
    (store.folder(Video(video)) / "thumbnails.json").write_bytes(b"{")
    assert len(Structure(page_of(store, Video(video))).all("img")) > 20


def memory_of(segments: int, status: str = "described") -> VideoMemory:
    whole = tuple(
        Segment.model_validate(
            {
                "id": f"s{n:04d}",
                "interval": {"start": 30.0 * n, "end": 30.0 * (n + 1)},
                "summary": f"segment {n}",
                "status": status,
            }
        )
        for n in range(segments)
    )
    event = SuperEvent(
        id="x0000",
        label="all",
        description="",
        segment_ids=tuple(segment.id for segment in whole[:-1]),
        interval=Interval(start=0, end=max(0.0, 30.0 * (segments - 1))),
    )
    return VideoMemory(
        video="v",
        duration=30.0 * segments,
        root="",
        super_events=(event,) if segments > 1 else (),
        segments=whole,
    )


@pytest.mark.parametrize("segments", [0, 1, 2, 1200])
@pytest.mark.parametrize("status", ["described", "failed"])
def test_a_memory_of_any_length_can_be_shown(segments: int, status: str) -> None:
    memory = memory_of(segments, status)
    pictures = tuple(Picture(time=float(n), jpeg="/9j/AAAA") for n in range(12))
    thumbnails = Thumbnails(segments={segment.id: pictures for segment in memory.segments})
    structure = Structure(render_page(memory, thumbnails, "a video"))
    assert len([each for each in structure.all("img") if "data-t" in each]) <= max(MOST_PICTURES, segments)
    assert len(structure.all("article")) >= segments
    for each in structure.elements:
        for left, width in re.findall(r"left:([\d.]+)%;width:([\d.]+)%", each[1].get("style") or ""):
            assert 0 <= float(left) <= 100
            assert float(left) + float(width) <= 100.01


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0:00"), (5.04, "0:05"), (65.25, "1:05.2"), (59.96, "1:00"), (3723.4, "1:02:03.4"), (-1, "0:00")],
)
def test_times_are_told_as_people_tell_them(seconds: float, shown: str) -> None:
    assert clock(seconds) == shown
