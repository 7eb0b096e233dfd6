"""Topics that end and come back, two that become one, and births that find an id."""

from dataclasses import replace

import numpy as np
import pytest
from corpora import document_of, minibatches_of
from learner_options import made
from learner_variants import QuickBirths

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.learners import learner_for
from beam_topics.model.learners.engine import births_stored
from beam_topics.model.learners.engine.births_stored import nursery_to_bytes
from beam_topics.model.learners.engine.candidates import Names
from beam_topics.model.learners.engine.epoch import epoch
from beam_topics.model.learners.engine.merges import costs, ids_for, judge_twins, seek_twins
from beam_topics.model.learners.engine.nursery import (
    END,
    HALF_LIFE,
    RATIO,
    SETTLED,
    SILENT,
    Endings,
    Nursery,
    Pair,
    Stream,
    around,
    watch,
)
from beam_topics.model.learners.engine.settings import Gibbs
from beam_topics.model.learners.engine.state import State
from beam_topics.model.publishing.events import BIRTH, DEATH, LEAST_DOCUMENTS
from beam_topics.model.stored import wire

TOPICS, SIZE = 5, 100


def settings_of(**others):
    found = made(learner="gibbs", topics=TOPICS, births="on", moves=4, **others)
    return replace(found, schedule=replace(found.schedule, births=QuickBirths()))


def followed(settings, documents, threads=1, saved_at=()):
    """The state after a stream, and (event, documents until then) of all that was told."""
    learner = learner_for(settings)
    state, events = learner.init(settings, "", 0, threads), []
    for minibatch in minibatches_of(documents, SIZE):
        if state.documents in saved_at:
            state = learner.load(settings, "", 0, learner.save(state), threads)
        events += [(event, state.documents) for event in learner.step(state, minibatch).events]
    return state, events


def subject(generator, number, words=30):
    """Words of a subject of its own."""
    return [f"s{number}x{w}" for w in generator.choice(20, words)]


def subjects(seed, parts):
    """Documents of subjects with words of their own: (documents, subjects that they are of)."""
    generator, documents = np.random.default_rng(seed), []
    for count, present in parts:
        for _ in range(count):
            number = int(generator.choice(present))
            words = subject(generator, number)
            documents.append(document_of(words, len(documents), f"s{number}"))
    return documents


def topic_of(state, number):
    """The topic with most tokens of a subject, and its share of them."""
    mine = np.array([word.startswith(f"s{number}x") for word in state.vocabulary.words])
    counts = state.live.rows[: state.live.size][mine].sum(axis=0)
    return int(counts.argmax()), counts.max() / counts.sum()


EVERYTHING = [0, 1, 2, 3, 4]
PAUSE = [(4000, EVERYTHING), (1600, [0, 1, 2, 3]), (800, EVERYTHING)]


@pytest.fixture(scope="module")
def paused():
    return subjects(1, PAUSE)


def test_a_subject_that_pauses_ends_and_comes_back_to_its_topic(paused):
    before, _ = followed(settings_of(), paused[:4000])
    topic, share = topic_of(before, 4)
    assert share > 0.9 and not before.nursery.endings.ended
    silent, told = followed(settings_of(), paused[:5600])
    assert [(event.kind, event.topics) for event, _ in told] == [(DEATH, [topic])]
    event, at = told[0]
    learned = 1 - 1 / QuickBirths.apart
    assert SILENT <= (at - 4000) * learned <= SILENT + 3 * SIZE
    assert event.by == "wagers" and event.documents < LEAST_DOCUMENTS
    assert event.figures["usual"] == pytest.approx(0.2, abs=0.03)
    assert event.figures["rate"] < 0.01 and event.figures["silent"] >= SILENT
    assert silent.nursery.endings.ended == [topic]
    after, again = followed(settings_of(), paused)
    assert again == told and not after.nursery.endings.ended
    assert topic_of(after, 4) == (topic, pytest.approx(1.0, abs=0.1))


def test_it_is_the_same_when_saved_and_with_threads(paused):
    learner = learner_for(settings_of())
    one, told = followed(settings_of(), paused)
    moments = {3000, 4500, 5000, 5200, 5700, 5900}
    for threads in (1, 2, 3):
        other, again = followed(settings_of(), paused, threads, moments)
        assert learner.save(one) == learner.save(other) and told == again
        assert learner.witness(one) == learner.witness(other)


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_nothing_is_told_where_nothing_changes(seed):
    state, told = followed(settings_of(seed=seed), subjects(seed, [(6000, EVERYTHING)]))
    assert not told
    # A subject that began with two topics has one.
    assert (state.live.totals[state.nursery.endings.ended] == 0).all()
    assert all(topic_of(state, number)[1] > 0.9 for number in EVERYTHING)


def rates(probability, count, usual=0.2, runs=300, size=50):
    """The share of topics that end in so many documents, after some of the usual rate."""
    endings, generator, ended = Endings(runs), np.random.default_rng(5), set()
    for d in range(0, 6000 + count, size):
        now = usual if d < 6000 else probability
        ended |= set(endings.watch(generator.binomial(size, now, runs), size))
    return len(ended) / runs


@pytest.mark.statistical
def test_ends_are_rare_where_the_rate_is_half_the_usual_one():
    assert rates(0.2, 10_000) == 0.0
    # The mean time to a false end is e^10 documents or more.
    count = 4000
    level = count / np.exp(END)
    assert rates(0.1, count) <= level + 3 * (level * (1 - level) / 300) ** 0.5


@pytest.mark.statistical
def test_ends_are_found_where_little_is_left():
    assert rates(0.2 / 20, SILENT + 500) > 0.95


@pytest.mark.statistical
def test_ends_that_are_told_too_early_are_found(monkeypatch):
    monkeypatch.setattr("beam_topics.model.learners.engine.nursery.END", END / 100)
    monkeypatch.setattr("beam_topics.model.learners.engine.nursery.SILENT", 0)
    assert rates(0.1, 4000) > 0.2


def twin(counts, size, usual=None):
    """The sum of a CUSUM by its definition, and the rate."""
    about = counted = since = silent = total = 0.0
    for x in counts:
        known = counted >= SETTLED and about >= LEAST_DOCUMENTS
        if known:
            r = about / counted
            none = np.log((1 - r / 2 / RATIO) / (1 - r / 2))
            total = max(0.0, total + (size - x) * none - x * np.log(RATIO))
        since, silent = since + x, silent + size
        if total == 0.0:
            decay = 0.5 ** (size / HALF_LIFE)
            about, counted, since, silent = about * decay + since, counted * decay + silent, 0, 0
    return [about, counted, since, silent, total]


def test_sums_are_the_twins():
    generator = np.random.default_rng(8)
    counts = np.concatenate([generator.binomial(40, 0.1, 100), generator.binomial(40, 0.04, 20)])
    endings = Endings(3)
    for x in counts.tolist():
        assert not endings.watch(np.array([x, 0]), 40)
    assert endings.figures[:, 0] == pytest.approx(twin(counts.tolist(), 40))
    # What nobody holds is not told, and what is not born is not counted.
    assert endings.figures[[0, 2, 4], 1].tolist() == [0, 0, 0] and not endings.figures[:, 2].any()


def seeming():
    """Two topics of every tenth document that have been silent."""
    endings = Endings(2)
    endings.figures[:, :2] = np.array([[100, 1000, 0, 900, 80]] * 2).T
    return endings


def test_a_topic_ends_whose_documents_are_still_about_it():
    endings = seeming()
    assert endings.end(1, 0.1, 0.0) and endings.ended == [1]
    assert endings.figures[:, 1].tolist() == [100, 1000, 0, 900, 0]


@pytest.mark.parametrize(("rate", "now"), [(0.0, 0), (0.01, 1), (0.1, 30)])
def test_a_topic_that_was_dissolved_does_not_end(rate, now):
    endings = seeming()
    assert not endings.end(0, rate, now / 900) and not endings.ended
    each = np.log((1 - rate / 2 / RATIO) / (1 - rate / 2))
    total = max(0.0, (900 - now) * each - now * np.log(RATIO))
    assert endings.figures[:, 0] == pytest.approx([1000 * rate, 1000, 0, 900, total])


@pytest.mark.parametrize("into", [0, 1])
def test_what_is_known_of_two_topics_is_known_of_one(into):
    endings = seeming()
    endings.figures[:, 1] = [40, 120, 5, 8, 0]
    endings.ended = [1 - into]
    endings.join(into, 1 - into)
    assert endings.figures[:, into].tolist() == [140, 1000, 0, 900, 80]
    assert not endings.figures[:, 1 - into].any() and not endings.ended


@pytest.mark.parametrize("dissolved", [False, True])
def test_the_documents_before_a_silence_tell_of_an_end(dissolved):
    stream = stream_of(4)
    live, nursery = stream.live, stream.nursery
    nursery.endings.figures[:, 1] = [150, 600, 0, SILENT, END]
    documents, z = np.arange(600), live.z[: live.tokens]
    since = np.repeat(documents >= 300, 30)
    # 300 documents at hand tell of the silence, and the others of what was before it.
    z[(z == 1) & (since | dissolved)] = 2
    marks = np.where(documents < 300, documents, 400 + 3 * documents)
    stream = stream._replace(marks=marks, seen=2300)
    watch(stream, documents[300:])
    assert [event.topics for event in nursery.events] == ([] if dissolved else [[1]])


def test_the_documents_around_the_begin_of_a_silence():
    stream = stream_of(4)
    stream.nursery.waiting = np.array([450, 540])
    # A quarter of all documents waits.
    assert QuickBirths.apart == 4
    before, since = around(stream, 99, 50)
    assert before.tolist() == [d for d in range(401, 534) if d != 450]
    assert since.tolist() == [d for d in range(534, 600) if d != 540]


@pytest.mark.parametrize(("seed", "over"), [(5, 0), (6, 0), (5, 1000), (6, 1000)])
def test_words_that_turn_over_early_end_a_topic_and_split_no_other(seed, over):
    generator, documents = np.random.default_rng(seed), []
    for d in range(3600):
        number = int(generator.integers(6))
        # In the end the words of 5 are those of 6.
        late = generator.random(30) < ((d - 1000) / over if over else d >= 1000)
        turns = zip(subject(generator, 5), subject(generator, 6), late, strict=True)
        words = [new if is_new else old for old, new, is_new in turns]
        words = words if number == 5 else subject(generator, number)
        documents.append(document_of(words, d, f"s{number}"))
    state, told = followed(made(learner="gibbs", topics=8, seed=seed), documents)
    topics = [topic_of(state, number) for number in range(7)]
    assert len({topic for topic, _ in topics}) == 7 and min(share for _, share in topics) > 0.8
    assert [(event.kind, event.topics) for event, _ in told] == [(DEATH, [topics[5][0]])]


def stream_of(topics=4, halves=(), most=None, seed=6, count=600):
    """A learned stream of so many subjects, some of which a coin splits in two topics."""
    generator, live = np.random.default_rng(seed), State(topics, seed=seed, a=5.0)
    live.add_words(20 * topics)
    kinds = generator.integers(topics - len(halves), size=count)
    words = (20 * kinds[:, None] + generator.integers(20, size=(count, 30))).ravel()
    chosen = live.add_documents(words, np.full(count, 30))
    z = np.repeat(kinds, 30)
    for new, old in enumerate(halves, topics - len(halves)):
        z = np.where((z == old) & (generator.random(len(z)) < 0.5), new, z)
    live.recount(live.places(chosen)[0], z.astype(np.uint16))
    live.tables[: live.size] = 1
    nursery = Nursery(QuickBirths(), 0.1, most or topics, Names(live.key))
    nursery.uses = np.array([np.bincount(words, minlength=live.size)] * 2)
    nursery.endings.figures[1, :topics] = SETTLED
    ids = tuple(f"d{d}" for d in range(count))
    return Stream(live, np.arange(count), nursery, count, chosen[:0], ids, 1, None)


def check_counts(live):
    counts = np.zeros_like(live.rows)
    np.add.at(counts, (live.words[: live.tokens], live.z[: live.tokens]), 1)
    assert (counts == live.rows).all() and (counts.sum(axis=0) == live.totals).all()


def test_what_merges_cost_is_the_twins():
    stream = stream_of(4, halves=(1,))
    live, documents = stream.live, np.arange(250)
    for _ in range(2):
        epoch(live, documents, 1)
    phi, totals = live.phi(), live.totals.astype(float)
    wanted = np.zeros((4, 4))
    tokens = 0
    for d in documents.tolist():
        places = np.arange(live.offsets[d], live.offsets[d + 1])
        counts = np.bincount(live.z[places], minlength=4) + 0.1
        for i in places.tolist():
            w, k = live.words[i], live.z[i]
            for h in range(4):
                if h != k:
                    own, other, p, q = counts[k] - 1, counts[h], phi[k, w], phi[h, w]
                    mixed = (totals[k] * p + totals[h] * q) / (totals[k] + totals[h])
                    lost = np.log((own * p + other * q) / ((own + other) * mixed))
                    wanted[k, h], wanted[h, k] = wanted[k, h] + lost, wanted[h, k] + lost
        tokens += len(places)
    found = costs(live, documents, 0.1)
    assert found == pytest.approx(wanted / tokens, rel=1e-4, abs=1e-7)
    assert np.unravel_index(np.argmin(found + np.eye(4)), (4, 4)) == (1, 3)


def test_a_birth_takes_an_unused_id_then_an_ended_one_then_that_of_a_merge():
    stream = stream_of(5, halves=(1,), most=6)
    live, nursery = stream.live, stream.nursery
    nursery.endings.ended = [2]
    nursery.endings.figures[:4, 2] = [100, SETTLED, 0, 0]
    found = ids_for(stream, 3, 10.0)
    assert found[:2] == [2, 5] and len(found) == 3 and found[2] in (1, 4)
    assert (live.totals[found] == 0).all() and not nursery.endings.ended
    assert (live.alpha[: live.topics] == 0.1).all()
    known = nursery.endings.figures[1, :5].tolist()
    assert known == [SETTLED * (t not in found) for t in range(5)]
    check_counts(live)


def test_a_merge_that_costs_more_than_the_birth_gains_is_not_made():
    stream = stream_of(4)
    assert ids_for(stream, 1, 1e-3) == [] and (stream.live.totals[:4] > 0).all()
    assert len(ids_for(stream, 1, 10.0)) == 1


def test_young_topics_do_not_merge():
    stream = stream_of(5, halves=(1,))
    stream.nursery.endings.figures[1, 4] = SETTLED - 1
    assert ids_for(stream, 1, 1e-3) == []


def arriving(stream, seed, count=1000):
    """The stream with documents of the same subjects that nobody has learned."""
    live, generator = stream.live, np.random.default_rng(seed)
    kinds = generator.integers(live.topics - 1, size=count)
    words = (20 * kinds[:, None] + generator.integers(20, size=(count, 30))).ravel()
    arrived = live.add_documents(words, np.full(count, 30))
    marks, seen = np.arange(live.documents), live.documents
    return stream._replace(arrived=arrived, marks=marks, seen=seen)


@pytest.mark.parametrize("known", [SETTLED, 0])
def test_two_topics_of_one_subject_become_one(known):
    stream = stream_of(5, halves=(1,))
    live, nursery = stream.live, stream.nursery
    nursery.endings.figures[1, :5] = known
    seek_twins(stream)
    assert [(pair.x, pair.y) for pair in nursery.twins] == [(1, 4)]
    judge_twins(arriving(stream, 3))
    assert not nursery.twins and len(nursery.endings.ended) == 1
    (gone,) = nursery.endings.ended
    assert gone in (1, 4) and live.totals[gone] == 0 and live.totals[5 - gone] > 3000


def test_two_subjects_with_like_words_stay_two():
    stream = stream_of(5)
    nursery = stream.nursery
    seek_twins(stream)
    assert not nursery.twins
    nursery.twins = [Pair(1, 2)]
    judge_twins(arriving(stream, 3))
    assert nursery.apart == {(1, 2): 1600} and not nursery.twins
    assert (stream.live.totals[:5] > 0).all()


def test_a_pair_that_documents_do_not_join_rests():
    stream = stream_of(5, halves=(1,))
    stream.nursery.apart = {(1, 4): 500}
    seek_twins(stream)
    assert not stream.nursery.twins
    seek_twins(stream._replace(seen=3500))
    assert stream.nursery.twins and not stream.nursery.apart


def test_a_topic_that_has_ended_is_in_no_pair():
    stream = stream_of(5, halves=(1,))
    stream.nursery.endings.ended = [4]
    seek_twins(stream)
    assert not stream.nursery.twins


TEN = list(range(10))


@pytest.fixture(scope="module")
def full():
    """All ten ids are in use, and a subject pauses; a save."""
    learner = learner_for(settings_of())
    with pytest.MonkeyPatch.context() as patch:
        # The first documents choose nothing.
        patch.setattr(Gibbs, "chooses_first", False)
        state = learner.init(settings_of(), "", 0)
        state.live.add_topics(TOPICS, state.nursery.alpha)
        for minibatch in minibatches_of(subjects(7, [(4000, TEN), (1600, TEN[:9])]), SIZE):
            learner.step(state, minibatch)
    return learner.save(state), topic_of(state, 9)[0]


@pytest.mark.parametrize("by", ["end", "merge"])
def test_a_full_stream_bears_a_subject(full, by):
    """It takes the id of what has ended, or of the cheapest merge."""
    learner, events = learner_for(settings_of()), []
    state = learner.load(settings_of(), "", 0, full[0])
    assert state.live.topics == 2 * TOPICS and full[1] in state.nursery.endings.ended
    if by == "merge":
        state.nursery.endings.ended = []
    first = state.nursery.endings.ended[:1]
    for minibatch in minibatches_of(subjects(9, [(1500, [*TEN[:9], 10, 10])]), SIZE):
        events += learner.step(state, minibatch).events
    births = [event for event in events if event.kind == BIRTH]
    assert len(births) == 1 and state.live.topics == 2 * TOPICS
    topic, share = topic_of(state, 10)
    assert births[0].topics == [topic] and share > 0.9
    assert by == "merge" or [topic] == first
    check_learned(state)


def check_learned(state):
    live = state.live
    z = live.z[: live.tokens]
    known = z < live.topics
    counts = np.zeros_like(live.rows)
    np.add.at(counts, (live.words[: live.tokens][known], z[known]), 1)
    assert (counts == live.rows).all() and (counts.sum(axis=0) == live.totals).all()


WITH_PAIRS = {"ended": [3], "twins": [[0, 1, 5, [0.0, 0.1, 0.2, 0.3]]], "apart": [[1, 2, 400]]}


@pytest.fixture(scope="module")
def saved():
    state, _ = followed(settings_of(), subjects(1, [(500, EVERYTHING)]))
    header, parts = wire.unpack(births_stored.MAGIC, nursery_to_bytes(state.nursery))
    return state, {**header, **WITH_PAIRS}, parts


def load(state, header, parts):
    fresh = learner_for(settings_of()).init(settings_of(), "", 0)
    data = wire.pack(births_stored.MAGIC, header, *parts)
    births_stored.load_nursery(fresh.nursery, state.live, state.marks, state.documents, data)
    return fresh.nursery


def test_endings_and_twins_are_saved(saved):
    found = load(*saved)
    assert wire.unpack(births_stored.MAGIC, nursery_to_bytes(found)) == (saved[1], saved[2])
    assert found.endings.ended == [3] and found.apart == {(1, 2): 400}
    assert [(pair.x, pair.y, pair.judges) for pair in found.twins] == [(0, 1, 5)]


@pytest.mark.parametrize(
    "wrong",
    [
        {"ended": [5]},
        {"ended": [1, 1]},
        {"ended": 1},
        {"ended": [True]},
        {"twins": None},
        {"twins": [[1, 1, 5, [0.0] * 4]]},
        {"twins": [[1, 2, 1500, [0.0] * 4]]},
        {"twins": [[1, 2, 5, [0.0] * 3]]},
        {"twins": [[0, 5, 5, [0.0] * 4]]},
        {"twins": [[0, 1, 5]]},
        {"apart": [[0, 1, 501]]},
        {"apart": [[2, 1, 0]]},
        {"apart": [["0", 1, 0]]},
    ],
)
def test_damaged_twins_are_refused(saved, wrong):
    state, header, parts = saved
    with pytest.raises(DamagedDataError):
        load(state, {**header, **wrong}, parts)


@pytest.mark.parametrize(
    ("place", "value"), [((0, 0), 1e9), ((1, 1), -1.0), ((4, 0), np.nan), ((1, 5), 1.0)]
)
def test_damaged_figures_are_refused(saved, place, value):
    state, header, parts = saved
    figures = state.nursery.endings.figures.copy()
    figures[place] = value
    for damaged in (figures, figures[:, :-1]):
        blob = wire.array_to_bytes(damaged.ravel(), "<f8")
        with pytest.raises(DamagedDataError):
            load(state, header, [*parts[:3], blob, *parts[4:]])
