"""Every segment of a video described once, several at a time; one that cannot be described stops no other."""

import base64
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from functools import partial

from evoharness.errors import StoppedEarly, UserError
from evoharness.memory.checkpoints import Checkpoints
from evoharness.memory.lanes import Lanes
from evoharness.memory.repair import failed_segment, repair
from evoharness.memory.thumbnails import Picture
from evoharness.models.backbone import Backbone, BackboneUnavailable, Refused, Unparsed
from evoharness.models.perception_tasks import DescribeSegment
from evoharness.records.base import Record
from evoharness.records.interval import Interval
from evoharness.records.memory import Segment
from evoharness.video import NotAVideo, SegmentPictures, Survey, Video

IN_VAIN = 3
"""Segments in a row for which nobody answered: then it is not about the segments."""
FAILED = "segment failed"
NO_PICTURES = SegmentPictures(frames=(), thumbnails=(), repeats=0)


class FinishedSegment(Record):
    """A segment as it is written down while its memory is being built."""

    segment: Segment
    losses: dict[str, int] = {}
    """How often each kind of repair or loss happened."""
    notes: tuple[str, ...] = ()
    """What had to be done to read and describe it, such as leaving out frames."""
    lost: tuple[int, ...] = ()
    """Numbers of its pictures that could not be decoded."""
    damaged: tuple[int, ...] = ()
    """Numbers of those that came with parts that a decoder made up."""
    frames: int = 0
    """Frames that the describer looked at."""
    repeats: int = 0
    """Frames that it was spared because they look like the one before."""
    pictures: tuple[Picture, ...] = ()
    """Some of them, small, for people."""


@dataclass(frozen=True)
class Part:
    """A segment that is to be described."""

    id: str
    span: Interval
    transcript: str = ""

    @property
    def told(self) -> str:
        """Everything that is known about it beforehand."""
        return f"{self.span.start!r} {self.span.end!r} {self.transcript}"


@dataclass(frozen=True)
class Describing:
    """Describes the segments of a survey of a video with one backbone."""

    video: Video
    backbone: Backbone
    survey: Survey
    checkpoints: Checkpoints
    lanes: Lanes
    on_segment: Callable[[int, int], None]
    """Told after each segment how many are finished and how many there are."""
    stopping: Callable[[], bool] = lambda: False
    """Whether no further segment is to be begun."""

    def all(self, parts: Sequence[Part]) -> list[FinishedSegment]:
        """The segments in their order; what was finished earlier is taken up as it is.

        A segment that is refused, answered unreadably or turned down for good is marked as failed, and so is
        one without pictures. When nobody answers, or nothing can be asked any more, the error is raised
        after what was in flight has been written down.
        """
        kept = {part.id: self.checkpoints.done(part.id, part.told, FinishedSegment) for part in parts}
        finished = {name: done for name, done in kept.items() if done is not None}
        for number in range(1, len(finished) + 1):
            self.on_segment(number, len(parts))
        waiting = deque(part for part in parts if part.id not in finished)
        flying: dict[Future[FinishedSegment], Part] = {}
        error: BaseException | None = None
        stopped, in_vain = False, 0
        while flying or (waiting and not stopped):
            while waiting and not stopped and len(flying) < self.lanes.count:
                if self.stopping():
                    stopped, error = True, error or StoppedEarly()
                    break
                part = waiting.popleft()
                flying[self.lanes.submit(partial(self._describe, part))] = part
            for future in wait(flying, return_when=FIRST_COMPLETED).done:
                part = flying.pop(future)
                failure = future.exception()
                if failure is None:
                    finished[part.id] = future.result()
                    self.on_segment(len(finished), len(parts))
                    in_vain = 0
                    continue
                in_vain += 1
                passing = isinstance(failure, BackboneUnavailable) and not isinstance(failure, UserError)
                if not stopped and (error is None or not passing):
                    error = failure
                stopped = stopped or not passing or in_vain >= IN_VAIN
        if error is not None:
            raise error
        return [finished[part.id] for part in parts]

    def _describe(self, part: Part) -> FinishedSegment:
        """Describe a segment and write it down."""
        try:
            with self.survey.pictures(part.span) as pictures:
                return self._keep(part, self._described(part, self._sound(part.span, pictures)))
        except NotAVideo as error:
            reason = f"its pictures cannot be read: {error.reason}"
            return self._keep(part, _failed(part, reason, NO_PICTURES))

    def _keep(self, part: Part, done: FinishedSegment) -> FinishedSegment:
        notes = (*done.notes, *replaced_readers(self.video))
        lost, damaged = lost_pictures(self.video, part.span), damaged_pictures(self.video, part.span)
        done = done.model_copy(update={"notes": notes, "lost": lost, "damaged": damaged})
        self.checkpoints.keep(part.id, part.told, done)
        return done

    def _sound(self, span: Interval, pictures: SegmentPictures) -> SegmentPictures:
        """Without the pictures that another one stands in for: nobody has seen these."""
        lost = set(lost_pictures(self.video, span))
        if not lost:
            return pictures
        times = {self.video.index.time(number) for number in lost}
        return replace(
            pictures,
            frames=tuple(frame for frame in pictures.frames if frame.time not in times),
            thumbnails=tuple(each for each in pictures.thumbnails if each.time not in times),
        )

    def _described(self, part: Part, pictures: SegmentPictures) -> FinishedSegment:
        if not pictures.frames:
            return _failed(part, "none of its pictures can be decoded", pictures)
        task = DescribeSegment(frames=pictures.frames, span=part.span, transcript=part.transcript)
        try:
            reply = self.backbone.run(task)
        except (Refused, Unparsed) as error:
            return _failed(part, str(error), pictures)
        except BackboneUnavailable as error:
            if not error.lasting or isinstance(error, UserError):
                raise
            return _failed(part, str(error), pictures)
        segment, losses = repair(reply.output, part.id, part.span, part.transcript)
        return FinishedSegment(
            segment=segment,
            losses=dict(losses),
            notes=tuple(f"{part.id}: {note}" for note in dict.fromkeys(reply.notes)),
            frames=len(pictures.frames),
            repeats=pictures.repeats,
            pictures=_small(pictures),
        )


def lost_pictures(video: Video, span: Interval) -> tuple[int, ...]:
    """Numbers of the pictures of a stretch that could not be decoded, of those that were asked for so far."""
    return _inside(video, video.losses.pictures, span)


def damaged_pictures(video: Video, span: Interval) -> tuple[int, ...]:
    """Numbers of those that came with parts that a decoder made up."""
    return _inside(video, video.losses.damaged, span)


def _inside(video: Video, numbers: set[int], span: Interval) -> tuple[int, ...]:
    times = ((number, video.index.time(number)) for number in sorted(numbers))
    return tuple(number for number, time in times if span.start <= time <= span.end)


def replaced_readers(video: Video) -> tuple[str, ...]:
    """Readers that were given up so far, each in one line."""
    return tuple(f"a reader was replaced: {failure}" for failure in tuple(video.losses.replaced))


def _failed(part: Part, reason: str, pictures: SegmentPictures) -> FinishedSegment:
    return FinishedSegment(
        segment=failed_segment(part.id, part.span, reason, part.transcript),
        losses={FAILED: 1},
        frames=len(pictures.frames),
        repeats=pictures.repeats,
        pictures=_small(pictures),
    )


def _small(pictures: SegmentPictures) -> tuple[Picture, ...]:
    return tuple(
        Picture(time=each.time, jpeg=base64.b64encode(each.jpeg).decode()) for each in pictures.thumbnails
    )
