"""Where particles meet: weights, and who descends from whom (Canini et al. 2009, section 3.4).

A meeting has three steps: :func:`meet` says who descends from whom, the survivors settle what they drew
(:mod:`model.kernels.arrivals`), and all :func:`become` what their ancestors are. It comes after each document, or, in
:mod:`model.kernels.filter`, after each token. Between two meetings particles are independent and may run in threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model.kernels.jit import kernel
from model.kernels.resampling import ancestors_of, children, normalise_weights
from model.kernels.tables import inherit

RESAMPLINGS, MOVES, SCHEDULED, GENERATIONS = range(4)


class Meeting(NamedTuple):
    """What a meeting needs beside the cloud.

    threshold: resample when ESS <= threshold; 0: never, and then the particles are chains of equal weight. scheme: see :mod:`resampling`.
    evidence, evidence_exponent: float64[1], int64[1], the running product of P(document | past).
    ess: float64[1], after the last meeting. counters: int64[4], of this minibatch: resamplings, moves drawn, units
    scheduled; and, over the whole life, generations given.
    """

    threshold: float
    scheme: int
    evidence: npt.NDArray[np.float64]
    evidence_exponent: npt.NDArray[np.int64]
    ess: npt.NDArray[np.float64]
    counters: npt.NDArray[np.int64]


@kernel
def become(cloud: Any, ancestors: Any, counters: Any) -> None:
    """Every particle becomes a child of ``ancestors[p]``, sharing what it had; weights are even afterwards."""
    size = len(ancestors)
    shared = np.zeros(size, np.bool_)
    for p in range(size):
        if ancestors[p] != p:
            shared[ancestors[p]] = True
            shared[p] = True
    for p in range(size):
        if ancestors[p] != p:
            parent = ancestors[p]
            cloud.totals[p, :] = cloud.totals[parent, :]
            cloud.kinds[p, :] = cloud.kinds[parent, :]
            cloud.tables[p] = cloud.tables[parent]
            cloud.concentration[p, :] = cloud.concentration[parent, :]
            cloud.joint[p] = cloud.joint[parent]
            cloud.joint_exponent[p] = cloud.joint_exponent[parent]
        if shared[p]:
            counters[GENERATIONS] += 1
            cloud.generation[p] = counters[GENERATIONS]
        cloud.weight[p] = 1.0 / size
        cloud.weight_exponent[p] = 0
    inherit(cloud.words, ancestors)
    inherit(cloud.documents, ancestors)
    inherit(cloud.topics, ancestors)


@kernel
def meet(cloud: Any, meeting: Any, draws: Any, ancestors: Any) -> Any:
    """Normalise the weights, take the evidence; whether the ESS asks for resampling, and who descends from whom: int64[P]."""
    size = len(cloud.weight)
    for p in range(size):
        ancestors[p] = p
    meeting.ess[0] = normalise_weights(cloud.weight, cloud.weight_exponent, meeting.evidence, meeting.evidence_exponent)
    if meeting.threshold <= 0.0:
        for p in range(size):
            cloud.weight[p] = 1.0 / size
        return False
    if meeting.ess[0] > meeting.threshold or size == 1:
        return False
    counts = np.empty(size, np.int64)
    number = meeting.counters[RESAMPLINGS]
    children(cloud.weight, meeting.scheme, counts, draws.key0, draws.key1, cloud.identity[0], draws.sequence, number)
    ancestors_of(counts, ancestors)
    meeting.counters[RESAMPLINGS] += 1
    return True
