"""The CUSUM: its threshold, what it tells, and with which block a change began."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from beam_topics.model.learners.particles import following
from beam_topics.model.learners.particles.following import (
    ALLOWED,
    LEAST_BLOCKS,
    REMEMBERED,
    Block,
    Cusum,
    threshold_of,
    unusual,
)

TOPICS = 10


def block_of(generator, level=-8.0, tilt=1.0):
    alpha = np.geomspace(1, tilt, TOPICS) * 0.1
    shares = generator.dirichlet(alpha, 100).mean(axis=0)
    return Block(level + 0.1 * generator.standard_normal(), shares)


def alarms(blocks, false_alarms=1000.0):
    """[(number of the block, the alarm, how many blocks waited)]."""
    test, found = Cusum(threshold=threshold_of(false_alarms)), []
    for number, block in enumerate(blocks):
        waited = len(test.waiting) + 1
        if alarm := test.add(block):
            found.append((number, alarm, waited))
            assert not test.blocks and not test.waiting
    return found


@pytest.mark.parametrize("false_alarms", [10, 100, 1000, 1e6])
def test_the_threshold_solves_siegmunds_equation(false_alarms):
    x = 2 * ALLOWED * (threshold_of(false_alarms) + 1.166)
    assert (math.exp(x) - x - 1) / (2 * ALLOWED**2) == pytest.approx(2 * false_alarms, rel=1e-9)


@pytest.mark.parametrize("count", [5, 8, 20])
def test_z_of_normal_noise_is_normal(count):
    generator = np.random.default_rng(count)
    found = []
    for _ in range(1500):
        *before, last = (block_of(generator) for _ in range(count + 1))
        found.append(unusual(last, before)[0])
    # Four standard errors of a share.
    for share in (0.05, 0.5, 0.95):
        bound = NormalDist().inv_cdf(share)
        error = math.sqrt(share * (1 - share) / len(found))
        assert abs(np.mean(np.array(found) < bound) - share) < 4 * error


@pytest.mark.parametrize("seed", range(5))
def test_a_hundred_blocks_of_one_kind_tell_no_change(seed):
    generator = np.random.default_rng(seed)
    assert alarms([block_of(generator) for _ in range(100)]) == []


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("others", "by"), [({"level": -12.0}, "evidence"), ({"tilt": 100.0}, "shares")], ids=str
)
def test_an_abrupt_change_is_told_within_three_blocks(seed, others, by):
    generator = np.random.default_rng(seed)
    blocks = [block_of(generator) for _ in range(20)]
    blocks += [block_of(generator, **others) for _ in range(3)]
    found = alarms(blocks)
    assert [alarm.by for _, alarm, _ in found] == [by]
    number, alarm, waited = found[0]
    assert number >= 20 and number - waited + 1 in (18, 19, 20)
    assert alarm.figures["sum"] > alarm.figures["threshold"] == threshold_of(1000)
    assert (alarm.rises.sum()) == pytest.approx(0)


@pytest.mark.parametrize("seed", range(5))
def test_a_slow_change_is_told_and_begins_where_it_began(seed):
    generator = np.random.default_rng(seed)
    blocks = [block_of(generator, -8.0 - 0.05 * max(0, n - 29)) for n in range(50)]
    (number, alarm, waited), *_ = alarms(blocks)
    assert alarm.by == "evidence" and number < 45
    assert 26 <= number - waited + 1 <= 38
    assert alarm.figures["found"] < alarm.figures["usual"] == pytest.approx(-8, abs=0.1)


def test_a_rise_of_the_level_alone_tells_nothing():
    generator = np.random.default_rng(1)
    blocks = [block_of(generator) for _ in range(12)]
    assert alarms(blocks + [block_of(generator, -7.0) for _ in range(12)]) == []


def test_blocks_wait_until_both_sums_are_0():
    generator, test = np.random.default_rng(2), Cusum(threshold=1e9)
    usual = [block_of(generator) for _ in range(LEAST_BLOCKS)]
    for block in usual:
        test.add(block)
    for count in range(1, REMEMBERED + 4):
        test.add(block_of(generator, -20.0))
        assert len(test.waiting) == min(count, REMEMBERED)
    assert len(test.blocks) == LEAST_BLOCKS + 3
    test.sums = (0.0, 0.0)
    test.add(block_of(generator, -8.0))
    assert not test.waiting and len(test.blocks) == REMEMBERED


def test_equal_blocks_have_the_least_deviation():
    block = Block(-8.0, np.full(TOPICS, 1 / TOPICS))
    assert unusual(block, [block] * 5) == (0.0, 0.0)
    lower = Block(-8.0 - following.LEAST_DEVIATIONS[0], block.shares)
    assert 0.8 < unusual(lower, [block] * 5)[0] < 0.9
