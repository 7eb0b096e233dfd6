"""The documents that a model store holds."""

import pytest
from exported import documents, learned

from beam_topics.model.errors import OptionError
from beam_topics.model.learner_log.at_hand import documents_at_hand
from beam_topics.model.publishing.store import ModelStore


def words_of(found):
    return sorted(sorted(document.words) for document in found.documents())


@pytest.mark.parametrize("duplicates", ["keep", "count_once"])
def test_documents_that_can_be_visited_again_are_at_hand(tmp_path, duplicates):
    learned(tmp_path, duplicates=duplicates)
    store = ModelStore(str(tmp_path))
    found = documents_at_hand(store, "", 0)
    if duplicates == "keep":
        assert words_of(found) == words_of(documents())
    assert 0 < len(found) <= len(documents())


def test_a_sample_is_at_hand_where_not_all_documents_are_kept(tmp_path):
    learned(tmp_path, reservoir=7)
    store = ModelStore(str(tmp_path))
    found = words_of(documents_at_hand(store, "", 0))
    every = words_of(documents())
    assert len(found) == 7 and all(words in every for words in found)


@pytest.mark.parametrize(
    ("options", "lacking"),
    [
        ({"learner": "infvoc", "births": None}, "--learner=infvoc"),
        ({}, "has no checkpoint"),
    ],
)
def test_a_store_without_documents_says_what_else_can_judge(tmp_path, options, lacking):
    learned(tmp_path, **options)
    store = ModelStore(str(tmp_path))
    if not options:
        store.remove_checkpoints_after("", 0)
    with pytest.raises(OptionError, match=f"--mixed: .*{lacking}.*beam-topics evaluate"):
        documents_at_hand(store, "", 0)
