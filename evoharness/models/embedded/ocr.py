"""Reading a line of text: the recognition network that lies in the rapidocr wheel, run directly.

Detection (0.1 s a frame and more) and the angle classifier are left out: `text_regions` proposes lines far
cheaper. The recogniser costs about 0.08 ms for each pixel of width at its height of 48, so a line is squeezed
horizontally as far as it stays readable and never padded to the 320 pixels of the stock pipeline.
"""

import unicodedata
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from evoharness.errors import UserError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HEIGHT = 48
"""Height in pixels that the network takes."""
SQUEEZE = 0.75
"""Width is multiplied by this; the network's own stride stays below a character."""
MAXIMUM_WIDTH = 1280
"""Pixels across after scaling; longer lines are squeezed further."""


class LineReader:
    """Reads pictures of single lines, one thread, no download."""

    def __init__(self) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        self._session = onnxruntime.InferenceSession(
            str(_model()), sess_options=options, providers=["CPUExecutionProvider"]
        )
        self._input = self._session.get_inputs()[0].name
        characters = self._session.get_modelmeta().custom_metadata_map["character"].splitlines()
        self._characters = ["", *characters, " "]

    def read(self, line: "NDArray[np.uint8]") -> tuple[str, float]:
        """Text of an RGB picture (height, width, 3) of one line, and its mean character confidence."""
        import cv2
        import numpy as np

        height, width = line.shape[:2]
        across = min(MAXIMUM_WIDTH, max(32, round(width * HEIGHT / height * SQUEEZE)))
        shrinking = height > HEIGHT
        scaled = cv2.resize(
            line, (across, HEIGHT), interpolation=cv2.INTER_AREA if shrinking else cv2.INTER_CUBIC
        )
        values = scaled[:, :, ::-1].transpose(2, 0, 1)[None].astype(np.float32) / 127.5 - 1.0
        chances = self._session.run(None, {self._input: values})[0][0]
        return self._decode(chances)

    def _decode(self, chances: "NDArray[np.float32]") -> tuple[str, float]:
        best = chances.argmax(axis=1)
        kept = best != 0
        kept[1:] &= best[1:] != best[:-1]
        if not kept.any():
            return "", 0.0
        text = "".join(self._characters[index] for index in best[kept])
        score = float(chances.max(axis=1)[kept].mean())
        return " ".join(unicodedata.normalize("NFKC", text).split()), score


@lru_cache(maxsize=1)
def line_reader() -> LineReader:
    """The one reader of this process."""
    return LineReader()


def _model() -> Path:
    """The recognition model inside the installed rapidocr package."""
    package = find_spec("rapidocr")
    for folder in (package.submodule_search_locations or ()) if package else ():
        models = sorted((Path(folder) / "models").glob("*_rec_*.onnx"))
        if models:
            return models[-1]
    raise UserError("no text recognition model: reinstall rapidocr (its wheel carries one), or turn OCR off")
