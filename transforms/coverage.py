"""Measure how much of each window's vocabulary a model knows.

    tallies: (shard, bytes) -> reports: bytes (JSON), one for each key, version and window

The steps that infer (:mod:`beam_topics.transforms.infer`) tally their documents. Windows are of
event time. A document counts in the window in which it is labelled. In ``beam-topics infer`` that
is the window of its own time. ``beam-topics stream`` labels a document after its window has closed,
so it counts in the window that is open then, as does a late one. A report below ``retrain_below``
increments the counter ``retrain`` and is logged as a warning; the others are logged as information.
The tallies wait in state for the end of the window (:mod:`beam_topics.transforms.shared`), where
they are added up.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from zlib import crc32

import apache_beam as beam
from apache_beam.metrics import Metrics

from beam_topics.model.inference.features import CoverageReport, Tally
from beam_topics.model.inference.serving import Window
from beam_topics.model.stored.wire import canonical_json
from beam_topics.transforms.shared import NAMESPACE, ByPeriod, SummingDoFn, at_end_of

LOGGER = "beam_topics.coverage"
# The output of a step that infers, with its tallies.
TALLIES = "tallies"
# The state of a step costs some milliseconds for each Beam key and bundle. So the tallies of many
# model keys share a Beam key.
SHARDS = 16
_SEPARATOR = b"\0"


def tagged_tallies(tallies: Mapping[Window, Tally], length: int) -> Iterator[Any]:
    """Yield tallies as tagged outputs, each at the last moment of its window."""
    for (key, version, window), tally in tallies.items():
        shard = b"%d" % (crc32(key.encode()) % SHARDS)
        name = canonical_json([key, version]).encode()
        value = at_end_of(window, length, (shard, name + _SEPARATOR + tally.to_bytes()))
        yield beam.pvalue.TaggedOutput(TALLIES, value)


class _Report(SummingDoFn):
    """Add up tallies, and emit a report for each key, version and window; keyed by shard."""

    def __init__(self, window_micros: int, retrain_below: float | None, streams: bool) -> None:
        super().__init__(window_micros, streams)
        self._below = retrain_below
        self._retrain = Metrics.counter(NAMESPACE, "retrain")
        self._windows = Metrics.counter(NAMESPACE, "coverage_windows")

    def close_period(self, key: bytes, end: int, records: list[bytes]) -> Iterator[bytes]:
        for name, tally in sums(records):
            model_key, version = json.loads(name)
            report = CoverageReport(model_key, version, end - self._period, end, tally, self._below)
            self._windows.inc()
            if report.retrain:
                self._retrain.inc()
            level = logging.WARNING if report.retrain else logging.INFO
            logging.getLogger(LOGGER).log(level, "%s", report.sentence(), extra={"report": report})
            yield report.as_json().encode()

    def is_smaller(self, records: list[bytes]) -> bool:
        # Where most tallies are of models of their own, adding up makes few of them.
        return len(records) >= 2 * len({record.partition(_SEPARATOR)[0] for record in records})

    def added_up(self, records: list[bytes]) -> Iterable[bytes]:
        if len(records) == 1:
            return records
        return [name + _SEPARATOR + tally.to_bytes() for name, tally in sums(records)]


def sums(records: Iterable[bytes]) -> list[tuple[bytes, Tally]]:
    """Return (name, sum of its tallies), sorted by name."""
    found: dict[bytes, Tally] = {}
    for record in records:
        name, _, data = record.partition(_SEPARATOR)
        tally = Tally.from_bytes(data)
        if (before := found.setdefault(name, tally)) is not tally:
            before.merge(tally)
    return sorted(found.items(), key=lambda item: item[0])


class Coverage(ByPeriod):
    """Report the coverage of each version and window, from tallies of bundles.

    Args:
        window_micros: The length of the windows in microseconds.
        retrain_below: The coverage below which a report asks for retraining, as a share of the
            distinct words. None turns the signal off.
        streams: Whether windows close while the source is read, or all at its end. See
            :class:`beam_topics.transforms.sequence.Sequence`.
    """

    def __init__(self, window_micros: int, retrain_below: float | None, *, streams: bool) -> None:
        super().__init__(None, "Report", _Report(window_micros, retrain_below, streams), bytes)
