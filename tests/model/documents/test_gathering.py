"""Which documents share a block."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.documents import block as module
from beam_topics.model.documents.block import Gathering
from beam_topics.model.documents.document import Document

DOCUMENTS = st.builds(
    Document,
    st.text(max_size=4),
    st.integers(-(2**62), 2**62),
    st.text(max_size=9),
    key=st.sampled_from("kl"),
)


@given(st.lists(DOCUMENTS, max_size=40), st.integers(1, 9))
def test_gathered_documents_share_a_key_in_the_order_of_time_and_none_is_lost(documents, most):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK_DOCUMENTS", most)
        patch.setattr(module, "GATHERED_DOCUMENTS", 3 * most)
        gathering = Gathering()
        parts = [part for document in documents for part in gathering.add(document)]
        assert len(documents) - sum(map(len, parts)) < 3 * most
        parts += gathering.rest()
    assert all(len(part) <= most and len({one.key for one in part}) == 1 for part in parts)
    for part in parts:
        assert [one.timestamp for one in part] == sorted(one.timestamp for one in part)
    found = sorted(one.to_bytes() for part in parts for one in part)
    assert found == sorted(one.to_bytes() for one in documents)


def test_blocks_end_by_their_tokens_too(monkeypatch):
    monkeypatch.setattr(module, "BLOCK_TOKENS", 4)
    monkeypatch.setattr(module, "GATHERED_TOKENS", 6)
    sizes = [("a", "k", 1), ("b", "k", 3), ("c", "k", 1), ("d", "l", 1)]
    items = [Document(name, 0, "x" * 8 * size, None, key) for name, key, size in sizes]
    gathering = Gathering()
    ended = [[[one.id for one in part] for part in gathering.add(item)] for item in items]
    assert ended == [[], [], [], [["a", "b"], ["c"], ["d"]]]
    assert gathering.rest() == []
