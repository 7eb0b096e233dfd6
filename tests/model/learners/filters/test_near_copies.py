"""Near copies are learned once; signatures are compared with a slow twin."""

import numpy as np
import pytest
from corpora import document_of, minibatches_of
from hypothesis import given
from hypothesis import strategies as st
from learner_variants import small

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.minibatch import Minibatch
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.learners import learner_for
from beam_topics.model.learners.filters import floods
from beam_topics.model.learners.filters.floods import SMALLEST
from beam_topics.model.learners.filters.kernels.signatures import (
    BANDS,
    ENTRIES,
    find_copies,
    hash_words,
    new_memory,
    sign,
)

WORDS = [f"w{n}" for n in range(400)]
MASK = (1 << 64) - 1


def mixed(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def hashed(word):
    h = 0xCBF29CE484222325
    for byte in word.encode():
        h = ((h ^ byte) * 0x100000001B3) & MASK
    return h


def slow_signature(words):
    return [
        min(mixed((hashed(word) + k * 0x9E3779B97F4A7C15) & MASK) >> 32 for word in words)
        for k in range(ENTRIES)
    ]


class SlowMemory:
    """The signatures in a list, and for each band the last one in each of its buckets."""

    def __init__(self, most):
        self.most, self.kept, self.last = most, [], {}
        self.buckets = 1
        while self.buckets < 2 * most:
            self.buckets *= 2

    def places(self, signature):
        rows = ENTRIES // BANDS
        for band in range(BANDS):
            h = 0xCBF29CE484222325
            for entry in signature[band * rows : (band + 1) * rows]:
                h = mixed((h + entry) & MASK)
            yield band, h % self.buckets

    def is_copy(self, signature, least):
        for place in self.places(signature):
            number = self.last.get(place, -1)
            known = max(0, len(self.kept) - self.most) <= number
            if known and sum(map(int.__eq__, signature, self.kept[number])) >= least:
                return True
        for place in self.places(signature):
            self.last[place] = len(self.kept)
        self.kept.append(signature)
        return False


def sets_of_words(seed, count=60):
    """Documents, half of them earlier ones with some other words."""
    generator, found = np.random.default_rng(seed), []
    for _ in range(count):
        if found and generator.random() < 0.5:
            words = list(found[int(generator.integers(len(found)))])
            for at in np.flatnonzero(generator.random(len(words)) < generator.random() / 2):
                words[at] = WORDS[int(generator.integers(400))]
        else:
            words = [WORDS[n] for n in generator.integers(400, size=12).tolist()]
        found.append(words)
    return found


def signed(documents):
    minibatch = Minibatch.of_block(Block.joined(list(map(document_of, documents))), 1, 1, True)
    text = np.frombuffer("\n".join(minibatch.words).encode(), np.uint8)
    return sign(hash_words(text, len(minibatch.words)), minibatch.tokens, minibatch.offsets)


@given(st.lists(st.text("abcé", min_size=1, max_size=4), min_size=1, max_size=20))
def test_a_signature_is_that_of_the_twin(words):
    assert signed([words])[0].tolist() == slow_signature(words)


@pytest.mark.parametrize("remembered", [1, 3, 1000])
def test_copies_are_those_of_the_twin(remembered):
    copies = 0
    for seed in range(8):
        documents = sets_of_words(seed)
        slow, signatures = SlowMemory(remembered), signed(documents)
        expected = [slow.is_copy(one.tolist(), 32) for one in signatures]
        fast = find_copies(new_memory(remembered), signatures, np.ones(len(documents), bool), 32)
        assert fast.tolist() == expected
        copies += sum(expected)
    assert 10 < copies < 400


def test_the_share_of_equal_entries_estimates_the_jaccard_index():
    first = WORDS[:200]
    for shared in (40, 100, 160):
        other = first[:shared] + WORDS[200 : 400 - shared]
        jaccard = shared / (400 - shared)
        one, two = signed([first, other])
        # Four standard errors.
        assert abs((one == two).mean() - jaccard) < 4 * np.sqrt(jaccard * (1 - jaccard) / ENTRIES)


def learned(documents, size=4, reload=False, **others):
    settings = small(**{"duplicates": "count_once", **others})
    learner, infos = learner_for(settings), []
    state = learner.init(settings, "", 0)
    made = [document_of(words, n) for n, words in enumerate(documents)]
    for minibatch in minibatches_of(made, size):
        infos.append(learner.step(state, minibatch))
        if reload:
            state = learner.load(settings, "", 0, learner.save(state))
    return learner, state, infos


def test_the_first_of_several_copies_is_learned_and_the_others_are_counted():
    spam = [f"spam{n}" for n in range(20)]
    documents = [[f"w{d}x{n}" for n in range(10)] for d in range(8)]
    mixed_in = [words for document in documents for words in (document, spam[d_words(document) :])]
    learner, state, infos = learned(mixed_in)
    assert sum(info.near_copies for info in infos) == 7
    assert sum(info.documents for info in infos) == learner.summary(state).documents == 9
    words = learner.snapshot(state).words
    assert set(words) == {word for document in (*documents, spam) for word in document}


def d_words(document):
    """One copy has a word less than another, so copies are not equal."""
    return int(document[0][1]) % 2


def test_short_documents_are_never_copies():
    short = [f"s{n}" for n in range(SMALLEST - 1)]
    infos = learned([short, short, [*short, short[0]], short])[2]
    assert [info.near_copies for info in infos] == [0]


def test_a_minibatch_of_copies_alone_learns_nothing():
    words = [f"s{n}" for n in range(12)]
    learner, state, infos = learned([words] * 9, size=3)
    assert [info.near_copies for info in infos] == [2, 3, 3]
    assert [info.documents for info in infos] == [1, 0, 0]
    assert infos[-1].words == 12
    assert learner.summary(state).documents == 1


@pytest.mark.parametrize("remembered", [1, 4, 1000])
def test_a_restored_learner_remembers_what_the_other_one_does(monkeypatch, remembered):
    monkeypatch.setattr(floods, "REMEMBERED", remembered)
    documents = sets_of_words(3)
    plain = learned(documents)
    restored = learned(documents, reload=True)
    assert [info.near_copies for info in plain[2]] == [info.near_copies for info in restored[2]]
    assert plain[0].save(plain[1]) == restored[0].save(restored[1])


def test_a_word_of_copies_alone_is_not_in_the_vocabulary():
    words = [f"s{n}" for n in range(12)]
    learner, state, _ = learned([words, [*words, "new"]])
    assert "new" not in learner.snapshot(state).words


def test_signatures_of_another_number_are_refused(monkeypatch):
    learner, state, _ = learned(sets_of_words(1, 9))
    settings = small(duplicates="count_once")
    monkeypatch.setattr(floods, "REMEMBERED", 3)
    with pytest.raises(DamagedDataError, match="signatures of a state"):
        learner.load(settings, "", 0, learner.save(state))


def test_a_flood_that_drifts_is_dropped_and_counted_once_again_and_again():
    """Each document shares most words with the one before it, and none with the first."""
    drifting = [[f"s{n}" for n in range(d, d + 30)] for d in range(0, 120, 3)]
    once, dropped = (learned(drifting, duplicates=kind)[2] for kind in ("count_once", "drop"))
    assert sum(info.documents for info in dropped) == 1
    assert sum(info.documents for info in once) > 3


def test_a_flood_of_copies_is_told():
    spam = [f"s{n}" for n in range(30)]
    infos = learned([spam] * 120, size=20)[2]
    told = [(n, event.kind, event.by) for n, info in enumerate(infos) for event in info.events]
    assert told == [(4, "flood", "near_copies")]
