"""The proportions that methods find, and the mixtures that are made of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from model.records import FloatArray, LongArray, TokenisedDocument, TopicMixture

# The smallest proportion. Methods that multiply probabilities would give 0 for long documents.
SMALLEST_PROPORTION = 1e-300


def make_mixtures(
    documents: Sequence[TokenisedDocument],
    model_version: str,
    method: str,
    proportions: FloatArray,
    words_known: LongArray,
) -> list[TopicMixture]:
    """Return the records of results.

    A document without a known word has no topic: its proportions are 0. This is the one place that
    says so; rows, trends, reports and the estimator follow from the numbers.

    Args:
        documents: D documents.
        model_version: the version that inferred them.
        method: name of the method.
        proportions: float64[D, T].
        words_known: int64[D], the number of known tokens.
    """
    proportions = np.where(words_known[:, None] > 0, proportions, 0.0)
    return [
        TopicMixture(
            key=document.key,
            id=document.id,
            timestamp=document.timestamp,
            model_version=model_version,
            method=method,
            proportions=row,
            words_known=known,
            tokens=len(document.tokens),
        )
        for document, row, known in zip(documents, proportions, words_known.tolist(), strict=True)
    ]


def posterior_mean(counts: FloatArray, alpha: FloatArray) -> FloatArray:
    """Return the mean of the Dirichlet posterior, (n_td + alpha_t) / sum."""
    weights = counts + alpha
    result: FloatArray = weights / np.sum(weights)
    return result


def posterior_means(counts: FloatArray, alpha: FloatArray) -> FloatArray:
    """Return :func:`posterior_mean` of many documents, float64[D, T], with the same bits."""
    weights = counts + alpha
    result: FloatArray = weights / np.sum(weights, axis=1, keepdims=True)
    return result


def softmax(logs: FloatArray) -> FloatArray:
    """Return exp(logs), normalised along the last axis, none below :data:`SMALLEST_PROPORTION`."""
    weights = np.exp(logs - np.max(logs, axis=-1, keepdims=True))
    result: FloatArray = np.maximum(
        weights / np.sum(weights, axis=-1, keepdims=True), SMALLEST_PROPORTION
    )
    return result
