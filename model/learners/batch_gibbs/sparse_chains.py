"""Batch Gibbs by SparseLDA: chains over all documents, on packed counts instead of the particles'
tables.

The law is that of the particle kernels and the draws are not. A chain starts with the topics that
its documents have one after the other, each token's drawn given those before it, and then makes its
sweeps. Its uniforms are named by (seed, key, chain, document, sweep, token). Particles need tables
that they can share, and a whole weight for each token; chains that never meet need neither.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from model.gibbs.kernels import sparse_lda as sparse_lda
from model.gibbs.kernels.joint import joint_probability
from model.gibbs.packed_counts import PackedCounts
from model.kernels import random
from model.learners.particles.population import over_slices
from model.records import FloatArray, IntArray, LongArray
from model.scaled import Scaled


class SparseChain:
    """One chain, before its first sweep.

    Attributes:
        states: int32[N], the tokens' topics. counts: n_wt. totals: int64[T], n_t. in_documents:
            int32[D, T], n_td. sweeps: made so far.
    """

    def __init__(
        self,
        documents: Sequence[IntArray],
        alpha: FloatArray,
        a: float,
        base: FloatArray,
        keys: tuple[int, int],
    ) -> None:
        """Of documents that are each int32[n], word numbers, with alpha: float64[T], and a and
        B(w), float64[V], as the topics' prior.
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
        """Each token's topic given those of all others; in the first sweep, of those before it."""
        alpha, a, base = self._prior
        strength = np.full(len(alpha), a)
        documents = self.tokens, self._offsets, self.states, self.in_documents
        prior = self.totals, strength, alpha, strength, base, *sparse_lda.empty_rows(len(base))

        def kernel(progress: LongArray, carried: FloatArray) -> None:
            counts = *self.counts.rows, *self.counts.growth
            sparse_lda.sweep_documents(
                *documents,
                *prior,
                *counts,
                self.sweeps == 0,
                0,
                self.sweeps,
                *self._keys,
                progress,
                carried,
            )

        self.counts.run(len(self.in_documents), kernel)
        self.sweeps += 1

    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return self.counts.entries.nbytes + sum(
            a.nbytes for a in (self.tokens, self.states, self.in_documents, *self.counts.rows[::2])
        )

    def joint(self) -> Scaled:
        """P(w, z)."""
        mantissa, exponent = joint_probability(
            self.in_documents, self.totals, *self._prior, *self.counts.rows
        )
        return Scaled(float(mantissa), int(exponent))


def best_chain(
    documents: Sequence[IntArray],
    alpha: FloatArray,
    a: float,
    base: FloatArray,
    chains: int,
    sweeps: int,
    seed: int,
    key: str,
    threads: int,
) -> tuple[SparseChain, Scaled]:
    """Of so many chains, after so many sweeps, the one with the largest joint probability, the
    first of equals; and that probability.
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
