"""A version beside its parent: ids, changes, births and deaths."""

from dataclasses import replace

import numpy as np
from made import CANDIDATE, snapshot_of

from beam_topics.model.publishing.events import BIRTH, FLOOD, Event
from beam_topics.model.publishing.succession import Succession

WORDS = ("a", "b", "c", "d", "e", "f")
# Topics of a and b, of c, and of d.
ROWS = [[9, 0, 0], [5, 0, 0], [0, 8, 0], [0, 0, 7], [0, 0, 0], [0, 0, 0]]
BEFORE = snapshot_of(ROWS, words=WORDS)


def candidate(**others):
    figures = {"topic_tokens": [3.0, 20.0, 4.0], "topic_documents": [1, 7, 2]}
    others = {"documents": 100, "tokens": 50, **others}
    return replace(CANDIDATE, sequence=3, event_time=9, **{**figures, **others})


def test_the_first_version_has_no_births():
    found = Succession.of(None, None, BEFORE)
    assert found.turnover.ids == [0, 1, 2] and found.after is BEFORE and found.order == []
    assert found.new_words() == [] and found.events(candidate()) == []


def test_a_replaced_topic_is_born_under_a_new_id():
    # The candidate has the topic of d first, then one of e and f, then that of a with c in it.
    rows = [[0, 0, 9], [0, 0, 5], [0, 0, 3], [7, 0, 0], [0, 6, 0], [0, 5, 0]]
    found = Succession.of(BEFORE, [0, 4, 2], snapshot_of(rows, words=WORDS))
    assert found.order == [2, 1, 0] and found.placed([10, 11, 12]) == [12, 11, 10]
    assert found.turnover.ids == [0, 7, 2]
    noted = Event(FLOOD, 40, 20, [1], "over_share", ids=["x", "y"])
    events = found.events(candidate(events=[noted.to_json()], particle=1))
    told, birth, death = map(Event.from_json, events, "abc")
    assert told.topics == [7] and told.words == [["e", "f"]]
    assert (birth.kind, birth.topics, birth.by) == ("birth", [7], "similarity")
    assert (birth.documents, birth.tokens, birth.ids) == (7, 20.0, [])
    assert birth.words == [["e", "f"]] and birth.words_before == [["c"]]
    assert (birth.particle, birth.sequence, birth.time) == (1, 3, 9)
    assert (death.kind, death.topics, death.documents, death.ids) == ("death", [4], 0, [])
    assert death.words == [] and death.words_before == [["c"]]


def test_a_topic_without_tokens_dies():
    rows = BEFORE.rows(np.arange(6)).astype(int)
    rows[:, 1] = 0
    found = Succession.of(BEFORE, [0, 1, 2], snapshot_of(rows.tolist(), words=WORDS))
    (death,) = found.events(candidate())
    assert (death["kind"], death["topics"], death["words_before"]) == ("death", [1], [["c"]])
    assert found.turnover.ids == [0, 4, 2]
    # Its eight tokens are fewer than those of ten documents of average length.
    assert found.events(candidate(documents=10, tokens=9)) == []
    again = Succession.of(found.after, found.turnover.ids, BEFORE)
    (birth,) = again.events(candidate())
    assert (birth["kind"], birth["topics"]) == ("birth", [4])
    assert birth["tokens"] == 20


def test_a_birth_that_the_learner_noted_is_told_once():
    rows = BEFORE.rows(np.arange(6)).astype(int)
    rows[:, 1] = 0
    fewer = snapshot_of(rows.tolist(), words=WORDS)
    found = Succession.of(fewer, [0, 4, 2], BEFORE)
    noted = Event(BIRTH, 70, 90.0, [1], "wagers", ids=["x"])
    (birth,) = found.events(candidate(events=[noted.to_json()]))
    assert (birth["topics"], birth["by"], birth["documents"]) == ([4], "wagers", 70)


def test_new_words_have_the_ids_of_their_topics():
    rows = [*ROWS[:4], [0, 30, 0], [0, 0, 0]]
    found = Succession.of(BEFORE, [0, 4, 2], snapshot_of(rows, words=WORDS))
    # Half of all tokens are of a word that never came.
    assert found.new_words() == [{"topic": 4, "words": ["e"], "came": [30.0], "had": [0.0]}]
