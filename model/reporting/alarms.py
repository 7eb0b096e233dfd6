"""Bursts as they happen: windows are judged when they close, by what is known of those before.

A rule may ask for silences: windows in which a topic has fewer documents than expected.

The documents of all groups that are given count together. A topic is reported once, in the first of
windows in a row in which it has a burst; a rule may ask for a longer time without one
(:class:`Rule`). What comes after its window was closed does not count.
The bursts are those that :func:`beam_topics.model.reporting.course.bursts_of` finds in all windows
at once.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from beam_topics.model.arrays import FloatArray
from beam_topics.model.publishing.events import BURST, DOCUMENT_IDS, SILENCE, Event
from beam_topics.model.reporting.course import (
    DAY,
    FALSE_SHARE,
    LEVEL,
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


@dataclass(frozen=True)
class Rule:
    """A rule: what is watched, how many false alarms there may be, and where alarms go.

    It watches topics, or words: the documents of a window that hold a word are judged as those of a
    topic are. Each of its groups of documents, and each of its words, is judged by itself.

    >>> list(Rule("refunds", groups=("north", "south"), words=("refund",)).watches())
    [('north', 'refund'), ('south', 'refund')]

    Attributes:
        name: Its name; "" for the rule of a run without a file of rules.
        topics: Ids of topics, and names of the catalogue; none for all topics.
        groups: Groups of documents; none for all documents together.
        words: Words, as documents have them; none for topics.
        false_discoveries: The rate of false discoveries among the topics of a window, 0 to 1.
        false_alarms: The false alarms in a hundred days of a topic or word; None for
            :data:`beam_topics.model.reporting.course.LEVEL` a window.
        tells: ``burst``, more documents than expected, ``silence``, fewer, or what versions note
            (:data:`beam_topics.model.publishing.events.NOTED`), for which nothing is watched.
        again_after: The microseconds without a burst after which a topic or word is reported
            again; 0 for one window.
        to: ``kafka:TOPIC`` or the address of a webhook; "" for where events go.
    """

    name: str = ""
    topics: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    false_discoveries: float = FALSE_SHARE
    false_alarms: float | None = None
    tells: str = BURST
    again_after: int = 0
    to: str = ""

    def level(self, window: int) -> float:
        """Return the largest probability of a burst in a window of so many microseconds."""
        return LEVEL if self.false_alarms is None else self.false_alarms / 100 * window / DAY

    def watches(self) -> Iterator[tuple[str | None, str | None]]:
        """Yield a group, or None for all, and a word, or None for topics, of all that is judged."""
        for group in self.groups or (None,):
            for word in self.words or (None,):
                yield group, word


_ALL = Rule()


@dataclass(frozen=True, eq=False)
class Watched:
    """What later windows of a model key are judged by, of the last M windows and S topics.

    Attributes:
        window: The length of a window in microseconds.
        starts: The starts of the windows in microseconds, ascending.
        topics: The ids of the topics, ascending; -1 for documents without one.
        last: For each topic, the start of the last window in which it has a burst; a time before
            all windows where it has none.
        table: float64[2 M + N, S], the documents of each topic in the windows, all documents, or 0
            where a window has no row of a topic, and the N rows of
            :func:`beam_topics.model.reporting.course.judged_after`.
    """

    window: int = 0
    starts: tuple[int, ...] = ()
    topics: tuple[int, ...] = ()
    last: tuple[int, ...] = ()
    table: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    MAGIC = b"BTo1"

    def to_bytes(self) -> bytes:
        """Return equal bytes for equal values."""
        names = ("window", "starts", "topics", "last")
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
        for name in ("starts", "topics", "last"):
            values = checks.field(header, name)
            for value in values if isinstance(values, list) else [values]:
                checks.whole(f"{name} of bursts", value, _BEFORE, -_BEFORE)
            checks.equal(f"form of {name} of bursts", type(values), list)
            if name != "last":
                checks.equal(f"{name} of bursts", values, sorted({*values}))
            fields.append(tuple(values))
        starts, topics, last = fields
        checks.sized("last of bursts", last, len(topics))
        table, width = wire.array_from_bytes(blob, "<f8"), len(topics)
        kinds = min(kinds_of(starts, window)[0], MOST_KINDS)
        rows = 3 * len(starts) + 1 + 4 * kinds if starts else 0
        checks.sized("a table of bursts", table, rows * width)
        checks.measures("a table of bursts", table, -checks.HUGE)
        return cls(window, starts, topics, last, table.reshape(rows, width))

    def closed(
        self,
        window: int,
        rows: Sequence[bytes],
        rule: Rule = _ALL,
        named: Collection[int] | None = None,
    ) -> tuple[Watched, list[Event]]:
        """Judge windows that have closed, and return what is known after them, and the bursts.

        Args:
            window: The length of a window in microseconds; windows of another one are forgotten.
            rows: Those of trends of the model key, in any order.
            rule: What is a burst, and when it is reported again.
            named: The topics that are judged; None for all.
        """
        if window != self.window:
            return Watched(window).closed(window, rows, rule, named)
        whole, before = self._whole(rows), len(self.starts)
        if not whole:
            return self, []
        starts = (*self.starts, *sorted({start for start, _ in whole}))
        topics = tuple(sorted({*self.topics, *(topic for _, topic in whole)}))
        counts, documents, known = self._tables(whole, starts, topics)
        cycle, kinds = kinds_of(starts, window)
        few = rule.tells == SILENCE
        expected, p, known = judged_after(known, counts, documents, cycle, kinds, few)
        p[:, [named is not None and topic not in named for topic in topics]] = np.nan
        limits = rule.false_discoveries, rule.level(window)
        events, last = [], dict(zip(self.topics, self.last, strict=True))
        for at in range(before, len(starts)):
            q, found = adjusted(p[at]), np.flatnonzero(discovered(p[at], *limits)).tolist()
            for z in found:
                since, last[topics[z]] = last.get(topics[z], _BEFORE), starts[at]
                in_a_row = at > 0 and since == starts[at - 1]
                if not in_a_row and starts[at] - since >= rule.again_after:
                    figures = {"seen": counts[at, z], "expected": expected[at, z]}
                    figures |= {"p": p[at, z], "q": q[z], "since": starts[at]}
                    some = whole[starts[at], topics[z]]
                    events.append(_event(rule.tells, topics[z], starts[at] + window, some, figures))
        kept = len(known) - 1 - 4 * min(cycle, MOST_KINDS)
        there = np.flatnonzero(documents[-kept:].any(axis=0)).tolist()
        table = np.vstack([counts[-kept:], documents[-kept:], known])[:, there]
        left = tuple(topics[z] for z in there)
        bursts = tuple(last.get(topic, _BEFORE) for topic in left)
        return Watched(window, starts[-kept:], left, bursts, table), events

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


def _event(
    kind: str, topic: int, end: int, rows: Sequence[Mapping[str, Any]], figures: Any
) -> Event:
    typical = [one for row in rows for one in row["typical"]]
    typical.sort(key=lambda one: (-one["share"], one["timestamp"], one["id"]))
    return Event(
        kind,
        round(figures["seen"]),
        sum(row["tokens"] for row in rows),
        [topic] * (topic != _NONE),
        "trends",
        {name: float(value) for name, value in figures.items()},
        [one["id"] for one in typical[:DOCUMENT_IDS]],
        time=end,
    )
