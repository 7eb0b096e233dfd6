"""How many topics a stream begins with, where its first documents choose it."""

import numpy as np
import pytest
from corpora import document_of, minibatches_of
from learner_options import made

from beam_topics.model.errors import DamagedDataError, OptionError
from beam_topics.model.learners import learner_for
from beam_topics.model.learners.engine import learner as engine_learner
from beam_topics.model.learners.engine import start, stored
from beam_topics.model.learners.engine.start import (
    CHOOSING,
    CLOSE,
    SURE,
    first_good,
    numbers_up_to,
)
from beam_topics.model.stored import wire

AUTO = made(learner="gibbs", topics="auto", moves=5)


def documents_of(topics, count=CHOOSING + 40):
    """Documents of words that topics do not share."""
    generator = np.random.default_rng(topics)
    shares = generator.dirichlet(np.full(topics, 0.1), count)
    words = [generator.choice(topics, 20, p=row) for row in shares]
    return [
        document_of([f"w{t}-{generator.integers(9)}" for t in row], d)
        for d, row in enumerate(words)
    ]


def run(settings, documents, size, threads=1, reload=False):
    """The state after a stream, the topics after each minibatch, and what arrived in each."""
    learner = learner_for(settings)
    state, topics, arrived = learner.init(settings, "", 0, threads), [], []
    for minibatch in minibatches_of(documents, size):
        learner.step(state, minibatch)
        topics.append(state.live.topics)
        arrived.append(learner.arrivals(state, 0).counts[0].sum(axis=1).tolist())
        if reload:
            state = learner.load(settings, "", 0, learner.save(state), threads)
    return state, topics, arrived


@pytest.mark.parametrize("subject", [lambda d: d // 50, lambda d: d % 3], ids=["sorted", "cycle"])
def test_subjects_get_a_topic_each_whatever_the_order_of_documents(subject, monkeypatch):
    """The planted bug is judges that come last."""
    generator = np.random.default_rng(3)
    words = [[f"s{subject(d)}-{w}" for w in generator.integers(20, size=30)] for d in range(150)]
    documents = [document_of(row, d) for d, row in enumerate(words)]
    settings = made(learner="gibbs", topics=50, moves=5)
    assert run(settings, documents, 10)[0].first == 3
    monkeypatch.setattr(start, "places_of", lambda live, numbers: -numbers)
    assert (run(settings, documents, 10)[0].first == 3) is (subject(149) == subject(2))


@pytest.mark.parametrize(("topics", "wanted"), [(3, {3, 4}), (10, {10, 11, 12})])
def test_the_first_documents_choose_how_many_topics_there_are(topics, wanted):
    state, _, _ = run(AUTO, documents_of(topics), CHOOSING)
    assert state.first in wanted and state.live.topics == state.first
    assert state.live.alpha[: state.first].tolist() == [AUTO.alpha_of(state.first)] * state.first
    assert (state.live.rows.sum(axis=0) == state.live.totals).all()
    assert state.live.totals.sum() == state.tokens
    assert learner_for(AUTO).snapshot(state).topic_count == AUTO.topic_count == 200


@pytest.mark.parametrize("topics", ["auto", 50])
def test_fewer_documents_choose_too(topics, monkeypatch):
    """The planted bug is a choice that waits for the last look."""
    settings = made(learner="gibbs", topics=topics, moves=5)
    few = documents_of(3)[:60]
    state, counts, arrived = run(settings, few, 9)
    assert counts[0] == settings.first_topics and counts[-1] == state.first in (3, 4, 5)
    # All tokens and documents of a minibatch arrive, also of one at which the model begins anew.
    assert arrived == [[180.0, 9.0]] * 6 + [[120.0, 6.0]]
    whole, _, _ = run(settings, few, len(few))
    assert whole.first == state.first
    monkeypatch.setattr(engine_learner, "LOOKS", (CHOOSING,))
    assert run(settings, few, 9)[0].live.topics == settings.first_topics


def test_the_choice_is_within_max_topics():
    assert numbers_up_to(200)[-1] == 70 and numbers_up_to(70)[-2:] == [50, 70]
    assert numbers_up_to(5) == [1, 2, 3, 4, 5] and numbers_up_to(1) == [1]
    few = made(learner="gibbs", topics="auto", moves=1, max_topics=2)
    _, topics, _ = run(few, documents_of(10), 100)
    assert max(topics) == 2 and few.topic_count == 2


@pytest.mark.parametrize("size", [50, 90])
def test_threads_and_a_saved_state_change_no_bit(size):
    documents, learner = documents_of(3), learner_for(AUTO)
    one, two, three = (
        run(AUTO, documents, size, **how)[0] for how in ({}, {"threads": 2}, {"reload": True})
    )
    assert learner.save(one) == learner.save(two) == learner.save(three)
    assert one.nursery.alpha == three.nursery.alpha == AUTO.alpha_of(one.first)


def test_documents_behind_the_first_are_predicted_before_they_are_learned():
    documents, learner = documents_of(10), learner_for(AUTO)
    state, other = learner.init(AUTO, "", 0), learner.init(AUTO, "", 0)
    (whole,) = learner.steps(state, minibatches_of(documents, len(documents)))
    first, rest = learner.steps(other, minibatches_of(documents, CHOOSING))
    assert whole.scored_tokens == first.scored_tokens + rest.scored_tokens == other.tokens
    # Documents that were visited before would count nothing.
    assert whole.log_evidence < first.log_evidence + 0.8 * rest.log_evidence


def test_documents_stay_until_the_choice():
    small = made(learner="gibbs", topics="auto", moves=1, reservoir=10)
    state, _, _ = run(small, documents_of(3, CHOOSING - 1), 50)
    assert state.first and len(state.marks) == CHOOSING - 1


def test_the_first_good_number():
    """Row i loses i / 100 nats of each document on average, with a spread of 1."""
    spread = np.tile([1.0, -1.0], 50)
    error = 10.0
    rows = [np.zeros(100) - behind / 100 + spread * (behind > 0) for behind in (9, 3, 2, 0)]
    assert CLOSE * error == 2.5 and first_good(np.array(rows)) == 2
    assert first_good(np.zeros((3, 4))) == 0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_one_topic_is_enough_for_words_that_say_nothing_of_each_other(seed, monkeypatch):
    """The planted bug is judges that the chains have learned."""
    shares = 1.0 / np.arange(1, 301)
    generator = np.random.default_rng(seed)
    words = generator.choice(300, (CHOOSING, 30), p=shares / shares.sum())
    documents = [document_of([f"w{w}" for w in row], d) for d, row in enumerate(words.tolist())]
    assert run(AUTO, documents, CHOOSING)[0].first == 1
    texts_of = start.texts_of
    monkeypatch.setattr(start, "texts_of", lambda live, _: texts_of(live, np.arange(0, 300, 3)))
    assert run(AUTO, documents, CHOOSING)[0].first > 1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"schedule": "archive"}, "number with --schedule=archive. Give a number, or --schedule=s"),
        ({"births": "off"}, "a number with --births=off. Give a number, or --births=on"),
        ({"seeds": ("a: b",)}, "none with --topics=auto"),
        ({"max_topics": 70_000}, "--max_topics"),
    ],
)
def test_where_the_number_cannot_be_learned_it_is_refused(wrong, said):
    with pytest.raises(OptionError, match=said):
        made(learner="gibbs", topics="auto", **wrong)


def test_max_topics_needs_auto():
    with pytest.raises(OptionError, match="--topics is auto"):
        made(learner="gibbs", topics=3, max_topics=4)


@pytest.mark.parametrize(
    ("count", "first", "said"),
    [(9, 1, "first topics"), (10, 0, "first topics"), (300, 0, "first topics"), (300, 99, "first")],
)
def test_a_state_with_another_beginning_is_refused(count, first, said):
    learner = learner_for(AUTO)
    state, _, _ = run(AUTO, documents_of(3, count), 100)
    header, parts = wire.unpack(stored.MAGIC, learner.save(state))
    data = wire.pack(stored.MAGIC, {**header, "first": first}, *parts)
    with pytest.raises(DamagedDataError, match=said):
        learner.load(AUTO, "", 0, data)


@pytest.mark.parametrize("topics", ["auto", 30])
def test_disjoint_subjects_get_a_topic_each(topics, monkeypatch):
    """The planted bug is a start that keeps all fragments of the chain it chooses."""
    generator, subjects = np.random.default_rng(7), 8
    words = [
        [f"s{d % subjects}-{w}" for w in generator.integers(6, size=12)]
        for d in range(CHOOSING + 300)
    ]
    documents = [document_of(row, d) for d, row in enumerate(words)]
    settings = made(learner="gibbs", topics=topics, moves=5)
    assert settings.most_first == (200 if topics == "auto" else topics)
    state, counts, _ = run(settings, documents, 100)
    names = np.array([word.split("-")[0] for word in state.vocabulary.words])
    live = state.live
    table = np.array([live.rows[: live.size][names == s].sum(axis=0) for s in np.unique(names)])
    has = table.sum(axis=0) > 0.01 * table.sum()
    assert (table[:, has].max(axis=0) > 0.95 * table[:, has].sum(axis=0)).all()
    # A subject may keep a fragment.
    assert set(table.argmax(axis=0)[has]) == set(range(subjects)) and has.sum() <= subjects + 1
    assert counts[-1] < 20
    monkeypatch.setattr(start, "dissolve", lambda *_: None)
    # The chain that auto chooses here has no fragments.
    assert topics == "auto" or run(settings, documents, 100)[0].first > state.first


def test_a_number_yields_only_where_fewer_are_clearly_better():
    """Two rows of 100 documents: the first loses .15 nats of each, or .25, with a spread of 1."""
    spread = np.tile([1.0, -1.0], 50)
    for behind, wanted in ((0.15, 0), (0.25, 1)):
        rows = np.array([spread - behind, np.zeros(100)])
        assert first_good(rows, SURE) == wanted


@pytest.mark.parametrize("settings", [AUTO, made(learner="gibbs", topics=5, moves=5)])
def test_documents_without_words_choose_nothing(settings):
    empty = [document_of([], d) for d in range(CHOOSING)]
    state, topics, _ = run(settings, [*empty, *documents_of(3)[:40]], 20)
    assert topics[-1] >= 1 and state.live.tokens == 40 * 20
