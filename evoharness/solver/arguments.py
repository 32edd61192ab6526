"""Arguments of the calls of `ctx`: names, order, types and defaults, checked before anything runs."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from evoharness.records.frame import Detail

Seconds = Annotated[float, Field(ge=0)]
Rate = Annotated[float, Field(ge=0.001, le=60)]
Fraction = Annotated[float, Field(ge=0, le=1)]
LONGEST_TEXT = 100_000
Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
Few = Field(max_length=2000, fail_fast=True)
"""Of a list: as long as is sensible, and refused at the first thing in it that is wrong."""


class Arguments(BaseModel):
    """Arguments of one call."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Look(Arguments):
    """`ctx.look` → {observations: [{start, end, text, found}], candidates, frames, unread}

    `unread`: how many of the spans the model's answer could not be read about; 0 when all went well.
    """

    spans: Any = None
    fps: Rate = 1.0
    max_frames: Annotated[int, Field(ge=1, le=4096)] | None = None
    detail: Detail = Detail.NORMAL
    prompt: Text = ""


class Localize(Arguments):
    """`ctx.localize` → {timeline: [{start, end, text, found}], window, unread}

    `unread`: how many of its passes over the video gave an answer that could not be read.
    """

    query: Text


class OneFrame(Arguments):
    """`ctx.frame`"""

    time: Seconds
    prompt: Text = ""
    box: tuple[Fraction, Fraction, Fraction, Fraction] | None = None


class Search(Arguments):
    """`ctx.search`"""

    query: Text
    k: Annotated[int, Field(ge=1, le=100)] = 6
    kind: Annotated[str, Field(pattern="^(segment|node|text|transcript)$")] = "segment"


class Segments(Arguments):
    """`ctx.segments`"""

    ids: Annotated[list[str], Few] = []


class Records(Arguments):
    """`ctx.records`"""

    segment_id: str


class Between(Arguments):
    """`ctx.between` and `ctx.transcript`"""

    start: Seconds
    end: Seconds


class Enumerate(Arguments):
    """`ctx.enumerate`"""

    query: Text
    min_cosine: float = 0.5
    max_results: Annotated[int, Field(ge=1, le=500)] = 50


class Knowledge(Arguments):
    """`ctx.knowledge`"""

    query: Text
    type: str = ""
    k: Annotated[int, Field(ge=1, le=100)] = 3


class ToolCall(Arguments):
    """`ctx.tool` and `ctx.call`"""

    name: str
    arguments: dict[str, Any] = {}


class Decide(Arguments):
    """`ctx.decide`"""

    evidence: Any = None
    tools: Annotated[list[str], Few] | None = None


class Reasoned(Arguments):
    """`ctx.reason`"""

    prompt: Text
    evidence: Any = None


class Verify(Arguments):
    """`ctx.verify`"""

    claim: Text
    evidence: Any = None
    frames: Annotated[list[str | float], Few] = []


class Similar(Arguments):
    """`ctx.similar`"""

    a: Text
    texts: Annotated[list[Text], Few]


class Find(Arguments):
    """`ctx.find`"""

    pattern: Annotated[str, Field(max_length=500)]
    text: Text


class Answer(Arguments):
    """`ctx.answer`"""

    evidence: Any = None
    frames: Annotated[list[str | float], Few] = []
    sample: Annotated[int, Field(ge=0, le=99)] = 0
