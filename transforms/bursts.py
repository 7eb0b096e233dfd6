"""Report the bursts of topics when a window of trends closes.

    rows: bytes (JSON) of :mod:`beam_topics.transforms.trends` -> events: bytes (JSON)

A rule (:class:`beam_topics.model.reporting.alarms.Rule`) has a state for each of its groups and
words. Rows wait there for an event-time timer of their window, so windows are judged in their order
(:mod:`beam_topics.model.reporting.alarms`). An event has the words and names of the topic in the
version that labels the documents of the window, the newest one before its end, and the
stories to which most documents of the topic came.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.coders import BytesCoder
from apache_beam.transforms.timeutil import TimeDomain
from apache_beam.transforms.userstate import (
    BagStateSpec,
    ReadModifyWriteStateSpec,
    TimerSpec,
    on_timer,
)
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.timestamp import Timestamp

from beam_topics.model.documents import pending
from beam_topics.model.publishing.catalogue import CatalogueStore
from beam_topics.model.publishing.events import FIRST_WORDS, Event
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.publishing.version_events import record_of
from beam_topics.model.reporting.alarms import Rule, Watched
from beam_topics.model.reporting.shown import Shown
from beam_topics.model.stored import wire
from beam_topics.model.times import MICROSECONDS_PER_SECOND, parse_time, to_iso
from beam_topics.transforms.shared import LAST_TIME, PendingDoFn, StatefulDoFn

# No id of a topic is larger; the numbers of the events of a window are apart from those of others.
_NUMBERS = 2**20
# The field that rows of stories have, and the stories that a burst names.
_IS_STORY, MOST_STORIES = "story", 3


class Watch(NamedTuple):
    """What has a state: a model key, a rule, a group (None: all) and a word (None: topics)."""

    key: str
    rule: str = ""
    group: str | None = None
    word: str | None = None

    def to_bytes(self) -> bytes:
        """Return the key of the state."""
        return wire.canonical_json(self).encode()

    def named(self) -> dict[str, str | None]:
        """Return the fields of a record that say what was watched; none without rules."""
        return {name: getattr(self, name) for name in self._fields[1:] if self.rule}


def by_watch(data: bytes, rules: Sequence[Rule]) -> Iterator[tuple[bytes, bytes]]:
    """Yield a row with the key of each state that takes it; stories go to all of the model key."""
    row = json.loads(data)
    for rule in rules:
        for group, word in rule.watches():
            if _IS_STORY in row or (group in (None, row["group"]) and row.get("word") == word):
                yield Watch(row["key"], rule.name, group, word).to_bytes(), data


def records_of_bursts(
    store: ModelStore,
    watch: Watch,
    bursts: Sequence[Event],
    stories: Sequence[Mapping[str, Any]] = (),
) -> Iterator[bytes]:
    """Yield the records of bursts with rows of their stories, the newest burst first."""
    key, word = watch.key, watch.word
    found, shown = store.latest(key), None
    for event in sorted(bursts, key=lambda one: (one.time, one.topics), reverse=True):
        while found is not None and found.event_time >= event.time:
            found, shown = store.find(key, found.parent) if found.parent else None, None
        if found and shown is None and store.has_model(found):
            shown = Shown.stored(store, found)
        words, names = _words_and_names(shown, event.topics) if shown else ([], [])
        words = words if word is None else [[word]]
        place = sum(event.topics, len(event.topics))
        number = event.time // MICROSECONDS_PER_SECOND * _NUMBERS + place
        version, sequence = (found.version, found.sequence) if found else ("", 0)
        named = replace(event, words=words, sequence=sequence)
        some = _stories(event, word, stories)
        yield record_of(key, version, number, named, names, some, watch.named())


def _words_and_names(shown: Shown, topics: Sequence[int]) -> tuple[list[list[str]], list[str]]:
    """Return the first words and the names of topics; "" for one that the version lacks."""
    groups = [shown.groups_of([topic]) for topic in topics]
    snapshot = shown.snapshot
    words = [
        [snapshot.words[row] for group in some for row in snapshot.first_rows(group, FIRST_WORDS)]
        for some in groups
    ]
    return words, ["".join(shown.names[group] for group in some) for some in groups]


def _stories(
    event: Event, word: str | None, rows: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the stories of a window that got most documents of the topic or word of a burst.

    A word has the documents of the stories that it is a word of.
    """
    end, found = to_iso(event.time), []
    for row in rows:
        came = sum(one["documents"] for one in row["topics"] if one["topic"] in event.topics)
        came = came if word is None else row["came"] * (word in row["words"])
        if came and row["window_end"] == end:
            names = ("story", "first", "documents", "words")
            found.append({**{name: row[name] for name in names}, "came": came})
    found.sort(key=lambda one: (-one["came"], one["first"], one["story"]))
    return found[:MOST_STORIES]


class FindBurstsDoFn(PendingDoFn):
    """Judge windows in their order; keyed by the bytes of :class:`Watch`."""

    ROWS = BagStateSpec("rows", BytesCoder())
    WATCHED = ReadModifyWriteStateSpec("watched", BytesCoder())
    CLOSE = TimerSpec("bursts", TimeDomain.WATERMARK)
    _ROWS, _WATCHED = beam.DoFn.StateParam(ROWS), beam.DoFn.StateParam(WATCHED)
    _CLOSE = beam.DoFn.TimerParam(CLOSE)

    def __init__(
        self,
        root: str,
        window: int,
        known: Mapping[bytes, bytes],
        rules: Sequence[Rule],
        streams: bool,
        trust: str,
    ) -> None:
        self._root, self._window, self._known, self._trust = root, window, known, trust
        self._rules = {rule.name: rule for rule in rules}
        self._streams = streams

    def process(
        self,
        element: tuple[bytes, bytes],
        head: Any = StatefulDoFn._HEAD,
        bag: Any = _ROWS,
        timer: Any = _CLOSE,
    ) -> None:
        """Add a row to its window."""
        key, row = element
        before, read = self.read_head(key, head), json.loads(row)
        made = read["window_end" if _IS_STORY in read else "part"]
        # All rows of a window have the time of its end, so they are there a millisecond later.
        due = min(parse_time(made) + 1000, LAST_TIME)
        due = due if before.done is None else max(due, before.done + 1)
        self.write_head(key, pending.add(before, self.mirror(key), bag, [due], row), head)
        self.set_timer(key, timer, self.fires_at(due))

    @on_timer(CLOSE)
    def close(
        self,
        key: bytes = beam.DoFn.KeyParam,
        time: Timestamp = beam.DoFn.TimestampParam,
        head: Any = StatefulDoFn._HEAD,
        bag: Any = _ROWS,
        watched: Any = _WATCHED,
    ) -> Iterator[Any]:
        """Judge the windows that are due."""
        rows = [row for _, some in self.take_due(key, time, head, bag) for row in some]
        watch = Watch(*json.loads(key))
        # A job that is restored may have fewer rules.
        if not rows or (rule := self._rules.get(watch.rule)) is None:
            return
        data = watched.read() or self._known.get(key)
        known = Watched.from_bytes(data) if data else Watched()
        read = [(data, json.loads(data)) for data in rows]
        stories = [row for _, row in read if _IS_STORY in row]
        counted = [data for data, row in read if _IS_STORY not in row]
        named, store = None, ModelStore(self._root, self._trust)
        if rule.topics:
            catalogue = CatalogueStore(self._root, store.signatures).latest(watch.key)[1]
            named = catalogue.called(rule.topics)
        known, bursts = known.closed(self._window, counted, rule, named)
        watched.write(known.to_bytes())
        for record in records_of_bursts(store, watch, bursts, stories):
            yield TimestampedValue(record, time)


class FindBursts(beam.PTransform):
    """Report bursts; see the module's docstring.

    Args:
        root: The model store.
        window: The length of a window in microseconds.
        known: By the bytes of :class:`Watch`, what the first windows are judged by: the bytes of
            :class:`beam_topics.model.reporting.alarms.Watched`.
        rules: What is watched.
        streams: Whether windows close while the source is read, or all at its end. See
            :class:`beam_topics.transforms.sequence.Sequence`.
        trust: The file of public keys (:mod:`beam_topics.model.publishing.signatures`).
    """

    def __init__(
        self,
        root: str,
        window: int,
        known: Mapping[bytes, bytes],
        *,
        rules: Sequence[Rule] = (Rule(),),
        streams: bool,
        trust: str = "",
    ) -> None:
        super().__init__()
        self._rules = rules
        self._fn = FindBurstsDoFn(root, window, known, rules, streams, trust)

    def expand(self, rows: beam.PCollection) -> beam.PCollection:
        return (
            rows
            | "By key" >> beam.FlatMap(by_watch, self._rules).with_output_types(tuple[bytes, bytes])
            | "Apart" >> beam.Reshuffle()
            | "Judge" >> beam.ParDo(self._fn).with_output_types(bytes)
        )
