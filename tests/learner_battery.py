"""The laws of model.learners.base, each stated once.

``tests/model/learners/test_contract.py`` runs them over the settings of ``learner_variants.py``. A
law is a function of settings. It raises an AssertionError whose text is the law.
"""

from dataclasses import replace
from functools import cache
from math import exp

import numpy as np
import pytest
from corpora import awkward, document_of, minibatches_of

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.learners import learner_for
from beam_topics.model.learners.base import LearnsRuns

STREAM = minibatches_of(
    [replace(document, sources=(f"s{d % 4}",)) for d, document in enumerate(awkward())], 6
)


def run(settings, threads=1, reload=False, stream=STREAM, key=""):
    """The saved state, witness and step info after each minibatch, the last state, the settings."""
    learner, island = learner_for(settings), settings.islands - 1
    state = learner.init(settings, key, island, threads)
    saved, witnesses, infos = [], [], []
    for minibatch in stream:
        infos.append(learner.step(state, minibatch))
        saved.append(learner.save(state))
        witnesses.append(learner.witness(state))
        if reload:
            state = learner.load(settings, key, island, saved[-1], threads)
            assert learner.save(state) == saved[-1], "save(load(data)) gives the same bytes"
            assert learner.witness(state) == witnesses[-1], "load restores what the witness covers"
    return saved, witnesses, infos, state, settings


@cache
def plain(settings):
    return run(settings)


def results(outcome):
    """Everything of a run that must not depend on how it was run."""
    saved, witnesses, infos, state, settings = outcome
    learner = learner_for(settings)
    snapshot = learner.snapshot(state)
    parts = (
        snapshot.words,
        snapshot.offsets.tolist(),
        snapshot.topics.tolist(),
        snapshot.counts.tolist(),
    )
    return saved, witnesses, infos, learner.summary(state), parts


def equal_input_gives_equal_bits(settings):
    assert results(run(settings)) == results(plain(settings)), (
        "equal settings and minibatches give equal bits"
    )


def two_threads_change_nothing(settings):
    assert results(run(settings, 2)) == results(plain(settings)), "threads change nothing"


def five_threads_change_nothing(settings):
    assert results(run(settings, 5)) == results(plain(settings)), "threads change nothing"


def a_loaded_state_goes_on_with_the_same_bits(settings):
    assert results(run(settings, reload=True)) == results(plain(settings)), (
        "load(save(state)) continues with the same bits"
    )


def runs_come_to_the_bits_of_steps(settings):
    learner, island = learner_for(settings), settings.islands - 1
    if not isinstance(learner, LearnsRuns):
        return
    saved, witnesses, infos, *_ = plain(settings)
    state, at = learner.init(settings, "", island), 0
    for end in (1, 3, len(STREAM)):
        assert learner.steps(state, STREAM[at:end]) == infos[at:end]
        assert learner.save(state) == saved[end - 1], "a run comes to the bits of its steps"
        assert learner.witness(state) == witnesses[end - 1]
        at = end


def evidence_is_of_the_last_minibatches(settings, window):
    """Check the evidence of each summary; not a law, because learners differ in their windows."""
    learner = learner_for(settings)
    state, scored = learner.init(settings, "", 0, 1), []
    for minibatch in STREAM:
        info = learner.step(state, minibatch)
        scored += [info.log_evidence] if info.scored_tokens else []
        assert learner.summary(state).evidence.log() == pytest.approx(sum(scored[-window:]))
    assert len(scored) > window and len(set(scored)) == len(scored)


def steps_add_up_to_the_summary(settings):
    infos, state, _ = plain(settings)[2:]
    summary = learner_for(settings).summary(state)
    came = [info.documents + info.near_copies + info.over_share for info in infos]
    assert came == [len(minibatch) for minibatch in STREAM]
    for info, minibatch in zip(infos, STREAM, strict=True):
        learned = info.tokens == len(minibatch.tokens)
        left_out = info.near_copies + info.over_share
        assert learned or (left_out and info.tokens < len(minibatch.tokens))
    assert sum(info.documents for info in infos) == summary.documents
    assert sum(info.tokens - info.unknown_tokens for info in infos) == summary.tokens, (
        "a summary counts the tokens that are known"
    )
    check_scores(settings, infos, summary)


def check_scores(settings, infos, summary):
    assert sum(info.scored_tokens for info in infos) == summary.scored_tokens
    assert sum(info.log_evidence for info in infos) == pytest.approx(
        summary.log_evidence, rel=1e-12
    ), "the log evidence is the sum of what the steps said"
    for info in infos:
        assert 1 - 1e-9 <= info.ess <= getattr(settings, "island_particles", 1) + 1e-9
        assert info.log_evidence < 0 if info.scored_tokens else info.log_evidence == 0


def counted_offers(settings, due, threads=1, reload=False):
    """What came to each topic between offers, as model.learner_log counts it.

    ``due``: the minibatches after which there is an offer. A list of (float64[C, 2, T], documents
    and tokens that came by then).
    """
    learner, island = learner_for(settings), settings.islands - 1
    state = learner.init(settings, "", island, threads)
    none = np.zeros((settings.independent_chains, 2, settings.topic_count))
    counted, sums, found = 0, none, []
    for minibatch in STREAM:
        learner.step(state, minibatch)
        new = learner.arrivals(state, counted)
        assert new.counts.shape == none.shape and (new.counts >= 0).all()
        counted, sums = max(counted, new.until), sums + new.counts
        if reload:
            state = learner.load(settings, "", island, learner.save(state), threads)
        if minibatch.sequence in due:
            waiting = learner.arrivals(state, counted, unlearned=True)
            summary, counted = learner.summary(state), max(counted, waiting.until)
            assert counted == summary.documents, "each document is counted once, by the next offer"
            found.append((sums + waiting.counts, summary.documents, summary.tokens))
            sums = none
    return found


def what_came_to_the_topics_adds_up(settings):
    size = len(STREAM)
    for due in (range(1, size + 1), (1, 2, size)):
        found, documents, tokens = counted_offers(settings, due), 0, 0
        for counts, all_documents, all_tokens in found:
            came, learned = counts[:, 0].sum(axis=1), all_tokens - tokens
            assert np.allclose(came, learned, rtol=1e-9)
            # A document without a known word has no topic.
            assert (counts[:, 1].sum(axis=1) <= all_documents - documents).all()
            documents, tokens = all_documents, all_tokens
        assert sum(counts[0, 1].sum() for counts, *_ in found) <= documents
        again = counted_offers(settings, due, threads=3, reload=True)
        assert all(
            (one[0] == other[0]).all() and one[1:] == other[1:]
            for one, other in zip(found, again, strict=True)
        )


def a_snapshot_is_a_distribution_of_words(settings):
    state = plain(settings)[3]
    learner = learner_for(settings)
    snapshot, summary = learner.snapshot(state), learner.summary(state)
    assert snapshot.topic_count == settings.topic_count and len(snapshot.words) == summary.words
    words = np.arange(len(snapshot.words))
    probabilities = (snapshot.rows(words) + snapshot.prior.shares(words)) / snapshot.normalisers
    assert (probabilities > 0).all(), "every known word has a probability in every topic"
    left = max(0.0, 1.0 - snapshot.prior.base.sum())
    unseen = snapshot.prior.strength / snapshot.normalisers * left
    assert probabilities.sum(axis=0) + unseen == pytest.approx(
        np.ones(settings.topic_count), abs=1e-9
    ), "the probabilities of known and unknown words add up to 1 in every topic"


def before_the_first_word_there_is_a_model(settings):
    learner, island = learner_for(settings), settings.islands - 1
    state = learner.init(settings, "", island)
    learner.step(state, minibatches_of([document_of([], 0, "a")], 1)[0])
    normalisers = learner.snapshot(state).normalisers
    assert np.isfinite(normalisers).all() and (normalisers > 0).all(), (
        "before the first word there is a model"
    )
    restored = learner.load(settings, "", island, learner.save(state))
    for one in (state, restored):
        learner.step(one, replace(STREAM[0], sequence=2))
    assert learner.save(restored) == learner.save(state), (
        "a state without a word continues with the same bits"
    )


def memory_is_counted(settings):
    learner = learner_for(settings)
    assert learner.nbytes(plain(settings)[3]) > 0


def damaged_bytes_are_refused(settings):
    data = plain(settings)[0][-1]
    for damaged in (b"", data[:-1], data[: len(data) // 2], data + b"\0", b"XXXX" + data[4:]):
        assert is_refused(settings, damaged), "damaged bytes are refused"


def a_state_of_other_settings_is_refused(settings):
    others = replace(settings, topics=settings.topic_count + 1)
    assert is_refused(others, plain(settings)[0][-1]), "a state of other settings is refused"


def is_refused(settings, data):
    try:
        learner_for(settings).load(settings, "", settings.islands - 1, data)
    except DamagedDataError:
        return True
    return False


# Laws of any settings.
LAWS = (
    equal_input_gives_equal_bits,
    two_threads_change_nothing,
    five_threads_change_nothing,
    a_loaded_state_goes_on_with_the_same_bits,
    runs_come_to_the_bits_of_steps,
    steps_add_up_to_the_summary,
    what_came_to_the_topics_adds_up,
    a_snapshot_is_a_distribution_of_words,
    before_the_first_word_there_is_a_model,
    memory_is_counted,
    damaged_bytes_are_refused,
    a_state_of_other_settings_is_refused,
)


def seed_and_key_name_other_draws(settings):
    counts = [
        results(outcome)[-1][2:]
        for outcome in (
            plain(settings),
            run(replace(settings, seed=settings.seed + 1)),
            run(settings, key="other"),
        )
    ]
    assert counts[0] != counts[1], "the seed names other draws"
    assert counts[0] != counts[2] != counts[1], "the key names other draws"


def scores_are_predictions(settings):
    """A score that uses what it has learned of the same document gives more than 1 in all."""
    learner, island, data = learner_for(settings), settings.islands - 1, plain(settings)[0][-1]
    total = 0.0
    for word in learner.snapshot(plain(settings)[3]).words:
        state = learner.load(settings, "", island, data)
        (minibatch,) = minibatches_of([document_of([word])], 1)
        info = learner.step(state, replace(minibatch, sequence=len(STREAM) + 1))
        total += exp(info.log_evidence) if info.scored_tokens else 0.0
    assert total <= 1 + 1e-9, (
        "the next word is scored before it is learned: all words' probabilities add up to 1"
    )


# Laws of a learner's usual settings: one topic or one word leaves nothing to draw.
LAWS_OF_LEARNERS = (seed_and_key_name_other_draws, scores_are_predictions)
