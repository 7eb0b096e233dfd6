"""What documents lose when two topics become one, beside the formula written out."""

import numpy as np
import pytest
import restart_twin
from restart_twin import KINDS, TEXTS, copied, pair_of

from model.learners.particles.kernels.losses import EVERY, add_losses

OMEGA = np.array([1.0, 2.5, 1.0, 0.5, 3.0, 1.0])


@pytest.fixture(params=KINDS, ids=str)
def learned(request):
    return pair_of(*request.param, topics=4)


def losses_of(pair, only=EVERY, topics=4):
    losses = np.zeros((topics, topics))
    slots = np.arange(len(TEXTS), dtype=np.int32)
    add_losses(copied(pair, 0), pair.prior, pair.history.pages, slots, OMEGA, topics, only, losses)
    return losses


def test_every_pair_loses_what_the_formula_says(learned):
    losses, twin = losses_of(learned), learned.twins[0]
    both = losses + losses.T
    used = [t for t in range(4) if twin.totals[t]]
    assert len(used) > 2
    for x in used:
        for y in used:
            if x < y:
                assert both[x, y] == pytest.approx(restart_twin.loss(twin, x, y, OMEGA), abs=1e-10)


def test_one_topics_pairs_are_a_part_of_all(learned):
    every, only = losses_of(learned), losses_of(learned, 1)
    kept = np.zeros_like(every)
    kept[1, :], kept[:, 1] = every[1, :], every[:, 1]
    assert only.tolist() == kept.tolist()
