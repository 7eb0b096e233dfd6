"""Batch Gibbs sampling with SparseLDA: chains over all documents, on packed counts.

The distribution is that of the particle kernels; the draws are others. In its first sweep a chain
draws each token's topic given the tokens before it, and in later sweeps given all other tokens. Its
uniforms are named by (seed, key, chain, document, sweep, token). Particles need tables that they
can share, and a weight for each token. Chains are independent and need neither.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from beam_topics.model.gibbs.kernels import sparse_lda
from beam_topics.model.gibbs.kernels.records import (
    Documents,
    PackedRows,
    SparseFixed,
    SweepName,
    SweepPosition,
)
from beam_topics.model.gibbs.packed_counts import PackedCounts
from beam_topics.model.kernels import random
from beam_topics.model.kernels.threads import over_slices
from beam_topics.model.learners.batch_gibbs.kernels.joint import joint_probability
from beam_topics.model.records import FloatArray, IntArray
from beam_topics.model.scaled import Scaled


class SparseChain:
    """One chain of Gibbs sweeps.

    Attributes:
        tokens: int32[N], word numbers of all documents.
        states: int32[N], the tokens' topics.
        counts: n_wt.
        totals: int64[T], n_t.
        in_documents: int32[D, T], n_td.
        sweeps: the number of sweeps so far.
    """

    def __init__(
        self,
        documents: Sequence[IntArray],
        alpha: FloatArray,
        a: float,
        base: FloatArray,
        keys: tuple[int, int],
    ) -> None:
        """Create a chain before its first sweep.

        Args:
            documents: int32[n] each, word numbers.
            alpha: float64[T], the Dirichlet prior of a document's topics.
            a: the prior strength of each topic.
            base: float64[V], B(w).
            keys: the stream key of the chain.
        """
        topics, words = len(alpha), len(base)
        self.tokens = np.concatenate([np.zeros(0, np.int32), *documents])
        self.counts = PackedCounts(np.bincount(self.tokens, minlength=words), topics)
        self.states, self.totals = np.zeros(len(self.tokens), np.int32), np.zeros(topics, np.int64)
        self.in_documents = np.zeros((len(documents), topics), np.int32)
        self.sweeps = 0
        self._offsets = np.cumsum([0, *map(len, documents)], dtype=np.int64)
        self._prior, self._keys = (alpha, a, base), keys

    def sweep(self) -> None:
        """Draw the topic of each token once."""
        alpha, a, base = self._prior
        strength = np.full(len(alpha), a)
        documents = Documents(self.tokens, self._offsets, self.states, self.in_documents)
        fixed = SparseFixed(*sparse_lda.empty_rows(len(base)), strength, alpha, strength, base)
        name = SweepName(self.sweeps == 0, 0, self.sweeps, *self._keys)

        def kernel(rows: PackedRows, position: SweepPosition) -> None:
            sparse_lda.sweep_documents(documents, fixed, rows, self.totals, name, position)

        self.counts.sweep(len(self.in_documents), kernel)
        self.sweeps += 1

    def nbytes(self) -> int:
        """Return the memory of the arrays."""
        rows = self.counts.rows
        arrays = self.tokens, self.states, self.in_documents, rows.begins, rows.lengths
        return rows.entries.nbytes + sum(array.nbytes for array in arrays)

    def joint(self) -> Scaled:
        """Return P(w, z)."""
        mantissa, exponent = joint_probability(
            self.in_documents, self.totals, *self._prior, self.counts.rows
        )
        return Scaled(float(mantissa), int(exponent))


def best_chain(
    documents: Sequence[IntArray],
    alpha: FloatArray,
    a: float,
    base: FloatArray,
    *,
    chains: int,
    sweeps: int,
    seed: int,
    key: str,
    threads: int,
) -> tuple[SparseChain, Scaled]:
    """Run independent chains and choose the one with the largest joint probability.

    Args:
        documents: int32[n] each, word numbers.
        alpha: float64[T], the Dirichlet prior of a document's topics.
        a: the prior strength of each topic.
        base: float64[V], B(w).
        chains: number of chains.
        sweeps: Gibbs sweeps of each chain after its first sweep.
        seed: seed of all draws.
        key: key of the model.
        threads: number of threads.

    Returns:
        The chain, the first one of equals, and its joint probability.
    """
    made = [
        SparseChain(documents, alpha, a, base, random.stream_key(seed, f"{key}\0chain {number}"))
        for number in range(chains)
    ]

    def run(first: int, last: int, thread: int) -> None:
        for chain in made[first:last]:
            for _ in range(sweeps + 1):
                chain.sweep()

    over_slices(chains, min(threads, chains), run)
    joints = [chain.joint() for chain in made]
    best = max(range(chains), key=lambda number: (joints[number].order(), -number))
    return made[best], joints[best]
