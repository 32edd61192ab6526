"""Background texts are read from a file, found by what they mean, and narrowed by their type."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evoharness.errors import UserError
from evoharness.evaluation import WorkbenchConfig
from evoharness.knowledge import KnowledgeBase, KnowledgeFileError, Passage, load_passages
from evoharness.retrieval import Embedder, make_embedder

LINES = (
    {"id": "p1", "type": "abstract", "source": "Journal 1", "text": "Clips stop the bleeding of an artery."},
    {"type": "technique", "text": "A trocar is placed before the camera goes in."},
    {"type": "technique", "text": "Sutures close the wound at the end.", "reviewed by": "nobody"},
    {"text": "Bread dough rests for an hour before it is baked."},
)


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return make_embedder("wordllama")


@pytest.fixture
def base(embedder: Embedder, tmp_path: Path) -> KnowledgeBase:
    return KnowledgeBase(load_passages(write(tmp_path, *LINES)), embedder)


def write(folder: Path, *lines: Any) -> Path:
    path = folder / "background.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts), encoding="utf-8")
    return path


def test_a_file_is_read_in_order_with_defaults_for_what_is_left_out(tmp_path: Path) -> None:
    first, second, *_ = load_passages(write(tmp_path, LINES[0], "", LINES[1]))
    assert first == Passage(**LINES[0])
    assert second == Passage(id="background-0003", type="technique", text=LINES[1]["text"])


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "line 2: no JSON"),
        ("[" * 100_000, "line 2: no JSON"),
        ("[]", "line 2: a JSON object is needed"),
        ({"source": "x"}, "line 2: the field `text` is missing"),
        ({"text": " \t"}, "line 2: `text`: it is blank"),
        ({"text": 5}, "line 2: `text`: "),
        ('{"text": "\\ud800"}', "line 2: `text`: "),
        ({"text": "x", "type": ["a"]}, "line 2: `type`: "),
        ({"text": "x", "id": "p1"}, "line 2: the id 'p1' was used in line 1"),
    ],
)
def test_a_mistake_names_the_file_and_the_line(tmp_path: Path, line: Any, says: str) -> None:
    path = write(tmp_path, LINES[0], line)
    with pytest.raises(UserError) as told:
        load_passages(path)
    assert str(told.value).startswith(f"{path}, {says}")
    assert "\n" not in str(told.value)


def test_a_file_that_is_missing_empty_or_no_text_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeFileError, match="there is no file of knowledge"):
        load_passages(tmp_path / "none.jsonl")
    with pytest.raises(KnowledgeFileError, match="cannot be read"):
        load_passages(tmp_path)
    with pytest.raises(KnowledgeFileError, match="holds no passage"):
        load_passages(write(tmp_path, "", " "))
    (tmp_path / "picture.jsonl").write_bytes(b"\xff\xd8\xff")
    with pytest.raises(KnowledgeFileError, match="cannot be read"):
        load_passages(tmp_path / "picture.jsonl")


@example({"text": "\x1f"})
@given(st.dictionaries(st.sampled_from(["id", "type", "text", "source", "x"]), st.text() | st.integers()))
def test_any_line_is_a_passage_or_a_mistake(tmp_path_factory: pytest.TempPathFactory, line: Any) -> None:
    path = write(tmp_path_factory.mktemp("any"), line)
    texts = [line.get(name, "") for name in ("text", "type", "source")]
    if all(isinstance(text, str) for text in texts) and texts[0].strip():
        assert load_passages(path)[0].text == line["text"]
    else:
        with pytest.raises(KnowledgeFileError, match=r"background\.jsonl, line 1: "):
            load_passages(path)


def test_what_bears_on_the_query_comes_first(base: KnowledgeBase) -> None:
    assert len(base) == 4
    assert base.search("which clip stops an artery from bleeding?")[0].source == "Journal 1"
    assert "dough" in base.search("baking", k=1)[0].text
    assert len(base.search("wound", k=3)) == 3
    assert base.search("  ") == []


def test_a_search_can_be_narrowed_to_a_type(base: KnowledgeBase) -> None:
    assert base.types == ("abstract", "technique")
    found = base.search("bleeding artery", "technique", k=10)
    assert {passage.type for passage in found} == {"technique"}
    assert len(found) == 2
    with pytest.raises(ValueError, match=r"'recipe' \(types: abstract, technique\)"):
        base.search("bread", "recipe")


def test_without_passages_nothing_is_found(embedder: Embedder) -> None:
    assert KnowledgeBase([], embedder).search("anything") == []


def test_a_workbench_loads_the_file_that_its_config_names(tmp_path: Path) -> None:
    path = write(tmp_path, *LINES)
    with_file = WorkbenchConfig(cache_dir=tmp_path, knowledge=path).build()
    assert with_file.knowledge is not None
    assert len(with_file.knowledge) == 4
    assert WorkbenchConfig(cache_dir=tmp_path).build().knowledge is None
