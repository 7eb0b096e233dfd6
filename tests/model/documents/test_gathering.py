"""Which documents share a block."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.documents import block as module
from beam_topics.model.documents.block import Blocks, Gathering
from beam_topics.model.documents.document import Document
from beam_topics.model.documents.settings import SequenceSettings

DOCUMENTS = st.builds(
    Document,
    st.text(max_size=4),
    st.integers(-(2**62), 2**62),
    st.text(max_size=9),
    key=st.sampled_from("kl"),
)


@given(st.lists(DOCUMENTS, max_size=40), st.integers(1, 2**61), st.integers(1, 9), st.booleans())
def test_gathered_documents_share_key_and_window_and_none_is_lost(documents, window, most, split):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK_DOCUMENTS", most)
        patch.setattr(module, "GATHERED_DOCUMENTS", 3 * most)
        gathering = Gathering(Blocks(SequenceSettings(window=window) if split else None))
        parts = [part for document in documents for part in gathering.add(document)]
        assert len(documents) - sum(map(len, parts)) < 3 * most
        parts += gathering.rest()
    assert all(len(part) <= most and len({one.key for one in part}) == 1 for part in parts)
    assert not split or all(len({one.timestamp // window for one in part}) == 1 for part in parts)
    found = sorted(one.to_bytes() for part in parts for one in part)
    assert found == sorted(one.to_bytes() for one in documents)


def test_blocks_end_by_their_tokens_too(monkeypatch):
    monkeypatch.setattr(module, "BLOCK_TOKENS", 4)
    monkeypatch.setattr(module, "GATHERED_TOKENS", 6)
    sizes = [("a", "k", 2), ("b", "k", 2), ("c", "l", 3), ("d", "m", 3)]
    items = [Document(name, 0, "x" * 8 * size, None, key) for name, key, size in sizes]
    gathering = Gathering(Blocks(SequenceSettings(window=10)))
    ended = [[[one.id for one in part] for part in gathering.add(item)] for item in items]
    assert ended == [[], [["a", "b"]], [], [["c"], ["d"]]]
    assert gathering.rest() == []
