"""The laws of model.learners.base for one learner, wherever its code is."""

from dataclasses import replace

import numpy as np
from corpora import awkward, document_of, minibatches_of

from model.errors import DamagedDataError
from model.learners import learner_for

STREAM = minibatches_of(awkward(), 6)


def outcome(settings, threads=1, reload=False, key=""):
    """(states as bytes, witnesses, what each step said, the last state)."""
    learner, island = learner_for(settings), settings.islands - 1
    state = learner.init(settings, key, island, threads)
    saved, witnesses, infos = [], [], []
    for minibatch in STREAM:
        infos.append(learner.step(state, minibatch))
        saved.append(learner.save(state))
        witnesses.append(learner.witness(state))
        if reload:
            state = learner.load(settings, key, island, saved[-1], threads)
            assert learner.save(state) == saved[-1] and learner.witness(state) == witnesses[-1]
    return saved, witnesses, infos, state


def check_laws(settings):
    """Raises AssertionError: a law does not hold."""
    learner = learner_for(settings)
    plain = outcome(settings)
    assert outcome(settings)[:3] == plain[:3], "equal settings and minibatches give equal bits"
    assert outcome(settings, threads=3)[:3] == plain[:3], "threads change nothing"
    assert outcome(settings, reload=True)[:3] == plain[:3], (
        "load(save(state)) continues with the same bits"
    )
    assert outcome(settings, key="other")[0] != plain[0], "the key names other draws"
    assert outcome(replace(settings, seed=settings.seed + 1))[0] != plain[0], (
        "the seed names other draws"
    )
    check_figures(settings, plain[2], plain[3])
    check_arrivals(settings)
    for damaged in (b"", plain[0][-1][:-1], plain[0][-1] + b"\0", b"XXXX" + plain[0][-1][4:]):
        try:
            learner.load(settings, "", 0, damaged)
        except DamagedDataError:
            continue
        raise AssertionError("damaged bytes are refused")
    empty = learner.init(settings, "", 0)
    learner.step(empty, minibatches_of([document_of([], 0, "a")], 1)[0])
    assert (learner.snapshot(empty).normalisers > 0).all(), (
        "before the first word there is a model too"
    )


def counted_offers(settings, due, threads=1, reload=False):
    """What came to each topic between offers, as model.learner_log counts it.

    ``due``: the minibatches after which there is an offer. A list of (float64[C, 2, T], documents
    and tokens that came by then).
    """
    learner, island = learner_for(settings), settings.islands - 1
    state = learner.init(settings, "", island, threads)
    none = np.zeros((settings.independent_chains, 2, settings.topics))
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


def check_arrivals(settings):
    """What came to each topic adds up to what came."""
    size = len(STREAM)
    for due in (range(1, size + 1), (1, 2, size)):
        found, documents, tokens = counted_offers(settings, due), 0, 0
        for counts, all_documents, all_tokens in found:
            assert np.allclose(counts[:, 0].sum(axis=1), all_tokens - tokens, rtol=1e-9)
            # A document without a known word has no topic.
            assert (counts[:, 1].sum(axis=1) <= all_documents - documents).all()
            documents, tokens = all_documents, all_tokens
        assert sum(counts[0, 1].sum() for counts, *_ in found) <= documents
        again = counted_offers(settings, due, threads=3, reload=True)
        assert all(
            (one[0] == other[0]).all() and one[1:] == other[1:]
            for one, other in zip(found, again, strict=True)
        )


def check_figures(settings, infos, state):
    learner = learner_for(settings)
    summary, snapshot = learner.summary(state), learner.snapshot(state)
    assert [info.documents for info in infos] == [len(minibatch) for minibatch in STREAM]
    assert sum(info.tokens - info.unknown_tokens for info in infos) == summary.tokens
    assert sum(info.scored_tokens for info in infos) == summary.scored_tokens
    assert snapshot.topic_count == settings.topics and len(snapshot.words) == summary.words
    words = np.arange(len(snapshot.words))
    assert ((snapshot.rows(words) + snapshot.prior.shares(words)) / snapshot.normalisers > 0).all()
    assert learner.nbytes(state) > 0
