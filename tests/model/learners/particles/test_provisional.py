"""What a publication shows while documents wait for a complete initial batch."""

import numpy as np
import pytest
from corpora import document_of, minibatches_of
from learner_variants import small

from beam_topics.model.learners import learner_for
from beam_topics.model.learners.particles import initial_batch
from beam_topics.model.learners.particles import population as population_module
from beam_topics.model.learners.particles.initial_batch import Chains
from beam_topics.model.learners.particles.state import new_state

DOCUMENTS = [document_of([f"w{d % 5}", f"w{d % 3}", f"n{d}"] * 4, d) for d in range(20)]
STREAM = minibatches_of(DOCUMENTS, 1)


def snapshots(settings, reload=False, publish=range(1, 20)):
    """The published counts after each of some minibatches of one document."""
    learner, found = learner_for(settings), {}
    state = learner.init(settings, "", 0)
    for minibatch in STREAM:
        learner.step(state, minibatch)
        if reload:
            state = learner.load(settings, "", 0, learner.save(state))
        if minibatch.sequence in publish:
            snapshot = learner.snapshot(state)
            rows = snapshot.rows(np.arange(len(snapshot.words)))
            found[minibatch.sequence] = (snapshot.words, rows.tolist())
    return found, learner.save(state)


@pytest.mark.parametrize("prior", ["flat", "urn", "hierarchical"])
def test_a_version_does_not_depend_on_earlier_ones_or_on_a_restart(prior):
    settings = small(prior=prior, initial_documents=30)
    every, saved = snapshots(settings)
    assert snapshots(settings, reload=True) == (every, saved)
    few, same = snapshots(settings, publish=(11, 13))
    assert few == {number: every[number] for number in (11, 13)}
    assert same == saved


def test_a_version_holds_every_word_that_came():
    every, _ = snapshots(small(initial_documents=30))
    for number, (words, rows) in every.items():
        tokens = [token for document in DOCUMENTS[:number] for token in document.tokens]
        assert set(words) == {word for document in DOCUMENTS[:number] for word in document.words}
        assert np.sum(rows) == len(tokens)


def runs_of(monkeypatch, settings):
    """The documents and chains of each batch that versions of a stream run."""
    batches, initialise = [], initial_batch.initialise

    def counted(state, chains):
        batches.append((len(state.waiting), chains))
        initialise(state, chains)

    monkeypatch.setattr(initial_batch, "initialise", counted)
    snapshots(settings)
    return batches


@pytest.mark.parametrize(
    ("topics", "most", "chains"),
    [
        (3, 8, Chains(8, 5)),
        (3, 2, Chains(2, 5)),
        (7, 8, Chains(7, 5)),
        (19, 8, Chains(2, 5)),
        (20, 8, Chains(1, 4, evenly=False)),
        (60, 8, Chains(1, 4, evenly=False)),
    ],
)
def test_few_chains_run_again_only_when_the_documents_have_doubled(
    monkeypatch, topics, most, chains
):
    settings = small(initial_documents=30, chains=most, topics=topics, initial_sweeps=5)
    assert runs_of(monkeypatch, settings) == [(count, chains) for count in (1, 2, 4, 8, 16)]


@pytest.mark.parametrize(("sweeps", "few", "fewer"), [(50, 35, 20), (1, 1, 1)])
def test_a_chain_over_many_documents_takes_fewer_sweeps(monkeypatch, sweeps, few, fewer):
    monkeypatch.setattr(initial_batch, "LARGE_DOCUMENTS", 8)
    found = runs_of(monkeypatch, small(initial_documents=30, initial_sweeps=sweeps, topics=20))
    wanted = [(1, few), (2, few), (4, few), (8, fewer), (16, fewer)]
    assert [(count, chains.sweeps) for count, chains in found] == wanted


def test_all_chains_of_batch_gibbs_always_run(monkeypatch):
    settings = small(learner="batch-gibbs", prior="urn", chains=3, sweeps=5)
    complete = Chains(3, 5)
    assert runs_of(monkeypatch, settings) == [(count, complete) for count in range(1, 20)]


def test_a_chain_that_does_not_begin_evenly_draws_a_topic_given_the_tokens_before():
    tokens = {True: [], False: []}
    for evenly, found in tokens.items():
        for seed in range(1, 30):
            state = new_state(small(topics=20, alpha=0.01, seed=seed), "", 0, 1)
            state.vocabulary.extend(["w"])
            state.waiting = [(np.zeros(40, np.int32), None)]
            initial_batch.initialise(state, Chains(1, 0, evenly))
            found.append(int(state.population.totals[0].max()))
    # 40 uniform draws of 20 topics have at most 10 in one but for 1 in 10,000.
    assert max(tokens[True]) <= 12 and min(tokens[False]) >= 20


@pytest.mark.parametrize("prior", ["flat", "hierarchical"])
def test_copies_share_the_tables_of_the_prior(prior):
    settings = small(prior=prior, initial_documents=30)
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    for minibatch in STREAM[:3]:
        learner.step(state, minibatch)
    copy = initial_batch.initialised(state)
    assert copy is not state.begun and copy.population is not state.begun.population
    assert copy.prior.closing is state.begun.prior.closing
    assert copy.prior.closing.exact is state.prior.closing.exact


def test_a_chain_that_is_alone_goes_on_as_a_copy_of_it_would(monkeypatch):
    """The particle keeps its rows; where it is one of several, the rows are copied."""
    settings = small(topics=20, initial_documents=6, chains=1, particles=1, resampling="never")
    alone = snapshots(settings)
    copied = []

    def replicate(population, chosen, particles, first_identity):
        both = population_module.replicate(population, chosen, 2, first_identity)
        copied.append(population_module.replicate(both, 0, particles, first_identity))
        return copied[-1]

    monkeypatch.setattr(initial_batch, "replicate", replicate)
    assert snapshots(settings) == alone and copied


def test_words_that_leave_take_the_copy_with_them():
    settings = small(initial_documents=30, max_words=12)
    every, saved = snapshots(settings)
    assert all(len(words) <= 12 for words, _ in every.values())
    assert snapshots(settings, reload=True) == (every, saved)


@pytest.mark.parametrize("prior", ["flat", "urn"])
def test_sweeps_that_run_together_have_the_bits_of_single_sweeps(prior, monkeypatch):
    settings = small(prior=prior, initial_documents=6)
    together = snapshots(settings)
    calls = []

    def counted(*visits, **others):
        calls.append(len(visits[1]))
        visit(*visits, **others)

    visit = initial_batch.visit
    monkeypatch.setattr(initial_batch, "visit", counted)
    assert snapshots(settings) == together
    fewest = len(calls)
    monkeypatch.setattr(initial_batch, "_VISITS", 1)
    assert snapshots(settings) == together
    assert len(calls) - fewest > 3 * fewest
