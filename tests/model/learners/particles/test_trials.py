"""Particles are challenged: who is, what waits, what a duel decides."""

from dataclasses import replace

import numpy as np
import pytest
from corpora import learned, minibatches_of, topical
from learner_options import made

from beam_topics.model.errors import MisplacedOptionError, OptionError
from beam_topics.model.learners import EveryDocument, NoChallengers, ParticleFilter, learner_for
from beam_topics.model.learners.particles import challengers, trials
from beam_topics.model.learners.particles.challengers import Rule, duel, split_history
from beam_topics.model.learners.particles.kernels.resampling import MOVES
from beam_topics.model.learners.particles.priors import word_rows
from beam_topics.model.learners.particles.trials import TopicCounts, topics_replaced

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
    "seed": 2,
    "newest_share": 0.85,
    "judges": 15,
}
# So it tells a change by few blocks, and so in a short stream.
ALARMED = {"false_alarms": 20.0}
SETTINGS = made(OPTIONS, **ALARMED)
FIRST, SECOND = topical(200, topics=3, seed=1), topical(200, topics=4, seed=2, first=100)
STREAM = minibatches_of(FIRST + SECOND, 10)


@pytest.fixture(scope="module")
def duels():
    """[(documents learned, newest, free, winner)] of a stream that changes, and its last state."""
    found, original = [], trials.duel

    def noted(state, judges, newest, free, rule):
        verdict = original(state, judges, newest, free, rule)
        found.append((state.documents, newest, free, verdict.winner))
        return verdict

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trials, "duel", noted)
        state = learned(SETTINGS, STREAM)
    return found, state


def topics_in_use(state, first, least=0.05):
    """How many topics hold at least this share of the tokens of words from number ``first`` on."""
    words = [n for n, word in enumerate(state.vocabulary.words) if int(word[1:]) >= first]
    counts = word_rows(state.population, 0, np.array(words))[:, : state.settings.topics].sum(axis=0)
    return int((counts >= least * counts.sum()).sum())


def test_a_change_is_followed_by_trials_of_the_documents_since(duels):
    found, state = duels
    assert [documents for documents, *_ in found[:1]] == [60]
    after = [duel for duel in found if duel[0] > 200]
    assert state.following.changes == 1 and state.following.changed in range(180, 211)
    assert after[0][1] == after[0][0] - state.following.changed
    assert after[0][2] == int(0.65 * 8)


def test_the_new_documents_get_topics_of_their_own(duels):
    assert topics_in_use(duels[1], 100) >= 3
    unchallenged = learned(made({**OPTIONS, "challengers": "off"}), STREAM)
    assert topics_in_use(unchallenged, 100) < topics_in_use(duels[1], 100)


def test_the_gain_of_documents_and_its_standard_error():
    documents = [np.zeros(length, np.int32) for length in (4, 5, 1, 8)]
    before, after = np.array([-3.0, -4, 0, -9]), np.array([-2.0, -4.5, 0, -6])
    gain, error = challengers.gain_of(documents, before, after)
    assert gain == pytest.approx((after - before).sum() / 8)
    assert error == pytest.approx(np.std(after - before, ddof=1) * np.sqrt(4) / 8)
    assert challengers.gain_of([np.zeros(1, np.int32)], np.zeros(1), np.zeros(1)) == (0, 0)
    assert challengers.gain_of([], np.zeros(0), np.zeros(0)) == (0, 0)


def test_a_gain_within_its_standard_error_wins_nothing(monkeypatch):
    state, judges = learned(SETTINGS, STREAM[:12]), [document.tokens for document in FIRST[120:150]]
    numbers = [
        state.vocabulary.numbers(FIRST[n].words)[t]
        for n, t in zip(range(120, 150), judges, strict=True)
    ]
    monkeypatch.setattr(challengers, "MARGIN", -1.0)
    assert duel(state, numbers, 50, 2, Rule(1e9, 0.25)).winner == -1
    assert duel(state, numbers, 50, 2, Rule(0.0, 0.25)).winner >= 0


def test_a_duel_that_nobody_wins_changes_nothing(monkeypatch):
    monkeypatch.setattr(challengers, "MARGIN", np.inf)
    learner, state = learner_for(SETTINGS), learned(SETTINGS, STREAM[:12])
    before = learner.save(state)
    verdict = duel(state, [np.array([0, 1, 2], np.int32)] * 9, 50, 2, trials.AFTER_CHANGE)
    assert verdict.winner == -1 and len(verdict.gains) == challengers.CHALLENGERS
    assert learner.save(state) == before


def test_all_particles_go_on_from_a_winner(monkeypatch):
    monkeypatch.setattr(challengers, "MARGIN", -np.inf)
    state = learned(replace(SETTINGS, particles=3), STREAM[:12])
    duel(state, [np.array([0, 1, 2], np.int32)] * 9, 50, 2, trials.AFTER_CHANGE)
    assert len(set(map(bytes, state.population.totals))) == 1
    assert state.population.identity.tolist() == [0, 1, 2]
    totals = word_rows(state.population, 2, np.arange(len(state.vocabulary)))[
        :, : state.settings.topics
    ].sum(axis=0)
    assert totals.tolist() == state.population.totals[2, : state.settings.topics].tolist()


def test_a_challenger_makes_room_and_counts_every_token():
    state = learned(SETTINGS, STREAM[:12])
    restarted, past = split_history(state, 30)
    population = challengers.challenger(state, 0, 0, restarted, past, 5)
    assert population.totals[0].sum() == state.population.totals[0].sum()
    of_restarted = sum(int(state.history.pages.length[slot]) for slot in restarted)
    used = np.flatnonzero(population.totals[0])
    assert len(used) == 8
    emptied = [t for t in used if population.totals[0, t] < 2 * of_restarted / 5]
    assert len(emptied) >= 5


@pytest.mark.parametrize(("is_hopeless", "sweeps"), [(True, 7), (False, 20)])
def test_a_hopeless_challenger_gives_up_after_a_third_of_its_sweeps(
    monkeypatch, is_hopeless, sweeps
):
    monkeypatch.setattr(challengers, "SWEEPS", 20)
    monkeypatch.setattr(challengers, "VISITS", 0)
    state, asked = learned(SETTINGS, STREAM[:12]), []
    restarted, past = split_history(state, 30)
    population = challengers.challenger(state, 0, 0, restarted, past, 5)
    before, first = int(state.resampler.counters[MOVES]), population.topics.rows.copy()
    challengers.visit(
        state, population, restarted, lambda given: asked.append(given) or is_hopeless
    )
    tokens = int(state.history.pages.length[restarted].sum())
    assert int(state.resampler.counters[MOVES]) - before == sweeps * tokens
    assert asked == [population] and (population.topics.rows != first).any()


def test_a_challenger_far_behind_is_hopeless(monkeypatch):
    state, found = learned(SETTINGS, STREAM[:12]), []

    def not_visited(state, population, restarted, is_hopeless):
        found.append(is_hopeless(population))
        return population

    monkeypatch.setattr(challengers, "visit", not_visited)
    judges = [state.vocabulary.numbers(text.words)[text.tokens] for text in FIRST[:30]]
    monkeypatch.setattr(challengers, "HOPELESS", -10.0)
    duel(state, judges, 50, 2, trials.AFTER_CHANGE)
    monkeypatch.setattr(challengers, "HOPELESS", 10.0)
    duel(state, judges, 50, 2, trials.AFTER_CHANGE)
    assert found == [True, True, False, False]


def test_judges_wait_unlearned_and_a_version_has_learned_them():
    learner = learner_for(SETTINGS)
    state = learned(SETTINGS, STREAM[:7])
    assert (state.documents, len(state.following.held)) == (60, 10)
    before = learner.save(state)
    snapshot, summary = learner.snapshot(state), learner.summary(state)
    assert summary.documents == 70
    assert summary.tokens == sum(len(document.tokens) for document in FIRST[:70])
    assert snapshot.counts.sum() < summary.tokens
    assert learner.save(state) == before
    again = learner.load(SETTINGS, "", 0, before)
    assert learner.snapshot(again).counts.tolist() == snapshot.counts.tolist()


def test_a_stream_of_one_kind_tells_no_change():
    state = learned(made(OPTIONS, judges=100), minibatches_of(topical(1200, seed=8), 50))
    assert state.following.changes == 0


@pytest.mark.parametrize(
    ("others", "said"),
    [
        (
            {"rejuvenation_unit": "token"},
            r"--rejuvenation_unit: 'token' .* document with .* Give --challengers=off",
        ),
        (
            {"history": "full"},
            r"--history: 'full' .* reservoir with --challengers=on\..* Give --challengers=off",
        ),
        (
            {"newest": 10},
            r"--newest: 10 .* 100 or more with --challengers=on\..* --challengers=off",
        ),
    ],
)
def test_settings_with_which_nobody_can_be_challenged(others, said):
    with pytest.raises(OptionError, match=said):
        made(None, **{"particles": 2, "challengers": "on", **others})


@pytest.mark.parametrize(
    ("others", "said"),
    [
        (
            {"learner": "infvoc"},
            r"--challengers=on belongs to --learner=particle-filter or incremental-gibbs",
        ),
        (
            {"learner": "o-lda"},
            r"--challengers=on belongs to --learner=particle-filter or incremental-gibbs",
        ),
        (
            {"rejuvenation": "never"},
            r"--challengers=on belongs to --rejuvenation=document; --rejuvenation=never is chosen",
        ),
        (
            {"rejuvenation": "tokens"},
            r"--challengers=on belongs to --rejuvenation=document; --rejuvenation=tokens is chosen",
        ),
        (
            {"challengers": "off", "false_alarms": 15},
            r"--false_alarms=15 belongs to --challengers=on; --challengers=off is chosen",
        ),
    ],
)
def test_options_of_challengers_belong_where_there_can_be_challengers(others, said):
    with pytest.raises(MisplacedOptionError, match=said):
        made(None, **{"challengers": "on", **others})


def test_settings_stored_without_challengers_have_none():
    settings = ParticleFilter(rejuvenation=EveryDocument(challengers=NoChallengers()))
    assert "challengers" not in settings.canonical()
    assert ParticleFilter.from_json(settings.to_json()).rejuvenation.challengers == NoChallengers()
    assert "challengers" in ParticleFilter().canonical()
    assert ParticleFilter.from_json(ParticleFilter().to_json()) == ParticleFilter()


def events_of(settings, minibatches, reload_at=None):
    """[(sequence, event)] of the steps; the learner is saved and loaded before one of them."""
    learner, found = learner_for(settings), []
    state = learner.init(settings, "", 0)
    for minibatch in minibatches:
        if minibatch.sequence == reload_at:
            state = learner.load(settings, "", 0, learner.save(state))
        info = learner.step(state, minibatch)
        found += [(minibatch.sequence, event) for event in info.events]
    return found, learner.save(state)


def test_a_change_and_the_topics_that_a_challenger_replaces_are_events(duels):
    found, saved = events_of(SETTINGS, STREAM)
    assert saved == learner_for(SETTINGS).save(duels[1])
    changes = [(at, event) for at, event in found if event.kind == "change"]
    (at, change) = changes[0]
    following = duels[1].following
    assert len(changes) == following.changes == 1
    assert change.by in ("evidence", "shares") and set(change.figures) == {
        "found",
        "usual",
        "sum",
        "threshold",
    }
    assert change.documents >= 15 and change.tokens > 0 and 0 < len(change.topics) <= 3
    assert change.ids == list(STREAM[at - 1].ids[-3:])
    replaced = [event for _, event in found if event.kind == "topics_replaced"]
    assert len(replaced) == following.won == sum(winner >= 0 for *_, winner in duels[0])
    assert max(len(event.topics) for event in replaced) >= 2
    for event in replaced:
        assert event.documents > 0 and event.by == "duel"
        assert event.figures["born"] == len(event.topics)
    again, same = events_of(SETTINGS, STREAM, reload_at=at)
    assert again == found and same == saved
    assert events_of(made({**OPTIONS, "challengers": "off"}), STREAM)[0] == []


def test_born_and_ended_topics_by_the_tokens_that_stay():
    # Topic 0 stays, 1 is absorbed by 0 and takes other words, 2 is new, 3 grows a little.
    before = np.array([[9, 0, 0, 4], [0, 3, 0, 0], [0, 0, 0, 0]])
    after = np.array([[9, 0, 0, 6], [3, 0, 0, 0], [0, 5, 7, 0]])
    before, after = (
        TopicCounts(np.flatnonzero(counts), counts[counts > 0], 4) for counts in (before, after)
    )
    event = topics_replaced(before, after, 40, (0.5, 0.1, -0.2), ids=list("abcd"))
    assert event.topics == [1, 2] and (event.documents, event.tokens) == (40, 12)
    assert event.ids == ["b", "c", "d"]
    assert event.figures == {
        "gain": 0.5,
        "standard_error": 0.1,
        "gain_on_past": -0.2,
        "born": 2,
        "ended": 1,
    }
