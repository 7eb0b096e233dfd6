"""Trends: documents, tokens and mean shares of each topic in windows of event time, exactly.

A table has a cell for each window, and for each group of documents within it. Proportions are added
as whole multiples of 2**-40. Sums of whole numbers do not depend on their order, so tables of parts
add up to the table of the whole, bit for bit, however the documents were divided. A mean share
differs from the exact mean of the proportions by at most 2**-41.

Typical documents of a topic are those with the largest share, of equal shares the earliest, then
the one with the smaller id. A document that comes twice is listed once. Of more than
``MOST_GROUPS`` groups of a window, those whose names have the smallest digests keep their cells,
and all others share the cell of :data:`OTHERS`. Neither depends on the parts.

A document without a known word has no topic. It counts in ``none`` of its cell, and a record of
its own, whose topic is None, has the share of such documents. So the mean shares of a window add
up to 1. Columns have the ids of topics; versions that label documents of one window may have
different ones.

>>> table = Trends(topics=2)
>>> four = np.array([4])
>>> table.add([0], np.array([[0.25, 0.75]]), tokens=four, words_known=four)
>>> other = Trends(topics=2)
>>> other.add([0], np.array([[0.75, 0.25]]), tokens=four, words_known=four)
>>> table.merge(other)
>>> table.cells[0, ""].mean_shares()
[0.5, 0.5]

Tables become rows (:mod:`beam_topics.transforms.trends` has their fields), and
:func:`whole_rows` adds up the rows of parts.
"""

from __future__ import annotations

import json
from bisect import insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import groupby, repeat
from operator import itemgetter
from typing import Any

import numpy as np

from beam_topics.model.arrays import FloatArray, LongArray
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.reporting.shown import Shown
from beam_topics.model.stored import checks, wire
from beam_topics.model.times import parse_time, to_iso

# The fields that name a row; ``run`` is absent in rows of a run that adds no documents.
TREND_KEY = ("key", "window_start", "group", "topic", "part", "run")
_PLACE = TREND_KEY[:4]
# What reading a row may raise.
WRONG_ROW = (ValueError, KeyError, TypeError, AttributeError, RecursionError, DamagedDataError)
# Figures of a row, with what they may be.
_FIGURES = (("documents", 1, 2.0**64), ("tokens", 0, checks.HUGE), ("mean_share", 0, 2))
_TAKES = "Rows of trends are what --trends of infer or stream wrote."
_TIMES = ("window_start", "window_end", "part")


def _with_times(row: Mapping[str, Any], convert: Any) -> dict[str, Any]:
    typical = [{**one, "timestamp": convert(one["timestamp"])} for one in row["typical"]]
    return {**row, **{name: convert(row[name]) for name in _TIMES}, "typical": typical}


def rows_of_file(stream: Iterable[bytes], name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file, with times in microseconds.

    Raises:
        DamagedDataError: The file cannot be read as rows of trends.
    """
    return read_rows(stream, _read, f"{name} cannot be read as trends", _TAKES)


def read_rows(
    stream: Iterable[bytes], read: Callable[[Any], dict[str, Any]], wrong: str, takes: str
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file of JSON lines.

    Args:
        stream: The lines of the file.
        read: Checks a row, and returns it with times in microseconds.
        wrong: What is said of a file that cannot be read.
        takes: Which files can be.

    Raises:
        DamagedDataError: A row cannot be read.
    """
    try:
        for line in stream:
            yield read(json.loads(line))
    except WRONG_ROW as error:
        raise DamagedDataError(
            f"{wrong}: {type(error).__name__} {error}. {takes} Restore it from a copy."
        ) from error


def _read(row: Mapping[str, Any]) -> dict[str, Any]:
    found = {**_with_times(row, parse_time), "run": checks.whole("run", row.get("run", 0))}
    for what, low, high in _FIGURES:
        checks.number(what, found[what], low, high)
    _ = None if found["topic"] is None else checks.whole("topic", found["topic"])
    _ = found["key"] + found["group"] + "".join(one["id"] for one in found["typical"])
    _ = [checks.number("share", one["share"], 0, 2) for one in found["typical"]]
    return found


def whole_rows(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return one row for each key, window, group and topic, in this order.

    Times are in microseconds. Repeated rows count once, and parts and runs are added up: the rows
    have neither, and the best of the typical documents of their parts.
    """
    parts = {tuple(row[name] for name in TREND_KEY): row for row in rows}
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in sorted(parts.values(), key=_row_order):
        place = tuple(row[name] for name in _PLACE)
        if place not in found:
            found[place] = {n: value for n, value in row.items() if n not in ("part", "run")}
            continue
        whole = found[place]
        documents = whole["documents"] + row["documents"]
        shares = (one["mean_share"] * one["documents"] for one in (whole, row))
        whole["mean_share"] = sum(shares) / documents
        most = max(len(whole["typical"]), len(row["typical"]))
        both = [*whole["typical"], *row["typical"]]
        both.sort(key=lambda one: (-one["share"], one["timestamp"], one["id"]))
        whole |= {
            "documents": documents,
            "tokens": whole["tokens"] + row["tokens"],
            "typical": both[:most],
        }
    return list(found.values())


def merged_rows(rows: Sequence[Mapping[str, Any]], shown: Shown) -> list[dict[str, Any]]:
    """Return one row for each window and group of topics, with all groups of documents together.

    The number of no topic comes after those of groups. The rows are whole rows of one model key.
    The shares of the topics of a group are added in the order of topics.
    """
    documents: dict[tuple[int, str], int] = {}
    found: dict[tuple[int, int], dict[str, Any]] = {}
    for row in rows:
        start = row["window_start"]
        documents[start, row["group"]] = row["documents"]
        none = [len(shown.ids)] * (row["topic"] is None)
        for topic in none or shown.groups_of([row["topic"]]):
            empty = {"topic": topic, "group": "", "tokens": 0.0, "mean_share": 0.0, "typical": []}
            one = found.setdefault((start, topic), {**row, **empty})
            one["tokens"] += row["tokens"]
            one["mean_share"] += row["mean_share"] * row["documents"]
            one["typical"] = [*one["typical"], *row["typical"]]
    sizes: dict[int, int] = {}
    for (start, _), count in documents.items():
        sizes[start] = sizes.get(start, 0) + count
    for (start, _), one in found.items():
        one["documents"] = sizes[start]
        one["mean_share"] /= sizes[start]
        one["typical"].sort(key=lambda d: (-d["share"], d["timestamp"], d["id"]))
    return [found[place] for place in sorted(found)]


def _row_order(row: Mapping[str, Any]) -> tuple[tuple[bool, Any], ...]:
    """Return the sort key of a row; no topic comes after all topics."""
    return tuple((row[name] is None, row[name]) for name in TREND_KEY)


UNIT = 2**40
# The group of documents whose group has no cell of its own.
OTHERS = "(others)"
# Groups of a window, apart from documents without one and the others.
MOST_GROUPS = 1000
# Typical documents of each topic in a cell.
TYPICAL = 3
# No sum is larger: 2**64 documents of 2**64 tokens each, in units of 2**-40.
_LARGEST = 2**168
_LATEST = 2**62


@dataclass(slots=True)
class Cell:
    """Sums over the documents of a window and a group.

    Attributes:
        documents: The number of documents.
        tokens: The number of their tokens.
        words_known: The number of tokens whose word the model knows.
        none: The number of documents without a topic.
        shares: For each topic, the sum of proportions in units of 2**-40.
        topic_tokens: The same for proportions times known tokens.
        typical: For each topic, the typical documents as (share in units of 2**-40, time in
            microseconds, id), the best one first.
    """

    documents: int
    tokens: int
    words_known: int
    none: int
    shares: list[int]
    topic_tokens: list[int]
    typical: list[list[Any]]

    def mean_shares(self) -> list[float]:
        """Return the mean proportion of each topic."""
        return [share / (UNIT * self.documents) for share in self.shares]

    def expected_tokens(self) -> list[float]:
        """Return the expected number of known tokens of each topic."""
        return [tokens / UNIT for tokens in self.topic_tokens]


@dataclass(slots=True)
class Trends:
    """A table of cells by the start of the window in microseconds, and the group.

    Attributes:
        topics: T, the number of topics of a version.
        cells: The cells.
        ids: The ids of the topics that have columns, in their order; those of the documents that
            are counted next, by place. 0 to T - 1 where none are given.
    """

    topics: int
    cells: dict[tuple[int, str], Cell] = field(default_factory=dict)
    ids: tuple[int, ...] = ()
    # For each window, the digests and names of its groups, in ascending order.
    _named: dict[int, list[tuple[bytes, str]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    MAGIC = b"BTb4"

    def __post_init__(self) -> None:
        self.ids = self.ids or tuple(range(self.topics))

    def add(
        self,
        starts: Sequence[int],
        shares: FloatArray,
        *,
        tokens: LongArray,
        words_known: LongArray,
        groups: Sequence[str] = (),
        named: Sequence[tuple[int, str]] = (),
    ) -> None:
        """Count D documents, at most 2**20.

        Args:
            starts: The starts of their windows in microseconds.
            shares: float64[D, T], their mixtures, numbers from 0 to 1.
            tokens: int64[D], the numbers of their tokens.
            words_known: int64[D], the numbers of their tokens whose word the model knows.
            groups: Their groups; empty where documents are not grouped.
            named: Their times in microseconds and ids; empty if they cannot be typical documents.
        """
        cells: dict[tuple[int, str], list[int]] = {}
        for row, place in enumerate(zip(starts, groups or repeat(""), strict=False)):
            cells.setdefault(place, []).append(row)
        units = np.rint(shares * UNIT).astype(np.int64)
        for place, rows in cells.items():
            mine, known = units[rows], words_known[rows]
            # A sum is below 2**63, or one of Python's whole numbers.
            kind = np.int64 if known.sum(dtype=np.float64) < 2**22 else object
            cell = Cell(
                len(rows),
                sum(tokens[rows].tolist()),
                sum(known.tolist()),
                len(rows) - int(np.count_nonzero(known)),
                mine.sum(axis=0).tolist(),
                (mine.astype(kind) * known.astype(kind)[:, None]).sum(axis=0).tolist(),
                [[] for _ in self.ids],
            )
            if named:
                some = [named[row] for row in rows if words_known[row]]
                cell.typical = self._typical_of(place, mine[known > 0], some)
            self._merge_cell(place, cell)

    def _typical_of(
        self, place: tuple[int, str], units: LongArray, named: Sequence[tuple[int, str]]
    ) -> list[list[Any]]:
        """Return for each topic the documents that may be typical of a cell, the best one first."""
        cell, least = self.cells.get(place), [0] * len(self.ids)
        if cell is not None:
            least = [some[-1][0] if len(some) == TYPICAL else 0 for some in cell.typical]
        # A document that comes twice takes two places.
        most = TYPICAL * max(Counter(named).values(), default=0)
        best = best_of(units, sorted(range(len(named)), key=named.__getitem__), most, least)
        shares = np.take_along_axis(units, np.array(best, np.int64).T, axis=0).T.tolist()
        return [
            [(share, *named[n]) for n, share in zip(*both, strict=True) if share >= low]
            for *both, low in zip(best, shares, least, strict=True)
        ]

    def windows(self) -> Iterator[tuple[int, Trends]]:
        """Yield the start of each window, in ascending order, and a table of it alone."""
        for start, cells in groupby(sorted(self.cells), itemgetter(0)):
            yield (
                start,
                Trends(self.topics, {place: self.cells[place] for place in cells}, self.ids),
            )

    def merge(self, other: Trends) -> None:
        """Add the cells of another table."""
        if other.ids != self.ids:
            ids = tuple(sorted({*self.ids, *other.ids}))
            cells = {place: _widened(cell, self.ids, ids) for place, cell in self.cells.items()}
            self.ids, self.cells = ids, cells
        for place, cell in other.cells.items():
            self._merge_cell(place, _widened(cell, other.ids, self.ids))

    def _counted_in(self, place: tuple[int, str]) -> tuple[int, str]:
        """Return the place at which a group counts; another group may lose its cell to it."""
        start, group = place
        if place in self.cells or group in ("", OTHERS):
            return place
        named, mine = self._named.setdefault(start, []), (wire.digest(group.encode()), group)
        if len(named) == MOST_GROUPS:
            if mine > named[-1]:
                return start, OTHERS
            last = start, named.pop()[1]
            self._merge_cell((start, OTHERS), self.cells.pop(last))
        insort(named, mine)
        return place

    def _merge_cell(self, place: tuple[int, str], cell: Cell) -> None:
        place = self._counted_in(place)
        mine = self.cells.get(place)
        if mine is None:
            mine = self.cells[place] = _empty(len(self.ids))
        mine.documents += cell.documents
        mine.tokens += cell.tokens
        mine.words_known += cell.words_known
        mine.none += cell.none
        mine.shares = [a + b for a, b in zip(mine.shares, cell.shares, strict=True)]
        mine.topic_tokens = [
            a + b for a, b in zip(mine.topic_tokens, cell.topic_tokens, strict=True)
        ]
        mine.typical = list(map(_best, mine.typical, cell.typical))

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield a record for each window, group and topic, and for no topic, in this order."""
        for (start, group), cell in sorted(self.cells.items()):
            means, tokens = cell.mean_shares(), cell.expected_tokens()
            window = {"window_start": to_iso(start), "group": group, "documents": cell.documents}
            for column, topic in sorted(enumerate(self.ids), key=itemgetter(1)):
                yield window | {
                    "topic": topic,
                    "tokens": tokens[column],
                    "mean_share": means[column],
                    "typical": [
                        {"id": id, "timestamp": to_iso(time), "share": units / UNIT}
                        for units, time, id in cell.typical[column]
                    ],
                }
            share = cell.none / cell.documents
            yield window | {"topic": None, "tokens": 0.0, "mean_share": share, "typical": []}

    def to_bytes(self) -> bytes:
        """Return equal bytes for equal tables."""
        names = [one.name for one in fields(Cell)]
        cells = [
            {"start": start, "group": group, **{name: getattr(cell, name) for name in names}}
            for (start, group), cell in sorted(self.cells.items())
        ]
        return wire.pack(self.MAGIC, {"topics": self.topics, "ids": self.ids, "cells": cells})

    @classmethod
    def from_bytes(cls, data: bytes) -> Trends:
        """Read what :meth:`to_bytes` returned.

        Raises:
            DamagedDataError: The bytes are damaged.
        """
        header, _ = wire.unpack(cls.MAGIC, data, 0)
        topics = checks.whole("topics of trends", checks.field(header, "topics"), 1)
        found = cls(topics, ids=tuple(checks.field(header, "ids")))
        for topic in found.ids:
            checks.whole("ids of trends", topic)
        checks.sized("different ids of trends", set(found.ids), len(found.ids))
        cells = checks.of_type(
            "cells of trends", checks.field(header, "cells"), list[dict[str, Any]]
        )
        for number, values in enumerate(cells):
            found._read(values, f"cell {number} of trends")
        return found

    def _read(self, stored: dict[str, Any], name: str) -> None:
        start = checks.of_type(f"start of {name}", stored.pop("start", None), int)
        place = start, checks.of_type(f"group of {name}", stored.pop("group", None), str)
        values = checks.record(Cell, stored, name)
        checks.whole("documents of trends", values["documents"], 1, _LARGEST)
        checks.whole("none of trends", values["none"], 0, values["documents"] + 1)
        for name in ("tokens", "words_known"):
            checks.whole(f"{name} of trends", values[name], 0, _LARGEST)
        for name in ("shares", "topic_tokens"):
            checks.sized(f"{name} of trends", values[name], len(self.ids))
            for value in values[name]:
                checks.whole(f"{name} of trends", value, 0, _LARGEST)
        checks.sized("typical documents of trends", values["typical"], len(self.ids))
        values["typical"] = list(map(_typical, values["typical"]))
        if place in self.cells:
            raise DamagedDataError(f"trends have two cells of {place!r:.80}")
        if place[1] not in ("", OTHERS) and len(self._named.get(place[0], ())) == MOST_GROUPS:
            checks.refuse("groups of a window of trends", "more", f"at most {MOST_GROUPS}")
        self._counted_in(place)
        self.cells[place] = Cell(**values)


def _empty(columns: int) -> Cell:
    return Cell(0, 0, 0, 0, [0] * columns, [0] * columns, [[] for _ in range(columns)])


def _widened(cell: Cell, ids: Sequence[int], wider: Sequence[int]) -> Cell:
    """Return a cell with columns for further topics, in which it has nothing."""
    if tuple(ids) == tuple(wider):
        return cell
    at = {topic: column for column, topic in enumerate(ids)}
    columns = [at.get(topic) for topic in wider]
    return replace(
        cell,
        shares=[0 if n is None else cell.shares[n] for n in columns],
        topic_tokens=[0 if n is None else cell.topic_tokens[n] for n in columns],
        typical=[[] if n is None else cell.typical[n] for n in columns],
    )


def _typical(documents: list[Any]) -> list[tuple[int, int, str]]:
    """Check the typical documents of a topic and return them."""
    if len(documents) > TYPICAL:
        checks.refuse("typical documents of trends", len(documents), f"at most {TYPICAL}")
    found = [_document(one) for one in documents]
    if found != sorted(set(found), key=_order):
        checks.refuse("typical documents of trends", "another order", "the best one first")
    return found


def _document(values: object) -> tuple[int, int, str]:
    """Check a typical document and return it."""
    what = "a typical document of trends"
    if not isinstance(values, list) or len(values) != 3 or not isinstance(values[2], str):
        checks.refuse(what, type(values).__name__, "a list of share, time and id")
    share = checks.whole(what, values[0], 0, 2 * UNIT)
    return share, checks.whole(what, values[1], -_LATEST, _LATEST), values[2]


def _order(document: tuple[int, int, str]) -> tuple[int, int, str]:
    units, time, id = document
    return -units, time, id


def _best(
    some: list[tuple[int, int, str]], others: list[tuple[int, int, str]]
) -> list[tuple[int, int, str]]:
    """Return the best documents of two lists, each of which is in order."""
    if not others or (len(some) == TYPICAL and _order(others[0]) > _order(some[-1])):
        return some
    return sorted({*some, *others}, key=_order)[:TYPICAL]


def best_of(
    fits: FloatArray | LongArray, order: Sequence[int], most: int, least: Sequence[float]
) -> list[list[int]]:
    """Return for each of T topics the numbers of the documents that fit it best, the best first.

    Args:
        fits: [D, T], how well documents fit.
        order: The numbers of documents to choose from; of equal ones the first is better.
        most: The most documents of a topic.
        least: For each topic, a fit. Documents that are below it for all topics are passed over.
    """
    some = np.array(order, np.int64)
    some = some[(fits[some] >= least).any(axis=1)]
    found: list[list[int]] = some[np.argsort(-fits[some], axis=0, kind="stable")[:most]].T.tolist()
    return found


def added_up(tables: Iterable[bytes]) -> list[Trends]:
    """Return the sums of stored tables: one for each number of topics, in ascending order."""
    found: dict[int, Trends] = {}
    for data in tables:
        table = Trends.from_bytes(data)
        found.setdefault(table.topics, Trends(table.topics, ids=table.ids)).merge(table)
    return [found[topics] for topics in sorted(found)]
