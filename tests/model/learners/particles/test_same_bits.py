"""The particle family computes the same bits in other ways.

These are: in parts, in rows that are shared otherwise, in wider counts, with another history.
"""

import numpy as np
import pytest
from learner_battery import plain, results, run
from learner_variants import VARIANTS, settings_of, small

from beam_topics.model.learners.particles import population as populations
from beam_topics.model.learners.particles import stepping
from beam_topics.model.learners.particles.kernels import copy_on_write


@pytest.mark.parametrize(
    "variant", ["o-lda", "chains", "chains, token units", "chains, full vocabulary, hierarchical"]
)
@pytest.mark.parametrize("part", [4096, 50])
def test_chains_come_to_the_same_document_by_document(variant, part, monkeypatch):
    def one_by_one(state, documents):
        for tokens, label in documents:
            stepping.learn_document(state, tokens, label)

    monkeypatch.setattr(stepping, "learn_by_chains", one_by_one)
    monkeypatch.setattr(stepping, "TOKENS_AT_ONCE", part)
    saved, witnesses, infos, *_ = run(settings_of(variant))
    assert (saved, witnesses, infos) == plain(settings_of(variant))[:3]


@pytest.mark.parametrize(
    "variant", ["particle-filter", "by tokens, residual", "token units", "chains"]
)
def test_how_rows_are_shared_and_swept_changes_nothing(variant, monkeypatch):
    reserve, fed = copy_on_write.reserve, []

    def restless(table, rows, blocks, shared=True):
        fed.append(copy_on_write.sweep(table))
        return reserve(table, rows + len(fed) % 3, blocks + len(fed) % 2, shared)

    monkeypatch.setattr(copy_on_write, "reserve", restless)
    monkeypatch.setattr(populations, "ROWS_AT_ONCE", 1)
    assert results(run(settings_of(variant))) == results(plain(settings_of(variant)))
    assert fed


@pytest.mark.parametrize(
    "variant",
    [
        "particle-filter",
        # Their kernels are compiled anew for these counts, which takes most of the time.
        pytest.param("incremental-gibbs", marks=pytest.mark.slow),
        pytest.param("by tokens, residual", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("reload", [False, True])
def test_counts_of_64_bits_change_nothing(variant, reload, monkeypatch):
    monkeypatch.setattr(populations, "MAX_INT32", 300)
    outcome = run(settings_of(variant), reload=reload)
    assert outcome[3].population.words.rows.dtype == np.int64
    assert results(outcome) == results(plain(settings_of(variant)))


@pytest.mark.parametrize(
    "variant",
    [
        "full history",
        "full history, token units",
        "full history, by tokens",
        "directed tree",
        "directed tree, by tokens",
    ],
)
def test_the_full_history_draws_what_a_reservoir_draws_that_never_fills(variant):
    bounded = small(
        **{**VARIANTS[variant], "history": "reservoir", "newest": 0, "reservoir": 50_000}
    )
    assert results(run(bounded)) == results(plain(settings_of(variant)))
