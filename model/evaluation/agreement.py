"""Agreement: of two inference methods on the same documents, and of clusters with labels.

Methods are compared by the three measures of Yao, Mimno and McCallum (2009). For a document with
proportions p by the reference and q by the method:

* cosine: the cosine of the angle between p and q; 1 is the same direction.
* KL(p || q) = sum_t p_t ln(p_t / q_t), nats; 0 is equality.
* F1 of the topics that hold ``mass`` (80 %) of p and of q, each the smallest such set: the harmonic
  mean of precision and recall.

All are means over the documents that have a known word. Every method gives the prior to the others.

Clusters of a model are compared with labels of documents by their normalised mutual information,

nMI = I(labels; clusters) / mean of H(labels) and H(clusters), with the *arithmetic* mean. Other
means give other figures (the geometric mean never gives a smaller one), so papers are comparable
only where they use the same mean. nMI is 1 for equal partitions and 0 for independent ones.

>>> nmi(["sea", "sea", "land", "land"], [1, 1, 0, 0])
1.0
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from beam_topics.model.arrays import FloatArray
from beam_topics.model.errors import OptionError
from beam_topics.model.inference.mixtures import TopicMixture


def nmi(labels: Sequence[Hashable], clusters: Sequence[Hashable]) -> float:
    """Return the nMI of two partitions of the same documents; 1 where both have one part only.

    Raises:
        ValueError: there is no document, or the partitions have different lengths.
    """
    if len(labels) != len(clusters) or not len(labels):
        raise ValueError(
            "one label and one cluster for each of at least one document is needed, not"
            f" {len(labels)} and {len(clusters)}"
        )
    joint = np.zeros((len(set(labels)), len(set(clusters))))
    np.add.at(joint, (_numbers(labels), _numbers(clusters)), 1.0)
    return nmi_of_table(joint)


def nmi_of_table(joint: FloatArray) -> float:
    """Return the nMI of a contingency table: one row for each label, one column for each cluster.

    Args:
        joint: counts that are not negative, at least one of them positive, of shape (labels,
            clusters).
    """
    of_labels, of_clusters = _entropy(joint.sum(axis=1)), _entropy(joint.sum(axis=0))
    if of_labels + of_clusters == 0:
        return 1.0
    information = of_labels + of_clusters - _entropy(joint.ravel())
    return float(min(max(information / ((of_labels + of_clusters) / 2), 0.0), 1.0))


def main_topics(counts: npt.NDArray[Any]) -> list[int]:
    """Return the largest topic of each document, the cluster that it is in.

    Args:
        counts: [D, T], tokens or proportions. Documents without any are one cluster, -1.
    """
    return np.where(counts.any(axis=1), counts.argmax(axis=1), -1).tolist()


def _numbers(values: Sequence[Hashable]) -> list[int]:
    """Return the values as 0, 1, 2, ... in order of first use."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(value, len(numbers)) for value in values]


def _entropy(counts: FloatArray) -> float:
    """Return the entropy in nats."""
    shares = counts[counts > 0] / counts.sum()
    return float(-np.sum(shares * np.log(shares)))


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
