"""A slow twin of Gibbs sampling over several documents beside a model's counts.

``bug`` plants an error that tests must find.
"""

import numpy as np

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.kernels.random import INFERENCE, fill_uniforms


def corpus_of(lengths, words, seed=0):
    generator = np.random.default_rng(seed)
    texts = [[f"w{w}" for w in generator.integers(0, words, n)] for n in lengths]
    return Block.of_words([Document(f"d{d:03d}", d, "") for d in range(len(texts))], texts)


def uniforms_of(keys):
    def draw(document, sweep, n):
        values = np.empty(n)
        fill_uniforms(values, n, sweep * n, *keys, 0, document, INFERENCE)
        return values.tolist()

    return draw


def slow_passes(snapshot, rows, texts, sweeps, uniforms, bug=None):
    """The topics of each document's tokens, and its n_td, after a pass and ``sweeps`` sweeps."""
    topics = range(snapshot.topic_count)
    table = (snapshot.rows(rows) + snapshot.prior.shares(rows)).tolist()
    totals = snapshot.normalisers.tolist()
    alpha = [float(a) for a in snapshot.alpha]
    own, own_totals = [[0] * len(alpha) for _ in table], [0] * len(alpha)
    counts, states = [[0] * len(alpha) for _ in texts], [[0] * len(text) for text in texts]

    def count(d, v, t, step):
        own[v][t] += step
        own_totals[t] += step
        counts[d][t] += step

    for sweep in range(sweeps + 1):
        for d, text in enumerate(texts):
            if bug == "other documents forgotten":
                own, own_totals = [[0] * len(alpha) for _ in table], [0] * len(alpha)
                for v, t in zip(text, states[d], strict=True) if sweep else ():
                    own[v][t] += 1
                    own_totals[t] += 1
            for i, (v, u) in enumerate(zip(text, uniforms(d, sweep, len(text)), strict=True)):
                if sweep and bug != "not taken out":
                    count(d, v, states[d][i], -1)
                gain = [(alpha[t] + counts[d][t]) / (totals[t] + own_totals[t]) for t in topics]
                seen = [0 if bug == "own counts forgotten" else own[v][t] for t in topics]
                total, sums = 0.0, []
                for t in topics:
                    total += gain[t] * (table[v][t] + seen[t])
                    sums.append(total)
                new = next(t for t in topics if sums[t] > u * total)
                if sweep and bug == "not taken out":
                    count(d, v, states[d][i], -1)
                count(d, v, new, 1)
                states[d][i] = new
    return states, counts


def sweeps_of(key, passes, n):
    """float64[passes, n]: the uniforms of a document alone."""
    values = np.empty(passes * n)
    fill_uniforms(values, len(values), 0, *key, 0, 0, INFERENCE)
    return values.reshape(passes, n)
