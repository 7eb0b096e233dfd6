"""The particle family: what holds beside the laws of every learner (``learner_battery.py``)."""

from collections import Counter
from dataclasses import replace
from math import exp

import numpy as np
import pytest
from corpora import awkward, document_of, minibatches_of, topical
from learner_battery import STREAM, evidence_is_of_the_last_minibatches, plain
from learner_variants import PARTICLES, SMALL, TOKENWISE, VARIANTS, settings_of, small

from beam_topics.model.errors import DamagedDataError, OptionError
from beam_topics.model.learners import Flat, learner_for
from beam_topics.model.learners.particles.kernels.history import LONGEST
from beam_topics.model.learners.particles.particle_filter import initialised
from beam_topics.model.learners.particles.population import best_particle
from beam_topics.model.learners.particles.priors import word_rows

VARIANT_BEGINS = {"no initial batch": 0}
WORDS = [Counter(np.array(document.words)[document.tokens].tolist()) for document in awkward()]


def begun(learner, documents, **others):
    """Of batch Gibbs every document is of the initial batch."""
    batch = {} if learner == "batch-gibbs" else {"initial_documents": documents}
    return small(learner=learner, **batch, **others)


def contracts(variant):
    full = "full vocabulary" in variant or variant == "learned topics"
    return full or "half-life" in variant


def tokens_of(state):
    """Of each word, in the best particle."""
    state = initialised(state)
    rows = word_rows(
        state.population, best_particle(state.population), np.arange(len(state.vocabulary))
    )
    return rows[:, : state.settings.topic_count].sum(axis=1).tolist()


def concentration_of(state):
    state = initialised(state)
    return state.population.concentration[best_particle(state.population), 0]


def streaming(variant):
    settings = VARIANTS[variant]
    return (
        settings.get("learner") != "batch-gibbs"
        and settings.get("history") not in ("full", "tree")
        and variant != "initial batch never ends"
    )


@pytest.mark.parametrize("variant", PARTICLES)
def test_a_snapshot_counts_every_token_once(variant):
    settings, state = settings_of(variant), plain(settings_of(variant))[3]
    learner = learner_for(settings)
    snapshot, summary = learner.snapshot(state), learner.summary(state)
    used = sum(WORDS, Counter())
    known = {word: used[word] for word in snapshot.words}
    rows = snapshot.rows(np.arange(len(snapshot.words))).sum(axis=1).tolist()
    counted = dict(
        zip(snapshot.words, tokens_of(state) if settings.prior.discount else rows, strict=True)
    )
    assert all(0 <= count <= known[word] for word, count in counted.items())
    assert summary.tokens >= sum(counted.values())
    if not contracts(variant):
        assert counted == known
        assert summary.tokens == sum(known.values())
    assert snapshot.normalisers.sum() == pytest.approx(
        sum(counted.values()) + settings.topic_count * concentration_of(state), rel=1e-12
    )
    assert summary.documents == len(WORDS)
    assert summary.words == len(snapshot.words) <= settings.vocabulary.size
    assert (snapshot.counts > 0).all()
    seen = snapshot.prior.base.sum()
    if snapshot.prior.characters:
        counts = initialised(state)
        left = 1 - counts.prior.base[: counts.based].sum()
        assert seen + snapshot.prior.unseen * left == pytest.approx(1, abs=1e-9)
    else:
        assert seen + snapshot.prior.unseen * (
            settings.vocabulary.size - len(snapshot.words)
        ) == pytest.approx(1, abs=1e-9)
    assert snapshot.topic_count == settings.topic_count


@pytest.mark.parametrize("variant", PARTICLES)
def test_a_perplexity_is_that_of_a_prior_at_most(variant):
    infos, state = plain(settings_of(variant))[2:4]
    prior, words = state.settings.prior, state.settings.vocabulary.size
    tokens = learner_for(state.settings).summary(state).tokens
    most = (tokens + words * prior.beta) / prior.beta if isinstance(prior, Flat) else 1e12
    for info in infos:
        if info.scored_tokens:
            assert 1 <= exp(-info.log_evidence / info.scored_tokens) <= most


def test_words_that_leave_while_documents_wait_take_their_tokens_along():
    infos, state = plain(settings_of("challenged, minimal, full vocabulary"))[2:4]
    known = sum(info.tokens - info.unknown_tokens for info in infos)
    assert 0 < learner_for(state.settings).summary(state).tokens <= known


@pytest.mark.parametrize(
    "variant", ["particle-filter", "by tokens, residual", "initial posterior", "no initial batch"]
)
def test_an_initial_batch_is_not_scored(variant):
    settings = settings_of(variant)
    state = plain(settings_of(variant))[3]
    lengths = [len(document.tokens) for document in awkward()]
    assert learner_for(settings).summary(state).scored_tokens == sum(
        lengths[VARIANT_BEGINS.get(variant, SMALL["initial_documents"]) :]
    )


@pytest.mark.parametrize(
    "others",
    [
        {"learner": "o-lda"},
        {"learner": "o-lda", "initial": "none"},
        {"rejuvenation": "never", "resampling": "never"},
    ],
)
def test_without_visits_the_topics_hold_what_came(others):
    settings = small(**others)
    learner, sums = learner_for(settings), 0
    state = learner.init(settings, "", 0)
    for minibatch in STREAM:
        learner.step(state, minibatch)
        sums += learner.arrivals(state, 0).counts[:, 0]
    totals = state.population.totals[:, : state.settings.topic_count]
    assert (sums == totals).all() and len({tuple(row) for row in totals.tolist()}) > 1


@pytest.mark.parametrize("window", [1, 3])
@pytest.mark.parametrize("variant", ["no initial batch", "chains, token units"])
def test_islands_are_compared_by_the_minibatches_of_the_evidence_window(variant, window):
    settings = replace(settings_of(variant), evidence_window=window)
    evidence_is_of_the_last_minibatches(settings, window)


@pytest.mark.parametrize("variant", PARTICLES)
def test_the_history_is_bounded(variant):
    if not streaming(variant):
        pytest.skip("keeps every document by design")
    settings = settings_of(variant)
    learner = learner_for(settings)
    state = learner.init(settings, "", settings.islands - 1)
    bytes_held = []
    for minibatch in STREAM + minibatches_of(topical(60, seed=9), 6):
        learner.step(state, minibatch)
        if state.waiting is None:
            past = settings.rejuvenation.history
            assert len(state.history.slots()) <= past.newest + past.reservoir
        bytes_held.append(learner.nbytes(state))
    assert all(size > 0 for size in bytes_held)
    assert (state.history.past.held > 0).sum() == len(state.history.slots())


@pytest.mark.parametrize(
    "others",
    [{}, {"ess": 4}, {"ess": 4, "ess_check": "token"}, {"ess": 4, "history": "full"}],
    ids=str,
)
def test_a_long_document_costs_memory_in_proportion_to_itself(others):
    past = {} if "history" in others else {"newest": 5, "reservoir": 0}
    settings = small(**{"initial_documents": 4, "particles": 8, "moves": 60, **past, **others})
    learner = learner_for(settings)
    state, short = learner.init(settings, "", 0), [document_of(["a", "b", "c"]) for _ in range(10)]
    learner.step(state, minibatches_of(short, 10)[0])
    before = learner.nbytes(state)
    learner.step(state, replace(minibatches_of([document_of(["a", "b"] * 1500)], 1)[0], sequence=2))
    topics = 8 * 3000 * 4
    assert learner.nbytes(state) - before < 10 * topics
    assert state.history.past.sizes[LONGEST] == 3000
    if past:
        learner.step(state, replace(minibatches_of(short, 10)[0], sequence=3))
        assert state.history.past.sizes[LONGEST] == 3


@pytest.mark.parametrize("learner_name", ["batch-gibbs", "particle-filter"])
def test_waiting_documents_count_as_memory(learner_name):
    settings = begun(learner_name, 1000)
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    learner.step(state, minibatches_of([document_of(["a", "b"])], 1)[0])
    before = learner.nbytes(state)
    learner.step(state, minibatches_of([document_of(["a", "b"] * 5000)], 1)[0])
    assert learner.nbytes(state) >= before + 40_000


@pytest.mark.parametrize("learner_name", ["particle-filter", "batch-gibbs"])
def test_what_a_publication_makes_of_an_incomplete_batch_counts_as_memory_and_goes_with_the_batch(
    learner_name,
):
    settings = begun(learner_name, len(STREAM[0]) + len(STREAM[1]), topics=4)
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    learner.step(state, STREAM[0])
    before = learner.nbytes(state)
    learner.snapshot(state)
    assert learner.nbytes(state) > before + 1000
    learner.step(state, STREAM[1])
    assert state.initialised is None or learner_name == "batch-gibbs"


def test_a_state_of_other_settings_is_refused():
    data = plain(settings_of("particle-filter"))[0][-1]
    for others in ({"particles": 8}, {"newest": 2, "reservoir": 1}):
        settings = small(**others)
        with pytest.raises(DamagedDataError, match="settings"):
            learner_for(settings).load(settings, "", 0, data)


def test_islands_share_their_initial_model_and_nothing_after_it():
    settings = small(islands=2, initial_choice="posterior", initial_documents=6)
    learner, tables = learner_for(settings), []
    states = [learner.init(settings, "", island) for island in (0, 1)]
    for minibatch in STREAM[:3]:
        for state in states:
            learner.step(state, minibatch)
        tables.append(
            [
                learner.snapshot(state).rows(np.arange(len(state.vocabulary))).tolist()
                for state in states
            ]
        )
    assert tables[0][0] == tables[0][1]
    assert tables[2][0] != tables[2][1]


def test_labels_are_scored_within_the_history():
    settings = small(moves=20, newest=60, initial_sweeps=40)
    learner, state = learner_for(settings), None
    state = learner.init(settings, "", 0)
    for minibatch in minibatches_of(topical(60), 10):
        learner.step(state, minibatch)
    assert 0.4 < learner.summary(state).in_sample_nmi <= 1


def test_in_sample_nmi_counts_an_empty_document_alike_before_and_after_loading():
    settings = small(
        **{
            **TOKENWISE,
            "rejuvenation_unit": "document",
            "newest": 2,
            "reservoir": 0,
            "initial": "none",
        }
    )
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    documents = [
        document_of(words, n, str(n % 2))
        for n, words in enumerate([["a"] * 40, ["b"] * 40, ["a"] * 9, ["b"] * 9, [], [], ["b"]])
    ]
    for minibatch in minibatches_of(documents, 1):
        learner.step(state, minibatch)
        restored = learner.load(settings, "", 0, learner.save(state))
        assert learner.summary(state) == learner.summary(restored)


def test_nmi_needs_labels():
    settings = small(initial_choice="nmi", initial_documents=2)
    learner = learner_for(settings)
    with pytest.raises(OptionError, match="--initial_choice: 'nmi' .* no label.* --label_field"):
        learner.step(
            learner.init(settings, "", 0),
            minibatches_of([document_of(["a"]), document_of(["b"], 1)], 2)[0],
        )
