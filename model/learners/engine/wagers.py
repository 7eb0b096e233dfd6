"""Two wagers that decide whether a topic is born: test martingales.

A *test martingale* is a wealth that begins at 1 and that a bet multiplies by a number whose mean is
at most 1 if the hypothesis H0 holds, whatever happened before. By Ville's inequality

    P(the wealth is ever 1 / q or more) <= q    under H0.

So one may look after each document, stop when it suits, and still have a false alarm with a chance
of at most q. The stakes of a bet may depend on everything before it, and on nothing in it.

*Gain*: g nats that a document gains by new topics, cut to [-b, b]. H0: the mean of g is at most 0,
given the past. The wealth is the mean over some stakes s of prod(1 + s g / b).

*Rise*: blocks of n documents of today and one of the past. x of the n hold a topic, and y of the
one. H0: both have the same rate. With guesses p and q of the two rates, from earlier blocks,
p >= q, and m = (n p + q) / (n + 1), a block multiplies the wealth by

    p^x (1 - p)^(n - x) q^y (1 - q)^(1 - y) / [m^(x + y) (1 - m)^(n + 1 - x - y)].

Its mean under H0 is at most 1 for any common rate (Turner, Ly and Grünwald 2021). Where nothing has
risen, p = q = m, and nothing is bet.

>>> gain = Gain()
>>> gain.add([0.0, 0.0])
>>> gain.log
0.0
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

STAKES = (0.05, 0.1, 0.2, 0.45)
# b, in nats.
BOUND = 8.0
# The documents of today in a block.
BLOCK = 3
# A rate is guessed as if so many more documents had held a topic, of so many. A topic that is near
# to others is held by a hundredth of the past; if none is expected, the first costs too much.
GUESS, GUESSED = 0.5, 20


@dataclass
class Gain:
    """H0: documents do not gain.

    Attributes:
        logs: of each stake, the logarithm of its wealth.
    """

    logs: list[float] = field(default_factory=lambda: [0.0] * len(STAKES))

    def add(self, gains: Iterable[float]) -> None:
        """Bet on documents, one after the other."""
        for gain in gains:
            share = min(1.0, max(-1.0, gain / BOUND))
            for k, stake in enumerate(STAKES):
                self.logs[k] += math.log1p(stake * share)

    @property
    def log(self) -> float:
        """Return the logarithm of the wealth."""
        most = max(self.logs)
        return most + math.log(sum(math.exp(log - most) for log in self.logs) / len(self.logs))


@dataclass
class Rise:
    """H0: documents of today hold a topic as often as those of the past.

    Attributes:
        log: the logarithm of the wealth.
        now: documents of today that held it, of ``today``.
        today: documents of today.
        then: documents of the past that held it, of ``past``.
        past: documents of the past.
    """

    log: float = 0.0
    now: int = 0
    today: int = 0
    then: int = 0
    past: int = 0

    def add(self, now: int, then: int) -> None:
        """Bet on a block, of whose documents of today ``now`` hold it, and of the past ``then``."""
        q = (self.then + GUESS) / (self.past + GUESSED)
        p = max((self.now + GUESS) / (self.today + GUESSED), q)
        if p > q:
            m = (BLOCK * p + q) / (BLOCK + 1)
            self.log += now * math.log(p / m) + (BLOCK - now) * math.log((1 - p) / (1 - m))
            self.log += math.log(q / m if then else (1 - q) / (1 - m))
        self.now, self.today = self.now + now, self.today + BLOCK
        self.then, self.past = self.then + then, self.past + 1
