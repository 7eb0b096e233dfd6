"""The laws of model.learners.base for every registered learner and the main settings."""

from collections import Counter
from dataclasses import replace
from functools import cache
from math import exp

import numpy as np
import pytest
from corpora import awkward, document_of, minibatches_of, topical
from learner_battery import check_arrivals
from learner_options import made

from model.errors import DamagedDataError, OptionError
from model.learners import Flat, learner_for, learner_names
from model.learners.particles import chains, particle_filter, stepping
from model.learners.particles import population as populations
from model.learners.particles.kernels import copy_on_write
from model.learners.particles.kernels.history import LONGEST
from model.learners.particles.particle_filter import initialised
from model.learners.particles.population import best_particle
from model.learners.particles.priors import word_rows
from model.learners.particles.settings import ParticleSettings
from model.learners.variational import shared as variational_state

SMALL = {
    "prior": "flat",
    "discount": 0.0,
    "topics": 3,
    "particles": 4,
    "initial_documents": 15,
    "chains": 3,
    "initial_sweeps": 4,
    "moves": 3,
    "newest": 8,
    "reservoir": 5,
    "max_words": 400,
    "sweeps": 4,
    "resampling": "residual",
    "ess": 0.9,
}
UNITWISE = {"ess_check": "token", "rejuvenation": "resampling", "rejuvenation_unit": "token"}
TOKENWISE = {**UNITWISE, "newest": 0, "reservoir": 60}
CHALLENGED = {"resampling": "never", "challengers": "on", "judges": 7, "newest": 20}
VARIANTS = {
    **{name: {"learner": name} for name in learner_names() if name != "fake"},
    **{scheme: {"resampling": scheme} for scheme in ("multinomial", "stratified", "systematic")},
    **{
        f"by tokens, {scheme}": {**TOKENWISE, "resampling": scheme}
        for scheme in ("residual", "multinomial", "stratified", "systematic")
    },
    "no initial batch": {"initial": "none"},
    "by tokens, no initial batch": {**TOKENWISE, "initial": "none"},
    "by tokens, whole documents": {
        **TOKENWISE,
        "rejuvenation_unit": "document",
        "newest": 6,
        "reservoir": 3,
        "moves": 5,
        "initial": "none",
    },
    "full history": {"history": "full"},
    "full history, decayed": {
        "history": "full",
        "rejuvenation_choice": "decayed",
        "rejuvenation_unit": "token",
        "particles": 6,
        "initial": "none",
    },
    "full history, by tokens": {**UNITWISE, "history": "full"},
    "full history, one particle": {"history": "full", "particles": 1, "resampling": "never"},
    "full history, full vocabulary": {
        "history": "full",
        "max_words": 25,
        "prior": "hierarchical",
        "initial": "none",
    },
    "by tokens, after documents": {"ess_check": "token"},
    "incremental, every 3 tokens": {
        "learner": "incremental-gibbs",
        "rejuvenation": "tokens",
        "rejuvenate_every": 3,
        "rejuvenation_unit": "token",
    },
    "after resampling": {"rejuvenation": "resampling"},
    "never": {"rejuvenation": "never"},
    "token units": {"rejuvenation_unit": "token", "newest": 20, "reservoir": 50, "moves": 30},
    "decayed": {"rejuvenation_choice": "decayed", "rejuvenation_decay": 1.5},
    "newest": {"rejuvenation_choice": "newest"},
    "newest only": {"reservoir": 0},
    "reservoir only": {"newest": 0},
    "chains": {"resampling": "never"},
    "chains, token units": {
        "resampling": "never",
        "rejuvenation_unit": "token",
        "newest": 20,
        "reservoir": 50,
        "moves": 30,
        "initial": "none",
    },
    "chains, full vocabulary, hierarchical": {
        "resampling": "never",
        "rejuvenation_choice": "decayed",
        "prior": "hierarchical",
        "max_words": 40,
    },
    "challenged": {**CHALLENGED, "prior": "hierarchical", "discount": 0.3},
    "challenged, one particle": {
        **CHALLENGED,
        "particles": 1,
        "prior": "hierarchical",
        "initial": "none",
    },
    "challenged, flat": CHALLENGED,
    "challenged, resampled": {**CHALLENGED, "resampling": "residual"},
    "challenged, by tokens": {**CHALLENGED, "resampling": "residual", "ess_check": "token"},
    "challenged, minimal, full vocabulary": {
        **CHALLENGED,
        "prior": "hierarchical",
        "tables": "minimal",
        "discount": 0.3,
        "max_words": 40,
    },
    "initial nmi": {"initial_choice": "nmi"},
    "initial posterior": {"initial_choice": "posterior"},
    "one chain": {"chains": 1},
    "initial batch of one": {"initial_documents": 1},
    "initial batch never ends": {"initial_documents": 1000},
    "batch, sparse": {"learner": "batch-gibbs", "sampler": "sparse"},
    "batch, sparse, many topics": {
        "learner": "batch-gibbs",
        "sampler": "sparse",
        "topics": 70,
        "chains": 2,
    },
    "given vocabulary": {
        "vocabulary": "given",
        "vocabulary_file": tuple(f"w{i}" for i in range(25)),
    },
    "full vocabulary": {"max_words": 20},
    "urn": {"prior": "urn"},
    "hierarchical": {"prior": "hierarchical"},
    "hierarchical, fixed, by tokens": {
        **TOKENWISE,
        "prior": "hierarchical",
        "concentrations": "fixed",
    },
    "hierarchical, discount": {"prior": "hierarchical", "discount": 0.3, "initial": "none"},
    "hierarchical, minimal": {"prior": "hierarchical", "tables": "minimal", "discount": 0.3},
    "hierarchical, given": {
        "prior": "hierarchical",
        "vocabulary": "given",
        "vocabulary_file": tuple(f"w{i}" for i in range(25)),
    },
    "hierarchical, full vocabulary": {"prior": "hierarchical", "max_words": 30, "word_memory": 3},
    "hierarchical, full vocabulary, tokens": {
        **TOKENWISE,
        "prior": "hierarchical",
        "max_words": 25,
        "initial_documents": 40,
    },
    "only unknown words": {"vocabulary": "given", "vocabulary_file": ("absent",)},
    "one topic": {"topics": 1},
    "more topics than tokens": {
        "topics": 7000,
        "initial_documents": 2,
        "initial_sweeps": 1,
        "chains": 1,
        "particles": 2,
        "moves": 1,
    },
    "one particle": {"particles": 1, "resampling": "never"},
    "an absolute threshold": {"ess": 3.0},
    "second of two islands": {"islands": 2},
    "every particle an island": {"islands": 4, "resampling": "never"},
    "fixvoc-vb, given": {
        "learner": "fixvoc-vb",
        "vocabulary": "given",
        "vocabulary_file": ("w1", "w2", "absent"),
    },
    "fixvoc-vb, null": {"learner": "fixvoc-vb", "vocabulary": "null"},
    "fixvoc-hybrid, dict": {
        "learner": "fixvoc-hybrid",
        "vocabulary": "dict",
        "word_list": ("absent", "w1", "w2", "w3"),
    },
    "fixvoc-hybrid, dict-hash": {
        "learner": "fixvoc-hybrid",
        "vocabulary": "dict-hash",
        "word_list": ("absent", "w1", "w2"),
    },
    "fixvoc-hybrid, full-hash": {
        "learner": "fixvoc-hybrid",
        "vocabulary": "full-hash",
        "buckets": 20,
    },
    "fixvoc-vb, kappa 0": {"learner": "fixvoc-vb", "kappa": 0.0},
    "fixvoc-vb, only unknown words": {
        "learner": "fixvoc-vb",
        "vocabulary": "given",
        "vocabulary_file": ("absent",),
    },
    "infvoc, word list": {"learner": "infvoc", "word_list": ("words", "of", "a", "list")},
    "infvoc, contracting": {"learner": "infvoc", "truncation": 5, "reorder_every": 2},
    "infvoc, few words": {"learner": "infvoc", "max_words": 30, "reorder_every": 2},
    "infvoc, kappa 0": {"learner": "infvoc", "kappa": 0.0, "reorder_every": 3},
    "infvoc, mass": {"learner": "infvoc", "remainder": "mass", "concentration": 20.0},
    "infvoc, as printed": {
        "learner": "infvoc",
        "remainder": "stick",
        "entry": "one",
        "stream_documents": 500,
        "tau0": 1.0,
    },
    "infvoc, one topic": {"learner": "infvoc", "topics": 1},
    "infvoc, one sweep": {"learner": "infvoc", "local_burn_in": 0, "local_sweeps": 1},
}
VARIANT_BEGINS = {"no initial batch": 0}
STREAM = minibatches_of(awkward(), 6)
WORDS = [Counter(np.array(document.words)[document.tokens].tolist()) for document in awkward()]


def small(**others):
    """Settings, with those of SMALL that belong to them."""
    return made(SMALL, **others)


def begun(learner, documents, **others):
    """Of batch Gibbs every document is of the initial batch."""
    batch = {} if learner == "batch-gibbs" else {"initial_documents": documents}
    return small(learner=learner, **batch, **others)


def settings_of(variant):
    return small(**VARIANTS[variant])


def variational(variant):
    return VARIANTS[variant].get("learner") in ("fixvoc-vb", "fixvoc-hybrid", "infvoc")


PARTICLES = [variant for variant in VARIANTS if not variational(variant)]


def contracts(variant):
    return "full vocabulary" in variant


def tokens_of(state):
    """Of each word, in the best particle."""
    state = initialised(state)
    rows = word_rows(
        state.population, best_particle(state.population), np.arange(len(state.vocabulary))
    )
    return rows[:, : state.settings.topics].sum(axis=1).tolist()


def concentration_of(state):
    state = initialised(state)
    return state.population.concentration[best_particle(state.population), 0]


def streaming(variant):
    settings = VARIANTS[variant]
    return (
        settings.get("learner") != "batch-gibbs"
        and settings.get("history") != "full"
        and variant != "initial batch never ends"
    )


def run(settings, threads=1, reload=False, stream=STREAM, key=""):
    """The saved state, witness and step info after each minibatch, and the last state."""
    learner, island = learner_for(settings), settings.islands - 1
    state = learner.init(settings, key, island, threads)
    saved, witnesses, infos = [], [], []
    for minibatch in stream:
        infos.append(learner.step(state, minibatch))
        saved.append(learner.save(state))
        witnesses.append(learner.witness(state))
        if reload:
            state = learner.load(settings, key, island, saved[-1], threads)
            assert learner.save(state) == saved[-1]
            assert learner.witness(state) == witnesses[-1]
    return saved, witnesses, infos, state


@cache
def plain(variant):
    return run(settings_of(variant))


def results(outcome):
    """Everything of a run that must not depend on how it was run."""
    saved, witnesses, infos, state = outcome
    learner = learner_for(state.settings)
    snapshot = learner.snapshot(state)
    parts = (
        snapshot.words,
        snapshot.offsets.tolist(),
        snapshot.topics.tolist(),
        snapshot.counts.tolist(),
    )
    return saved, witnesses, infos, learner.summary(state), parts


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_same_bits_again(variant):
    assert results(run(settings_of(variant))) == results(plain(variant))


@pytest.mark.parametrize("threads", [2, 5])
@pytest.mark.parametrize("variant", VARIANTS)
def test_threads_change_nothing(variant, threads):
    assert results(run(settings_of(variant), threads)) == results(plain(variant))


@pytest.mark.parametrize("variant", VARIANTS)
def test_loading_after_every_minibatch_changes_nothing(variant):
    assert results(run(settings_of(variant), reload=True)) == results(plain(variant))


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_came_to_the_topics_adds_up(variant):
    check_arrivals(settings_of(variant))


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
    totals = state.population.totals[:, : state.settings.topics]
    assert (sums == totals).all() and len({tuple(row) for row in totals.tolist()}) > 1


@pytest.mark.parametrize("window", [1, 3])
@pytest.mark.parametrize(
    "variant", ["no initial batch", "chains, token units", "fixvoc-vb", "infvoc"]
)
def test_islands_are_compared_by_the_minibatches_of_the_evidence_window(
    variant, window, monkeypatch
):
    settings = settings_of(variant)
    if isinstance(settings, ParticleSettings):
        settings = replace(settings, evidence_window=window)
    else:
        # The variational learners have no islands, so their window is not an option.
        monkeypatch.setattr(variational_state, "EVIDENCE_WINDOW", window)
    learner = learner_for(settings)
    state, scored = learner.init(settings, "", 0, 1), []
    for minibatch in STREAM:
        info = learner.step(state, minibatch)
        scored += [info.log_evidence] if info.scored_tokens else []
        assert learner.summary(state).evidence.log() == pytest.approx(sum(scored[-window:]))
    assert len(scored) > window and len(set(scored)) == len(scored)


@pytest.mark.parametrize(
    "variant", ["o-lda", "chains", "chains, token units", "chains, full vocabulary, hierarchical"]
)
@pytest.mark.parametrize("part", [4096, 50])
def test_chains_come_to_the_same_document_by_document(variant, part, monkeypatch):
    def one_by_one(state, documents):
        for tokens, label in documents:
            stepping.learn_document(state, tokens, label)

    monkeypatch.setattr(particle_filter, "learn_by_chains", one_by_one)
    monkeypatch.setattr(stepping, "TOKENS_AT_ONCE", part)
    saved, witnesses, infos, _ = run(settings_of(variant))
    assert (saved, witnesses, infos) == plain(variant)[:3]


@pytest.mark.parametrize(
    "variant", ["particle-filter", "by tokens, residual", "token units", "chains"]
)
def test_how_rows_are_shared_and_swept_changes_nothing(variant, monkeypatch):
    reserve, fed = copy_on_write.reserve, []

    def restless(table, rows, blocks):
        fed.append(copy_on_write.sweep(table))
        return reserve(table, rows + len(fed) % 3, blocks + len(fed) % 2)

    monkeypatch.setattr(copy_on_write, "reserve", restless)
    monkeypatch.setattr(stepping, "ROWS_AT_ONCE", 1)
    monkeypatch.setattr(chains, "ROWS_AT_ONCE", 1)
    assert results(run(settings_of(variant))) == results(plain(variant))
    assert fed


@pytest.mark.parametrize(
    "variant",
    [
        "particle-filter",
        "incremental-gibbs",
        pytest.param("by tokens, residual", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("reload", [False, True])
def test_counts_of_64_bits_change_nothing(variant, reload, monkeypatch):
    monkeypatch.setattr(populations, "MAX_INT32", 300)
    outcome = run(settings_of(variant), reload=reload)
    assert outcome[3].population.words.rows.dtype == np.int64
    assert results(outcome) == results(plain(variant))


@pytest.mark.parametrize(
    "variant", ["full history", "full history, decayed", "full history, by tokens"]
)
def test_the_full_history_draws_what_a_reservoir_draws_that_never_fills(variant):
    bounded = small(
        **{**VARIANTS[variant], "history": "reservoir", "newest": 0, "reservoir": 50_000}
    )
    assert results(run(bounded)) == results(plain(variant))


@pytest.mark.parametrize("variant", PARTICLES)
def test_a_snapshot_counts_every_token_once(variant):
    settings, state = settings_of(variant), plain(variant)[3]
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
        sum(counted.values()) + settings.topics * concentration_of(state), rel=1e-12
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
    assert snapshot.topic_count == settings.topics


@pytest.mark.parametrize("variant", VARIANTS)
def test_steps_say_what_they_did(variant):
    infos, state = plain(variant)[2:]
    summary = learner_for(state.settings).summary(state)
    assert [info.documents for info in infos] == [len(minibatch) for minibatch in STREAM]
    known = sum(info.tokens - info.unknown_tokens for info in infos)
    # Words may leave while documents that have them wait for a duel.
    waits = variant == "challenged, minimal, full vocabulary"
    assert summary.tokens <= known if waits else summary.tokens == known
    assert sum(info.scored_tokens for info in infos) == summary.scored_tokens
    assert sum(info.log_evidence for info in infos) == pytest.approx(
        summary.log_evidence, rel=1e-12
    )
    for info in infos:
        assert 1 - 1e-9 <= info.ess <= getattr(state.settings, "island_particles", 1) + 1e-9
        assert info.log_evidence < 0 if info.scored_tokens else info.log_evidence == 0
        if info.scored_tokens and not variational(variant):
            prior, words = state.settings.prior, state.settings.vocabulary.size
            most = (
                (summary.tokens + words * prior.beta) / prior.beta
                if isinstance(prior, Flat)
                else 1e12
            )
            assert 1 <= exp(-info.log_evidence / info.scored_tokens) <= most


@pytest.mark.parametrize(
    "variant", ["particle-filter", "by tokens, residual", "initial posterior", "no initial batch"]
)
def test_an_initial_batch_is_not_scored(variant):
    settings = settings_of(variant)
    state = plain(variant)[3]
    lengths = [len(document.tokens) for document in awkward()]
    assert learner_for(settings).summary(state).scored_tokens == sum(
        lengths[VARIANT_BEGINS.get(variant, SMALL["initial_documents"]) :]
    )


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


FAMILIES = [
    "particle-filter",
    "by tokens, residual",
    "o-lda",
    "batch-gibbs",
    "fixvoc-vb",
    "infvoc",
    "fixvoc-hybrid, full-hash",
]


@pytest.mark.parametrize("variant", FAMILIES)
def test_a_state_that_does_not_fit_is_refused(variant):
    settings = settings_of(variant)
    learner, data = learner_for(settings), plain(variant)[0][-1]
    for damaged in (b"", data[:-1], data[: len(data) // 2], data + b"\0", b"XXXX" + data[4:]):
        with pytest.raises(DamagedDataError):
            learner.load(settings, "", 0, damaged)


def test_a_state_of_other_settings_is_refused():
    data = plain("particle-filter")[0][-1]
    for others in ({"particles": 8}, {"topics": 4}, {"newest": 2, "reservoir": 1}):
        settings = small(**others)
        with pytest.raises(DamagedDataError, match="settings"):
            learner_for(settings).load(settings, "", 0, data)


@pytest.mark.parametrize("name", [name for name in learner_names() if name != "fake"])
def test_seed_key_and_island_name_other_draws(name):
    settings = small(learner=name)
    counts = [results(plain(name))[-1][2:]]
    counts.append(results(run(small(learner=name, seed=2)))[-1][2:])
    counts.append(results(run(settings, key="other"))[-1][2:])
    assert counts[0] != counts[1] != counts[2] != counts[0]


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


@pytest.mark.parametrize(
    ("others", "said"),
    [
        (
            {"learner": "incremental-gibbs", "rejuvenation": "resampling"},
            (
                r"--rejuvenation=resampling belongs to --learner=particle-filter;"
                r" --learner=incremental-gibbs is chosen"
            ),
        ),
        (
            {"learner": "batch-gibbs", "islands": 2},
            r"--islands=2 belongs to --learner=.*; --learner=batch-gibbs is chosen",
        ),
        *(
            (
                {"learner": name, "islands": 2},
                (
                    rf"--islands=2 belongs to --learner=.*particle-filter.*; --learner={name} is"
                    r" chosen"
                ),
            )
            for name in ("fixvoc-vb", "infvoc")
        ),
        (
            {"learner": "infvoc", "vocabulary": "null"},
            r"--vocabulary=null belongs to --learner=fixvoc-hybrid or fixvoc-vb; .*infvoc is",
        ),
        (
            {"learner": "infvoc", "concentration": 0.5},
            r"--concentration: 0.5 .* allowed is 1 or more",
        ),
        (
            {"vocabulary": "full-hash"},
            (
                r"--vocabulary=full-hash belongs to --learner=fixvoc-hybrid or fixvoc-vb;"
                r" --learner=particle-filter"
            ),
        ),
        (
            {"learner": "fixvoc-vb", "vocabulary": "dict"},
            r"--vocabulary: 'dict' .* a list of words .* --word_list",
        ),
        *(
            (
                {"learner": "batch-gibbs", "sampler": "sparse", "prior": prior},
                (
                    r"--sampler: 'sparse' was given; allowed is auto or dense with"
                    rf" --prior={prior}\. SparseLDA has no tables to sample\."
                ),
            )
            for prior in ("urn", "hierarchical")
        ),
        (
            {"learner": "lda"},
            r"--learner: 'lda' was given; allowed is one of particle-filter, .*infvoc",
        ),
    ],
)
def test_settings_that_a_learner_cannot_have(others, said):
    with pytest.raises(OptionError, match=said):
        small(**others)


def test_nmi_needs_labels():
    settings = small(initial_choice="nmi", initial_documents=2)
    learner = learner_for(settings)
    with pytest.raises(OptionError, match="--initial_choice: 'nmi' .* no label.* --label_field"):
        learner.step(
            learner.init(settings, "", 0),
            minibatches_of([document_of(["a"]), document_of(["b"], 1)], 2)[0],
        )


@pytest.mark.parametrize("name", ["fixvoc-vb", "infvoc"])
def test_a_variational_state_of_other_settings_is_refused(name):
    settings = small(learner=name, kappa=0.7)
    with pytest.raises(DamagedDataError, match="settings"):
        learner_for(settings).load(settings, "", 0, plain(name)[0][-1])


@pytest.mark.parametrize("variant", VARIANTS)
def test_before_the_first_word_there_is_a_state_and_a_model_too(variant):
    settings = settings_of(variant)
    learner = learner_for(settings)
    state = learner.init(settings, "", settings.islands - 1)
    learner.step(state, minibatches_of([document_of([], 0, "a")], 1)[0])
    assert (
        np.isfinite(learner.snapshot(state).normalisers).all()
        and (learner.snapshot(state).normalisers > 0).all()
    )
    restored = learner.load(settings, "", settings.islands - 1, learner.save(state))
    for one in (state, restored):
        learner.step(one, replace(STREAM[0], sequence=2))
    assert learner.save(restored) == learner.save(state)


@pytest.mark.parametrize("variant", [variant for variant in VARIANTS if variational(variant)])
def test_a_variational_snapshot_is_a_distribution(variant):
    snapshot = results_snapshot(variant)
    words = np.arange(len(snapshot.words))
    probabilities = (snapshot.rows(words) + snapshot.prior.shares(words)) / snapshot.normalisers
    unseen = (
        snapshot.prior.strength / snapshot.normalisers * max(0.0, 1.0 - snapshot.prior.base.sum())
    )
    assert (probabilities > 0).all()
    assert probabilities.sum(axis=0) + unseen == pytest.approx(
        np.ones(snapshot.topic_count), abs=1e-9
    )


def results_snapshot(variant):
    settings = settings_of(variant)
    return learner_for(settings).snapshot(plain(variant)[3])


@pytest.mark.parametrize("variant", [variant for variant in VARIANTS if variational(variant)])
def test_a_variational_learner_is_bounded(variant):
    settings = settings_of(variant)
    learner, state = learner_for(settings), plain(variant)[3]
    words = {word for document in awkward() for word in document.words}
    assert 0 < learner.nbytes(state) < 200_000
    assert learner.summary(state).words <= max(len(words), 20)
    if VARIANTS[variant].get("truncation") == 5 or "few words" in variant:
        assert learner.summary(state).words < len(words) / 2
