"""Question files: what is written is read back, and what people write by hand is read as they mean it."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evoharness.benchmarks import QuestionFileError, attach_videos, read_questions, write_questions
from evoharness.errors import UserError
from evoharness.records.interval import Interval
from evoharness.records.question import FineType, Question, QuestionKind

TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")) | st.sampled_from("\n\t,\"'=[]{}?"),
    min_size=1,
).filter(lambda text: text.strip() and text.strip() == text)


@st.composite
def questions(draw: st.DrawFn) -> list[Question]:
    found = []
    for number in range(draw(st.integers(1, 4))):
        options = tuple(
            draw(st.lists(TEXTS, min_size=2, max_size=6, unique_by=lambda text: text.strip().casefold()))
        )
        found.append(
            Question(
                id=f"q{number}",
                video=draw(TEXTS),
                kind=draw(st.sampled_from(QuestionKind)),
                fine_type=draw(st.none() | st.sampled_from(FineType)),
                text=draw(TEXTS),
                options=options,
                answer=draw(st.integers(0, len(options) - 1)),
                source_interval=draw(st.none() | st.just(Interval(start=0.25, end=10))),
                source_segments=draw(st.sampled_from([(), ("s0001",), ("s0001", "s0002")])),
            )
        )
    return found


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
@given(written=questions())
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, written: list[Question]
) -> None:
    path = tmp_path_factory.mktemp("questions") / f"set{suffix}"
    write_questions(path, written)
    assert read_questions(path) == written


def jsonl(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "set.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


OPTIONS = ["a ship", "a tree", "a dog", "a cat"]


@pytest.mark.parametrize("answer", [1, "1", "B", "b", "(B)", "B.", "a tree", " A Tree "])
def test_an_answer_may_be_a_text_a_letter_or_an_index(tmp_path: Path, answer: object) -> None:
    path = jsonl(tmp_path, {"video": "v.mp4", "question": "What?", "options": OPTIONS, "answer": answer})
    assert read_questions(path)[0].answer == 1


@pytest.mark.parametrize("answer", ["Z", "(z)", "4", 4, "a horse"])
def test_an_answer_that_is_no_option_is_told_as_it_was_typed(tmp_path: Path, answer: object) -> None:
    path = jsonl(tmp_path, {"video": "v.mp4", "question": "What?", "options": OPTIONS, "answer": answer})
    with pytest.raises(QuestionFileError) as told:
        read_questions(path)
    assert str(told.value) == f"{path}, line 1: the answer {answer!r} is none of the 4 options"


def test_the_text_of_an_option_counts_before_its_place(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"video": "v", "question": "How many?", "options": ["2", "1", "0", "3"], "answer": "1"},
        {"video": "v", "question": "Which letter?", "options": ["C", "A", "B", "D"], "answer": "A"},
        {"video": "v", "question": "How many?", "options": [2, 1, 0, 3], "answer": 3},
    ]
    assert [question.answer for question in read_questions(jsonl(tmp_path, *rows))] == [1, 1, 3]


def test_a_record_of_this_package_is_a_question_file_too(tmp_path: Path) -> None:
    question = Question(
        id="x",
        video="v",
        kind=QuestionKind.COUNTING,
        text="How many?",
        options=("1", "2"),
        answer=0,
        form="f",
    )
    path = tmp_path / "set.jsonl"
    path.write_text(question.model_dump_json() + "\n")
    assert read_questions(path) == [question]


def test_csv_options_in_columns_and_ids_by_row(tmp_path: Path) -> None:
    path = tmp_path / "my set.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["video", "question", "A", "B", "C", "answer", "remark"])
        writer.writerow(["a b.mp4", "Was, wann?", "früh", "spät, sehr", "", "B", "mine"])
        writer.writerow([])
        writer.writerow(["c.mp4", "Two\nlines?", "yes", "no", "maybe", "maybe", ""])
    first, second = read_questions(path)
    assert first.options == ("früh", "spät, sehr")
    assert (first.answer, second.answer) == (1, 2)
    assert (first.id, second.id) == ("my set-0001", "my set-0002")


def test_a_question_without_options_is_an_open_one(tmp_path: Path) -> None:
    (question,) = read_questions(jsonl(tmp_path, {"video": "v", "question": "Why?", "answer": "Because."}))
    assert question.options == ()
    assert question.reference_text == "Because."


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"question": "What?", "options": OPTIONS, "answer": 0}, "`video` is missing"),
        ({"video": "v", "options": OPTIONS, "answer": 0}, "`question` is missing"),
        ({"video": "v", "question": "What?", "options": OPTIONS}, "`answer` is missing"),
        ({"video": "v", "question": "What?", "options": OPTIONS, "answer": 4}, "none of the 4 options"),
        (
            {"video": "v", "question": "What?", "options": OPTIONS, "answer": "a bird"},
            "none of the 4 options",
        ),
        (
            {"video": "v", "question": "What?", "options": ["a", "A "], "answer": 0},
            "two options are the same",
        ),
        ({"video": "v", "question": "What?", "options": "a, b", "answer": 0}, "list of texts"),
        ({"video": "v", "question": "What?"}, "needs a reference text"),
        ({"video": "v", "question": "What?", "options": OPTIONS, "answer": 0, "kind": "odd"}, "kind"),
    ],
)
def test_what_does_not_do_is_named_with_its_line(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    good = {"video": "v", "question": "What?", "options": OPTIONS, "answer": 0}
    with pytest.raises(QuestionFileError, match="line 2") as raised:
        read_questions(jsonl(tmp_path, good, row))
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("absent.jsonl", None),
        ("set.txt", b"x"),
        ("set.jsonl", b""),
        ("set.jsonl", b"{"),
        ("set.jsonl", b"[1]\n"),
        ("set.jsonl", b"\xff\xfe\x00"),
        ("set.csv", b"video,question\n"),
        ("set.csv", b'video,question,options,answer\nv,q,"[1,",1\n'),
    ],
)
def test_what_is_no_question_file_is_a_mistake_of_the_user(
    tmp_path: Path, name: str, content: bytes | None
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match=name):
        read_questions(path)


def test_an_id_is_not_used_twice(tmp_path: Path) -> None:
    row = {"id": "same", "video": "v", "question": "What?", "options": OPTIONS, "answer": 0}
    with pytest.raises(QuestionFileError, match="'same' was used in line 1"):
        read_questions(jsonl(tmp_path, row, row))


def asked(video: str) -> Question:
    return Question(
        id=video, video=video, kind=QuestionKind.TOPIC, text="What?", options=("yes", "no"), answer=0
    )


VIDEOS = {
    "talk": Path("/data/talk.mp4"),
    "a.b": Path("/data/a.b.mkv"),
    "intro": Path("/data/one/intro.mp4"),
    "intro-2": Path("/data/two/intro.mp4"),
}


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("talk", "talk"),
        ("talk.mp4", "talk"),
        ("/data/talk.mp4", "talk"),
        ("moved/to/talk.mp4", "talk"),
        ("a.b", "a.b"),
        ("a.b.mkv", "a.b"),
        ("intro-2", "intro-2"),
        ("two/intro.mp4", "intro-2"),
        ("one/intro", "intro"),
    ],
)
def test_a_video_may_be_named_by_key_file_name_stem_or_path(name: str, key: str) -> None:
    assert [question.video for question in attach_videos([asked(name)], VIDEOS)] == [key]


def test_a_name_that_means_several_files_is_not_guessed() -> None:
    with pytest.raises(UserError, match=r"intro\.mp4 could be"):
        attach_videos([asked("intro.mp4")], VIDEOS)


def test_videos_that_are_not_there_are_named() -> None:
    with pytest.raises(UserError, match=r"gone\.mp4"):
        attach_videos([asked("talk"), asked("gone.mp4")], {"talk": Path("/data/talk.mp4")})
