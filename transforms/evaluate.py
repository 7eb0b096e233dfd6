"""Score the versions of a model on held-out documents.

    versions: bytes (Manifest, JSON) -> lines: str (JSON), one for each version

Every version is scored on all documents. The documents are a side input, so a held-out set must
fit into the memory of a worker. The same holds for the reference corpus, which measures the
coherence of topics, and for the documents that a classifier is trained with.
:mod:`beam_topics.model.evaluation` computes the figures. Figures that were measured during learning
come from the manifest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import apache_beam as beam

from beam_topics.model.documents.block import Block
from beam_topics.model.evaluation.coherence import coherence_figures
from beam_topics.model.evaluation.held_out import classification_figures, evaluate
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.publishing.succession import ranks_of
from beam_topics.model.stored import wire
from beam_topics.model.times import to_iso

_LEARNED = ("documents", "tokens", "words")
_AS_THEY_ARE = ("sequence", "event_time", "ess", "in_sample_nmi", "prequential_perplexity")


def figures_of(
    version: bytes,
    documents: Iterable[bytes],
    reference: Iterable[bytes],
    training: Iterable[bytes],
    store: str,
    words: Sequence[str] = (),
) -> str:
    """Return all figures of one version as one line of JSON.

    Args:
        version: The JSON of a manifest.
        documents: The held-out documents, as bytes of blocks in any order.
        reference: The documents of the reference corpus, in the same form.
        training: The documents that the classifier is trained with, in the same form.
        store: The root of the model store.
        words: Words whose rank in each topic is reported.
    """
    manifest = Manifest.from_json(version)
    snapshot = ModelStore(store).get_snapshot(manifest)
    ids = manifest.ids(snapshot.topic_count)
    held_out, known, labelled = (_in_order(part) for part in (documents, reference, training))
    figures = {
        "version": manifest.version,
        "day": to_iso(manifest.until)[:10],
        **{name: getattr(manifest, name) for name in _AS_THEY_ARE},
        **{f"learned_{name}": getattr(manifest, name) for name in _LEARNED},
        **evaluate(snapshot, held_out),
        **coherence_figures(snapshot, snapshot.joined(known), ids),
        **classification_figures(snapshot, labelled, held_out),
        "ranks": ranks_of(snapshot, words, ids),
    }
    return wire.canonical_json(figures)


def _in_order(documents: Iterable[bytes]) -> Block:
    blocks = list(map(Block.from_bytes, documents))
    block = Block.joined(blocks) if blocks else Block.empty()
    return block.take(block.order())


class Evaluate(beam.PTransform):
    """Score versions on documents; gives one line of JSON for each version.

    Args:
        store: The root of the model store.
        words: Words whose rank in each topic is reported.
        documents: The held-out documents, a PCollection of the bytes of blocks.
        reference: The reference corpus in the same form, or None.
        training: The documents that a classifier is trained with, in the same form, or None.
    """

    def __init__(
        self,
        store: str,
        words: Sequence[str],
        documents: beam.PCollection,
        reference: beam.PCollection | None = None,
        training: beam.PCollection | None = None,
    ) -> None:
        super().__init__()
        self._settings, self._sides = (store, words), (documents, reference, training)

    def expand(self, versions: beam.PCollection) -> beam.PCollection:
        sides = [[] if part is None else beam.pvalue.AsList(part) for part in self._sides]
        spread = versions | "In parallel" >> beam.Reshuffle().with_output_types(bytes)
        score = beam.Map(figures_of, *sides, *self._settings)
        return spread | "Score" >> score.with_output_types(str)
