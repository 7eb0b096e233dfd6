"""Training pairs for a classifier, and the classifier that is fitted to them, without Beam."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

import numpy as np

from model import __version__, wire
from model.inference import InferenceSettings, PublishedModel, inference_for
from model.inference.classifier import Classifier, Provenance
from model.inference.features import word_counts
from model.inference.fitting import FitProgress, Pair, fit
from model.inference.settings import FitSettings
from model.publishing.manifest import Manifest
from model.records import TokenisedDocument

_RANK_BYTES = 16


def make_pair(
    settings: InferenceSettings,
    prepared: Any,
    published: PublishedModel,
    document: TokenisedDocument,
) -> Pair | None:
    """Return a document with the proportions that the method gives it.

    Returns:
        The pair; None where the model knows none of the document's words.
    """
    counts = word_counts(published.snapshot, [document])
    if not counts.tokens[0]:
        return None
    (mixture,) = inference_for(settings).infer(prepared, [document])
    return Pair(
        f"{document.key}\0{document.id}",
        counts.rows,
        counts.occurrences.astype(np.float64),
        mixture.proportions,
    )


def with_rank(document: bytes, seed: int) -> bytes:
    """Return the document behind its rank in a uniform sample.

    The documents with the smallest ranks are a sample, which does not depend on their order.
    """
    found = TokenisedDocument.from_bytes(document)
    rank = hashlib.sha256(
        f"{seed}\0{found.key}\0{found.id}".encode() + hashlib.sha256(document).digest()
    ).digest()
    return rank[:_RANK_BYTES] + document


def without_rank(data: bytes) -> bytes:
    """Return the document without its rank."""
    return data[_RANK_BYTES:]


def fit_classifier(
    manifest: Manifest,
    topics: int,
    pairs: Iterable[Pair],
    settings: FitSettings,
    *,
    inference: InferenceSettings,
    on_step: Callable[[FitProgress], None],
) -> Classifier:
    """Fit a classifier for a model version; the result is a function of the set of pairs.

    Args:
        manifest: of the model version.
        topics: T.
        pairs: documents with their proportions.
        settings: how to fit.
        inference: the method that gave the proportions.
        on_step: is called after each iteration.
    """
    found = list(pairs)
    fitted = fit(found, topics, settings, on_step)
    provenance = Provenance(
        key=manifest.key,
        version=manifest.version,
        snapshot=manifest.snapshot,
        pairs=len(found),
        tokens=int(sum(pair.occurrences.sum() for pair in found)),
        pairs_digest=wire.digest(*sorted(pair.to_bytes() for pair in found)).hex(),
        settings=asdict(settings),
        method=inference.to_json(),
        variance=fitted.variance,
        held_out_loss=fitted.held_out_loss,
        iterations=fitted.iterations,
        release=__version__,
    )
    return Classifier(
        fitted.rows, fitted.weights, fitted.temperature, settings.features, provenance
    )
