"""Batch Gibbs sampling (Canini et al. 2009, Alg. 1), for initial batches and for ``batch-gibbs``.

C chains of sweeps over the same documents; the chain with the largest P(w, z) is the sample. A
sweep is an epoch of the engine in one sequence, S = 1, where G is even and stays:
a G_w = beta (:mod:`beam_topics.model.learners.engine.epoch`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from beam_topics.model.arrays import IntArray, LongArray
from beam_topics.model.learners.engine.epoch import epoch
from beam_topics.model.learners.engine.kernels.figures import log_joint
from beam_topics.model.learners.engine.state import State
from beam_topics.model.papers.settings import InitialBatch, PaperSettings
from beam_topics.model.scaled import Scaled

# Documents with their labels.
Documents = Sequence[tuple[IntArray, str | None]]


@dataclass(frozen=True, eq=False)
class Sample:
    """A sample of the topics of some documents.

    Attributes:
        counts: int32[W, T], n_wt.
        z: uint16[n], the topics of all tokens, document after document.
        starts: int64[D + 1], where documents begin.
        log_joint: ln P(w, z).
    """

    counts: IntArray
    z: IntArray
    starts: LongArray
    log_joint: float

    @property
    def joint(self) -> Scaled:
        """Return P(w, z)."""
        return Scaled.from_log(self.log_joint)

    def main_topics(self) -> list[int]:
        """Return the topic with the most tokens of each document, the first of equals."""
        topics, ends = self.counts.shape[1], self.starts.tolist()
        spans = zip(ends[:-1], ends[1:], strict=True)
        return [int(np.bincount(self.z[a:b], minlength=topics).argmax()) for a, b in spans]

    def arrivals(self, after: int) -> LongArray:
        """Return int64[2, T], the tokens and the documents of each topic from a document on."""
        topics, lengths = self.counts.shape[1], np.diff(self.starts)[after:]
        main = np.array(self.main_topics(), np.int64)[after:][lengths > 0]
        tokens = np.bincount(self.z[self.starts[after] :], minlength=topics)
        return np.array([tokens, np.bincount(main, minlength=topics)])


def draw_sample(settings: PaperSettings, key: str, documents: Documents, words: int) -> Sample:
    """Return the best chain over some documents.

    Args:
        settings: ``settings.initial`` says how many chains and sweeps there are.
        key: names the draws, with the seed.
        documents: int32[n] word numbers each, with labels.
        words: W, the number of words.
    """
    initial = settings.initial
    assert isinstance(initial, InitialBatch)
    chains = [
        _chain(settings, f"{key}\0chain {c}", documents, words) for c in range(initial.chains)
    ]
    return max(chains, key=lambda chain: chain.log_joint)


def _chain(settings: PaperSettings, name: str, documents: Documents, words: int) -> Sample:
    """Return the last state of a chain."""
    initial, size = settings.initial, settings.vocabulary.size
    assert isinstance(initial, InitialBatch)
    topics, lengths = settings.topic_count, np.array([len(tokens) for tokens, _ in documents])
    strength = size * settings.beta
    state = State(topics, settings.seed, name, a=strength, learns_strengths=False)
    state.add_words(words)
    state.base[:words] = 1.0 / size
    state.alpha[:topics] = settings.topic_alpha
    flat = np.concatenate([np.zeros(0, np.int32), *(tokens for tokens, _ in documents)])
    chosen = state.add_documents(flat, lengths.astype(np.int64))
    for _ in range(initial.sweeps + 1):
        epoch(state, chosen, 1, reseats=False)
    starts, shares = state.offsets[: len(documents) + 1].copy(), strength * state.base[:words]
    z, counts = state.z[: state.tokens].copy(), state.rows[:words]
    fit = log_joint(starts, z, counts, state.totals, shares, strength, state.alpha)
    return Sample(counts[:, :topics].copy(), z, starts, float(fit))
