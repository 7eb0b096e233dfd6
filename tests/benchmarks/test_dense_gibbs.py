import numpy as np
import pytest
from corpus_twin import corpus_of, slow_passes, uniforms_of
from made import random_snapshot

from beam_topics.model.inference.features import numbered
from beam_topics.model.kernels.random import stream_key
from beam_topics.model.papers.gibbs2 import build_corpora
from benchmarks.dense_gibbs import DenseSampler


@pytest.mark.parametrize(
    ("topics", "lengths", "sweeps"),
    [(1, [3, 2], 2), (2, [1], 0), (5, [40, 0, 7, 1], 3), (13, [5] * 6, 2)],
)
def test_equals_its_slow_twin(topics, lengths, sweeps):
    snapshot = random_snapshot(topics, words=12, topics=topics, alpha=np.linspace(0.01, 2, topics))
    documents = corpus_of(lengths, words=14)
    keys = stream_key(3, "k")
    rows, (corpus,) = build_corpora(numbered(snapshot, documents))
    sampler = DenseSampler(snapshot, rows, keys)
    for sweep in range(sweeps + 1):
        sampler.sweep(corpus, sweep, first=sweep == 0)
    texts = [
        corpus.tokens[a:b].tolist()
        for a, b in zip(corpus.offsets[:-1], corpus.offsets[1:], strict=True)
    ]
    states, counts = slow_passes(snapshot, rows, texts, sweeps, uniforms_of(keys))
    assert corpus.states.tolist() == [t for document in states for t in document]
    assert corpus.in_documents.tolist() == counts
    assert sampler.counts().sum(axis=0).tolist() == np.sum(counts, axis=0).tolist()
