"""Names of topics: a few words that most documents of the topic hold, and few others do.

**The choice of words.** The own documents of a topic are those in which it has the largest share. A
name covers a document that holds one of its words. Words are chosen one after the other. Each is
the candidate w with the largest gain

    own(w) - price * other(w)

where own(w) is the share of own documents that hold w and no word chosen before, and other(w) is
that of all other documents. Candidates are the first words by relevance with several values of
lambda (:mod:`beam_topics.model.reporting.relevance`). Forms of one word are not chosen twice, and a
further word that gains less than :data:`LEAST_GAIN` ends the name. Ties go to the word that is more
frequent in the topic, so equal models and documents give equal names. A word may be in
:data:`MOST_NAMES` names: the topics that have it most often keep it, and the others choose again.

**How many documents hold a word.** :class:`Expected` says it from the model alone. The model takes
a token of an own document from the topic with probability :data:`OWN_SHARE`, and otherwise from all
topics by their shares. Words come in bursts of :data:`BURST` tokens, whose number in a document is
a Poisson variable. So a document holds a rare word about half as often as independent tokens say,
as posts do. :class:`Counted` says it from documents: a bounded, uniform sample. The price is
:data:`EXPECTED_PRICE` for expected shares and :data:`PRICE` for counted ones
(``benchmarks/names.py`` measures both).

**Phrases.** With documents, a word of a name may become a phrase: a pair of words that follow each
other in the own documents, after stop words were left out. Of a pair that n_ab of N places have,
whose first word n_a places have and whose second n_b,

    NPMI(a, b) = ln(N n_ab / (n_a n_b)) / -ln(n_ab / N)

A word becomes a phrase with its neighbour if the pair occurs at least :data:`LEAST` times, is at
least :data:`PART` of what the word occurs, and its NPMI is at least :data:`NPMI`.

**A function of the user** (``--namer=module:function``) may give the names instead. It is called
once for each topic with a dictionary that JSON can hold, and returns the name:

    {"topic": 3, "share": 0.04, "name": "gun, weapons, firearms",
     "words": ["gun", "guns", ...], "documents": ["Re: ...", ...]}

``name`` is the name that follows without the function, ``words`` are the most relevant words, and
``documents`` the beginnings of the texts of typical documents, where there are any. A function that
asks a language model must not trust them. The name is checked, and shown as text everywhere.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from beam_topics.model.arrays import FloatArray, LongArray
from beam_topics.model.errors import OptionError
from beam_topics.model.publishing.catalogue import MOST_NAME
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.reporting.escaping import harmless
from beam_topics.model.reporting.relevance import WordStatistics, topic_shares, word_statistics

MOST_WORDS, MOST_NAMES = 4, 4
PRICE = 0.7
EXPECTED_PRICE = 0.3
LEAST_GAIN = 0.01
LAMBDAS = (0.0, 0.3, 0.6, 1.0)
CANDIDATES = 40
OWN_SHARE = 0.6
BURST = 2.0
LEAST, PART, NPMI = 5, 0.5, 0.4
# Documents of the sample.
MOST_DOCUMENTS = 20_000
# Tokens of a document where nothing is known of the documents.
USUAL_LENGTH = 100.0
# Words that share so many first characters are taken for forms of one word.
STEM = 5
# Relevant words that a function of the user gets, and their lambda.
WORDS, LAMBDA = 20, 0.6

Bits = npt.NDArray[np.uint8]
Namer = Callable[[Mapping[str, Any]], str]
_NONE = np.zeros(0, np.int64)


class Expected:
    """Expected shares of documents under a model.

    Args:
        snapshot: The model.
        length: The mean number of tokens of a document.
    """

    def __init__(self, snapshot: Snapshot, length: float = USUAL_LENGTH) -> None:
        self._snapshot, self._length = snapshot, length
        self._share = topic_shares(snapshot)

    def cover(self, topic: int, rows: Sequence[int]) -> _ExpectedCover:
        """Return the cover of an empty name."""
        snapshot, places = self._snapshot, np.array(rows, np.int64)
        counts = snapshot.rows(places) + snapshot.prior.shares(places)
        probability = counts / snapshot.normalisers
        anywhere = (probability @ self._share)[:, None]
        tokens = self._length * (OWN_SHARE * probability + (1 - OWN_SHARE) * anywhere)
        others = np.where(np.arange(len(self._share)) == topic, 0.0, self._share)
        return _ExpectedCover(np.exp(-tokens / BURST), topic, others / (others.sum() or 1.0))


class _ExpectedCover:
    """What a name covers so far; words are independent in the documents of one topic.

    Args:
        without: float64[C, T], the share of the documents of each topic without each candidate.
        topic: The topic of the name.
        others: float64[T], the weights of the other topics.
    """

    def __init__(self, without: FloatArray, topic: int, others: FloatArray) -> None:
        self._without, self._topic, self._others = without, topic, others
        self._uncovered = np.ones(len(others))

    def gains(self) -> FloatArray:
        """Return own(w) - price * other(w) of each candidate."""
        new = self._uncovered * (1 - self._without)
        found: FloatArray = new[:, self._topic] - EXPECTED_PRICE * (new @ self._others)
        return found

    def add(self, place: int) -> None:
        """Add a candidate to the name."""
        self._uncovered = self._uncovered * self._without[place]


class Counted:
    """Documents at hand: which of the candidates each one holds.

    Args:
        topics: int64[D], the topic with the largest share in each document.
        holding: The ascending numbers of the documents that hold a word, by its row.
    """

    def __init__(self, topics: LongArray, holding: Mapping[int, LongArray]) -> None:
        self.topics, self.holding = topics, holding

    def cover(self, topic: int, rows: Sequence[int]) -> _CountedCover | None:
        """Return the cover of an empty name; None if no document is the topic's own."""
        own = self.topics == topic
        if not own.any():
            return None
        held = np.zeros((len(rows), len(own)), bool)
        for place, row in enumerate(rows):
            held[place, self.holding.get(row, _NONE)] = True
        return _CountedCover(held[:, own], held[:, ~own])


class _CountedCover:
    """What a name covers so far, as one bit for each document.

    Args:
        own: bool[C, D], which own documents hold each candidate.
        other: bool[C, D], the same of all other documents.
    """

    def __init__(self, own: npt.NDArray[np.bool_], other: npt.NDArray[np.bool_]) -> None:
        self._sizes = own.shape[1], max(1, other.shape[1])
        self._held = np.packbits(own, axis=1), np.packbits(other, axis=1)
        self._free: list[Bits] = [~np.zeros(bits.shape[1], np.uint8) for bits in self._held]

    def gains(self) -> FloatArray:
        own, other = (
            np.bitwise_count(bits & free).sum(axis=1, dtype=np.int64) / size
            for bits, free, size in zip(self._held, self._free, self._sizes, strict=True)
        )
        found: FloatArray = own - PRICE * other
        return found

    def add(self, place: int) -> None:
        self._free = [
            free & ~bits[place] for bits, free in zip(self._held, self._free, strict=True)
        ]


def counted_words(
    documents: Iterable[tuple[int, Sequence[str]]],
    wanted: dict[str, int],
    pairs: Pairs | None = None,
) -> Counted:
    """Return which documents hold the wanted words, and count their pairs.

    Each document is its topic and its words in their order; ``wanted`` has the rows of the words.
    """
    topics: list[int] = []
    holding: dict[int, list[int]] = defaultdict(list)
    for number, (topic, words) in enumerate(documents):
        topics.append(topic)
        for row in {wanted[word] for word in words if word in wanted}:
            holding[row].append(number)
        if pairs is not None:
            pairs.add(topic, words)
    return Counted(
        np.array(topics, np.int64),
        {row: np.array(numbers, np.int64) for row, numbers in holding.items()},
    )


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


def candidates(statistics: WordStatistics, topic: int) -> list[int]:
    """Return the rows of the words that may name a topic, the most frequent ones first."""
    found = [statistics.by_relevance(topic, weight, CANDIDATES) for weight in LAMBDAS]
    rows: list[int] = statistics.words[np.unique(np.concatenate(found))].tolist()
    return rows


def chosen_words(
    snapshot: Snapshot, rows: Sequence[int], cover: _ExpectedCover | _CountedCover
) -> list[int]:
    """Return the rows of the words of a name, in the order of their choice."""
    chosen: list[int] = []
    stems: set[str] = set()
    allowed = np.ones(len(rows), bool)
    while allowed.any() and len(chosen) < MOST_WORDS:
        gains = np.where(allowed, cover.gains(), -np.inf)
        best = int(np.argmax(gains))
        # A topic has a name, even where no word gains anything.
        if chosen and gains[best] < LEAST_GAIN:
            break
        chosen.append(rows[best])
        cover.add(best)
        stems.add(snapshot.words[rows[best]][:STEM])
        allowed = np.array([snapshot.words[row][:STEM] not in stems for row in rows])
    return chosen


def words_of(
    snapshot: Snapshot, statistics: WordStatistics, evidence: Counted | Expected
) -> list[list[str]]:
    """Return the words of the name of each topic.

    A topic of which the evidence knows nothing has the name that follows from the model.
    """
    expected = Expected(snapshot)

    def chosen(topic: int, passed: set[int]) -> list[int]:
        rows = [row for row in candidates(statistics, topic) if row not in passed]
        cover = evidence.cover(topic, rows) or expected.cover(topic, rows)
        return chosen_words(snapshot, rows, cover)

    passed: list[set[int]] = [set() for _ in range(snapshot.topic_count)]
    found = [chosen(topic, passed[topic]) for topic in range(snapshot.topic_count)]
    while many := _too_many(snapshot, found):
        for topic, rows in many.items():
            passed[topic] |= rows
            found[topic] = chosen(topic, passed[topic])
    # Where other topics keep all words of a topic, it has the name that it had.
    whole = [rows or chosen(topic, set()) for topic, rows in enumerate(found)]
    return [[snapshot.words[row] for row in rows] for rows in whole]


def _too_many(snapshot: Snapshot, names: Sequence[Sequence[int]]) -> dict[int, set[int]]:
    """Return the topics that give up words which too many names have, and these words."""
    holding: dict[int, list[int]] = defaultdict(list)
    for topic, rows in enumerate(names):
        for row in rows:
            holding[row].append(topic)
    found: dict[int, set[int]] = defaultdict(set)
    for row, topics in holding.items():
        if len(topics) > MOST_NAMES:
            counts = snapshot.rows(np.array([row]))[0]
            for topic in sorted(topics, key=lambda z: (-counts[z], z))[MOST_NAMES:]:
                found[topic].add(row)
    return found


def mean_length(manifest: Manifest) -> float:
    """Return the mean number of tokens of the documents that a version learned."""
    return manifest.tokens / manifest.documents if manifest.documents else USUAL_LENGTH


def model_names(
    snapshot: Snapshot, statistics: WordStatistics, length: float = USUAL_LENGTH
) -> list[str]:
    """Return the names that follow from the model and the mean tokens of a document alone."""
    words = words_of(snapshot, statistics, Expected(snapshot, length))
    return [", ".join(own) for own in words]


def names_by_documents(
    snapshot: Snapshot, documents: Iterable[tuple[int, Sequence[str]]]
) -> list[str]:
    """Return names that cover documents, given by topic and words; a word may stand in a phrase."""
    statistics = word_statistics(snapshot)
    rows = [candidates(statistics, topic) for topic in range(snapshot.topic_count)]
    pairs = Pairs([frozenset(snapshot.words[row] for row in some) for some in rows])
    wanted = {snapshot.words[row]: row for some in rows for row in some}
    words = words_of(snapshot, statistics, counted_words(documents, wanted, pairs))
    return [", ".join(pairs.phrased(topic, own)) for topic, own in enumerate(words)]


def names_by(
    namer: Namer, snapshot: Snapshot, names: Sequence[str], documents: Sequence[Sequence[str]]
) -> list[str]:
    """Return the names that a function gives.

    It gets the names that follow without it, and the beginnings of the texts of typical documents.

    Raises:
        OptionError: The function fails, or returns something that is not a name.
    """
    statistics, share = word_statistics(snapshot), topic_shares(snapshot).tolist()
    found = []
    for topic, name in enumerate(names):
        first = statistics.words[statistics.by_relevance(topic, LAMBDA, WORDS)].tolist()
        facts = {
            "topic": topic,
            "share": share[topic],
            "name": name,
            "words": [snapshot.words[row] for row in first],
            "documents": list(documents[topic]) if documents else [],
        }
        found.append(_asked(namer, facts))
    return found


def _asked(namer: Namer, facts: Mapping[str, Any]) -> str:
    where = f"the name of topic {facts['topic']}"
    remedy = "Correct the function; nothing was changed."
    try:
        name = namer(facts)
    except Exception as error:
        given = f"{type(error).__name__}: {error}"
        raise OptionError(f"--namer: {where}", given, "a function that returns", remedy) from error
    if (
        not isinstance(name, str)
        or not 0 < len(name.strip()) <= MOST_NAME
        or name != harmless(name)
    ):
        allowed = f"one line of text of 1 to {MOST_NAME} characters, without control characters"
        raise OptionError(f"--namer: {where}", f"{name!r:.100}", allowed, remedy)
    return name.strip()
