"""Topics that are born: a planted subject once, nothing otherwise, and the same bits."""

from dataclasses import replace

import numpy as np
import pytest
from corpora import document_of, minibatches_of, topical
from learner_options import made
from learner_variants import QuickBirths, small

from beam_topics.model.errors import DamagedDataError, OptionError
from beam_topics.model.learners import learner_for
from beam_topics.model.learners.engine import births, births_stored
from beam_topics.model.learners.engine.births import GRID
from beam_topics.model.learners.engine.births_stored import nursery_to_bytes
from beam_topics.model.learners.engine.candidates import Names, Prior, learn, may_hold
from beam_topics.model.learners.engine.epoch import MOST_COUNT, epoch
from beam_topics.model.learners.engine.kernels.draw import NONE
from beam_topics.model.learners.engine.snapshots import Held, Past, kinds_of, texts_of
from beam_topics.model.learners.engine.state import State
from beam_topics.model.publishing.events import BIRTH
from beam_topics.model.stored import wire

WORDS, TOPICS, OLD, SIZE = 300, 5, 2000, 100


def settings_of(law=QuickBirths, **others):
    found = made(learner="gibbs", topics=TOPICS, moves=4, **others)
    return replace(found, schedule=replace(found.schedule, births=law()))


def stream(seed, new=0.0, count=OLD + 1000, at_once=False):
    """Documents of five topics; after OLD of them this share is of a subject with other words."""
    generator = np.random.default_rng(seed)
    phi = generator.dirichlet(np.full(WORDS, 0.05), TOPICS)
    others = generator.dirichlet(np.full(40, 0.2), TOPICS)
    documents = []
    for d in range(count):
        if d >= OLD and generator.random() < new:
            row = others[generator.integers(TOPICS) if at_once else 0]
            words = [f"n{w}" for w in generator.choice(40, 30, p=row)]
            documents.append(document_of(words, d, "new"))
            continue
        theta = generator.dirichlet(np.full(TOPICS, 0.2))
        states = generator.choice(TOPICS, 30, p=theta)
        words = [f"w{generator.choice(WORDS, p=phi[t])}" for t in states]
        documents.append(document_of(words, d, "old"))
    return documents


def follow(settings, documents, threads=1, saved_at=(), size=SIZE):
    """The state after a stream, and (event, documents until then) of all that was told."""
    learner = learner_for(settings)
    state, events = learner.init(settings, "", 0, threads), []
    for minibatch in minibatches_of(documents, size):
        if state.documents in saved_at:
            state = learner.load(settings, "", 0, learner.save(state), threads)
        events += [(event, state.documents) for event in learner.step(state, minibatch).events]
    return state, events


@pytest.fixture(scope="module")
def planted():
    return stream(1, new=0.1)


def test_a_planted_subject_is_born_once_with_a_number_of_its_own(planted):
    state, events = follow(settings_of(), planted)
    assert len(events) == 1
    (event, at) = events[0]
    assert event.kind == BIRTH and event.by == "wagers" and event.topics == [TOPICS]
    assert OLD < at <= OLD + 700
    assert {planted[int(name[1:])].labels[0] for name in event.ids} == {"new"}
    assert event.figures["gain"] > 0 and event.figures["rise"] > event.figures["usual"]
    live = state.live
    assert live.topics == TOPICS + 1
    is_new = np.array([word.startswith("n") for word in state.vocabulary.words])
    new = live.rows[: live.size][is_new]
    assert new[:, TOPICS].sum() > 0.9 * new.sum()
    assert live.rows[: live.size, TOPICS].sum() < 1.2 * new[:, TOPICS].sum()
    snapshot = learner_for(settings_of()).snapshot(state)
    assert snapshot.topic_count == 2 * TOPICS and (snapshot.totals[TOPICS + 1 :] == 0).all()


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_nothing_is_born_where_nothing_changes(seed):
    _, events = follow(settings_of(seed=seed), stream(seed))
    assert not events


def test_many_topics_are_born_at_once():
    documents = stream(5, new=1.0, at_once=True)
    state, events = follow(settings_of(), documents)
    event, at = events[0]
    assert event.by == "evidence" and at == OLD + SIZE and 2 <= len(event.topics) <= TOPICS
    assert state.live.topics >= TOPICS + 2


def test_counts_are_those_of_documents_and_waiting_ones_have_no_topics(planted):
    state, _ = follow(settings_of(), planted)
    live, waiting = state.live, state.nursery.waiting
    z, lengths = live.z[: live.tokens], np.diff(live.offsets[: live.documents + 1])
    assert len(waiting) == QuickBirths.delay / QuickBirths.apart
    assert ((z == NONE) == np.repeat(np.isin(state.marks, waiting), lengths)).all()
    counts = np.zeros_like(live.rows)
    np.add.at(counts, (live.words[: live.tokens][z != NONE], z[z != NONE]), 1)
    assert (counts == live.rows).all() and (counts.sum(axis=0) == live.totals).all()


def pending_at(settings, documents):
    """How many documents have come when a candidate is pending for the second time."""
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    for minibatch in minibatches_of(documents, SIZE):
        learner.step(state, minibatch)
        if any(candidate.used for candidate in state.nursery.pending):
            return state
    raise AssertionError("no candidate")


def test_saved_while_a_candidate_is_pending_it_goes_on_with_the_same_bits(planted):
    settings = settings_of()
    state = pending_at(settings, planted)
    learner = learner_for(settings)
    data = learner.save(state)
    assert learner.save(learner.load(settings, "", 0, data)) == data
    one, told = follow(settings, planted)
    other, again = follow(
        settings, planted, 1, {state.documents, state.documents + SIZE, OLD + 300}
    )
    assert learner.save(one) == learner.save(other) and told == again
    assert learner.witness(one) == learner.witness(other)


def test_threads_change_no_bit(planted):
    settings = settings_of()
    one, told = follow(settings, planted, 1)
    three, again = follow(settings, planted, 3)
    assert learner_for(settings).save(one) == learner_for(settings).save(three) and told == again


def test_minibatches_may_be_smaller_than_a_block(planted):
    learner, settings = learner_for(settings_of()), settings_of()
    state = learner.init(settings, "", 0)
    for minibatch in minibatches_of(planted[:OLD], SIZE):
        learner.step(state, minibatch)
    told = []
    for number, minibatch in enumerate(minibatches_of(planted[OLD:], 2)):
        told += learner.step(state, replace(minibatch, sequence=OLD + number)).events
        if number % 50 == 0:
            state = learner.load(settings, "", 0, learner.save(state))
    assert [event.topics for event in told] == [[TOPICS]]


def test_documents_of_small_minibatches_judge_together_and_once(planted, monkeypatch):
    judged, own = {}, births.bet

    def bet(stream, candidate, documents):
        judged.setdefault(id(candidate), []).append(stream.marks[documents])
        kept.append(candidate)
        return own(stream, candidate, documents)

    kept = []
    monkeypatch.setattr(births, "bet", bet)
    follow(settings_of(), planted[: OLD + 600], size=4)
    assert judged
    for candidate in {id(one): one for one in kept}.values():
        parts = judged[id(candidate)]
        marks = np.concatenate(parts)
        assert marks.tolist() == list(range(marks[0], marks[0] + candidate.judges))
        assert candidate.documents.min() < marks[0]
        assert sum(len(part) < QuickBirths.judges for part in parts) <= 1 + len(marks) // 100
        assert max(map(len, parts)) < QuickBirths.judges + 4


def test_the_reservoir_may_be_small(planted):
    state, events = follow(settings_of(reservoir=50), planted)
    assert [event.topics for event, _ in events] == [[TOPICS]]
    assert state.live.documents <= QuickBirths.window + QuickBirths.delay + 50
    assert state.live.totals.sum() == state.tokens - sum(
        len(planted[d].tokens) for d in state.nursery.waiting
    )


def test_a_snapshot_of_topics_has_room_for_births():
    settings = made(learner="gibbs", topics=7)
    assert (settings.topic_count, settings.first_topics, settings.topic_alpha) == (14, 7, 0.1)
    assert made(learner="gibbs", topics=50).topic_alpha == 0.05
    with pytest.raises(OptionError, match="--topics"):
        made(learner="gibbs", topics=40_000)


@pytest.mark.parametrize(
    ("header", "blobs"),
    [
        ({"sweeps": -1}, {}),
        ({"due": 10**9}, {}),
        ({"changed": 10**9}, {}),
        ({"levels": ["1"]}, {}),
        ({"levels": [float(k) for k in range(40)]}, {}),
        ({"excesses": "x"}, {}),
        ({"pasts": 1}, {}),
        ({"pasts": 9}, {}),
        ({"seen": []}, {}),
        ({"topics": [99, 99, 99]}, {}),
        ({"a": [0.0, 0.0, 0.0]}, {}),
        ({"candidate": None}, {}),
        ({"candidate": 1}, {}),
        ({"candidate": [{}]}, {}),
        ({}, {0: [1]}),
        ({}, {1: [2**62]}),
        ({}, {2: list(range(1000))}),
        ({}, {3: [1]}),
        ({}, {5: [50, 50]}),
        ({}, {6: [0]}),
        ({}, {-4: [5, 5]}),
        ({}, {-3: [1]}),
        ({}, {-2: [1]}),
        ({}, {-1: [1]}),
    ],
)
def test_damaged_births_are_refused(planted, header, blobs):
    state = _pending(planted)
    old, parts = wire.unpack(births_stored.MAGIC, nursery_to_bytes(state.nursery))
    for place, values in blobs.items():
        parts[place] = births_stored.pack_numbers(values)
    data = wire.pack(births_stored.MAGIC, {**old, **header}, *parts)
    fresh = learner_for(settings_of()).init(settings_of(), "", 0)
    with pytest.raises(DamagedDataError):
        births_stored.load_nursery(fresh.nursery, state.live, state.marks, state.documents, data)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("count", 0),
        ("used", 10**6),
        ("gained", "x"),
        ("gain", [0.0]),
        ("odd", [[True]]),
        ("odd", [[True, False]] * 3),
        ("rises", []),
        ("rises", [[0.0, 1, 2, 3]] * 2),
        ("rises", [[0.0, 9, 3, 0, 1]] * 2),
    ],
)
def test_a_damaged_candidate_is_refused(planted, name, value):
    state = _pending(planted)
    old, parts = wire.unpack(births_stored.MAGIC, nursery_to_bytes(state.nursery))
    header = {**old, "candidate": [{**old["candidate"][0], name: value}]}
    data = wire.pack(births_stored.MAGIC, header, *parts)
    fresh = learner_for(settings_of()).init(settings_of(), "", 0)
    with pytest.raises(DamagedDataError):
        births_stored.load_nursery(fresh.nursery, state.live, state.marks, state.documents, data)


def test_a_snapshot_has_counts_of_32_bits(planted):
    state = _pending(planted)
    header, parts = wire.unpack(births_stored.MAGIC, nursery_to_bytes(state.nursery))
    counts = births_stored.unpack_numbers(parts[6])

    def loaded(most):
        parts[6] = births_stored.pack_numbers(np.array([most, *counts[1:]]))
        data = wire.pack(births_stored.MAGIC, header, *parts)
        found = learner_for(settings_of()).init(settings_of(), "", 0).nursery
        births_stored.load_nursery(found, state.live, state.marks, state.documents, data)
        return found.pasts[0].counts.max()

    assert loaded(MOST_COUNT) == MOST_COUNT
    with pytest.raises(DamagedDataError, match="snapshots of births"):
        loaded(MOST_COUNT + 1)


def test_the_memory_of_births_is_that_of_their_arrays(planted):
    state = _pending(planted)
    nursery = state.nursery
    pasts = nursery.pasts + [candidate.past for candidate in nursery.pending]
    arrays = [nursery.uses, nursery.waiting, nursery.endings.figures]
    arrays += [candidate.counts for candidate in nursery.pending]
    arrays += [array for past in pasts for array in (past.counts, past.base)]
    assert nursery.nbytes == sum(array.nbytes for array in arrays)
    # The learner counts them.
    learner = learner_for(settings_of())
    with_births, state.nursery = learner.nbytes(state), None
    without, state.nursery = learner.nbytes(state), nursery
    assert with_births - without == nursery.nbytes


_FOUND = []


def _pending(planted):
    if not _FOUND:
        _FOUND.append(pending_at(settings_of(), planted))
    return _FOUND[0]


def beside():
    """A model of words 0 to 19 in two topics, and documents of these and of words 20 to 29."""
    generator, state = np.random.default_rng(9), State(2, seed=3, a=5.0)
    state.add_words(30)
    old = [generator.integers(10 * (d % 2), 10 * (d % 2) + 10, 20) for d in range(60)]
    chosen = state.add_documents(np.concatenate(old), np.full(60, 20))
    for _ in range(20):
        epoch(state, chosen, 1)
    past = Past.of(state, 60)
    new = [
        np.append(generator.integers(20, 30, 12), generator.integers(0, 10, 8)) for _ in range(30)
    ]
    return state, past, state.add_documents(np.concatenate(new), np.full(30, 20))


def test_a_topic_is_learned_beside_others():
    state, past, documents = beside()
    texts = texts_of(state, documents)
    old = Held.of(0.1, past.phi(texts.ids, state))
    prior, names = Prior(past.prior(texts.ids, state), 5.0, 0.1), Names(state.key)
    # Few of the words begin in it.
    made_ = learn(texts, old, prior, np.isin(texts.ids, [20, 21, 22]), 1, names, 6)
    assert made_.new == 1 and names.used == 17
    kept = texts.of(made_.stays)
    counts = kept.counts(made_.topics, old.phi.shape[1], 1)[:, 0]
    of_word = dict(zip(texts.ids.tolist(), counts.tolist(), strict=True))
    tokens = np.bincount(kept.words, minlength=len(texts.ids))
    assert sum(of_word.get(w, 0) for w in range(20, 30)) > 0.95 * tokens[texts.ids >= 20].sum()
    assert sum(of_word.get(w, 0) for w in range(20)) < 0.3 * tokens[texts.ids < 20].sum()
    again = learn(texts, old, prior, np.isin(texts.ids, [20, 21, 22]), 1, Names(state.key), 6)
    assert (again.topics == made_.topics).all()


def test_mixtures_and_completion_are_the_twins():
    state, past, documents = beside()
    texts = texts_of(state, documents)
    phi = past.phi(texts.ids, state).astype(np.float64)
    held, found = Held.of(0.1, past.phi(texts.ids, state)), []
    for d in range(len(documents)):
        words = texts.words[texts.offsets[d] : texts.offsets[d + 1]]
        mass = np.full(2, 0.1)
        for _ in range(6):
            parts = mass * phi[words[::2]]
            mass = 0.1 + (parts / parts.sum(axis=1, keepdims=True)).sum(axis=0)
        found.append(np.log(phi[words[1::2]] @ (mass / (10 + 0.2))).sum())
    assert held.completion(texts) == pytest.approx(np.array(found), rel=1e-4)


def test_few_documents_may_hold_a_topic():
    state, _, documents = beside()
    texts = texts_of(state, np.concatenate([np.arange(60), documents]))
    phi = np.where(texts.ids >= 20, 0.1, 1e-6)[:, None].astype(np.float32)
    shares = np.full(len(texts.ids), 1 / 30)
    assert may_hold(texts, phi, shares, 1).tolist() == [False] * 60 + [True] * 30


def test_kinds_are_distinct_pairs():
    state, _, documents = beside()
    texts = texts_of(state, documents)
    where = np.repeat(np.arange(30), 20)
    wanted = sorted(set(zip(texts.words.tolist(), where.tolist(), strict=True)))
    assert sorted(zip(*(part.tolist() for part in kinds_of(texts)), strict=True)) == wanted


def test_tokens_of_documents_that_wait_are_added_up_in_any_order():
    settings = small(learner="gibbs", births="small")
    learner = learner_for(settings)
    state, found = learner.init(settings, "", 0), []
    for minibatch in minibatches_of(topical(420, words=40, topics=3, length=30), 20):
        learner.step(state, minibatch)
        found.append(learner.arrivals(state, 0).counts[0, 0])
    assert (np.mod(found, 1.0) != 0.0).any(), "some documents wait"
    assert (np.mod(np.array(found) / GRID, 1.0) == 0.0).all()
    assert (np.sum(found, axis=0) == sum(found[::-1])).all()
