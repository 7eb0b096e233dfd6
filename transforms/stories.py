"""Group the documents of a window into stories.

    mixtures: bytes (MixtureBlock) -> rows: bytes (JSON), one for each story of a window

Sketches of the documents wait in state for the end of their window, as sums do
(:mod:`beam_topics.transforms.shared`), and are bounded by its sample
(:mod:`beam_topics.model.reporting.stories`). Windows are taken in their order. A document that
comes later is taken in the window that is open then. A row has the fields of
:meth:`beam_topics.model.reporting.stories.Stories.closed`, and ``key``, ``window_start`` and
``window_end``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam
import numpy as np
from apache_beam.coders import BytesCoder
from apache_beam.transforms.timeutil import TimeDomain
from apache_beam.transforms.userstate import ReadModifyWriteStateSpec, TimerSpec, on_timer
from apache_beam.utils.timestamp import Timestamp
from apache_beam.utils.windowed_value import WindowedValue

from beam_topics.model.inference.mixtures import MixtureBlock
from beam_topics.model.reporting.stories import (
    Sketch,
    Stories,
    sketches_from_bytes,
    sketches_to_bytes,
)
from beam_topics.model.stored import wire
from beam_topics.model.times import to_iso
from beam_topics.transforms.shared import (
    ByPeriod,
    PeriodDoFn,
    StatefulDoFn,
    SummingDoFn,
    at_end_of,
)


def sketches_of(data: bytes, window_micros: int) -> Iterator[WindowedValue]:
    """Yield the sketches of a block behind its key, each window's at its last moment."""
    block = MixtureBlock.from_bytes(data)
    ids, best = block.ids_of_topics(), np.argmax(block.proportions, axis=1).tolist()
    known, found = block.words_known.tolist(), dict[int, list[Sketch]]()
    for row, words in enumerate(block.words):
        time = int(block.timestamps[row])
        topic = ids[best[row]] if known[row] else None
        one = Sketch(time, block.ids[row], topic, words)
        found.setdefault(time // window_micros, []).append(one)
    for window, some in found.items():
        yield at_end_of(window, window_micros, (block.key.encode(), sketches_to_bytes(some)))


class FindStoriesDoFn(SummingDoFn):
    """Take windows in their order; keyed by the UTF-8 bytes of the model key."""

    STORIES = ReadModifyWriteStateSpec("stories", BytesCoder())
    CLOSE = TimerSpec("stories", TimeDomain.WATERMARK)
    _STORIES = beam.DoFn.StateParam(STORIES)
    _CLOSE = beam.DoFn.TimerParam(CLOSE)

    def process(
        self,
        element: tuple[bytes, bytes],
        time: Timestamp = beam.DoFn.TimestampParam,
        head: Any = StatefulDoFn._HEAD,
        bag: Any = PeriodDoFn._PENDING,
        timer: Any = _CLOSE,
    ) -> Iterator[Any]:
        """Add sketches to their window."""
        yield from super().process(element, time, head, bag, timer)

    def added_up(self, records: list[bytes]) -> Iterable[bytes]:
        return [sketches_to_bytes(one for data in records for one in sketches_from_bytes(data))]

    @on_timer(CLOSE)
    def close(
        self,
        key: bytes = beam.DoFn.KeyParam,
        time: Timestamp = beam.DoFn.TimestampParam,
        head: Any = StatefulDoFn._HEAD,
        bag: Any = PeriodDoFn._PENDING,
        known: Any = _STORIES,
    ) -> Iterator[Any]:
        """Tell the stories of the windows that are due, in their order."""
        data = known.read()
        self._known = Stories.from_bytes(data) if data else Stories()
        yield from super().close(key, time, head, bag)
        known.write(self._known.to_bytes())

    def close_period(self, key: bytes, end: int, records: list[bytes]) -> Iterator[bytes]:
        (whole,) = self.added_up(records)
        window = {"window_start": to_iso(end - self._period), "window_end": to_iso(end)}
        for row in self._known.closed(sketches_from_bytes(whole)):
            yield wire.canonical_json({"key": key.decode(), **window, **row}).encode()


class FindStories(ByPeriod):
    """Find stories; see the module's docstring.

    Args:
        window_micros: The length of the windows in microseconds.
        streams: Whether windows close while the source is read, or all at its end. See
            :class:`beam_topics.transforms.sequence.Sequence`.
    """

    def __init__(self, window_micros: int, *, streams: bool) -> None:
        sketches = "Sketches", beam.FlatMap(sketches_of, window_micros)
        super().__init__(sketches, "Stories", FindStoriesDoFn(window_micros, streams), bytes)
