"""Topics that end are remembered, and a challenger revives them."""

import numpy as np
import pytest
from corpora import learned, minibatches_of, topical
from learner_options import made

from model import wire
from model.errors import DamagedDataError
from model.learners import learner_for
from model.learners.particles import trials
from model.learners.particles.challengers import CHALLENGERS, Verdict, challenger, split_history
from model.learners.particles.dormant import (
    MOST_TOKENS,
    MOST_WORDS,
    Dormant,
    dormant_from_bytes,
    dormant_to_bytes,
    ended_topics,
)
from model.learners.particles.packing import pack_numbers
from model.learners.particles.priors import word_rows
from model.learners.particles.reviving import most_useful
from model.learners.particles.telling import counts_of, topic_counts

OPTIONS = {
    "topics": 8,
    "particles": 1,
    "moves": 5,
    "initial_documents": 40,
    "chains": 2,
    "initial_sweeps": 10,
    "newest": 300,
    "reservoir": 50,
    "challengers": "on",
    "judges": 15,
    "dormant": 6,
}
SETTINGS = made(OPTIONS)
FIRST, SECOND = topical(200, topics=5, seed=1), topical(200, topics=4, seed=2, first=100)
BACK = topical(320, topics=5, seed=1)[200:]
STREAM = minibatches_of(FIRST + SECOND + BACK, 10)


def dormant(words, counts):
    return Dormant(np.array(words, np.int32), np.array(counts, np.int64))


def plain(topics):
    return [(topic.words.tolist(), topic.counts.tolist()) for topic in topics]


@pytest.fixture(scope="module")
def changed():
    """The state after the first change."""
    return learned(SETTINGS, STREAM[:40])


def test_a_topic_that_is_absorbed_has_ended():
    # Topic 1 is absorbed by 0 and gets the new words; topic 2 was one of the newest documents.
    before = np.array([[9, 0, 0], [0, 5, 0], [0, 4, 0], [0, 1, 8]])
    newest = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 1, 8]])
    after = np.array([[9, 0, 0], [5, 0, 0], [4, 0, 0], [0, 9, 0]])
    assert plain(ended_topics(before, after, newest)) == [([1, 2], [5, 4])]
    assert ended_topics(before, before, newest) == []
    assert ended_topics(before, after, before) == []


def test_a_topic_of_which_little_is_older_has_not_ended():
    before, newest = np.array([[0, 1], [0, 99]]), np.array([[0, 0], [0, 99]])
    after = np.array([[1, 0], [0, 99]])
    assert ended_topics(before, after, newest) == []
    assert plain(ended_topics(before // 11, after, newest // 11)) == []


def test_what_is_remembered_of_a_topic_is_bounded():
    counts = np.arange(1, 400) * 10_000
    (topic,) = ended_topics(counts[:, None], np.zeros((399, 1), int), np.zeros((399, 1), int))
    assert len(topic.words) == MOST_WORDS and topic.words.tolist() == list(range(199, 399))
    assert 0.9 * MOST_TOKENS < topic.counts.sum() <= MOST_TOKENS
    assert (np.diff(topic.counts) >= 0).all()


def test_a_change_leaves_dormant_topics(changed):
    assert changed.following.changes == 1 and changed.following.won
    assert 1 <= len(changed.dormant) <= 6
    words = np.array(changed.vocabulary.words)
    for topic in changed.dormant:
        old = [int(word[1:]) < 100 for word in words[topic.words]]
        assert np.average(old, weights=topic.counts) > 0.9


def test_no_topic_is_remembered_without_room_for_it():
    state = learned(made({**OPTIONS, "dormant": 0}), STREAM[:40])
    assert state.following.won and not state.dormant


def test_the_oldest_topic_is_dropped_first(changed):
    state = learner_for(SETTINGS).init(SETTINGS, "", 0)
    one, two, three = dormant([0], [1]), dormant([1], [2]), dormant([2], [3])
    state.dormant = [one, two, three, one, two]
    trials.remember(state, (1, 3), [three, one, two, three])
    assert plain(state.dormant) == plain([three, two, three, one, two, three])


def test_the_counts_of_documents_are_a_part_of_all(changed):
    slots = changed.history.slots()
    own = counts_of(changed, 0, slots)
    assert (own <= topic_counts(changed, 0)).all()
    assert own.sum() == changed.history.pages.length[slots].sum()
    assert counts_of(changed, 0, slots[:3]).sum() == changed.history.pages.length[slots[:3]].sum()


def test_topics_that_explain_more_of_the_newest_documents_come_first():
    newest = np.array([50, 50, 2, 0])
    topics = [dormant([3], [9]), dormant([2], [5]), dormant([0, 1], [5, 5]), dormant([0], [5])]
    assert most_useful(topics, newest, 9) == [2, 3, 1]
    assert most_useful(topics, newest, 1) == [2]
    assert most_useful([], newest, 1) == []


@pytest.fixture(scope="module")
def revived(changed):
    """The dormant topics, and a challenger that has revived them, before any sweep."""
    restarted, past = split_history(changed, 20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "model.learners.particles.reviving.newest_words",
            lambda state, slots: np.ones(len(state.vocabulary), np.int64),
        )
        population, found = challenger(changed, 0, CHALLENGERS, restarted, past, 6)
        before, _ = challenger(changed, 0, 0, restarted, past, 6)
    return changed, population, before, found


def test_a_revived_topic_has_its_tokens_again(revived):
    state, population, before, found = revived
    assert found
    words = np.arange(len(state.vocabulary))
    rows = word_rows(population, 0, words)[:, : state.settings.topics]
    for index in found:
        topic = state.dormant[index]
        holders = (rows[topic.words] >= topic.counts[:, None]).all(axis=0)
        assert holders.any()
    # Tokens move where there are any that no document at hand holds.
    more = population.totals[0].sum() - before.totals[0].sum()
    assert 0 <= more <= sum(state.dormant[index].counts.sum() for index in found)


def test_a_revived_topic_leaves_whole_counts_and_tables(revived):
    state, population, _, _ = revived
    topics, tp = state.settings.topics, len(state.prior.alpha)
    rows = word_rows(population, 0, np.arange(len(state.vocabulary))).astype(np.int64)
    counts, tables = rows[:, :topics], rows[:, tp : tp + topics]
    assert (counts >= 0).all() and (tables <= counts).all()
    assert ((tables > 0) == (counts > 0)).all()
    assert counts.sum(axis=0).tolist() == population.totals[0, :topics].tolist()
    assert tables.sum(axis=0).tolist() == population.topic_tables[0, :topics].tolist()
    assert tables.sum(axis=1).tolist() == rows[:, 2 * tp].tolist()
    assert population.tables[0] == tables.sum()


def test_a_challenger_that_revives_competes_and_the_state_continues(changed, monkeypatch):
    learner, verdicts, original = learner_for(SETTINGS), [], trials.duel

    def noted(*given):
        verdicts.append(original(*given))
        return verdicts[-1]

    monkeypatch.setattr(trials, "duel", noted)
    state = learned(SETTINGS, STREAM)
    assert CHALLENGERS + 1 in [len(verdict.gains) for verdict in verdicts]
    data = learner.save(state)
    assert learner.save(learner.load(SETTINGS, "", 0, data)) == data
    assert isinstance(verdicts[-1], Verdict)


def test_bytes_of_dormant_topics():
    topics = [dormant([0, 4, 7], [5, 1, 300]), dormant([], []), dormant([2], [MOST_TOKENS])]
    data = dormant_to_bytes(topics)
    assert plain(dormant_from_bytes(data, 3, 8)) == plain(topics)
    for most, words in ((2, 8), (3, 7)):
        with pytest.raises(DamagedDataError):
            dormant_from_bytes(data, most, words)


@pytest.mark.parametrize(
    ("lengths", "words", "counts"),
    [
        ([2], [1, 1], [1, 1]),
        ([2], [2, 1], [1, 1]),
        ([2], [1], [1]),
        ([1], [1], [0]),
        ([1], [1], [MOST_TOKENS + 1]),
        ([2], [1, 2], [MOST_TOKENS, 1]),
        ([1], [1], [1, 1]),
    ],
)
def test_damaged_dormant_topics_are_refused(lengths, words, counts):
    parts = [pack_numbers(np.array(part)) for part in (lengths, words, counts)]
    with pytest.raises(DamagedDataError, match="dormant topic"):
        dormant_from_bytes(wire.pack(b"BTD1", {}, *parts), 5, 9)


def test_words_that_leave_the_vocabulary_leave_dormant_topics():
    numbers = np.array([2, -1, 0, -1], np.int32)
    (found,) = plain([dormant([0, 1], [5, 6]).renumbered(numbers)])
    assert found == ([2], [5])
    assert plain([dormant([0, 2], [5, 6]).renumbered(numbers)]) == [([0, 2], [6, 5])]
