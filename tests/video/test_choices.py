"""Which files, which times, which size: decisions that need no decoding."""

import json
import os
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evoharness.errors import UserError
from evoharness.records.frame import Detail
from evoharness.records.interval import Interval
from evoharness.video import NotAVideo, find_videos, fit, probe, sample_times, scattered_times
from evoharness.video.detail import PIXELS
from tests.video.recordings import number_in, numbered, record, record_sound

SIDES = st.integers(1, 9000)


class TestDetail:
    @given(SIDES, SIDES, st.sampled_from(list(Detail)))
    def test_never_above_the_level_and_never_enlarged(self, width: int, height: int, detail: Detail) -> None:
        across, down = fit(width, height, detail)
        assert across * down <= PIXELS[detail]
        assert across % 32 == down % 32 == 0
        assert across <= max(32, width + 15)
        assert down <= max(32, height + 15)

    @pytest.mark.parametrize(
        ("size", "detail", "fitted"),
        [
            ((640, 360), Detail.NORMAL, (640, 352)),
            ((640, 360), Detail.LARGE, (640, 352)),
            ((640, 360), Detail.SMALL, (352, 192)),
            ((1280, 720), Detail.NORMAL, (672, 384)),
            ((1280, 720), Detail.LARGE, (1280, 704)),
            ((3840, 2160), Detail.LARGE, (1344, 768)),
            ((180, 320), Detail.NORMAL, (192, 320)),
            ((9000, 9), Detail.SMALL, (2560, 32)),
        ],
    )
    def test_known_sizes(self, size: tuple[int, int], detail: Detail, fitted: tuple[int, int]) -> None:
        assert fit(*size, detail) == fitted


class TestSampling:
    def test_times_begin_at_the_start_and_stay_before_the_end(self) -> None:
        assert sample_times(Interval(start=10, end=13), 1) == [10, 11, 12]
        assert sample_times(Interval(start=0, end=2.2), 2) == pytest.approx([0, 0.5, 1, 1.5, 2])

    def test_an_instant_is_one_time(self) -> None:
        assert sample_times(Interval(start=4, end=4), 2) == [4]

    def test_a_cap_lowers_the_rate_evenly(self) -> None:
        times = sample_times(Interval(start=0, end=300), 1, 192)
        assert len(times) == 192
        assert {round(b - a, 6) for a, b in pairwise(times)} == {1.5625}

    @given(
        st.floats(0, 1e5),
        st.floats(0, 2000),
        st.sampled_from([0.25, 0.5, 1.0, 2.0, 3.0]),
        st.integers(1, 300),
    )
    def test_always_inside_the_span(self, start: float, length: float, fps: float, cap: int) -> None:
        span = Interval(start=start, end=start + length)
        times = sample_times(span, fps, cap)
        assert 1 <= len(times) <= cap
        assert all(span.start <= time <= span.end for time in times)
        assert times == sorted(set(times))

    def test_senseless_requests_are_refused(self) -> None:
        with pytest.raises(ValueError, match="fps"):
            sample_times(Interval(start=0, end=1), 0)
        with pytest.raises(ValueError, match="cap"):
            sample_times(Interval(start=0, end=1), 1, 0)


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """A folder as people have them: videos, sidecars, hidden files, and files that are no videos."""
    folder = tmp_path / "my videos [1]"
    (folder / "more").mkdir(parents=True)
    (folder / ".thumbnails").mkdir()
    record(folder / "b.mp4", map(numbered, range(3)))
    record(folder / "more" / "b.mkv", map(numbered, range(4)))
    record(folder / ".hidden.mp4", map(numbered, range(3)))
    record(folder / ".thumbnails" / "x.mp4", map(numbered, range(3)))
    record_sound(folder / "song.m4a", 0.2)
    record_sound(folder / "cover.mp4", 0.2, cover=numbered(1))
    (folder / "empty.mp4").touch()
    (folder / "text.mp4").write_text("not a video\n")
    for sidecar in ("b.srt", "notes.txt", "b.json", "README.md", "poster.jpg"):
        (folder / sidecar).write_text("beside")
    return folder


class TestFinding:
    def test_a_folder(self, collection: Path) -> None:
        found = find_videos(str(collection))
        assert {key: path.name for key, path in found.videos.items()} == {"b": "b.mp4", "b-2": "b.mkv"}
        reasons = {skipped.path.name: skipped.reason for skipped in found.skipped}
        assert set(reasons) == {"song.m4a", "cover.mp4", "empty.mp4", "text.mp4"}
        assert "sound only" in reasons["song.m4a"]
        assert "cover art" in reasons["cover.mp4"]
        assert reasons["empty.mp4"] == "the file is empty"
        assert all("\n" not in reason for reason in reasons.values())

    def test_one_file_and_a_pattern(self, collection: Path) -> None:
        assert set(find_videos(str(collection / "b.mp4")).videos) == {"b"}
        pattern = str(collection.parent / "my videos*" / "**" / "*.mkv")
        assert set(find_videos(pattern).videos) == {"b"}

    def test_a_name_that_no_file_can_have(self) -> None:
        with pytest.raises(UserError, match="cannot be looked at"):
            find_videos("x" * 300)

    def test_the_folder_of_a_user_who_does_not_exist(self, collection: Path) -> None:
        with pytest.raises(UserError, match="no such file or folder"):
            find_videos("~no-such-user/x.mp4")
        table = collection / "strange.csv"
        table.write_text("path\n~no-such-user/x.mp4\n")
        (skipped,) = find_videos(str(table)).skipped
        assert skipped.reason == "no such file"

    def test_manifests(self, collection: Path) -> None:
        table = collection / "list.csv"
        table.write_text("id,path,source\nfirst,b.mp4,camera\n,more/b.mkv,\ngone,nowhere.mp4,\n")
        found = find_videos(str(table))
        assert {key: path.name for key, path in found.videos.items()} == {"first": "b.mp4", "b": "b.mkv"}
        assert [skipped.reason for skipped in found.skipped] == ["no such file"]
        strange = collection / 'a\u2028b, "c".mp4'
        strange.write_bytes((collection / "b.mp4").read_bytes())
        table.write_text('path,id\r\n"a\u2028b, ""c"".mp4","two\nlines"\r\n', encoding="utf-8-sig")
        assert find_videos(str(table)).videos == {"two\nlines": strange}
        lines = collection / "list.jsonl"
        lines.write_text(json.dumps({"id": "x", "path": "b.mp4"}) + "\n\n")
        assert set(find_videos(str(lines)).videos) == {"x"}

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("a.csv", "video\nb.mp4\n", "line 2: needs a `path`; what it has is video$"),
            ("a.csv", "path;id\nb.mp4;x\n", "line 2: needs a `path`; what it has is path;id$"),
            ("a.csv", "path,id\n,x\n", "line 2: needs a `path`$"),
            ("a.jsonl", '{"two\\nlines": 1}', "line 1: needs a `path`; what it has is two lines$"),
            ("a.csv", "id,path\nx,b.mp4\nx,c.mp4\n", "line 3: the id 'x'"),
            ("a.csv", "id,path\n", "lists no video"),
            ("a.jsonl", "{", "line 1: not JSON"),
            ("a.jsonl", "[1]", "line 1: needs an object"),
        ],
    )
    def test_a_bad_manifest_is_one_line(self, tmp_path: Path, name: str, content: str, message: str) -> None:
        (tmp_path / name).write_text(content)
        with pytest.raises(UserError, match=message) as refused:
            find_videos(str(tmp_path / name))
        assert "\n" not in str(refused.value)

    def test_nothing_to_find(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="no video in this folder"):
            find_videos(str(tmp_path))
        with pytest.raises(UserError, match="no such file"):
            find_videos(str(tmp_path / "nowhere"))


def picture_of(path: Path) -> NDArray[np.uint8]:
    """The pixels of a PNG file, in the order of OpenCV."""
    picture = cv2.imdecode(np.frombuffer(path.read_bytes(), dtype=np.uint8), cv2.IMREAD_COLOR)
    return np.asarray(picture, dtype=np.uint8)


class TestCommand:
    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "evoharness.video", *arguments],
            capture_output=True,
            text=True,
            check=False,
        )

    def test_probe_prints_one_object(self, plain: Path) -> None:
        done = self.run("probe", str(plain))
        assert done.returncode == 0
        assert json.loads(done.stdout) == probe(plain).model_dump(mode="json")

    def test_what_is_no_video_ends_with_one_line_and_2(self, tmp_path: Path) -> None:
        (tmp_path / "it's.mp4").write_text("no")
        done = self.run("probe", str(tmp_path / "it's.mp4"))
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert "it's.mp4" in done.stderr

    def test_the_object_has_what_it_promises(self, plain: Path) -> None:
        said = json.loads(self.run("probe", str(plain)).stdout)
        assert (said["duration"], said["width"], said["height"], said["frames"]) == (10.0, 320, 192, 100)
        assert (said["rotation"], said["codec"], said["warnings"]) == (0, "h264", [])
        assert said["reader"] in ("decord", "pyav")
        assert said["reader_reason"]

    def test_text_is_no_video_whatever_it_is_called(self, tmp_path: Path) -> None:
        for name in ("notes.txt", "film.nfo"):
            (tmp_path / name).write_text("a line of words\n" * 50)
            with pytest.raises(NotAVideo, match="it is text"):
                probe(tmp_path / name)

    def test_frames_are_named_by_their_true_times(self, plain: Path, tmp_path: Path) -> None:
        out = tmp_path / "a folder" / "größe's"
        done = self.run("frames", str(plain), "--times", "60", "1.55", "1.5", "--out", str(out))
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines() == [str(out / "1.500.png"), str(out / "9.900.png")]
        assert "ends at 10.000 s" in done.stderr
        assert [number_in(picture_of(Path(path))) for path in done.stdout.splitlines()] == [15, 99]

    def test_a_frame_is_as_displayed_or_as_a_model_sees_it(self, tmp_path: Path) -> None:
        pictures = (numbered(n, 300, 180) for n in range(3))
        path = record(tmp_path / "x.mp4", pictures, aspect=Fraction(4, 3))
        self.run("frames", str(path), "--times", "0", "--out", str(tmp_path / "own"))
        self.run("frames", str(path), "--times", "0", "--out", str(tmp_path / "seen"), "--detail", "small")
        assert picture_of(tmp_path / "own" / "0.000.png").shape == (180, 400, 3)
        assert picture_of(tmp_path / "seen" / "0.000.png").shape == (192, 384, 3)

    @pytest.mark.parametrize("time", ["nan", "inf", "soon"])
    def test_what_is_no_time_is_refused(self, plain: Path, tmp_path: Path, time: str) -> None:
        done = self.run("frames", str(plain), "--times", time, "--out", str(tmp_path / "out"))
        assert done.returncode == 2
        assert "invalid number of seconds" in done.stderr
        assert "Traceback" not in done.stderr

    def test_where_nothing_can_be_written_one_line_says_so(self, plain: Path, tmp_path: Path) -> None:
        (tmp_path / "out").touch()
        done = self.run("frames", str(plain), "--times", "0", "--out", str(tmp_path / "out"))
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "cannot be written" in done.stderr

    def test_a_name_that_is_no_text(self, plain: Path, tmp_path: Path) -> None:
        odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff caf\xe9.mp4"))
        odd.write_bytes(plain.read_bytes())
        done = self.run("probe", str(odd))
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["path"] == str(odd)
        done = self.run("frames", str(odd), "--times", "1", "--out", str(tmp_path / "out"))
        assert done.returncode == 0, done.stderr
        odd.write_bytes(b"")
        done = self.run("probe", str(odd))
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_the_error_survives_a_process_boundary(tmp_path: Path) -> None:
    import pickle

    error = pickle.loads(pickle.dumps(NotAVideo(tmp_path, "why")))
    assert (error.path, error.reason, str(error)) == (tmp_path, "why", f"{tmp_path}: why")


@given(start=st.floats(0, 1000), length=st.floats(0.1, 400), fps=st.floats(0.1, 8), cap=st.integers(1, 300))
def test_scattered_times_fall_one_into_each_step(start: float, length: float, fps: float, cap: int) -> None:
    span = Interval(start=start, end=start + length)
    steps = sample_times(span, fps, cap)
    times = scattered_times(span, fps, cap, "a video")
    assert times == scattered_times(span, fps, cap, "a video")
    assert len(times) == len(steps)
    for time, begin, end in zip(times, steps, [*steps[1:], span.end], strict=True):
        assert begin <= time <= end
