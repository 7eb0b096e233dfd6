"""Documents taken out and put back, and topics absorbed, beside their slow twins."""

import numpy as np
import pytest
import restart_twin
from alarm import agrees_in_counts
from populations import KEY
from restart_twin import IDENTITY, KINDS, TEXTS, copied, law_of_tables, pair_of
from twins import Particle

from beam_topics.model.kernels.random import RESTART
from beam_topics.model.learners.particles.kernels.particles import Draws
from beam_topics.model.learners.particles.kernels.restarting import (
    absorb,
    put_back,
    rename_topics,
    take_out,
)

DRAWS = Draws(*KEY, 7, RESTART)


class Copy:
    """One particle of a pair, copied, beside a copy of its twin."""

    def __init__(self, kind, discount, particle=1):
        self.pair = pair_of(kind, discount)
        self.population, self.twin = copied(self.pair, particle), self.pair.twins[particle].child()
        self.pages, self.prior = self.pair.history.pages, self.pair.prior

    def assert_same(self):
        self.pair.population, self.pair.twins = self.population, [self.twin]
        self.twin.weight = (self.population.weight[0], self.population.weight_exponent[0])
        self.pair.assert_same()


@pytest.mark.parametrize(("kind", "discount"), KINDS)
def test_a_copy_has_what_the_particle_has_and_shares_nothing(kind, discount):
    copy = Copy(kind, discount)
    original = copy.pair.population
    copy.population.words.rows[:] = 0
    copy.population.topics.rows[:] = 0
    copy.population.totals[:] = 0
    copy.pair.assert_same()
    copy.population = copied(copy.pair, 1)
    assert original is copy.pair.population
    copy.assert_same()


@pytest.mark.parametrize(("kind", "discount"), KINDS)
def test_documents_leave_and_come_back_as_the_twin_says(kind, discount):
    copy, slots = Copy(kind, discount), np.array([3, 0, 2, 1], np.int32)
    take_out(copy.population, copy.prior, copy.pages, slots, DRAWS)
    restart_twin.take_out(copy.twin, slots.tolist(), KEY, IDENTITY, 7, RESTART)
    assert not any(sum(copy.twin.documents[d]) for d in slots.tolist())
    copy.assert_same()
    put_back(copy.population, copy.prior, copy.pages, slots, np.array([1, 4]), DRAWS)
    restart_twin.put_back(copy.twin, slots.tolist(), [1, 4], KEY, IDENTITY, 7, RESTART)
    copy.assert_same()
    assert {t for d in slots.tolist() for t in copy.twin.topics[d]} == {1, 4}


@pytest.mark.parametrize("bug", [None, "tables closed in proportion"])
def test_the_twin_finds_tables_that_are_closed_in_another_way(bug):
    slots, agree = np.array([4, 0, 1, 5], np.int32), []
    for sequence in range(60):
        copy = Copy("sampled", 0.4)
        copy.twin.bug = bug
        take_out(copy.population, copy.prior, copy.pages, slots, DRAWS._replace(sequence=sequence))
        restart_twin.take_out(copy.twin, slots.tolist(), KEY, IDENTITY, sequence, RESTART)
        agree.append(copy.population.topic_tables[0, :5].tolist() == copy.twin.topic_tables)
    assert all(agree) == (bug is None)


def test_taking_everything_out_leaves_nothing():
    copy = Copy("sampled", 0.4)
    take_out(copy.population, copy.prior, copy.pages, np.arange(len(TEXTS), dtype=np.int32), DRAWS)
    assert (
        not copy.population.totals.any()
        and not copy.population.topic_tables.any()
        and not copy.population.tables.any()
    )
    assert not copy.population.words.rows.any()
    assert copy.population.joint[0] * 2.0 ** copy.population.joint_exponent[0] == pytest.approx(
        1, rel=1e-9
    )


@pytest.mark.parametrize(("kind", "discount"), KINDS)
def test_a_topic_absorbs_another_as_the_twin_says(kind, discount):
    copy = Copy(kind, discount)
    before = sum(copy.twin.totals)
    for old, new in ((0, 3), (3, 2)):
        absorb(copy.population, copy.prior, copy.pair.words, old, new)
        names = np.arange(len(copy.twin.totals))
        names[old] = new
        rename_topics(copy.population, copy.pages, np.arange(len(TEXTS)), names)
        restart_twin.absorb(copy.twin, old, new)
        copy.assert_same()
    assert copy.twin.totals[0] == copy.twin.totals[3] == 0
    assert sum(copy.twin.totals) == before


def tables_left(bug, rounds=4000):
    """Tables of three tokens of a word when three others, seated later, were taken out."""
    found = np.zeros(4)
    for seed in range(rounds):
        particle = Particle([0.5], [1.0], 1.2, discount=0.3, kind="sampled", base_a=2.0)
        generator = np.random.default_rng(seed)
        for d in (0, 1):
            particle.learn(
                d, [0, 0, 0], generator.random(3), table_uniforms=generator.random(3).tolist()
            )
        particle.bug = bug
        restart_twin.take_out(particle, [1], (seed, 1), 0, 1, RESTART)
        found[particle.tables[0][0]] += 1
    return found[1:]


@pytest.mark.statistical
@pytest.mark.parametrize("bug", [None, "tables closed in proportion"])
def test_what_is_left_has_the_law_of_documents_that_were_never_there(bug):
    assert agrees_in_counts(tables_left(bug), law_of_tables()) == (bug is None)
