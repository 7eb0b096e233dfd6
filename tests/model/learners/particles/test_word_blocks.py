"""Documents in blocks of bounded size."""

import numpy as np
import pytest

from beam_topics.model.learners.particles import challengers
from beam_topics.model.learners.particles.challengers import in_blocks

DOCUMENTS = [np.array(text, np.int32) for text in ([7, 3, 7], [], [9, 9, 9, 9, 1], [3], [4, 7])]


@pytest.mark.parametrize(
    ("largest", "lengths"),
    [
        (1 << 22, [[3, 0, 5, 1, 2]]),
        (16, [[3, 0, 5], [1, 2]]),
        (6, [[3, 0], [5], [1, 2]]),
        (1, [[3], [0], [5], [1], [2]]),
    ],
)
def test_blocks_hold_the_documents_in_their_order(monkeypatch, largest, lengths):
    monkeypatch.setattr(challengers, "LARGEST", largest)
    blocks = list(in_blocks(DOCUMENTS, 2))
    assert [block.lengths for block in blocks] == lengths
    tokens = np.concatenate([block.words[block.tokens] for block in blocks])
    assert tokens.tolist() == np.concatenate(DOCUMENTS).tolist()
    for block in blocks:
        assert block.words.tolist() == sorted(set(block.words[block.tokens].tolist()))


def test_no_document_is_no_block():
    assert list(in_blocks([], 2)) == []
