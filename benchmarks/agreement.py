"""Agreement of two inference methods on the same documents (Yao, Mimno and McCallum 2009).

For a document with proportions p by the reference and q by the method:

* cosine: the cosine of the angle between p and q; 1 is the same direction.
* KL(p || q) = sum_t p_t ln(p_t / q_t), nats; 0 is equality.
* F1 of the topics that hold ``mass`` (80 %) of p and of q, each the smallest such set: the harmonic
  mean of precision and recall.

All are means over the documents that have a known word. Every method gives the prior to the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from beam_topics.model.arrays import FloatArray
from beam_topics.model.errors import OptionError
from beam_topics.model.inference.mixtures import TopicMixture

MEASURES = ("cosine", "kl", "f1")


def cosine(p: FloatArray, q: FloatArray) -> float:
    """Return the cosine of the angle between two float64[T]."""
    return float(p @ q / np.sqrt((p @ p) * (q @ q)))


def divergence(p: FloatArray, q: FloatArray) -> float:
    """Return KL(p || q) in nats; both are float64[T] and positive."""
    return max(float(np.sum(p * np.log(p / q))), 0.0)


def major_topics(p: FloatArray, mass: float) -> set[int]:
    """Return the fewest topics that hold ``mass`` of p; of equal topics the lower comes first."""
    order = np.argsort(-p, kind="stable")
    count = int(np.searchsorted(np.cumsum(p[order]), mass * p.sum())) + 1
    return set(order[: min(count, len(p))].tolist())


def f1(p: FloatArray, q: FloatArray, mass: float) -> float:
    """Return F1 of the two sets of major topics."""
    wanted, found = major_topics(p, mass), major_topics(q, mass)
    return 2 * len(wanted & found) / (len(wanted) + len(found))


def agreement(
    reference: Sequence[TopicMixture], estimate: Sequence[TopicMixture], mass: float = 0.8
) -> dict[str, float | int | None]:
    """Return how many ``documents`` were compared, and the mean ``cosine``, ``kl`` and ``f1``.

    Args:
        reference: mixtures of the documents.
        estimate: other mixtures of the same documents, in the same order.
        mass: the share of the proportions that the major topics hold.

    Returns:
        The figures; the means are None where there is no document with a known word.

    Raises:
        OptionError: the mass is not between 0 and 1.
    """
    if not 0 < mass < 1:
        raise OptionError("mass", mass, "a share between 0 and 1", "Give for example 0.8.")
    pairs = [
        (one.proportions, other.proportions)
        for one, other in zip(reference, estimate, strict=True)
        if one.words_known
    ]
    each = np.array([(cosine(p, q), divergence(p, q), f1(p, q, mass)) for p, q in pairs]).reshape(
        -1, len(MEASURES)
    )
    means: Mapping[str, float | None] = dict(
        zip(MEASURES, each.mean(axis=0).tolist() if pairs else [None] * len(MEASURES), strict=True)
    )
    return {"documents": len(pairs), **means}
