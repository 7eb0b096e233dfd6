"""Batch Gibbs by SparseLDA: chains over all documents, on packed counts instead of the particles' tables.

The law is that of the particle kernels and the draws are not. A chain starts with the topics that its documents have one after the other,
each token's drawn given those before it, and then makes its sweeps. Its uniforms are named by (seed, key, chain, document, sweep, token).
Particles need tables that they can share, and a whole weight for each token; chains that never meet need neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.kernels import random, sparse
from model.kernels.packed_joint import packed_joint
from model.learners.cloud import over_slices
from model.packed_counts import PackedCounts
from model.records import FloatArray, IntArray, LongArray
from model.scaled import Scaled


@dataclass(frozen=True, eq=False)
class SparseChain:
    """What a chain has come to.

    Attributes:
        states: int32[N], the tokens' topics. counts: n_wt. totals: int64[T], n_t. in_documents: int32[D, T], n_td. joint: P(w, z).
    """

    states: IntArray
    counts: PackedCounts
    totals: LongArray
    in_documents: IntArray
    joint: Scaled


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
) -> SparseChain:
    """The chain with the largest joint probability, the first of equals; ``documents`` and the prior as in :func:`run_chain`."""
    found: dict[int, SparseChain] = {}

    def run(first: int, last: int, thread: int) -> None:
        for chain in range(first, last):
            found[chain] = run_chain(documents, alpha, a, base, sweeps, random.stream_key(seed, f"{key}\0chain {chain}"))

    over_slices(chains, min(threads, chains), run)
    return found[max(range(chains), key=lambda chain: (found[chain].joint.order(), -chain))]


def run_chain(
    documents: Sequence[IntArray], alpha: FloatArray, a: float, base: FloatArray, sweeps: int, keys: tuple[int, int]
) -> SparseChain:
    """One chain.

    Args:
        documents: each int32[n], its tokens' word numbers. alpha: float64[T]. a, base: of the topics' prior, B(w) as float64[V].
        keys: of the stream of uniforms.
    """
    topics, words = len(alpha), len(base)
    tokens = np.concatenate([np.zeros(0, np.int32), *documents])
    offsets = np.cumsum([0, *map(len, documents)], dtype=np.int64)
    counts, totals, strength = PackedCounts(np.bincount(tokens, minlength=words), topics), np.zeros(topics, np.int64), np.full(topics, a)
    states, in_documents = np.zeros(len(tokens), np.int32), np.zeros((len(documents), topics), np.int32)
    for sweep in range(sweeps + 1):
        sparse.pass_over(
            tokens, offsets, states, in_documents, totals, strength, alpha, strength, base,
            *sparse.no_rows(words), *counts.rows, sweep == 0, 0, sweep, *keys,
        )  # fmt: skip
    mantissa, exponent = packed_joint(in_documents, totals, alpha, a, base, *counts.rows)
    return SparseChain(states, counts, totals, in_documents, Scaled(float(mantissa), int(exponent)))
