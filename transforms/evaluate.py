"""``Evaluate``: versions of a model on held-out documents, side by side.

    versions: bytes (Manifest, JSON) -> lines: str (JSON), one for each version

Every version is scored on all the documents, which are a side input: a held-out set fits into a
worker's memory. So are the documents of a reference corpus, by which the topics' coherence is
judged, and those that a classifier is trained with, where there are any. :mod:`model.evaluation`
has the figures; those that were measured while the model learned are added from its manifest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import apache_beam as beam

from model import wire
from model.evaluation import EvaluationSettings, evaluate
from model.evaluation.classification import classification_figures
from model.evaluation.coherence import coherence_figures
from model.publishing.manifest import Manifest
from model.publishing.store import ModelStore
from model.publishing.topic_changes import ranks_of
from model.records import TokenisedDocument
from model.times import to_iso

_LEARNED = ("documents", "tokens", "words")
_AS_THEY_ARE = ("sequence", "event_time", "ess", "in_sample_nmi", "prequential_perplexity")


@dataclass(frozen=True)
class EvaluationPlan:
    """What is asked about each version.

    Attributes:
        store: the root of the model store. settings: how to score. words: whose rank in each topic
            is wanted.
    """

    store: str
    settings: EvaluationSettings
    words: tuple[str, ...] = ()


def figures_of(
    version: bytes,
    documents: Iterable[bytes],
    reference: Iterable[bytes],
    training: Iterable[bytes],
    plan: EvaluationPlan,
) -> str:
    """All figures of one version, as one line of JSON.

    Args:
        version: a manifest's JSON. documents, reference, training: bytes of TokenisedDocument, in
            any order.
    """
    manifest = Manifest.from_json(version)
    snapshot = ModelStore(plan.store).get_snapshot(manifest.key, manifest.snapshot)
    held_out, known, labelled = (_in_order(part) for part in (documents, reference, training))
    figures = {
        "version": manifest.version,
        "day": to_iso(manifest.event_time)[:10],
        **{name: getattr(manifest, name) for name in _AS_THEY_ARE},
        **{f"learned_{name}": getattr(manifest, name) for name in _LEARNED},
        **evaluate(snapshot, held_out, plan.settings),
        **coherence_figures(snapshot, known),
        **classification_figures(snapshot, labelled, held_out),
        "ranks": ranks_of(snapshot, plan.words),
    }
    return wire.canonical_json(figures)


def _in_order(documents: Iterable[bytes]) -> list[TokenisedDocument]:
    return sorted(map(TokenisedDocument.from_bytes, documents), key=TokenisedDocument.order)


class Evaluate(beam.PTransform):
    """See the module's docstring.

    Args:
        plan: what is asked. documents: PCollection of TokenisedDocument bytes. reference, training:
            the same, or None.
    """

    def __init__(
        self,
        plan: EvaluationPlan,
        documents: beam.PCollection,
        reference: beam.PCollection | None = None,
        training: beam.PCollection | None = None,
    ) -> None:
        super().__init__()
        self._plan, self._beside = plan, (documents, reference, training)

    def expand(self, versions: beam.PCollection) -> beam.PCollection:
        beside = [[] if part is None else beam.pvalue.AsList(part) for part in self._beside]
        spread = versions | "In parallel" >> beam.Reshuffle().with_output_types(bytes)
        return spread | "Score" >> beam.Map(figures_of, *beside, self._plan).with_output_types(str)
