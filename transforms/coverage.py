"""Measure how much of each window's vocabulary a model knows, and signal when to retrain.

    (bytes (TokenisedDocument), version) -> reports: bytes (JSON), one for each version and window

Windows are of event time. A document counts in the window in which it is labelled. In
``pipelines.infer`` that is the window of its own time. ``pipelines.stream`` labels a document
after its window has closed, so it counts in the window that is open then. A late document counts
in the open window too.

A report below ``retrain_below`` increments the counter ``retrain`` and is logged as a warning.
All other reports are logged as information. The logger is ``beam_topics.coverage``.

Each bundle tallies its own documents. The tallies wait in state for the end of the window
(:mod:`transforms.periods`), where they are added up. :mod:`model.inference.coverage` has the
logic.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import apache_beam as beam
from apache_beam.metrics import Metrics
from apache_beam.transforms.window import GlobalWindow, GlobalWindows
from apache_beam.utils.timestamp import Timestamp
from apache_beam.utils.windowed_value import WindowedValue

from model import pending
from model.errors import OptionError
from model.inference.coverage import RETRAIN_BELOW, CoverageReport, Tally
from model.inference.labelling import PRIOR
from model.pending import PendingHead
from model.publishing.store import ModelStore
from model.records import TokenisedDocument
from model.snapshot import Snapshot
from transforms.constants import LAST_TIME, NAMESPACE
from transforms.periods import PeriodDoFn

LOGGER = "beam_topics.coverage"
# The number of waiting tallies of a window at which they are added up.
MAX_TALLIES = 256
_MODELS = 4
_SEPARATOR = b"\0"


def with_version(document: bytes, version: str) -> tuple[bytes, str]:
    """Return a document with the version that labels it."""
    return document, version


class _Count(beam.DoFn):
    """Tally the documents of a bundle by model key, version and window.

    A tally is emitted at the last moment of its window.
    """

    def __init__(self, store: str, key: str | None, window_micros: int) -> None:
        self._root, self._key, self._window = store, key, window_micros

    def setup(self) -> None:
        self._store = ModelStore(self._root)
        self._snapshot = lru_cache(_MODELS)(self._read)

    def start_bundle(self) -> None:
        self._tallies: dict[tuple[str, str, int], Tally] = {}

    def process(
        self, element: tuple[bytes, str], time: Timestamp = beam.DoFn.TimestampParam
    ) -> None:
        data, version = element
        if version == PRIOR:
            return
        document = TokenisedDocument.from_bytes(data)
        key = document.key if self._key is None else self._key
        tally = self._tallies.setdefault((key, version, time.micros // self._window), Tally())
        tally.add(self._snapshot(key, version), document)

    def finish_bundle(self) -> Iterator[WindowedValue]:
        for (key, version, window), tally in self._tallies.items():
            last = Timestamp(micros=min((window + 1) * self._window - 1, LAST_TIME))
            yield WindowedValue(
                (key.encode(), _named(version.encode(), tally)), last, [GlobalWindow()]
            )

    def _read(self, key: str, version: str) -> Snapshot:
        return self._store.get_snapshot(self._store.manifest(key, version))


class _Report(PeriodDoFn):
    """Add up a model's tallies and emit one report for each version and window."""

    def __init__(self, window_micros: int, retrain_below: float | None, streams: bool) -> None:
        super().__init__(window_micros, streams)
        self._below = retrain_below
        self._retrain = Metrics.counter(NAMESPACE, "retrain")
        self._windows = Metrics.counter(NAMESPACE, "coverage_windows")

    def close_period(self, key: bytes, end: int, records: list[bytes]) -> Iterator[bytes]:
        for version, tally in sums(records):
            report = CoverageReport(
                key.decode(), version.decode(), end - self._period, end, tally, self._below
            )
            self._windows.inc()
            if report.retrain:
                self._retrain.inc()
            level = logging.WARNING if report.retrain else logging.INFO
            logging.getLogger(LOGGER).log(level, "%s", report.sentence(), extra={"report": report})
            yield report.as_json().encode()

    def is_full(self, key: bytes, head: PendingHead, bag: Any, due: int) -> bool:
        mirror = self.mirrors.of(key)
        if head.live % MAX_TALLIES == 0:
            # After a failed bundle the mirror is rebuilt by reading the whole bag. The condition
            # keeps that rare.
            mirror = pending.matched(head, mirror, bag)
        return mirror.matches(head) and len(mirror.at(due)) >= MAX_TALLIES

    def compact(self, key: bytes, head: PendingHead, bag: Any) -> tuple[list[bytes], PendingHead]:
        """Replace the tallies of each version and window by their sum."""
        waiting, head = self.take_all(key, head, bag)
        for due, records in waiting:
            for record in (
                records
                if len(records) == 1
                else [_named(version, tally) for version, tally in sums(records)]
            ):
                head = pending.add(head, self.mirrors.of(key), bag, due, record)
        return [], head


def sums(records: Iterable[bytes]) -> list[tuple[bytes, Tally]]:
    """Return (version, sum of its tallies), sorted by version."""
    found: dict[bytes, Tally] = {}
    for record in records:
        version, _, data = record.partition(_SEPARATOR)
        found.setdefault(version, Tally()).merge(Tally.from_bytes(data))
    return sorted(found.items(), key=lambda item: item[0])


def _named(version: bytes, tally: Tally) -> bytes:
    return version + _SEPARATOR + tally.to_bytes()


class Coverage(beam.PTransform):
    """Report the coverage of each version and window.

    Args:
        store: The root of the model store.
        window_micros: The length of the windows in microseconds.
        retrain_below: The coverage below which a report asks for retraining, as a share of the
            distinct words. None turns the signal off.
        key: The model key. None takes the key of each document.
        streams: Whether windows close while the source is read, or all at its end. See
            :class:`transforms.sequence.Sequence`.

    Raises:
        OptionError: ``retrain_below`` is not between 0 and 1.
    """

    def __init__(
        self,
        store: str,
        window_micros: int,
        retrain_below: float | None = RETRAIN_BELOW,
        key: str | None = None,
        *,
        streams: bool,
    ) -> None:
        super().__init__()
        if retrain_below is not None and not 0 <= retrain_below <= 1:
            raise OptionError(
                "--retrain_below", retrain_below, "a share between 0 and 1", "Give for example 0.7."
            )
        self._count, self._report = (
            _Count(store, key, window_micros),
            _Report(window_micros, retrain_below, streams),
        )

    def expand(self, versioned: beam.PCollection) -> beam.PCollection:
        return (
            versioned
            | "Global" >> beam.WindowInto(GlobalWindows())
            | "Count" >> beam.ParDo(self._count).with_output_types(tuple[bytes, bytes])
            | "Apart" >> beam.Reshuffle()
            | "Report" >> beam.ParDo(self._report).with_output_types(bytes)
        )
