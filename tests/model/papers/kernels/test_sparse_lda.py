import numpy as np
import pytest
from corpus_twin import corpus_of, uniforms_of
from made import random_snapshot, snapshot_of
from sparse_twin import slow_sparse, sorted_rows

from beam_topics.model.inference.features import numbered
from beam_topics.model.kernels.random import stream_key
from beam_topics.model.papers.gibbs2 import CorpusSampler, build_corpora, new_rows

KEYS = stream_key(3, "k")


def texts_of(corpus):
    return [
        corpus.tokens[a:b].tolist()
        for a, b in zip(corpus.offsets[:-1], corpus.offsets[1:], strict=True)
    ]


def swept(snapshot, documents, sweeps):
    rows, (corpus,) = build_corpora(numbered(snapshot, documents))
    sampler = CorpusSampler(snapshot, rows, [corpus], KEYS)
    for sweep in range(sweeps + 1):
        sampler.sweep(corpus, sweep, first=sweep == 0)
    return rows, corpus, sampler


@pytest.mark.parametrize(
    ("topics", "lengths", "sweeps"),
    [(1, [3, 2], 2), (2, [1], 0), (5, [60, 0, 7, 1], 4), (13, [9] * 6, 3), (40, [90, 30], 3)],
)
def test_equals_its_slow_twin(topics, lengths, sweeps):
    snapshot = random_snapshot(topics, words=12, topics=topics, alpha=np.linspace(0.01, 2, topics))
    rows, corpus, sampler = swept(snapshot, corpus_of(lengths, words=14), sweeps)
    states, counts = slow_sparse(snapshot, rows, texts_of(corpus), sweeps, uniforms_of(KEYS))
    assert corpus.states.tolist() == [t for document in states for t in document]
    assert corpus.in_documents.tolist() == counts.tolist()
    assert sampler.counts().sum(axis=0).tolist() == counts.sum(axis=0).tolist()


def rows_of(counts):
    mask = (1 << counts.bits) - 1
    for begin, length in zip(counts.begins, counts.lengths, strict=True):
        yield [
            (int(entry & mask), int(entry >> counts.bits))
            for entry in counts.entries[begin : begin + length]
        ]


def test_rows_are_in_descending_order_and_hold_what_documents_hold():
    snapshot = random_snapshot(1, words=8, topics=6)
    rows, corpus, sampler = swept(snapshot, corpus_of([300, 40, 3], words=8), 5)
    exact = np.zeros((len(rows), 6), int)
    np.add.at(exact, (corpus.tokens, corpus.states), 1)
    assert list(rows_of(sampler._sampled)) == [sorted_rows(row) for row in exact.tolist()]
    assert sampler.counts().tolist() == exact.tolist()


def test_a_state_that_is_restored_from_its_topics_goes_on_with_the_same_bits():
    snapshot, documents = random_snapshot(1, words=8, topics=6), corpus_of([300, 40, 3], words=8)
    rows, corpus, sampler = swept(snapshot, documents, 4)
    _, (other,) = build_corpora(numbered(snapshot, documents))
    restored = CorpusSampler(snapshot, rows, [other], KEYS)
    other.states[:], other.in_documents[:] = corpus.states, corpus.in_documents
    restored._sampled_totals[:] = corpus.in_documents.sum(axis=0)
    for v, entries in enumerate(rows_of(sampler._sampled)):
        begin = restored._sampled.begins[v]
        restored._sampled.entries[begin : begin + len(entries)] = [
            n << restored._sampled.bits | t for t, n in entries
        ]
        restored._sampled.lengths[v] = len(entries)
    for each, documents in ((sampler, corpus), (restored, other)):
        each.sweep(documents, 5)
        each.sweep(documents, 6)
    assert other.states.tolist() == corpus.states.tolist()


def test_counts_that_need_more_than_32_bits():
    for topics, largest, kind in (
        (2, 2**30 - 2, np.int32),
        (2, 2**30 - 1, np.int64),
        (257, 2**22 - 2, np.int32),
        (257, 2**22, np.int64),
    ):
        assert new_rows(np.array([largest]), topics).entries.dtype == kind


def test_a_row_has_room_for_the_topics_of_its_word_in_whole_blocks():
    rows = new_rows(np.array([3, 0, 9, 100]), topics=17)
    assert rows.begins.tolist() == [0, 8, 16, 32]
    assert len(rows.entries) == 56
    assert not rows.lengths.any()


def test_rows_of_64_bits_draw_the_same(monkeypatch):
    snapshot, documents = random_snapshot(1, words=8, topics=6), corpus_of([300, 40, 3], words=8)
    narrow = swept(snapshot, documents, 3)[1]
    monkeypatch.setattr("beam_topics.model.papers.gibbs2._INT32_LIMIT", 0)
    _, wide, sampler = swept(snapshot, documents, 3)
    assert sampler._sampled.entries.dtype == np.int64
    assert wide.states.tolist() == narrow.states.tolist()


def test_the_model_can_be_forgotten():
    snapshot = snapshot_of([[1000.0, 0.0]], alpha=0.5, beta=1.0)
    _, corpus, sampler = swept(snapshot, corpus_of([40], words=1), 0)
    assert corpus.in_documents[0, 0] > 30
    sampler.drop_model_counts()
    found = []
    for sweep in range(1, 200):
        sampler.sweep(corpus, sweep)
        found.append(int(corpus.in_documents[0, 0]))
    assert min(found) < 10
