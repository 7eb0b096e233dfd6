from corpus_twin import corpus_of
from made import random_snapshot

from beam_topics.model.inference.features import numbered
from beam_topics.model.papers.gibbs2 import build_corpora


def test_only_words_that_are_used_have_rows():
    snapshot = random_snapshot(words=1000)
    rows, (corpus, other) = build_corpora(
        numbered(snapshot, corpus_of([5], words=9)),
        numbered(snapshot, corpus_of([3], words=1200, seed=4)),
    )
    used = {
        word
        for block in (corpus_of([5], words=9), corpus_of([3], words=1200, seed=4))
        for word in block.words
    }
    assert [snapshot.words[row] for row in rows] == sorted(
        used & set(snapshot.words), key=snapshot.words.index
    )
    assert corpus.number != other.number
