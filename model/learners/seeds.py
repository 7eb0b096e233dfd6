"""Seeded topics: words that a user gives to a topic before anything is learned.

A seed is a line ``name: word word^30``. Seed number z belongs to topic z. Each of its words has
s_wz prior tokens in this topic: the number behind ``^``, or else ``--seed_strength``. The counts of
a particle begin with them, and no move takes them out. So a token of w in z has the probability

    P(w | z) = (n_wz + s_wz - d t_wz + (a + d k_z) B(w)) / (n_z + s_z + a)

where s_z is the sum of s_wz over w. With the flat prior that is LDA with the Dirichlet parameter
beta + s_wz for the words of the seed and beta for the others. With tables it is the same
franchise after s observed tokens of each word, which begin at one table. No kernel knows of seeds:
all weights, duels and draws use the counts.

A topic whose s_z is far above the tokens that will come is *frozen*: the n_z tokens that it learns
move P(w | z) by at most n_z / (n_z + s_z) in total variation. :mod:`beam_topics.model.exports`
writes such seeds for topics of a model.

The words of seeds have the first numbers of the vocabulary and never leave it. A challenger never
gives a seeded topic to another one.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from beam_topics.model.errors import OptionError

FLAG, STRENGTH_FLAG = "--seeds", "--seed_strength"
# Prior tokens of all seeds together; counts of 32 bits hold them.
MOST_TOKENS = 2**30
_MOST_DIGITS = 12


_WEIGHTED = re.compile(r"(.+)\^(\d+)", re.ASCII)


class Seed(NamedTuple):
    """A topic to begin with.

    Attributes:
        name: its name.
        tokens: the prior tokens of each word; None for those of ``--seed_strength``.
    """

    name: str
    tokens: dict[str, int | None]


def word_and_tokens(item: str) -> tuple[str, int | None]:
    """Return the word of ``word^30`` or ``word``, and its number.

    >>> word_and_tokens("orbit^30"), word_and_tokens("orbit")
    (('orbit', 30), ('orbit', None))

    Raises:
        OptionError: the number is 0, or above :data:`MOST_TOKENS`.
    """
    if not (found := _WEIGHTED.fullmatch(item)):
        return item, None
    # A number of a thousand digits takes long to read.
    tokens = int(found[2]) if len(found[2]) <= _MOST_DIGITS else MOST_TOKENS + 1
    if not 1 <= tokens <= MOST_TOKENS:
        allowed = f"1 to {MOST_TOKENS} prior tokens behind a word"
        raise OptionError(FLAG, item[:80], allowed, "Correct the number.")
    return found[1], tokens


@lru_cache(maxsize=64)
def seeds_of(lines: tuple[str, ...]) -> tuple[Seed, ...]:
    """Return the seeds of lines ``name: word word``.

    Raises:
        OptionError: a line has no name or no word, or two lines have one name.
    """
    found = []
    for line in lines:
        name, _, words = line.partition(": ")
        if not name.strip() or not words.split():
            allowed = "lines of a name, a colon and words, as in space: nasa orbit"
            raise OptionError(FLAG, line, allowed, "Correct the line.")
        tokens: dict[str, int | None] = {}
        for item in words.split():
            word, number = word_and_tokens(item)
            # Of a word that comes twice, the first one counts.
            tokens.setdefault(word, number)
        found.append(Seed(name.strip(), tokens))
    names = [seed.name for seed in found]
    for name in names:
        if names.count(name) > 1:
            raise OptionError(FLAG, name, "each name once", "Give the words of a topic together.")
    return tuple(found)


def words_of(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return the distinct words of seeds, in the order of their numbers in the vocabulary."""
    return tuple(dict.fromkeys(word for seed in seeds_of(lines) for word in seed.tokens))
