"""Phrases: words of a name that nearly always stand beside another word.

A phrase is a pair of words that follow each other in the own documents of a topic, after stop words
were left out. Of a pair that n_ab of N places have, whose first word n_a places have and whose
second n_b,

    NPMI(a, b) = ln(N n_ab / (n_a n_b)) / -ln(n_ab / N)

A word of a name becomes a phrase with its neighbour if the pair occurs at least :data:`LEAST`
times, is at least :data:`PART` of what the word occurs, and its NPMI is at least :data:`NPMI`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

LEAST, PART, NPMI = 5, 0.5, 0.4


@dataclass
class Pairs:
    """Neighbouring words of which one may be in a name, by the topic of their documents.

    Attributes:
        wanted: For each topic, the words that may be in its name.
        pairs: For each topic, the number of places of each pair.
        singles: For each topic, the number of places of each word.
    """

    wanted: Sequence[frozenset[str]]
    pairs: list[Counter[tuple[str, str]]] = field(init=False)
    singles: list[Counter[str]] = field(init=False)

    def __post_init__(self) -> None:
        self.pairs = [Counter() for _ in self.wanted]
        self.singles = [Counter() for _ in self.wanted]

    def add(self, topic: int, words: Sequence[str]) -> None:
        """Count the words of an own document of a topic, in their order."""
        wanted = self.wanted[topic]
        self.singles[topic].update(words)
        self.pairs[topic].update(
            (first, second)
            for first, second in pairwise(words)
            if (first in wanted or second in wanted) and first != second
        )

    def phrased(self, topic: int, words: Sequence[str]) -> list[str]:
        """Return the terms of a name, with a phrase in place of a word where there is one."""
        found = self._best(topic, frozenset(words))
        terms: list[str] = []
        used: set[str] = set()
        for word in words:
            if word in used:
                continue
            pair = found.get(word, (word,))
            # A neighbour that is in another term stays there.
            pair = (word,) if used & set(pair) else pair
            used.update(pair)
            terms.append(" ".join(pair))
        return terms

    def _best(self, topic: int, words: frozenset[str]) -> dict[str, tuple[str, ...]]:
        """Return the most frequent phrase of each word that has one."""
        found: dict[str, tuple[int, str, str]] = {}
        for pair, count in self.pairs[topic].items():
            for word in words & set(pair):
                rank = (-count, *pair)
                if self._is_phrase(topic, pair, word) and rank < found.get(word, (0, "", "")):
                    found[word] = rank
        return {word: rank[1:] for word, rank in found.items()}

    def _is_phrase(self, topic: int, pair: tuple[str, str], word: str) -> bool:
        both, counts = self.pairs[topic][pair], self.singles[topic]
        if both < LEAST or both < PART * counts[word]:
            return False
        places = counts.total()
        lift = math.log(places * both / (counts[pair[0]] * counts[pair[1]]))
        return lift >= NPMI * -math.log(both / places)
