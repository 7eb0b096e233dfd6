"""Seeded topics: prior tokens that no move takes out, in every prior and learner of the family."""

from dataclasses import replace

import numpy as np
import pytest
from corpora import document_of, minibatches_of

from beam_topics.model.errors import DamagedDataError, OptionError
from beam_topics.model.learners import (
    BatchGibbs,
    Challengers,
    EveryDocument,
    Flat,
    Given,
    Growing,
    Hierarchical,
    IncrementalGibbs,
    InitialBatch,
    NoInitialBatch,
    OLda,
    ParticleFilter,
    Residual,
    Urn,
    learner_for,
)
from beam_topics.model.learners.particles import challengers
from beam_topics.model.learners.particles.challengers import challenger, split_history
from beam_topics.model.learners.particles.priors import word_rows
from beam_topics.model.learners.particles.state import seed_counts
from beam_topics.model.learners.seeds import words_of

SEEDS = ("sea: ship harbour", "land: horse road harbour")
S = 40
SEA, LAND = ("ship", "harbour", "sail", "wave"), ("horse", "road", "field", "cart")
DOCUMENTS = [
    document_of([(SEA if d % 2 else LAND)[(d * 3 + i) % 4] for i in range(8)], d) for d in range(60)
]
STREAM = minibatches_of(DOCUMENTS, 6)
FEW = InitialBatch(documents=20, chains=2, sweeps=5)
EASY = {"topics": 4, "seeds": SEEDS, "seed_strength": S}
LEARNERS = {
    "default": ParticleFilter(**EASY, initial=FEW),
    "challenged": ParticleFilter(
        **EASY, initial=FEW, rejuvenation=EveryDocument(challengers=Challengers())
    ),
    "flat": ParticleFilter(**EASY, initial=FEW, prior=Flat()),
    "urn": ParticleFilter(**EASY, initial=FEW, prior=Urn()),
    "fixed vocabulary": ParticleFilter(
        **EASY, initial=FEW, prior=Flat(), vocabulary=Given((*SEA, *LAND))
    ),
    "resampled": ParticleFilter(
        **EASY, initial=NoInitialBatch(), particles=4, resampling=Residual(0.9)
    ),
    "incremental-gibbs": IncrementalGibbs(**EASY, initial=FEW),
    "o-lda": OLda(**EASY, initial=NoInitialBatch(), prior=Hierarchical()),
    "batch-gibbs": BatchGibbs(**EASY, chains=2, sweeps=5),
    "batch-gibbs, flat": BatchGibbs(**EASY, chains=2, sweeps=5, prior=Flat()),
}


def learned(settings, stream=STREAM):
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    for minibatch in stream:
        learner.step(state, minibatch)
    return learner, state


def seed_rows(state):
    words = state.vocabulary.numbers(words_of(SEEDS)).astype(np.int64)
    return [word_rows(state.population, p, words) for p in range(len(state.population.weight))]


@pytest.mark.parametrize("name", LEARNERS)
def test_the_prior_tokens_stay_and_the_words_are_first(name):
    learner, state = learned(LEARNERS[name])
    if not name.startswith("batch"):
        tokens = sum(len(document.tokens) for document in DOCUMENTS)
        for p, rows in enumerate(seed_rows(state)):
            assert (rows[:, :4] >= seed_counts(state.settings)).all()
            assert state.population.totals[p].sum() == tokens + 5 * S
    first = learner.snapshot(state).top_words(4)
    assert {"ship", "harbour"} <= set(first[0]) and {"horse", "road"} <= set(first[1])


@pytest.mark.parametrize("name", LEARNERS)
def test_a_saved_state_continues_with_the_same_bits(name):
    settings = LEARNERS[name]
    learner, state = learned(settings, STREAM[:5])
    other = learner.load(settings, "", 0, learner.save(state))
    for minibatch in STREAM[5:]:
        learner.step(state, minibatch)
        learner.step(other, minibatch)
    assert learner.save(other) == learner.save(state)


def test_a_new_topic_has_the_dirichlet_prior_of_its_seed():
    """Before any document P(w | z) of the flat prior is (beta + s) / (W beta + s V_z)."""
    vocabulary = Given((*SEA, *LAND))
    settings = OLda(**EASY, initial=NoInitialBatch(), prior=Flat(beta=0.5), vocabulary=vocabulary)
    learner = learner_for(settings)
    snapshot = learner.snapshot(learner.init(settings, "", 0))
    rows = snapshot.rows(np.arange(8)) + snapshot.prior.shares(np.arange(8))
    found = dict(zip(snapshot.words, rows / snapshot.normalisers, strict=True))
    assert found["ship"][0] == pytest.approx((0.5 + S) / (8 * 0.5 + 2 * S), rel=1e-12)
    assert found["horse"][0] == pytest.approx(0.5 / (8 * 0.5 + 2 * S), rel=1e-12)
    assert found["horse"][1] == pytest.approx((0.5 + S) / (8 * 0.5 + 3 * S), rel=1e-12)
    assert found["horse"][2] == pytest.approx(1 / 8, rel=1e-12)


def test_a_number_behind_a_word_is_that_of_its_prior_tokens():
    settings = replace(LEARNERS["flat"], seeds=("sea: ship^7 harbour", "land: horse^1 horse^9"))
    assert words_of(settings.seeds) == ("ship", "harbour", "horse")
    assert seed_counts(settings).tolist() == [[7, 0, 0, 0], [S, 0, 0, 0], [0, 1, 0, 0]]


@pytest.mark.parametrize("name", ["default", "flat", "urn", "resampled", "batch-gibbs"])
def test_a_topic_with_many_prior_tokens_is_frozen(name):
    """P(w | z) moves by at most n_z / (n_z + s_z) in total variation."""
    many = 10**6
    frozen = (f"sea: ship^{3 * many} harbour^{many}",)
    learner, state = learned(replace(LEARNERS[name], seeds=frozen))
    snapshot = learner.snapshot(state)
    rows = np.arange(len(snapshot.words))
    found = (snapshot.rows(rows) + snapshot.prior.shares(rows)) / snapshot.normalisers
    moved = {word: found[row, 0] for row, word in enumerate(snapshot.words)}
    wanted = {"ship": 0.75, "harbour": 0.25}
    tokens = sum(len(document.tokens) for document in DOCUMENTS)
    distance = sum(abs(moved[word] - wanted.get(word, 0.0)) for word in moved) / 2
    # The prior has some thousand pseudo-counts beside the tokens.
    assert distance < (tokens + 5000) / (4 * many)
    assert max(found[:, 1]) < 0.9


def test_the_size_of_a_topic_is_that_of_its_tokens():
    learner, state = learned(LEARNERS["flat"])
    snapshot = learner.snapshot(state)
    tokens = sum(len(document.tokens) for document in DOCUMENTS)
    assert snapshot.totals.sum() == pytest.approx(tokens, abs=2.0)


def test_words_of_seeds_never_leave_the_vocabulary():
    others = [document_of([f"w{d}-{i}" for i in range(5)], d) for d in range(40)]
    settings = replace(LEARNERS["default"], vocabulary=Growing(max_words=30, word_memory=2))
    _, state = learned(settings, minibatches_of(others, 4))
    assert tuple(state.vocabulary.words[:4]) == ("ship", "harbour", "horse", "road")
    assert len(state.vocabulary) <= 30


def test_without_seeds_the_strength_is_not_stored():
    assert not {"seeds", "seed_strength"} & set(ParticleFilter().to_json())
    assert ParticleFilter(topics=4, seeds=SEEDS).canonical() != ParticleFilter(topics=4).canonical()


def test_a_state_without_the_prior_tokens_is_refused():
    settings = LEARNERS["flat"]
    learner, state = learned(settings)
    heavier = replace(settings, seed_strength=100_000)
    with pytest.raises(DamagedDataError, match="fewer tokens of a seed than its prior tokens"):
        learner.load(heavier, "", 0, learner.save(state))
    others = replace(settings, seeds=("sea: ship sail",))
    with pytest.raises(DamagedDataError, match="first words are not those of the seeds"):
        learner.load(others, "", 0, learner.save(state))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"topics": 1}, "at most as many as --topics .1.. Give --topics=2 or more"),
        ({"seeds": ("sea ship",)}, "a name, a colon and words"),
        ({"seeds": ("sea: ship", "sea: sail")}, "each name once"),
        ({"seed_strength": 10**9}, "5000000000 prior tokens.*lower --seed_strength, or lower"),
        ({"seeds": ("sea: ship^0",)}, r"'ship\^0' was given; allowed is 1 to 1073741824 prior"),
        ({"seeds": (f"sea: ship^{2**31}",)}, "behind a word. Correct the number."),
        ({"seeds": ("sea: ship^" + "9" * 5000,)}, "behind a word. Correct the number."),
        ({"vocabulary": Growing(max_words=6)}, "at most half of --max_words"),
        ({"vocabulary": Given(("ship", "harbour", "road"))}, "words of the given vocabulary"),
        ({"half_life": (1000,)}, "none beside --half_life"),
    ],
)
def test_seeds_that_do_not_fit_are_refused(fields, message):
    with pytest.raises(OptionError, match=message):
        ParticleFilter(**{**EASY, **fields})


def test_batch_gibbs_with_seeds_has_no_packed_counts():
    assert not BatchGibbs(**EASY, prior=Flat()).is_sparse


@pytest.mark.parametrize("number", [0, 1])
def test_a_challenger_never_gives_a_seeded_topic_to_another(number, monkeypatch):
    # The topics are those of the newest documents, so the challenger keeps their seeds only.
    kinds = 60 * [("star", "moon", "sun", "sky")] + 30 * [SEA, LAND]
    long = [document_of([kind[i % 4] for i in range(80)], d) for d, kind in enumerate(kinds)]
    _, state = learned(LEARNERS["challenged"], minibatches_of(long, 6))
    newest, past = split_history(state, 60)
    monkeypatch.setattr(challengers, "put_back", lambda *arguments: None)
    population = challenger(state, 0, number, newest, past, free=4)
    words = state.vocabulary.numbers(words_of(SEEDS)).astype(np.int64)
    found = word_rows(population, 0, words)[:, :4]
    assert (found >= seed_counts(state.settings)).all()
