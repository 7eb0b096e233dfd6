"""Seeded topics: words that a user gives to a topic before anything is learned.

A seed is a line ``name: word word^30``. Seed number z belongs to topic z. Each of its words has
s_wz prior tokens in this topic: the number after ``^``, or else ``--seed_strength``. The counts
n_wz begin with them. Prior tokens belong to no document, so no draw takes them out, and with the
n_wz tokens of documents a topic is

    P(w | z) = (n_wz + s_wz + a G_w) / (n_z + s_z + a)

where s_z is the sum of s_wz over w. Given a and G, this is LDA with the Dirichlet parameter
a G_w + s_wz. Prior tokens also sit at tables, so words of seeds have a larger G: the law is that of
a model that has observed s_wz tokens of w in z.

A topic whose s_z is far above the tokens that come is *frozen*: the n_z tokens that it learns move
P(w | z) by at most n_z / (n_z + s_z) in total variation. :mod:`beam_topics.model.reporting.exports`
writes such seeds for topics of a model.

The words of seeds have the first numbers of a growing vocabulary and never leave it. A newborn
topic gets its own number, never that of a seed.

>>> words_of(("sea: ship harbour^7", "land: horse harbour"))
('ship', 'harbour', 'horse')
>>> prior_tokens(("sea: ship harbour^7", "land: horse harbour"), strength=100).tolist()
[[100, 0], [7, 100], [0, 100]]
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from beam_topics.model.errors import OptionError
from beam_topics.model.learners.vocabularies import VocabularySettings

if TYPE_CHECKING:
    from beam_topics.model.arrays import LongArray

FLAG, STRENGTH_FLAG = "--seeds", "--seed_strength"
# Prior tokens of all seeds together; counts of 32 bits hold them.
MOST_TOKENS = 2**30
# Prior tokens of a word of a seed.
DEFAULT_STRENGTH = 100
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
        allowed = f"1 to {MOST_TOKENS} prior tokens for a word"
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


def prior_tokens(lines: tuple[str, ...], strength: int) -> LongArray:
    """Return the prior tokens of the words of seeds, by word and topic.

    Args:
        lines: the seeds.
        strength: the tokens of a word without a number.

    Returns:
        int64[words, seeds]; row i is that of the i-th of :func:`words_of`.
    """
    # Imported here, because options are listed without NumPy.
    import numpy as np

    rows = {word: row for row, word in enumerate(words_of(lines))}
    counts = np.zeros((len(rows), len(lines)), np.int64)
    for topic, seed in enumerate(seeds_of(lines)):
        numbers = [rows[word] for word in seed.tokens]
        counts[numbers, topic] = [given or strength for given in seed.tokens.values()]
    return counts


def check_seeds(
    lines: tuple[str, ...],
    strength: int,
    topics: int | Literal["auto"],
    vocabulary: VocabularySettings,
) -> None:
    """Refuse seeds that do not fit the other settings.

    Args:
        lines: the seeds.
        strength: the tokens of a word without a number.
        topics: T, as ``--topics`` gives it.
        vocabulary: which words are learned.

    Raises:
        OptionError: a line is not a seed, there are more seeds than topics or more words than the
            vocabulary takes, or counts would not hold the prior tokens.
    """
    given = f"{len(lines)} topics"
    if lines and not isinstance(topics, int):
        remedy = "Seeds need topics that stay: give --topics a number."
        raise OptionError(FLAG, given, "none with --topics=auto", remedy)
    if isinstance(topics, int) and len(seeds_of(lines)) > topics:
        remedy = f"Give --topics={len(lines)} or more."
        raise OptionError(FLAG, given, f"at most as many as --topics ({topics})", remedy)
    _check_tokens(lines, strength)
    _check_words(words_of(lines), vocabulary)


def _check_tokens(lines: tuple[str, ...], strength: int) -> None:
    given = (number for seed in seeds_of(lines) for number in seed.tokens.values())
    if (tokens := sum(number or strength for number in given)) > MOST_TOKENS:
        allowed = f"at most {MOST_TOKENS} prior tokens of all words together"
        remedy = f"Give a lower {STRENGTH_FLAG}, or lower numbers for words."
        raise OptionError(FLAG, f"{tokens} prior tokens", allowed, remedy)


def _check_words(words: tuple[str, ...], vocabulary: VocabularySettings) -> None:
    if not words:
        return
    if vocabulary.is_open:
        if 2 * len(words) > (size := vocabulary.size):
            allowed, remedy = f"at most half of --max_words ({size})", "Give a larger --max_words."
            raise OptionError(FLAG, f"{len(words)} words", allowed, remedy)
    elif unknown := sorted(set(words) - set(vocabulary.new().words)):
        remedy = "Add it to --vocabulary_file, or leave it out of the seeds."
        raise OptionError(FLAG, unknown[0], "words of the given vocabulary", remedy)
