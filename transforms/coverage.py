"""``Coverage``: how much of each window's words a model knows, and the signal that it should be trained again.

    documents: bytes (TokenisedDocument), or (bytes, version) -> reports: bytes (JSON), one for each model version and window

Windows are of event time. A report below ``retrain_below`` counts in the counter ``retrain`` and is logged as a warning, all others as
information, by the logger ``beam_topics.coverage``. Documents that come after their window was reported are not counted.
:mod:`model.coverage` has the logic.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

import apache_beam as beam
from apache_beam.metrics import Metrics
from apache_beam.transforms.window import FixedWindows
from apache_beam.utils.timestamp import Duration
from apache_beam.utils.windowed_value import WindowedValue

from model.coverage import RETRAIN_BELOW, CoverageReport, Tally
from model.errors import OptionError
from model.labelling import PRIOR
from model.records import TokenisedDocument
from model.snapshot import Snapshot
from model.store import ModelStore
from transforms.sequence import NAMESPACE

LOGGER = "beam_topics.coverage"
_MODELS = 4
_SEPARATOR = "\0"


class _Count(beam.DoFn):
    """Tallies of a bundle: ((model key, version), tally)."""

    def __init__(self, store: str, key: str | None) -> None:
        self._root, self._key = store, key

    def setup(self) -> None:
        self._store = ModelStore(self._root)
        self._snapshots: OrderedDict[tuple[str, str], Snapshot] = OrderedDict()

    def start_bundle(self) -> None:
        self._tallies: dict[tuple[str, str, Any], Tally] = {}

    def process(self, element: tuple[bytes, str], window: Any = beam.DoFn.WindowParam) -> None:
        data, version = element
        if version == PRIOR:
            return
        document = TokenisedDocument.from_bytes(data)
        key = document.key if self._key is None else self._key
        tally = self._tallies.setdefault((key, version, window), Tally())
        tally.add(self._snapshot(key, version), document)

    def finish_bundle(self) -> Iterator[WindowedValue]:
        for (key, version, window), tally in self._tallies.items():
            named = f"{version}{_SEPARATOR}{key}".encode(), tally.to_bytes()
            yield WindowedValue(named, window.max_timestamp(), [window])

    def _snapshot(self, key: str, version: str) -> Snapshot:
        if (key, version) not in self._snapshots:
            self._snapshots[key, version] = self._store.get_snapshot(key, self._store.manifest(key, version).snapshot)
            if len(self._snapshots) > _MODELS:
                self._snapshots.popitem(last=False)
        self._snapshots.move_to_end((key, version))
        return self._snapshots[key, version]


class _Report(beam.DoFn):
    """All tallies of a window to its report."""

    def __init__(self, retrain_below: float) -> None:
        self._below = retrain_below
        self._retrain = Metrics.counter(NAMESPACE, "retrain")
        self._windows = Metrics.counter(NAMESPACE, "coverage_windows")

    def process(self, element: tuple[bytes, Iterable[bytes]], window: Any = beam.DoFn.WindowParam) -> Iterator[bytes]:
        name, parts = element
        version, _, key = name.decode().partition(_SEPARATOR)
        tally = Tally()
        for part in parts:
            tally.merge(Tally.from_bytes(part))
        report = CoverageReport(key, version, window.start.micros, window.end.micros, tally, self._below)
        self._windows.inc()
        if report.retrain:
            self._retrain.inc()
        level = logging.WARNING if report.retrain else logging.INFO
        logging.getLogger(LOGGER).log(level, "%s", report.sentence(), extra={"report": report})
        yield report.as_json().encode()


class Coverage(beam.PTransform):
    """See the module's docstring.

    Args:
        store: root of the model store. window_micros: length of the windows, microseconds.
        version: of the model, where the elements are documents alone; None where each comes with its own.
        key: of the model; None where each document's own key says which.

    Raises:
        OptionError: a share that is not between 0 and 1.
    """

    def __init__(
        self,
        store: str,
        window_micros: int,
        retrain_below: float = RETRAIN_BELOW,
        version: str | None = None,
        key: str | None = None,
    ) -> None:
        super().__init__()
        if not 0 <= retrain_below <= 1:
            raise OptionError("--retrain_below", retrain_below, "a share between 0 and 1", "Give for example 0.7.")
        self._count, self._report = _Count(store, key), _Report(retrain_below)
        self._window, self._version = window_micros, version

    def expand(self, documents: beam.PCollection) -> beam.PCollection:
        if self._version is not None:
            documents = documents | "Version" >> beam.Map(_with, self._version).with_output_types(tuple[bytes, str])
        return (
            documents
            | "Windows" >> beam.WindowInto(FixedWindows(Duration(micros=self._window)))
            | "Count" >> beam.ParDo(self._count).with_output_types(tuple[bytes, bytes])
            | "Gather" >> beam.GroupByKey()
            | "Report" >> beam.ParDo(self._report).with_output_types(bytes)
        )


def _with(document: bytes, version: str) -> tuple[bytes, str]:
    return document, version
