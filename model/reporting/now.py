"""Now: the last windows of trends and stories, with each topic against its expectation.

A run writes rows of both, file by file, while others read them. :class:`Newest` keeps what is
needed of the newest windows, so its memory is bounded however many files there are.
:func:`now_of` judges them by the rule of :mod:`beam_topics.model.reporting.course`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from beam_topics.model.arrays import FloatArray
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.reporting.course import (
    calendar_unit,
    discovered,
    judged,
    period_of,
    tables_of,
)
from beam_topics.model.reporting.mixtures import shortened
from beam_topics.model.reporting.shown import Shown
from beam_topics.model.reporting.stories import of_last_window, rows_of_stories
from beam_topics.model.reporting.trends import TREND_KEY, merged_rows, rows_of_file, whole_rows

STORIES = "stories-"
# Rows that are kept, of all keys together: a thousand windows of fifty topics.
MOST_ROWS = 50_000
# The last windows of a key whose bursts are shown; earlier rows have no documents.
RECENT = 8
# Topics of the last window that are shown, and the probability of that many documents or more.
MOST_RISING, LEVEL = 10, 0.05
# Groups of documents that are shown, the largest ones, and the digits of their shares.
MOST_GROUPS, DIGITS = 12, 4
_MILLISECOND = 1000
_Window = dict[tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True)
class Told:
    """What rows of trends and stories say of a key.

    Attributes:
        stories: The stories of the last window; None where they are not known.
        now: What :func:`now_of` returns.
        state: What changes with these; for the service.
    """

    stories: Sequence[Mapping[str, Any]] | None = None
    now: Mapping[str, Any] | None = None
    state: str = ""

    @property
    def documents(self) -> set[str]:
        """The ids of the documents of bursts and stories."""
        bursts = self.now["bursts"] if self.now else []
        ids = {id for *_, some in bursts for id in some}
        return ids.union(*([row["story"], *row["document_ids"]] for row in self.stories or ()))


class Newest:
    """The rows of the newest windows of each model key, and the stories of the last one."""

    def __init__(self) -> None:
        self._windows: dict[str, dict[int, _Window]] = defaultdict(dict)
        self._stories: dict[str, list[dict[str, Any]]] = {}
        self._files: dict[str, int] = {}
        self._count = 0

    def take(self, stream: BinaryIO, name: str) -> None:
        """Add the rows of a file: of stories if its name begins with ``stories-``, else of trends.

        Raises:
            DamagedDataError: The file cannot be read; the rows before the damage are added.
        """
        is_story = name.rpartition("/")[2].startswith(STORIES)
        keys, stories = set[str](), defaultdict[str, list[dict[str, Any]]](list)
        try:
            for row in (rows_of_stories if is_story else rows_of_file)(stream, name):
                keys.add(row["key"])
                if is_story:
                    stories[row["key"]].append(row)
                else:
                    self._add(row)
        finally:
            for key, some in stories.items():
                self._stories[key] = of_last_window([*self._stories.get(key, ()), *some])
            self._bound()
            for key in keys:
                self._files[key] = self._files.get(key, 0) + 1

    def rows(self, key: str) -> list[dict[str, Any]]:
        """Return the rows of trends of a key."""
        return [row for window in self._windows.get(key, {}).values() for row in window.values()]

    def stories(self, key: str) -> list[dict[str, Any]] | None:
        """Return the stories of the last window of a key; None where there was none."""
        return self._stories.get(key)

    def told(self, shown: Shown, history: Sequence[Manifest], most: int) -> Told:
        """Return what the rows say of the key of a version; ``most`` characters of a name."""
        key = shown.manifest.key
        now = now_of(self.rows(key), shown, most, calendar_unit(history))
        return Told(self.stories(key), now, self.state(key))

    def state(self, key: str) -> str:
        """Return a text that changes whenever a file has rows of a key; "" without one."""
        return f".{self._files[key]}" if key in self._files else ""

    def _add(self, row: dict[str, Any]) -> None:
        window = self._windows[row["key"]].setdefault(row["window_start"], {})
        place = tuple(row[name] for name in TREND_KEY)
        self._count += place not in window
        window[place] = row
        if self._count > 2 * MOST_ROWS:
            self._bound()

    def _bound(self) -> None:
        """Let the oldest windows go, and the documents of all but the newest of each key."""
        for windows in self._windows.values():
            for start in sorted(windows)[:-RECENT]:
                for row in windows[start].values():
                    row["typical"] = []
        for start, key in sorted((at, key) for key, some in self._windows.items() for at in some):
            if self._count <= MOST_ROWS or len(self._windows[key]) == 1:
                continue
            self._count -= len(self._windows[key].pop(start))


def now_of(
    rows: Sequence[Mapping[str, Any]], shown: Shown, most: int, unit: str
) -> dict[str, Any] | None:
    """Return the figures of the last windows of a key; None without a row of a topic that is shown.

    ``most`` is the number of characters of an id, and ``unit`` the period of the groups.

    Returns:
        ``start``, ``end`` and ``documents`` of the last window; whether it is ``judged``, which
        needs windows before it; ``rising``: group, documents, expected documents and the
        probability of so many of the topics that have more than expected, the most surprising
        first; ``bursts`` of the last windows, the newest first: start, the same, and the ids of
        typical documents; and the ``groups``.
    """
    whole = whole_rows(rows)
    table = merged_rows(whole, shown)
    if not table:
        return None
    starts, topics, counts, documents = tables_of(table)
    expected, probability = judged(counts, documents, starts)
    typical = {(row["window_start"], row["topic"]): row["typical"] for row in table}

    def judgement(at: int, column: int) -> list[Any]:
        seen, wanted = counts[at, column], expected[at, column]
        p = float(f"{probability[at, column]:.2g}")
        return [topics[column], round(float(seen), 1), round(float(wanted), 1), p]

    last = len(starts) - 1
    order = np.argsort(probability[last], kind="stable").tolist()
    rising = [z for z in order if probability[last, z] <= LEVEL and topics[z] < len(shown.ids)]
    bursts = []
    for at in range(last, max(-1, last - RECENT), -1):
        for z in np.flatnonzero(discovered(probability[at])).tolist():
            if topics[z] < len(shown.ids):
                ids = [one["id"] for one in typical.get((starts[at], topics[z]), [])]
                named = [shortened(id, most) for id in ids[:3]]
                bursts.append([starts[at] // _MILLISECOND, *judgement(at, z), named])
    return {
        "start": starts[last] // _MILLISECOND,
        "end": max(row["window_end"] for row in table) // _MILLISECOND,
        "documents": int(documents[last].max()),
        "judged": bool((~np.isnan(probability[last])).any()),
        "rising": [judgement(last, z) for z in rising[:MOST_RISING]],
        "bursts": bursts,
        "groups": _groups(whole, shown, most, unit),
    }


def _groups(
    rows: Sequence[Mapping[str, Any]], shown: Shown, most: int, unit: str
) -> dict[str, Any] | None:
    """Return documents and mean shares of the largest groups by period; None of one group."""
    sizes, documents = Counter[str](), defaultdict[tuple[str, str], dict[int, int]](dict)
    sums = defaultdict[tuple[str, str], FloatArray](lambda: np.zeros(len(shown.ids)))
    for row in rows:
        place = row["group"], period_of(row["window_start"], unit)
        documents[place][row["window_start"]] = row["documents"]
        if row["topic"] is not None:
            sums[place][shown.groups_of([row["topic"]])] += row["mean_share"] * row["documents"]
    counts = {place: sum(windows.values()) for place, windows in documents.items()}
    for (name, _), count in counts.items():
        sizes[name] += count
    if len(sizes) < 2:
        return None
    names = sorted(sizes, key=lambda name: (-sizes[name], name))[:MOST_GROUPS]
    places = [[at for at in sorted(documents) if at[0] == name] for name in names]
    return {
        "name": [shortened(name, most) for name in names],
        "all": len(sizes),
        "period": [[period for _, period in some] for some in places],
        "documents": [[counts[at] for at in some] for some in places],
        "shares": [
            [np.round(sums[at] / counts[at], DIGITS).tolist() for at in some] for some in places
        ],
    }
