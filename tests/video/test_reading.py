"""Pictures are addressed by presentation time, whatever the container does."""

import pickle
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from evoharness.records.frame import Detail
from evoharness.video import NotAVideo, Video, probe
from evoharness.video.hashing import BLOCK_BYTES, BLOCKS, content_hash
from evoharness.video.packets import Packet
from evoharness.video.probe import _without_strays
from evoharness.video.readers import Wanted
from tests.video.recordings import is_upright, number_in, numbered, record
from tests.video.reference import every_picture


def numbers(video: Video, times: Sequence[float], detail: Detail = Detail.NORMAL) -> list[int]:
    """What the pictures at `times` say their numbers are."""
    return [number_in(pixels) for pixels in video.pixels(video.frames(times, detail))]


class TestPlain:
    def test_the_picture_on_display_is_the_last_that_began(self, plain: Path) -> None:
        assert numbers(Video(plain), [0, 0.3, 0.39, 0.99, 5.55]) == [0, 3, 9, 55]

    def test_times_outside_give_the_ends(self, plain: Path) -> None:
        assert numbers(Video(plain), [-1, 4.04, 99]) == [0, 40, 99]

    def test_the_same_picture_twice_in_a_row_comes_once_but_may_come_back(self, plain: Path) -> None:
        frames = Video(plain).frames([1.0, 1.05, 2.0, 1.0], Detail.NORMAL)
        assert [frame.time for frame in frames] == pytest.approx([1.0, 2.0, 1.0])

    def test_any_order_is_kept(self, plain: Path) -> None:
        assert numbers(Video(plain), [9, 1, 5, 5.1, 0]) == [90, 10, 50, 51, 0]

    def test_another_order_takes_one_pass_or_several(
        self, plain: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked = [9, 1, 5, 5.1, 0, 9, 2]
        monkeypatch.setattr("evoharness.video.video.HELD_BYTES", 2**20)
        assert numbers(Video(plain), asked) == [90, 10, 50, 51, 0, 90, 20]
        monkeypatch.setattr("evoharness.video.video.HELD_BYTES", 2**26)
        video = Video(plain)
        passes = []
        read = video._reader.read

        def counted(wanted: Sequence[Wanted]) -> Iterator[NDArray[np.uint8]]:
            passes.append([want.number for want in wanted])
            return read(wanted)

        monkeypatch.setattr(video._reader, "read", counted)
        assert numbers(video, asked) == [90, 10, 50, 51, 0, 90, 20]
        assert passes == [[0, 10, 20, 50, 51, 90, 90]]

    def test_frames_of_different_sizes_come_in_one_pass(self, plain: Path) -> None:
        video = Video(plain)
        frames = [*video.frames([1], Detail.SMALL), *video.frames([2], Detail.LARGE, box=(0, 0, 0.5, 1))]
        shapes = [pixels.shape for pixels in video.pixels(frames)]
        assert (
            shapes == [(frame.height, frame.width, 3) for frame in frames] == [(192, 320, 3), (192, 160, 3)]
        )

    def test_keys_tell_pictures_sizes_and_crops_apart(self, plain: Path) -> None:
        video = Video(plain)
        frames = [
            video.frames([1], Detail.NORMAL)[0],
            video.frames([1.1], Detail.NORMAL)[0],
            video.frames([1], Detail.NORMAL, box=(0, 0, 1, 0.5))[0],
            video.frames([1], Detail.NORMAL, box=(0, 0.5, 1, 1))[0],
        ]
        assert len({frame.key for frame in frames}) == 4
        assert video.frames([1.04], Detail.NORMAL)[0].key == frames[0].key

    @pytest.mark.parametrize("box", [(0.5, 0, 0.5, 1), (-0.1, 0, 1, 1), (0, 0, 1, 1.2), (0.9, 0, 0.1, 1)])
    def test_a_crop_without_content_is_refused(self, plain: Path, box: tuple[float, ...]) -> None:
        with pytest.raises(ValueError, match="box"):
            Video(plain).frames([0], Detail.NORMAL, box=box)  # type: ignore[arg-type]

    def test_a_crop_shows_its_part(self, plain: Path) -> None:
        video = Video(plain)
        corner = next(video.pixels(video.frames([1], Detail.NORMAL, box=(0, 0, 0.25, 0.25))))
        assert corner[..., 0].mean() > 180
        assert corner[..., 1].mean() < 60

    def test_a_video_travels_as_its_path(self, plain: Path) -> None:
        video = Video(plain)
        frame = video.frames([3], Detail.NORMAL)[0]
        again = pickle.loads(pickle.dumps(frame))
        assert again == frame
        assert [number_in(pixels) for pixels in again.source.pixels([again])] == [30]

    def test_nothing_is_opened_before_it_is_asked(self, tmp_path: Path) -> None:
        video = Video(tmp_path / "nothing.mp4")
        with pytest.raises(NotAVideo, match="no such file"):
            _ = video.info

    def test_a_name_that_no_file_can_have_is_no_video(self) -> None:
        with pytest.raises(NotAVideo, match="name too long"):
            _ = Video(Path("x" * 300)).info

    def test_not_a_number_is_no_time(self, plain: Path) -> None:
        with pytest.raises(ValueError, match="NaN"):
            Video(plain).frames([float("nan")], Detail.NORMAL)


class TestKinds:
    def test_variable_rate(self, tmp_path: Path) -> None:
        times = [n / 30 if n < 60 else 2 + (n - 60) / 5 for n in range(100)]
        video = Video(record(tmp_path / "vfr.mp4", map(numbered, range(100)), times))
        assert numbers(video, [0, 1.0, 1.99, 2.0, 2.19, 3.0, 9.7]) == [0, 30, 59, 60, 65, 98]
        assert video.info.duration == pytest.approx(10, abs=0.2)

    @pytest.mark.parametrize("name", ["offset.ts", "offset.mkv"])
    def test_times_count_from_the_first_picture(self, tmp_path: Path, name: str) -> None:
        late = [7 + n / 10 for n in range(60)]
        video = Video(record(tmp_path / name, map(numbered, range(60)), late))
        assert video.info.duration == pytest.approx(6, abs=0.11)
        assert numbers(video, [0, 1, 2.5, 5.9]) == [0, 10, 25, 59]

    @pytest.mark.parametrize("counterclockwise", [90, -90, 180])
    def test_rotated_recordings_are_upright(self, tmp_path: Path, counterclockwise: int) -> None:
        turns = counterclockwise // 90
        stored = (np.ascontiguousarray(np.rot90(numbered(n), -turns)) for n in range(10))
        path = record(tmp_path / "rotated.mp4", stored, rotation=counterclockwise)
        video = Video(path)
        assert (video.info.width, video.info.height) == (320, 192)
        assert video.info.rotation == -counterclockwise % 360
        pixels = next(video.pixels(video.frames([0.5], Detail.NORMAL)))
        assert is_upright(pixels)
        assert number_in(pixels) == 5

    def test_anamorphic_pictures_are_shown_wide(self, tmp_path: Path) -> None:
        path = record(tmp_path / "wide.mp4", map(numbered, range(10)), aspect=Fraction(4, 3))
        video = Video(path)
        assert (video.info.width, video.info.height) == (427, 192)
        assert numbers(video, [0.7]) == [7]

    def test_one_picture(self, tmp_path: Path) -> None:
        video = Video(record(tmp_path / "one.mp4", [numbered(9)]))
        assert (video.info.frames, video.info.duration > 0) == (1, True)
        assert numbers(video, [0, 5]) == [9]

    def test_a_stream_without_times_is_read_by_counting(self, tmp_path: Path) -> None:
        video = Video(record(tmp_path / "raw.h264", map(numbered, range(50)), format="h264"))
        assert any("no times" in warning for warning in video.info.warnings)
        assert numbers(video, [0, video.info.duration / 2, 99]) == [0, 25, 49]

    def test_odd_names(self, tmp_path: Path) -> None:
        for name in ["it's = [a] (test)?.mp4", "größe ~ 100%.mp4", "a:b.mp4", "-x.mp4"]:
            video = Video(record(tmp_path / "x.mp4", [numbered(1)]).rename(tmp_path / name))
            assert video.info.frames == 1

    def test_a_single_key_frame(self, one_key: Path) -> None:
        assert numbers(Video(one_key), [39.9, 0, 20, 31]) == [399, 0, 200, 310]


class TestDamage:
    def test_a_truncated_file_gives_what_is_there_and_says_so(self, tmp_path: Path) -> None:
        whole = record(tmp_path / "whole.mkv", map(numbered, range(100)))
        data = whole.read_bytes()
        cut = tmp_path / "cut.mkv"
        cut.write_bytes(data[: len(data) * 6 // 10])
        info = probe(cut)
        assert 20 < info.frames < 100
        last = numbers(Video(cut), [1, 99])
        assert last[0] == 10
        assert info.frames - 6 <= last[1] <= info.frames + 2  # pictures are stored out of order
        assert any("10.0 s" in warning for warning in info.warnings)

    def test_damaged_packets_are_counted_and_stood_in_for(self, tmp_path: Path) -> None:
        whole = record(tmp_path / "whole.mp4", map(numbered, range(100)))
        data = bytearray(whole.read_bytes())
        rng = random.Random(5)
        for _ in range(300):
            data[rng.randrange(len(data) // 3, len(data) * 4 // 5)] = rng.randrange(256)
        hurt = tmp_path / "hurt.mp4"
        hurt.write_bytes(data)
        video = Video(hurt)
        times = [n / 10 for n in range(100)]
        assert any("damaged" in warning for warning in video.info.warnings)
        assert any("cannot be decoded" in warning for warning in video.info.warnings)
        assert 30 < video.info.frames < 100
        assert sum(1 for _ in video.pixels(video.frames(times, Detail.SMALL))) == video.info.frames
        assert numbers(video, [0]) == [0]

    @pytest.mark.parametrize("ending", ["mp4", "mkv", "ts"])
    def test_random_damage_gives_pictures_or_a_reason(self, tmp_path: Path, ending: str) -> None:
        whole = record(tmp_path / f"whole.{ending}", map(numbered, range(30)), gop=10).read_bytes()
        hurt = tmp_path / f"hurt.{ending}"
        for seed in range(25):
            rng = random.Random(f"{ending}{seed}")
            data = bytearray(whole)
            for _ in range(rng.choice([1, 10, 100, 500])):
                data[rng.randrange(len(data))] = rng.randrange(256)
            hurt.write_bytes(data[: rng.randrange(len(data))] if seed % 3 == 0 else data)
            video = Video(hurt)
            try:
                frames = video.frames([0, 0.7, 1.5, 2.9], Detail.SMALL)
            except NotAVideo:
                continue
            assert len(list(video.pixels(frames))) == len(frames)

    def test_one_impossible_time_does_not_make_hours_of_a_minute(self) -> None:
        sound = [Packet(pts=n, duration=1, size=9, key=n == 0, shown=True) for n in range(100)]
        stray = sound[-1]._replace(pts=10**9)
        assert _without_strays([*sound, stray], 0.1, promised=10.0) == (sound, 1)
        late = [packet._replace(pts=packet.pts + 10**6) for packet in sound[50:]]
        assert _without_strays([*sound[:50], *late], 0.1, promised=10.0)[1] == 0

    def test_the_hash_is_of_the_content(self, plain: Path, tmp_path: Path) -> None:
        copy = tmp_path / "another name.mp4"
        copy.write_bytes(plain.read_bytes())
        other = record(tmp_path / "other.mp4", map(numbered, range(1, 101)))
        assert probe(copy).content_hash == probe(plain).content_hash != probe(other).content_hash

    @pytest.mark.parametrize("whole", [True, False])
    def test_one_picture_changed_in_the_middle_changes_the_hash_though_no_packet_changes_its_size(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: bool
    ) -> None:
        if not whole:
            monkeypatch.setattr("evoharness.video.hashing.WHOLE_BYTES", 100_000)
            monkeypatch.setattr("evoharness.video.hashing.BLOCKS", 2)
        raw = record(tmp_path / "raw.avi", map(numbered, range(40)), codec="rawvideo", gop=1)
        data = bytearray(raw.read_bytes())
        data[len(data) // 2] ^= 1
        changed = tmp_path / "changed.avi"
        changed.write_bytes(data)
        assert probe(raw).content_hash != probe(changed).content_hash

    def test_sound_changed_in_a_block_of_a_large_file_changes_the_hash(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("evoharness.video.hashing.WHOLE_BYTES", 10)
        large = tmp_path / "large"
        with large.open("wb") as file:
            file.truncate(200 * 2**20)
        before = content_hash(large, [])
        with large.open("r+b") as file:
            file.seek((200 * 2**20 - BLOCK_BYTES) * 100 // (BLOCKS - 1) + 5)
            file.write(b"x")
        assert content_hash(large, []) != before


def _same_as_full_decode(path: Path) -> None:
    video = Video(path)
    truth = every_picture(path)
    stamps = video.index.pts
    rng = random.Random(7)
    for count in (1, 3, 17, len(stamps)):
        chosen = sorted(rng.sample(range(len(stamps)), min(count, len(stamps))))
        wanted = [Wanted(number, video.info.width, video.info.height, None) for number in chosen]
        got = list(video._reader.read(wanted))
        assert len(got) == len(chosen)
        for number, pixels in zip(chosen, got, strict=True):
            if stamps[number] in truth:
                assert np.array_equal(pixels, truth[stamps[number]]), (path.name, number)


def test_seeking_gives_the_pictures_of_a_full_decode(plain: Path, one_key: Path) -> None:
    _same_as_full_decode(plain)
    _same_as_full_decode(one_key)
