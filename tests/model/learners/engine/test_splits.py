"""Documents that no topic explains: they get the unused ids, and others do not."""

from itertools import pairwise

import numpy as np
import pytest
from corpora import document_of, minibatches_of
from learner_options import made

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.learners import learner_for
from beam_topics.model.learners.engine import splits
from beam_topics.model.learners.engine.births_stored import MAGIC, load_nursery, nursery_to_bytes
from beam_topics.model.learners.engine.splits import EVERY
from beam_topics.model.learners.engine.start import CHOOSING
from beam_topics.model.stored import wire

OLD, LATER, SHARE, SIZE = 400, 900, 0.1, 100
SUBJECTS = 3


def documents_of(seed, share=SHARE):
    """Short lines of three subjects; after OLD of them a share are long, of three others."""
    generator, documents = np.random.default_rng(seed), []
    for d in range(OLD + LATER):
        new = d >= OLD and generator.random() < share
        subject, length = int(generator.integers(SUBJECTS)), 30 if new else 10
        name = f"{'n' if new else 'o'}{subject}"
        words = [f"{name}x{w}" for w in generator.choice(15, length)]
        documents.append(document_of(words, d, name))
    return documents


def settings_of(**given):
    return made(learner="gibbs", moves=10, **given)


def run(settings, documents, threads=1, reload=False):
    """The state after a stream, the topics after each minibatch, and what was told."""
    learner = learner_for(settings)
    state, topics, events = learner.init(settings, "", 0, threads), [], []
    for minibatch in minibatches_of(documents, SIZE):
        events += learner.step(state, minibatch).events
        topics.append(state.live.topics)
        if reload:
            state = learner.load(settings, "", 0, learner.save(state), threads)
    return state, topics, events


def purity(state):
    """The share of the tokens of each topic that are of its main subject, where it has many."""
    names = [word.split("x")[0] for word in state.vocabulary.words]
    table = np.array(
        [
            state.live.rows[: state.live.size][[name == one for name in names]].sum(axis=0)
            for one in sorted(set(names))
        ]
    )
    has = table.sum(axis=0) > 0.01 * table.sum()
    return (table.max(axis=0)[has] / table.sum(axis=0)[has]).tolist(), table[:, has].argmax(axis=0)


@pytest.mark.parametrize("topics", ["auto", 12])
def test_documents_that_no_topic_explains_get_ids(topics):
    state, counts, _ = run(settings_of(topics=topics), documents_of(1))
    assert state.first == SUBJECTS and counts[2] == SUBJECTS < counts[-1]
    shares, subjects = purity(state)
    assert min(shares) > 0.9 and set(subjects.tolist()) == set(range(2 * SUBJECTS))
    if topics != "auto":
        # So many topics are wanted; the others are for births.
        assert set(counts[3:]) <= {SUBJECTS, topics} and counts[-1] == topics
    assert (state.live.rows.sum(axis=0) == state.live.totals).all()


@pytest.mark.parametrize("seed", [4, 5])
def test_where_all_are_explained_nobody_gets_an_id(seed, monkeypatch):
    """The planted bug is judges that children have learned."""
    shares, generator = 1.0 / np.arange(1, 301), np.random.default_rng(seed)
    words = generator.choice(300, (OLD + LATER, 30), p=shares / shares.sum())
    documents = [document_of([f"w{w}" for w in row], d) for d, row in enumerate(words.tolist())]
    state, counts, events = run(settings_of(topics="auto"), documents)
    assert counts[-1] == state.first == 1 and not events
    whole, own, made = [], splits.learn_evenly, splits.texts_of

    def texts_of(*given):
        whole[:] = [made(*given)]
        return whole[0]

    monkeypatch.setattr(splits, "texts_of", texts_of)
    monkeypatch.setattr(
        splits, "learn_evenly", lambda live, some, *others: own(live, whole[0], *others)
    )
    monkeypatch.setattr(splits, "WORTH", 0.0)
    assert run(settings_of(topics="auto"), documents)[1][-1] > 1


def test_threads_and_a_saved_state_change_no_bit():
    documents, settings = documents_of(5), settings_of(topics=12)
    learner = learner_for(settings)
    found = [
        learner.save(run(settings, documents, **how)[0])
        for how in ({}, {"threads": 2}, {"threads": 3}, {"reload": True})
    ]
    assert found[0] == found[1] == found[2] == found[3]


def test_looks_are_rare_where_they_find_nothing(monkeypatch):
    looks, own = [], splits.worst
    monkeypatch.setattr(splits, "worst", lambda stream: looks.append(stream.seen) or own(stream))
    run(settings_of(topics="auto"), documents_of(2, share=0.0) * 3)
    assert looks[0] <= CHOOSING + SIZE and min(b - a for a, b in pairwise(looks)) >= EVERY
    assert len(looks) < 10 and looks[-1] - looks[-2] > EVERY


def test_a_look_in_the_far_future_is_refused():
    state, _, _ = run(settings_of(topics=12), documents_of(5)[:500])
    nursery = state.nursery
    header, parts = wire.unpack(MAGIC, nursery_to_bytes(nursery))
    data = wire.pack(MAGIC, {**header, "look": 10_000}, *parts)
    with pytest.raises(DamagedDataError, match="look"):
        load_nursery(nursery, state.live, state.marks, state.documents, data)


def test_a_number_with_seeds_or_without_births_is_taken_as_it_is():
    documents = documents_of(6)[:400]
    for given in ({"births": "off"}, {"seeds": ("first: o0x1 o0x2",)}):
        state, counts, _ = run(settings_of(topics=12, **given), documents)
        assert counts == [12] * 4 and state.first == 12
