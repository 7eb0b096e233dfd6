"""Add up topic mixtures by window of event time, and group documents of a window into stories.

    mixtures: bytes (MixtureBlock) -> rows: bytes (JSON), one for each window, group and topic

A mixture counts in the window of its document's own time. Each bundle adds up its own mixtures.
These sums wait in state for the end of their window (:mod:`beam_topics.transforms.shared`), where
they are added up. They are sums of whole numbers (:mod:`beam_topics.model.reporting.trends`), so
the table is exact on every runner: it does not depend on bundles, workers or retries.

A row has ``key``, ``window_start``, ``window_end``, ``group``, ``topic``, ``documents``, ``tokens``
(expected), ``mean_share``, ``typical`` (documents with ``id``, ``timestamp`` and ``share``, the
best ones first) and ``part``. Each window and group has a row whose ``topic`` is null, for
documents without a known word: they have no topic, and count in the ``documents`` of all rows.
``group`` is the label of the documents, or the group that they name, where they are grouped, else
"". Groups beyond the bound of a window are one group.

``part`` is ``window_end``, unless mixtures came after their window had been closed: they are in
another part of it, which is named after the window that was open then. A row is named by (key,
window_start, group, topic, part, run). Parts add up: documents and tokens are summed, and mean
shares are weighted by documents (:func:`beam_topics.model.reporting.trends.whole_rows`). A job that
does not stream writes one part of each window. Each part has a bound of its own. A run that adds
documents writes ``run``, the minibatch of the key after which it began; its rows add to earlier
ones.

Rows go to files or to Kafka (:mod:`beam_topics.transforms.send`), at least once.
Readers drop repeated rows by :data:`beam_topics.model.reporting.trends.TREND_KEY`.

Stories are found by window, too (:class:`FindStories`):

    mixtures: bytes (MixtureBlock) -> rows: bytes (JSON), one for each story of a window

Sketches of the documents wait in state for the end of their window, as sums do
(:mod:`beam_topics.transforms.shared`), and are bounded by its sample
(:mod:`beam_topics.model.reporting.stories`). Windows are processed in order. A document that comes
later counts in the window that is open then. A row has the fields of
:meth:`beam_topics.model.reporting.stories.Stories.closed`, and ``key``, ``window_start`` and
``window_end``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

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
from beam_topics.model.reporting.trends import Trends, added_up
from beam_topics.model.stored import wire
from beam_topics.model.times import to_iso
from beam_topics.transforms.shared import (
    ByPeriod,
    PeriodDoFn,
    StatefulDoFn,
    SummingDoFn,
    at_end_of,
)

By = Literal["all", "label", "group"]


class _Count(beam.DoFn):
    """Add up the mixtures of a bundle by model key and ids of topics.

    A table is emitted at the last moment of its window. The time of an element says nothing:
    RunInference gives its outputs the end of time.
    """

    def __init__(self, window_micros: int, by: By, words: Sequence[str]) -> None:
        self._window, self._by, self._words = window_micros, by, words

    def start_bundle(self) -> None:
        self._tables: dict[tuple[str, tuple[int, ...]], Trends] = {}

    def process(self, element: bytes) -> None:
        block = MixtureBlock.from_bytes(element)
        ids = tuple(range(len(self._words))) or block.ids_of_topics()
        groups = {"all": (), "label": block.labels, "group": block.document_groups}[self._by]
        shares, known = block.proportions, block.words_known
        if self._words:
            shares = np.array([[float(w in held) for w in self._words] for held in block.words])
            known = np.ones_like(known)
        self._tables.setdefault((block.key, ids), Trends(len(ids), ids=ids)).add(
            (block.timestamps // self._window * self._window).tolist(),
            shares,
            tokens=block.tokens,
            words_known=known,
            groups=[group or "" for group in groups],
            named=list(zip(block.timestamps.tolist(), block.ids, strict=True)),
        )

    def finish_bundle(self) -> Iterator[WindowedValue]:
        for (key, _), tables in self._tables.items():
            for start, table in tables.windows():
                sums = key.encode(), table.to_bytes()
                yield at_end_of(start // self._window, self._window, sums)


class _AddUp(SummingDoFn):
    """Add up the tables of a model key, and emit rows when a window closes."""

    def __init__(
        self,
        window_micros: int,
        streams: bool,
        runs: Mapping[str, int] | None,
        words: Sequence[str],
    ) -> None:
        super().__init__(window_micros, streams)
        self._runs, self._words = dict(runs or {}), words

    def close_period(self, key: bytes, end: int, records: list[bytes]) -> Iterator[bytes]:
        name = key.decode()
        for table in added_up(records):
            run = self._runs.get(name, 0)
            yield from rows_of(table, name, end, self._period, run, self._words)

    def added_up(self, records: list[bytes]) -> Iterable[bytes]:
        return [table.to_bytes() for table in added_up(records)]


def rows_of(
    table: Trends,
    key: str,
    part: int,
    window_micros: int,
    run: int = 0,
    words: Sequence[str] = (),
) -> Iterator[bytes]:
    """Yield the rows of a table as JSON.

    Args:
        table: The table.
        key: The model key.
        part: The end of the window that closes, in microseconds.
        window_micros: The length of a window.
        run: The minibatch after which a run that adds documents began; 0 for any other run.
        words: The words that were counted in place of topics. Their rows have ``word``, no topic.
    """
    ends = {to_iso(start): to_iso(start + window_micros) for start, _ in table.cells}
    for record in table.records():
        row: dict[str, Any] = {
            "key": key,
            "window_end": ends[record["window_start"]],
            "part": to_iso(part),
        }
        row |= {"run": run} if run else {}
        if words:
            if (number := record["topic"]) is None:
                continue
            row |= {"topic": None, "word": words[number]}
        yield wire.canonical_json({**record, **row}).encode()


class AddUpTrends(ByPeriod):
    """Add up mixtures by window.

    Args:
        window_micros: The length of the windows in microseconds.
        streams: Whether windows close while the source is read, or all at its end. See
            :class:`beam_topics.transforms.sequence.Sequence`.
        by: By what documents are grouped.
        runs: By model key, the minibatch after which a run that adds documents began.
        words: Words that are counted in place of topics: a document has the share 1 of each word
            that it holds, and 0 of the others.
    """

    def __init__(
        self,
        window_micros: int,
        *,
        streams: bool,
        by: By = "all",
        runs: Mapping[str, int] | None = None,
        words: Sequence[str] = (),
    ) -> None:
        count = "Count", beam.ParDo(_Count(window_micros, by, words))
        super().__init__(count, "Add up", _AddUp(window_micros, streams, runs, words), bytes)


def sketches_of(data: bytes, window_micros: int) -> Iterator[WindowedValue]:
    """Yield the sketches of a block with its key, each window's at its last moment."""
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
    """Find the stories of windows; gives rows.

    Args:
        window_micros: The length of the windows in microseconds.
        streams: Whether windows close while the source is read, or all at its end. See
            :class:`beam_topics.transforms.sequence.Sequence`.
    """

    def __init__(self, window_micros: int, *, streams: bool) -> None:
        sketches = "Sketches", beam.FlatMap(sketches_of, window_micros)
        super().__init__(sketches, "Stories", FindStoriesDoFn(window_micros, streams), bytes)
