"""``Evaluate``: versions of a model on held-out documents, side by side.

    versions: bytes (Manifest, JSON) -> lines: str (JSON), one for each version

Every version is scored on all the documents, which are a side input: a held-out set fits into a worker's memory.
:mod:`model.evaluation` has the figures; those that were measured while the model learned are added from its manifest.
"""

from __future__ import annotations

from collections.abc import Iterable

import apache_beam as beam

from model import wire
from model.evaluation import EvaluationSettings, evaluate
from model.manifest import Manifest
from model.records import TokenisedDocument
from model.store import ModelStore
from model.times import to_iso

_LEARNED = ("documents", "tokens", "words")
_AS_THEY_ARE = ("sequence", "event_time", "ess", "in_sample_nmi", "prequential_perplexity")


def figures_of(version: bytes, documents: Iterable[bytes], store: str, settings: EvaluationSettings) -> str:
    """All figures of one version, as one line of JSON.

    Args:
        version: a manifest's JSON. documents: bytes of TokenisedDocument, in any order. store: the root of the model store.
    """
    manifest = Manifest.from_json(version)
    snapshot = ModelStore(store).get_snapshot(manifest.key, manifest.snapshot)
    held_out = sorted((TokenisedDocument.from_bytes(data) for data in documents), key=lambda document: (document.timestamp, document.id))
    figures = {
        "version": manifest.version,
        "day": to_iso(manifest.event_time)[:10],
        **{name: getattr(manifest, name) for name in _AS_THEY_ARE},
        **{f"learned_{name}": getattr(manifest, name) for name in _LEARNED},
        **evaluate(snapshot, held_out, settings),
    }
    return wire.canonical_json(figures)


class Evaluate(beam.PTransform):
    """See the module's docstring.

    Args:
        documents: PCollection of TokenisedDocument bytes. store: the root of the model store. settings: how to score.
    """

    def __init__(self, documents: beam.PCollection, store: str, settings: EvaluationSettings) -> None:
        super().__init__()
        self._documents, self._store, self._settings = documents, store, settings

    def expand(self, versions: beam.PCollection) -> beam.PCollection:
        documents = beam.pvalue.AsList(self._documents)
        spread = versions | "In parallel" >> beam.Reshuffle().with_output_types(bytes)
        return spread | "Score" >> beam.Map(figures_of, documents, self._store, self._settings).with_output_types(str)
