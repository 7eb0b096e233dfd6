"""Agreement of clusters with labels of documents: normalised mutual information.

nMI = I(labels; clusters) / mean of H(labels) and H(clusters), with the *arithmetic* mean. Other
means give other figures (the geometric mean never gives a smaller one), so papers are comparable
only where they use the same mean. nMI is 1 for equal partitions and 0 for independent ones.

>>> nmi(["sea", "sea", "land", "land"], [1, 1, 0, 0])
1.0
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from beam_topics.model.arrays import FloatArray


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
