"""Gibbs3 of Yao, Mimno and McCallum (2009): each document alone, by Gibbs sampling.

The document's tokens are added to the training counts one by one, each topic drawn given all tokens before it, and then redrawn in
sweeps. While that goes on the counts n_wz and n_z hold the document's own tokens too; nothing of it stays for the next document.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from model.inference.base import InferenceSettings, known_tokens, mixture_of, register
from model.kernels import random
from model.kernels.gibbs3 import sample_document
from model.records import FloatArray, TokenisedDocument, TopicMixture
from model.snapshot import Snapshot


@dataclass(frozen=True, eq=False)
class PreparedGibbs3:
    """A model and how to use it; ``totals`` is float64[T], n_z + a."""

    settings: InferenceSettings
    snapshot: Snapshot
    model_version: str
    totals: FloatArray


@register("gibbs3")
class Gibbs3:
    """See the module's docstring."""

    name: str

    def prepare(self, settings: InferenceSettings, snapshot: Snapshot, model_version: str) -> PreparedGibbs3:
        return PreparedGibbs3(settings, snapshot, model_version, snapshot.totals + snapshot.prior.a)

    def infer(self, prepared: PreparedGibbs3, document: TokenisedDocument) -> TopicMixture:
        settings, snapshot = prepared.settings, prepared.snapshot
        rows, tokens = known_tokens(snapshot, document)
        key0, key1 = random.stream_key(settings.seed, f"{document.key}\0{document.id}")
        kept = max((settings.sweeps + 1) // 2, 1) if settings.average else 1
        counts = sample_document(
            tokens,
            rows,
            snapshot.offsets,
            snapshot.topics,
            snapshot.counts,
            prepared.totals,
            snapshot.alpha,
            snapshot.prior.share,
            settings.sweeps,
            kept,
            key0,
            key1,
        )
        weights = counts / kept + snapshot.alpha
        return mixture_of(document, prepared.model_version, self.name, weights / np.sum(weights), len(tokens))
