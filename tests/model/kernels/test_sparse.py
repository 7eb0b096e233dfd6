import numpy as np
import pytest
from corpus_twin import corpus_of, sweeps_of, uniforms_of
from made import random_snapshot, snapshot_of
from sparse_twin import descending, slow_sparse

from model.inference.corpus import SparseSampler, corpora_of, sampler_of, topic_bits
from model.inference.corpus import descending as descending_rows
from model.kernels.random import stream_key
from model.kernels.sparse import sample_document

KEYS = stream_key(3, "k")


def texts_of(corpus):
    return [corpus.tokens[a:b].tolist() for a, b in zip(corpus.offsets[:-1], corpus.offsets[1:], strict=True)]


def swept(snapshot, documents, sweeps):
    rows, (corpus,) = corpora_of(snapshot, documents)
    sampler = sampler_of(snapshot, rows, [corpus], KEYS, "sparse")
    for sweep in range(sweeps + 1):
        sampler.sweep(corpus, sweep, first=sweep == 0)
    return rows, corpus, sampler


@pytest.mark.parametrize(("topics", "lengths", "sweeps"), [(1, [3, 2], 2), (2, [1], 0), (5, [60, 0, 7, 1], 4), (13, [9] * 6, 3)])
def test_equals_its_slow_twin(topics, lengths, sweeps):
    snapshot = random_snapshot(topics, words=12, topics=topics, alpha=np.linspace(0.01, 2, topics))
    rows, corpus, sampler = swept(snapshot, corpus_of(lengths, words=14), sweeps)
    states, counts = slow_sparse(snapshot, rows, texts_of(corpus), sweeps, uniforms_of(KEYS))
    assert corpus.states.tolist() == [t for document in states for t in document]
    assert corpus.in_documents.tolist() == counts.tolist()
    assert sampler.counts().sum(axis=0).tolist() == counts.sum(axis=0).tolist()


@pytest.mark.parametrize(("topics", "n", "sweeps", "kept"), [(1, 5, 2, 1), (2, 1, 0, 1), (5, 80, 4, 2), (13, 9, 3, 3), (7, 0, 3, 1)])
def test_a_document_alone_equals_its_slow_twin(topics, n, sweeps, kept):
    snapshot = random_snapshot(topics, words=20, topics=topics, alpha=np.linspace(0.01, 2, topics))
    generator = np.random.default_rng(n)
    rows, tokens = generator.permutation(20)[:6], generator.integers(0, 6, n).astype(np.int32)
    prior = snapshot.prior.strength, snapshot.prior.base[rows]
    parts = snapshot.offsets, *descending_rows(snapshot), snapshot.normalisers, snapshot.alpha, *prior
    fast = sample_document(tokens, rows, *parts, topic_bits(topics), sweeps, kept, *KEYS)
    uniforms, slow = sweeps_of(KEYS, sweeps + 1, n), np.zeros(topics, np.int64)
    for last in range(sweeps - kept + 1, sweeps + 1):
        slow += slow_sparse(snapshot, rows, [tokens.tolist()], last, lambda d, sweep, n: uniforms[sweep].tolist())[1][0]
    assert fast.tolist() == slow.tolist()


def rows_of(sampler):
    mask = (1 << sampler._bits) - 1
    for begin, length in zip(sampler._own_offsets[:-1], sampler._lengths, strict=True):
        yield [(int(entry & mask), int(entry >> sampler._bits)) for entry in sampler._own[begin : begin + length]]


def test_rows_are_in_descending_order_and_hold_what_documents_hold():
    snapshot = random_snapshot(1, words=8, topics=6)
    rows, corpus, sampler = swept(snapshot, corpus_of([300, 40, 3], words=8), 5)
    exact = np.zeros((len(rows), 6), int)
    np.add.at(exact, (corpus.tokens, corpus.states), 1)
    assert list(rows_of(sampler)) == [descending(row) for row in exact.tolist()]
    assert sampler.counts().tolist() == exact.tolist()


def test_a_state_that_is_restored_from_its_topics_goes_on_with_the_same_bits():
    snapshot, documents = random_snapshot(1, words=8, topics=6), corpus_of([300, 40, 3], words=8)
    rows, corpus, sampler = swept(snapshot, documents, 4)
    _, (other,) = corpora_of(snapshot, documents)
    restored = SparseSampler(snapshot, rows, [other], KEYS)
    other.states[:], other.in_documents[:] = corpus.states, corpus.in_documents
    restored._own_totals[:] = corpus.in_documents.sum(axis=0)
    for v, entries in enumerate(rows_of(sampler)):
        begin = restored._own_offsets[v]
        restored._own[begin : begin + len(entries)] = [n << restored._bits | t for t, n in entries]
        restored._lengths[v] = len(entries)
    for each, documents in ((sampler, corpus), (restored, other)):
        each.sweep(documents, 5)
        each.sweep(documents, 6)
    assert other.states.tolist() == corpus.states.tolist()


def test_counts_that_need_more_than_32_bits():
    snapshot = snapshot_of(np.ones((1, 2)))
    _, (corpus,) = corpora_of(snapshot, corpus_of([5], words=1))
    assert SparseSampler(snapshot, np.array([0]), [corpus], KEYS)._own.dtype == np.int32
    corpus.tokens = np.zeros(2**30, np.int8)
    assert SparseSampler(snapshot, np.array([0]), [corpus], KEYS)._own.dtype == np.int64


def test_the_model_can_be_forgotten():
    snapshot = snapshot_of([[1000.0, 0.0]], alpha=0.5, beta=1.0)
    _, corpus, sampler = swept(snapshot, corpus_of([40], words=1), 0)
    assert corpus.in_documents[0, 0] > 30
    sampler.forget_model()
    found = []
    for sweep in range(1, 200):
        sampler.sweep(corpus, sweep)
        found.append(int(corpus.in_documents[0, 0]))
    assert min(found) < 10
