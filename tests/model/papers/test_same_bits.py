"""The learners of the papers give the same bits with other histories, and other sweeps."""

import pytest
from learner_battery import plain, results, run
from learner_variants import VARIANTS, settings_of, small

from beam_topics.model.papers import state
from beam_topics.model.papers.kernels import copy_on_write


@pytest.mark.parametrize(
    "variant",
    [
        "full history",
        "full history, token units",
        "full history, by tokens",
    ],
)
def test_the_full_history_draws_what_a_reservoir_draws_that_never_fills(variant):
    bounded = small(**{**VARIANTS[variant], "history": "reservoir", "reservoir": 50_000})
    ours, theirs = results(run(bounded)), results(plain(settings_of(variant)))
    assert ours[1:] == theirs[1:]


@pytest.mark.parametrize("variant", ["particle-filter", "by tokens, residual", "chains"])
def test_sweeps_at_other_times_change_nothing(variant, monkeypatch):
    sweep, grown = copy_on_write.sweep, []
    has_room = copy_on_write.with_capacity

    def restless(table, logical, count):
        grown.append(sweep(table))
        return has_room(table, logical, count + len(grown) % 3)

    monkeypatch.setattr(state, "with_capacity", restless)
    assert results(run(settings_of(variant))) == results(plain(settings_of(variant)))
    assert grown
