"""The two wagers: beside slow twins, and how often they are wrong."""

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest

from beam_topics.model.learners.engine.candidates import BLOCK, BOUND, STAKES, Gain, Rise
from beam_topics.model.learners.engine.settings import LocalBirths

LEVELS = {Gain: LocalBirths.level, Rise: LocalBirths.rise_level}


def gain_twin(gains):
    """The mean over the stakes of a product."""
    wealths = []
    for stake in STAKES:
        wealth = 1.0
        for gain in gains:
            wealth *= 1 + stake * min(1, max(-1, gain / BOUND))
        wealths.append(wealth)
    return sum(wealths) / len(wealths)


def rise_twin(blocks):
    """Fractions, and a probability of each outcome under both hypotheses."""
    wealth, now, then, count = Fraction(1), 0, 0, 0
    for x, y in blocks:
        q = (then + Fraction(1, 2)) / (count + 20)
        p = max((now + Fraction(1, 2)) / (BLOCK * count + 20), q)
        m = (BLOCK * p + q) / (BLOCK + 1)
        apart = p**x * (1 - p) ** (BLOCK - x) * q**y * (1 - q) ** (1 - y)
        together = m ** (x + y) * (1 - m) ** (BLOCK + 1 - x - y)
        wealth *= apart / together
        now, then, count = now + x, then + y, count + 1
    return float(wealth)


def test_gain_is_the_twins():
    gains = np.random.default_rng(1).normal(0.1, 4.0, 100).tolist()
    wager = Gain()
    wager.add(gains[:30])
    wager.add(gains[30:])
    assert wager.log == pytest.approx(log(gain_twin(gains)))


def test_rise_is_the_twins():
    generator, wager = np.random.default_rng(2), Rise()
    blocks = [(int(generator.binomial(3, 0.2)), int(generator.random() < 0.1)) for _ in range(60)]
    for x, y in blocks:
        wager.add(x, y)
    assert wager.log == pytest.approx(log(rise_twin(blocks)))
    assert wager.today == BLOCK * wager.past == 180


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.4])
@pytest.mark.parametrize("start", [(0, 0, 0), (4, 1, 10), (0, 2, 5)])
def test_a_block_has_a_mean_of_at_most_one(rate, start):
    now, then, count = start
    mean = 0.0
    for x in range(BLOCK + 1):
        for y in (0, 1):
            wager = Rise(0.0, now, BLOCK * count, then, count)
            wager.add(x, y)
            ways = (1, 3, 3, 1)[x]
            weight = ways * rate ** (x + y) * (1 - rate) ** (BLOCK + 1 - x - y)
            mean += weight * exp(wager.log)
    assert mean <= 1 + 1e-12


def test_nothing_is_bet_where_nothing_rises():
    wager = Rise(0.0, 1, 300, 50, 100)
    wager.add(0, 1)
    assert wager.log == 0.0


def false_alarms(kind, runs, length, past=0.1):
    """The share of runs in which a wealth is ever above 1 / level though H0 holds."""
    generator, alarms = np.random.default_rng(7), 0
    for _ in range(runs):
        wager = kind()
        for _ in range(length):
            if kind is Gain:
                # A skewed gain of mean 0: often a little less, seldom much more.
                wager.add([7.6 if generator.random() < 0.05 else -0.4])
            else:
                wager.add(int(generator.binomial(BLOCK, 0.1)), int(generator.random() < past))
            if wager.log >= -log(LEVELS[kind]):
                alarms += 1
                break
    return alarms / runs


@pytest.mark.statistical
@pytest.mark.parametrize("kind", [Gain, Rise])
def test_false_alarms_are_as_rare_as_the_level(kind):
    # Three standard errors above the level.
    level = LEVELS[kind]
    assert false_alarms(kind, 2000, 400) <= level + 3 * (level * (1 - level) / 2000) ** 0.5


@pytest.mark.statistical
def test_a_rise_beside_documents_that_were_learned_is_found():
    """These hold a candidate less: the reason why some documents wait."""
    assert false_alarms(Rise, 500, 400, past=0.02) > 2 * LEVELS[Rise]


@pytest.mark.statistical
def test_a_gain_whose_losses_are_cut_is_found():
    planted = type("Planted", (Gain,), {"add": _losses_forgiven})
    generator, alarms = np.random.default_rng(3), 0
    for _ in range(300):
        wager = planted()
        wager.add(generator.normal(0.0, 3.0, 400).tolist())
        alarms += wager.log >= -log(LEVELS[Gain])
    assert alarms / 300 > 2 * LEVELS[Gain]


def _losses_forgiven(self, gains):
    Gain.add(self, [max(-0.1, gain) for gain in gains])
