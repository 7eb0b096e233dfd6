"""Bursts as they happen: windows are judged when they close, by what is known of those before.

The documents of all groups count together. A topic is told once, in the first of windows in a row
in which it has a burst. What comes after its window was closed does not count. The bursts are those
that :func:`beam_topics.model.reporting.course.bursts_of` finds in all windows at once.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from beam_topics.model.arrays import FloatArray
from beam_topics.model.publishing.events import BURST, DOCUMENT_IDS, Event
from beam_topics.model.reporting.course import (
    MOST_KINDS,
    adjusted,
    discovered,
    judged_after,
    kinds_of,
)
from beam_topics.model.reporting.trends import rows_of_file, whole_rows
from beam_topics.model.stored import checks, wire

# The series of documents without a topic, and a time before all windows.
_NONE, _BEFORE = -1, -(2**62)
_Rows = dict[tuple[int, int], list[Mapping[str, Any]]]


@dataclass(frozen=True, eq=False)
class Watched:
    """What later windows of a model key are judged by, of the last M windows and S topics.

    Attributes:
        window: The length of a window in microseconds.
        starts: The starts of the windows in microseconds, ascending.
        topics: The ids of the topics, ascending; -1 for documents without one.
        bursting: Those that have a burst in the last window.
        table: float64[2 M + N, S], the documents of each topic in the windows, all documents, or 0
            where a window has no row of a topic, and the N rows of
            :func:`beam_topics.model.reporting.course.judged_after`.
    """

    window: int = 0
    starts: tuple[int, ...] = ()
    topics: tuple[int, ...] = ()
    bursting: tuple[int, ...] = ()
    table: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    MAGIC = b"BTo1"

    def to_bytes(self) -> bytes:
        """Return equal bytes for equal values."""
        names = ("window", "starts", "topics", "bursting")
        header = {name: getattr(self, name) for name in names}
        return wire.pack(self.MAGIC, header, wire.array_to_bytes(self.table, "<f8"))

    @classmethod
    def from_bytes(cls, data: bytes) -> Watched:
        """Read what :meth:`to_bytes` returned.

        Raises:
            DamagedDataError: The bytes are damaged.
        """
        header, (blob,) = wire.unpack(cls.MAGIC, data, 1)
        window, fields = checks.whole("window of bursts", checks.field(header, "window")), []
        for name in ("starts", "topics", "bursting"):
            values = checks.field(header, name)
            for value in values if isinstance(values, list) else [values]:
                checks.whole(f"{name} of bursts", value, _BEFORE, -_BEFORE)
            checks.equal(f"form of {name} of bursts", type(values), list)
            checks.equal(f"{name} of bursts", values, sorted({*values}))
            fields.append(tuple(values))
        starts, topics, bursting = fields
        table, width = wire.array_from_bytes(blob, "<f8"), len(topics)
        kinds = min(kinds_of(starts, window)[0], MOST_KINDS)
        rows = 3 * len(starts) + 1 + 4 * kinds if starts else 0
        checks.sized("a table of bursts", table, rows * width)
        checks.measures("a table of bursts", table, -checks.HUGE)
        return cls(window, starts, topics, bursting, table.reshape(rows, width))

    def closed(self, window: int, rows: Sequence[bytes]) -> tuple[Watched, list[Event]]:
        """Judge windows that have closed, and return what is known after them, and the bursts.

        The rows are those of trends of the model key, in any order. Windows of another length are
        forgotten.
        """
        if window != self.window:
            return Watched(window).closed(window, rows)
        whole, before = self._whole(rows), len(self.starts)
        if not whole:
            return self, []
        starts = (*self.starts, *sorted({start for start, _ in whole}))
        topics = tuple(sorted({*self.topics, *(topic for _, topic in whole)}))
        counts, documents, known = self._tables(whole, starts, topics)
        cycle, kinds = kinds_of(starts, window)
        expected, p, known = judged_after(known, counts, documents, cycle, kinds)
        events, bursting = [], self.bursting
        for at in range(before, len(starts)):
            q, found = adjusted(p[at]), np.flatnonzero(discovered(p[at])).tolist()
            for z in found:
                if topics[z] not in bursting:
                    figures = {"seen": counts[at, z], "expected": expected[at, z]}
                    figures |= {"p": p[at, z], "q": q[z], "since": starts[at]}
                    some = whole[starts[at], topics[z]]
                    events.append(_event(topics[z], starts[at] + window, some, figures))
            bursting = tuple(topics[z] for z in found)
        kept = len(known) - 1 - 4 * min(cycle, MOST_KINDS)
        there = np.flatnonzero(documents[-kept:].any(axis=0)).tolist()
        table = np.vstack([counts[-kept:], documents[-kept:], known])[:, there]
        left = tuple(topics[z] for z in there)
        return Watched(window, starts[-kept:], left, bursting, table), events

    def _tables(
        self, whole: _Rows, starts: Sequence[int], topics: Sequence[int]
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the documents of topics and all documents, float64[W, S], and what is known."""
        before, columns = len(self.starts), {topic: at for at, topic in enumerate(topics)}
        old = np.zeros((len(self.table), len(topics)))
        old[:, [columns[topic] for topic in self.topics]] = self.table
        counts, documents = np.zeros((2, len(starts), len(topics)))
        counts[:before], documents[:before] = old[:before], old[before : 2 * before]
        places = {start: at for at, start in enumerate(starts)}
        for (start, topic), some in whole.items():
            place = places[start], columns[topic]
            counts[place] = sum(row["documents"] * row["mean_share"] for row in some)
            documents[place] = sum(row["documents"] for row in some)
        return counts, documents, old[2 * before :]

    def _whole(self, rows: Sequence[bytes]) -> _Rows:
        """Return the rows of windows that were not judged, by window and topic."""
        last = self.starts[-1] if self.starts else _BEFORE
        found = [
            row
            for row in rows_of_file(io.BytesIO(b"\n".join(rows)), "rows of trends")
            if row["part"] == row["window_end"] and row["window_start"] > last
        ]
        whole: _Rows = {}
        for row in whole_rows(found):
            topic = _NONE if row["topic"] is None else row["topic"]
            whole.setdefault((row["window_start"], topic), []).append(row)
        return whole


def _event(topic: int, end: int, rows: Sequence[Mapping[str, Any]], figures: Any) -> Event:
    typical = [one for row in rows for one in row["typical"]]
    typical.sort(key=lambda one: (-one["share"], one["timestamp"], one["id"]))
    return Event(
        BURST,
        round(figures["seen"]),
        sum(row["tokens"] for row in rows),
        [topic] * (topic != _NONE),
        "trends",
        {name: float(value) for name, value in figures.items()},
        [one["id"] for one in typical[:DOCUMENT_IDS]],
        time=end,
    )
