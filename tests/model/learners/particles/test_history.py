"""Pages of documents by array, against the pages of one document after another."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.learners.particles.history import History
from beam_topics.model.learners.particles.kernels.particles import PAGE
from beam_topics.model.learners.particles.rejuvenation import Reservoir


@given(st.lists(st.integers(0, 3 * PAGE), min_size=1, max_size=12), st.randoms())
def test_pages_and_words_of_all_documents_are_those_of_each(lengths, random):
    history = History(Reservoir(), False)
    documents = [(np.arange(length, dtype=np.int32) + length, None) for length in lengths]
    slots = history.begin_all(documents).astype(np.int64)
    random.shuffle(slots)
    pages, held = history.all_pages(slots), history.page_lengths(slots)
    assert pages.tolist() == [page for slot in slots for page in history.pages_of(int(slot))]
    words = history.pages.words[pages][np.arange(PAGE) < held[:, None]]
    assert np.array_equal(words, np.concatenate([history.words_of(int(slot)) for slot in slots]))
    assert held.sum() == sum(lengths) and (held <= PAGE).all()
