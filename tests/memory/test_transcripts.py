"""What is said is found beside a video, in it, or by a model; damage is counted and never fatal."""

import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evoharness.memory import MemorySettings, MemoryStore
from evoharness.memory.transcripts import (
    Cue,
    Transcript,
    cues_of,
    read_captions,
    sidecar,
    transcript_for,
    transcript_of,
)
from evoharness.memory.transcripts.captions import BACKWARDS, BEYOND_BYTES, MOST_BYTES, UNREADABLE
from evoharness.memory.transcripts.cues import BEYOND, LONG, MOST_CUES, MOST_LETTERS, in_order
from evoharness.memory.transcripts.sources import UNHEARD
from evoharness.models.backbone import Refused, Reply
from evoharness.models.perception_tasks import SpokenLine, Transcribe, Transcription
from evoharness.models.task import Output, Task
from evoharness.records.interval import Interval
from evoharness.records.spend import Spend
from evoharness.video import Video
from tests.memory.describer import GivenDescriber
from tests.memory.test_building import described
from tests.video.recordings import record_talk

SRT = """\ufeff1
00:00:01,000 --> 00:00:03,500
<i>Turn</i> it
clockwise.

2
00:02:40.5 --> 00:02:42,000 X1:10 X2:20
{\\an8}Now close the valve.
3
00:03:00 --> 00:03:01
No blank line above.

4
01:00:00,000 --> nonsense
lost

5
00:05:02,000 --> 00:05:01,000
It ends before it begins.

6
2:5.25 --> 2:06
Hours are missing.
"""
VTT = """WEBVTT - a talk
Kind: captions

STYLE
::cue { color: lime }

NOTE 00:01.000 is no cue here

intro
00:01.000 --> 00:03.500 align:start position:0%
<v Ann Lee>Open <c.yellow>the</c> <00:00:02.000>box &amp; wait

00:00:04.000-->00:00:06.000
<v.loud Bob>Why?</v>
"""


def captions(folder: Path, text: str | bytes, name: str = "talk.srt") -> Transcript:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_captions(path)


class TestCaptionFiles:
    def test_subrip(self, tmp_path: Path) -> None:
        found = captions(tmp_path, SRT)
        assert found.cues == (
            Cue(1.0, 3.5, "Turn it clockwise."),
            Cue(125.25, 126.0, "Hours are missing."),
            Cue(160.5, 162.0, "Now close the valve."),
            Cue(180.0, 181.0, "No blank line above."),
            Cue(302.0, 302.0, "It ends before it begins."),
        )
        assert found.losses == {UNREADABLE: 1, BACKWARDS: 1}
        assert found.source == "sidecar talk.srt"

    def test_webvtt(self, tmp_path: Path) -> None:
        found = captions(tmp_path, VTT, "talk.vtt")
        assert found.cues == (Cue(1.0, 3.5, "Ann Lee: Open the box & wait"), Cue(4.0, 6.0, "Bob: Why?"))
        assert found.losses == {}

    @pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
    def test_line_ends_and_encodings(self, tmp_path: Path, ending: str, encoding: str) -> None:
        text = "1\n00:00:01,000 --> 00:00:02,000\nÖffnen, s'il vous plaît\n\n".replace("\n", ending)
        assert captions(tmp_path, text.encode(encoding)).cues == (Cue(1, 2, "Öffnen, s'il vous plaît"),)

    def test_captions_that_roll_are_told_once(self, tmp_path: Path) -> None:
        rolling = "\n\n".join(
            f"00:00:0{start}.000 --> 00:00:0{end}.000\n{text}"
            for start, end, text in [
                (1, 3, "first we open the box"),
                (3, 4, "first we open the box"),
                (4, 6, "first we open the box\nthen we look inside"),
                (6, 8, "then we look inside\nand close it"),
            ]
        )
        found = captions(tmp_path, f"WEBVTT\n\n{rolling}\n", "talk.vtt")
        assert [cue.text for cue in found.cues] == [
            "first we open the box",
            "then we look inside",
            "and close it",
        ]
        assert found.cues[0].end == 4

    def test_overlapping_speakers_are_both_kept_and_a_word_may_be_said_again(self) -> None:
        cues = [Cue(1, 5, "I say"), Cue(2, 4, "no, I say"), Cue(5, 6, "say it"), Cue(60, 61, "say it")]
        assert [cue.text for cue in in_order(cues)] == ["I say", "no, I say", "say it", "say it"]

    @given(st.binary(max_size=400))
    @settings(deadline=None)
    def test_any_bytes_can_be_read(self, tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
        captions(tmp_path_factory.mktemp("any"), data)

    @given(
        st.lists(
            st.sampled_from(
                [
                    "",
                    "1",
                    "text",
                    "-->",
                    "00:01 --> 00:02",
                    "99:99:99,9 --> 1:2",
                    "a --> b",
                    "1:1 -->",
                    "WEBVTT",
                ]
            ),
            max_size=14,
        )
    )
    @settings(deadline=None)
    def test_any_order_of_lines_gives_cues_with_words_and_times(
        self, tmp_path_factory: pytest.TempPathFactory, lines: list[str]
    ) -> None:
        found = captions(tmp_path_factory.mktemp("any"), "\n".join(lines))
        assert all(cue.text and 0 <= cue.start <= cue.end for cue in found.cues)
        times = [(cue.start, cue.end) for cue in found.cues]
        assert times == sorted(times)


class TestFloods:
    def test_more_cues_than_any_video_has_are_counted_and_left_out(self, tmp_path: Path) -> None:
        began = time.monotonic()
        flood = "".join(
            f"{n // 3600:02}:{n // 60 % 60:02}:{n % 60:02}.0 --> 99:0:0\nword {n}\n\n" for n in range(60_000)
        )
        found = captions(tmp_path, flood)
        assert len(found.cues) == MOST_CUES
        assert found.cues[-1].text == f"word {MOST_CUES - 1}"
        assert found.losses == {BEYOND: 60_000 - MOST_CUES}
        assert time.monotonic() - began < 10

    def test_a_caption_without_end_is_cut(self, tmp_path: Path) -> None:
        found = captions(tmp_path, f"0:01 --> 0:02\n{'word ' * 5_000}\n\n0:03 --> 0:04\nshort\n")
        assert [len(cue.text) <= MOST_LETTERS for cue in found.cues] == [True, True]
        assert found.cues[1].text == "short"
        assert found.losses == {LONG: 1}

    def test_a_file_of_any_size_is_read_up_to_a_bound(self, tmp_path: Path) -> None:
        found = captions(
            tmp_path, b"0:01 --> 0:02\nfirst\n\n" + b"\n" * MOST_BYTES + b"0:05 --> 0:06\nlast\n"
        )
        assert [cue.text for cue in found.cues] == ["first"]
        assert found.losses == {BEYOND_BYTES: 1}

    def test_a_long_line_that_rolls_is_told_once(self) -> None:
        line = " ".join(f"w{n}" for n in range(300))
        rolled = in_order([Cue(0, 2, line), Cue(2, 4, f"{line} and more")])
        assert [cue.text for cue in rolled] == [line, "and more"]


class TestSidecar:
    @pytest.mark.parametrize(
        ("beside", "chosen"),
        [
            (["talk.srt", "talk.vtt"], "talk.srt"),
            (["talk.vtt", "talk.en.srt"], "talk.vtt"),
            (["talk.de.srt", "talk.en-US.vtt"], "talk.en-US.vtt"),
            (["TALK.SRT"], "TALK.SRT"),
            (["talk 2.srt", "talker.srt", "talk.txt"], None),
        ],
    )
    def test_which_file_counts(self, tmp_path: Path, beside: list[str], chosen: str | None) -> None:
        for name in beside:
            (tmp_path / name).touch()
        found = sidecar(tmp_path / "talk.mp4")
        assert (found.name if found else None) == chosen

    def test_brackets_in_a_name_are_nothing_special(self, tmp_path: Path) -> None:
        (tmp_path / "it's [a] talk?.srt").touch()
        assert sidecar(tmp_path / "it's [a] talk?.mp4") is not None


class GivenListener(GivenDescriber):
    """Hears a line in every stretch; refuses those that begin at certain times."""

    def __init__(self, refuses: tuple[float, ...] = ()) -> None:
        super().__init__(described)
        self.refuses = refuses
        self.heard: list[Transcribe] = []

    def run(self, task: Task[Output]) -> Reply[Output]:
        if not isinstance(task, Transcribe):
            return super().run(task)
        self.heard.append(task)
        if task.span.start in self.refuses:
            raise Refused("no")
        late = Interval(start=task.span.start + 1, end=task.span.end + 50)
        line = SpokenLine(interval=late, text=f" said\n at {task.span.start:.0f} ")
        return Reply(task.output.model_validate(Transcription(lines=(line,))), Spend(calls=1))  # type: ignore[arg-type]


SUBTITLES = [(1.0, 4.0, "First we open the blue box."), (6.0, 9.0, "Then we turn the <i>dial</i>.")]
WHOLE = [Interval(start=0, end=12)]


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve seconds with sound and subtitles in the file."""
    return record_talk(tmp_path_factory.mktemp("talk") / "talk.mkv", seconds=12, subtitles=SUBTITLES)


@pytest.fixture(scope="module")
def silent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same without sound and subtitles."""
    return record_talk(tmp_path_factory.mktemp("silent") / "silent.mp4", seconds=12, tone=False)


class TestSubtitlesInTheFile:
    def test_they_are_read_with_their_times(self, talk: Path) -> None:
        found = transcript_for(Video(talk), "stream", GivenListener(), WHOLE)
        assert found.cues == (
            Cue(1.0, 4.0, "First we open the blue box."),
            Cue(6.0, 9.0, "Then we turn the dial."),
        )
        assert found.source == "stream 2 (subrip)"

    def test_the_mp4_kind_too(self, tmp_path: Path) -> None:
        path = record_talk(tmp_path / "talk.mp4", seconds=12, subtitles=SUBTITLES[:1])
        found = transcript_for(Video(path), "stream", GivenListener(), WHOLE)
        assert [cue.text for cue in found.cues] == ["First we open the blue box."]
        assert found.source.endswith("(mov_text)")

    def test_second_0_is_the_first_picture(self, tmp_path: Path) -> None:
        path = record_talk(tmp_path / "late.mkv", seconds=12, subtitles=SUBTITLES, begins=5.0)
        assert Video(path).info.duration == pytest.approx(12, abs=0.2)
        found = transcript_for(Video(path), "stream", GivenListener(), WHOLE)
        assert [cue.start for cue in found.cues] == pytest.approx([1.0, 6.0], abs=0.01)

    def test_a_file_without_any(self, silent: Path) -> None:
        assert transcript_for(Video(silent), "stream", GivenListener(), WHOLE).source == "none"


class TestSources:
    def test_auto_takes_the_file_beside_then_the_stream_and_never_a_model(
        self, talk: Path, silent: Path, tmp_path: Path
    ) -> None:
        video = tmp_path / "talk.mkv"
        video.write_bytes(talk.read_bytes())
        listener = GivenListener()
        assert transcript_for(Video(video), "auto", listener, WHOLE).source.startswith("stream")
        (tmp_path / "talk.vtt").write_text(VTT)
        assert transcript_for(Video(video), "auto", listener, WHOLE).source == "sidecar talk.vtt"
        (tmp_path / "talk.vtt").write_text("WEBVTT\n")
        assert transcript_for(Video(video), "auto", listener, WHOLE).source.startswith("stream")
        assert transcript_for(Video(video), "sidecar", listener, WHOLE).cues == ()
        assert transcript_for(Video(silent), "auto", listener, WHOLE).source == "none"
        assert transcript_for(Video(video), "off", listener, WHOLE).source == "none"
        assert listener.heard == []

    def test_a_model_hears_stretches_of_at_most_five_minutes_that_end_with_segments(self, talk: Path) -> None:
        listener = GivenListener(refuses=(260.0,))
        ends = [0, 100, 180, 260, 500, 560, 1300]
        spans = [Interval(start=a, end=b) for a, b in pairwise(ends)]
        found = transcript_for(Video(talk), "model", listener, spans)
        assert [(task.span.start, task.span.end) for task in listener.heard] == [
            (0, 260),
            (260, 560),
            (560, pytest.approx(806.67, abs=0.01)),
            (pytest.approx(806.67, abs=0.01), pytest.approx(1053.33, abs=0.01)),
            (pytest.approx(1053.33, abs=0.01), 1300),
        ]
        assert found.cues[0] == Cue(1, 260, "said at 0")
        assert len(found.cues) == 4
        assert found.losses == {UNHEARD: 1}

    def test_nobody_listens_to_a_file_without_sound(self, silent: Path) -> None:
        listener = GivenListener()
        assert transcript_for(Video(silent), "model", listener, WHOLE).source == "none"
        assert listener.heard == []


class TestMemory:
    def test_it_is_merged_before_the_description_and_losses_are_reported(
        self, silent: Path, tmp_path: Path
    ) -> None:
        video = tmp_path / "talk.mp4"
        video.write_bytes(silent.read_bytes())
        video.with_suffix(".srt").write_text(SRT)
        told = GivenDescriber(described)
        memory = MemoryStore(tmp_path, told, MemorySettings(transcript="auto")).load_or_build(Video(video))
        assert told.described[0].transcript == "[1.0-3.5] Turn it clockwise."
        assert memory.segments[0].transcript == "[1.0-3.5] Turn it clockwise."
        assert memory.report.losses[UNREADABLE] == 1

    def test_off_is_the_default_and_reads_nothing(self, silent: Path, tmp_path: Path) -> None:
        video = tmp_path / "talk.mp4"
        video.write_bytes(silent.read_bytes())
        store = MemoryStore(tmp_path, GivenDescriber(described))
        before = store.folder(Video(video))
        video.with_suffix(".srt").write_text(SRT)
        assert store.folder(Video(video)) == before
        assert not any(segment.transcript for segment in store.load_or_build(Video(video)).segments)

    def test_each_source_and_each_text_is_another_memory(self, silent: Path, tmp_path: Path) -> None:
        video = tmp_path / "talk.mp4"
        video.write_bytes(silent.read_bytes())

        def folders() -> list[Path]:
            stores = [
                MemoryStore(tmp_path, GivenDescriber(described), MemorySettings(transcript=source))
                for source in ("off", "auto", "sidecar", "stream", "model")
            ]
            return [store.folder(Video(video)) for store in stores]

        before = folders()
        video.with_suffix(".vtt").write_text(VTT)
        after = folders()
        assert len({*before, *after}) == 7
        assert [a == b for a, b in zip(before, after, strict=True)] == [True, False, False, True, True]


def test_a_segment_keeps_the_times() -> None:
    cues = [Cue(1.0, 3.5, "Turn it."), Cue(160.5, 162, "Close it.")]
    said = transcript_of(cues, Interval(start=0, end=160))
    assert said == "[1.0-3.5] Turn it."
    assert list(cues_of(said)) == cues[:1]


def test_sound_lies_where_the_pictures_say(talk: Path, tmp_path: Path) -> None:
    """The recording beeps in every odd second."""
    from evoharness.video import as_wav, has_sound, sound_of

    late = record_talk(tmp_path / "late.mp4", seconds=12, begins=5.0)
    for path in (talk, late):
        assert has_sound(path)
        for begin, end in ((0.0, 12.0), (4.0, 9.0), (10.0, 14.0)):
            samples = sound_of(path, Interval(start=begin, end=end))
            assert samples.shape == (round((end - begin) * 16_000),)
            loud = [
                float(np.abs(samples[round(at * 16_000) :][4_000:12_000].astype(float)).mean()) > 500
                for at in range(int(end - begin))
            ]
            assert loud == [(begin + n) % 2 == 1 and begin + n < 12 for n in range(int(end - begin))]
    wav = as_wav(sound_of(talk, Interval(start=0, end=2)))
    assert (wav[:4], wav[8:12], len(wav)) == (b"RIFF", b"WAVE", 44 + 64_000)
    assert not has_sound(tmp_path / "nothing.mp4")
