"""The ``none`` share: how probable it is that no topic explains a document.

Three explanations of the n known tokens of a document compete. Before the document is seen, each is
as probable as the others:

* the model: M = prod_i P(w_i | w_1 .. w_i-1), the first-moment estimate under the document's own
  mixture (:func:`model.evaluation.kernels.held_out.first_moment`). Each token is predicted from
  those before it, so a mixture that merely fits the tokens afterwards gains nothing;
* words without a topic, as frequent as in the whole model: Q = prod_i P(w_i);
* words without a topic, all W of them equally frequent: W^-n.

The share is (Q + W^-n) / (M + Q + W^-n). A document without a known token has no topic, and the
share 1.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from model.evaluation.kernels.held_out import first_moment
from model.inference.features import NumberedDocuments
from model.records import FloatArray, TopicMixture
from model.snapshot import Snapshot

# Beyond this power of two a ratio is 0 or infinite for the share.
_MOST_EXPONENT = 1000


class NoneShares:
    """Compute the shares of documents under one model.

    Args:
        snapshot: the model.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot, self._base = snapshot, base_probabilities(snapshot)

    def of(self, documents: NumberedDocuments) -> FloatArray:
        """Return float64[D], the share of each document."""
        return np.array([self._share(documents, d) for d in range(len(documents))], np.float64)

    def added_to(
        self, mixtures: list[TopicMixture], documents: NumberedDocuments
    ) -> list[TopicMixture]:
        """Return the mixtures of documents with their shares."""
        pairs = zip(mixtures, self.of(documents).tolist(), strict=True)
        return [replace(one, none=share) for one, share in pairs]

    def _share(self, documents: NumberedDocuments, d: int) -> float:
        rows = documents.rows[documents.offsets[d] : documents.offsets[d + 1]]
        tokens = rows[documents[d].tokens]
        distinct, places = np.unique(tokens[tokens >= 0], return_inverse=True)
        if not len(distinct):
            return 1.0
        snapshot = self._snapshot
        phi = (snapshot.rows(distinct) + snapshot.prior.shares(distinct)) / snapshot.normalisers
        alpha = snapshot.alpha
        predicted = first_moment(places.astype(np.int32), phi, alpha, float(alpha.sum()))
        frequent = _ratio(self._base[distinct][places] / predicted)
        even = _ratio(1.0 / len(snapshot.words) / predicted)
        odds = frequent + even
        return odds / (1.0 + odds)


def base_probabilities(snapshot: Snapshot) -> FloatArray:
    """Return float64[W], P(w) of the words of a model: its topics, weighted by their tokens."""
    totals = snapshot.totals
    whole = float(totals.sum())
    shares = totals / whole if whole else np.full(len(totals), 1.0 / len(totals))
    weights = shares / snapshot.normalisers
    rows = np.repeat(np.arange(len(snapshot.words)), np.diff(snapshot.offsets))
    counted = np.bincount(
        rows, weights=snapshot.counts * weights[snapshot.topics], minlength=len(snapshot.words)
    )
    found: FloatArray = counted + snapshot.prior.base * float(weights @ snapshot.prior.strength)
    return found


def _ratio(factors: FloatArray) -> float:
    """Return the product of positive factors without a logarithm, cut to the range of a float."""
    mantissa, exponent = 1.0, 0
    for factor in factors.tolist():
        mantissa, shift = math.frexp(mantissa * factor)
        exponent += shift
    return math.ldexp(mantissa, max(-_MOST_EXPONENT, min(exponent, _MOST_EXPONENT)))
