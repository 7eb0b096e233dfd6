"""Phrases that are learned from the stream.

Pairs of neighbouring words are counted, each once a document, and so are the tokens of each word.
Of N tokens, word a has n_a and word b has n_b, and n_ab documents have b directly after a. If words
followed each other by chance, the pair would occur E = n_a n_b / N times. It is a phrase if it
occurred in enough documents (``--phrase_documents``), and if

    D    = n_ab ln(n_ab / E) - (n_ab - E)             >= ln(1 / FALSE_ALARM)
    NPMI = ln(N n_ab / (n_a n_b)) / ln(N / n_ab)      >= --phrase_npmi

exp(-D) is Chernoff's bound of the probability that a sum of independent occurrences with the mean E
reaches n_ab, so :data:`FALSE_ALARM` bounds the probability of a phrase by chance, for each
comparison. The second condition is about the size of the effect, not about chance: neighbours from
one subject follow each other more often than by chance without being a phrase.

Counts are kept in bounded memory
(:class:`beam_topics.model.learners.filters.frequent_words.FrequentItems`). The lower bound stands
for n_ab and the upper bounds for n_a and n_b, so forgotten counts can only lose phrases, never add
any. At :data:`HORIZON` tokens all counts are halved, so the counts follow the stream. Logarithms
are computed by IEEE operations, so all machines decide alike.

The first word of a pair may be a phrase, so phrases grow up to :data:`MOST_WORDS` words. They are
joined from the minibatch after the one that made them phrases
(:mod:`beam_topics.model.words.phrases`). A version joins those that its vocabulary has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from beam_topics.model.arrays import LongArray
from beam_topics.model.documents.minibatch import Minibatch
from beam_topics.model.kernels import special
from beam_topics.model.learners.base import LearnerSettings
from beam_topics.model.learners.filters.frequent_words import FrequentItems
from beam_topics.model.learners.filters.settings import JoinPhrases
from beam_topics.model.publishing.events import Event
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.stored import checks, wire
from beam_topics.model.words.phrases import JOINER, Phrases

FALSE_ALARM = 1e-6
MOST_WORDS = 3
HORIZON = 1 << 22
# Phrases; pairs, and words, whose counts are kept: some 23 MB. The least frequent ones leave.
MOST_PHRASES, MOST_PAIRS = 5_000, 50_000
_STATE = b"BTJ1"
# Entries of dictionaries with their texts.
_PAIR_BYTES, _WORD_BYTES = 300, 160

ln = special.ln.py_func
_LEAST_DEVIANCE = -ln(FALSE_ALARM)

Pair = tuple[str, str]


@dataclass
class LearnedPhrases:
    """The filter that joins phrases, with the counts by which they are found.

    Attributes:
        settings: what a phrase is.
        pairs: documents of each pair of neighbours.
        words: tokens of each word.
        tokens: N.
        phrases: the phrases.
    """

    counter: ClassVar[str] = ""
    events: ClassVar[tuple[Event, ...]] = ()

    settings: JoinPhrases
    pairs: FrequentItems[Pair]
    words: FrequentItems[str]
    tokens: int = 0
    phrases: Phrases = field(default_factory=lambda: Phrases(()))

    @classmethod
    def new(cls, settings: LearnerSettings) -> Self:
        assert isinstance(settings.phrases, JoinPhrases)
        return cls(settings.phrases, FrequentItems(MOST_PAIRS), FrequentItems(MOST_PAIRS))

    def take(self, minibatch: Minibatch) -> Minibatch:
        joined = self.phrases.in_block(minibatch)
        came = dict(_pairs_of(joined))
        uses = np.bincount(joined.tokens, minlength=len(joined.words)).tolist()
        self.words.add(zip(joined.words, uses, strict=True))
        self.pairs.add(came.items())
        self.tokens += len(joined.tokens)
        for pair in sorted(pair for pair in came if self._is_phrase(pair)):
            self._join(pair)
        self._forget()
        return joined

    def _is_phrase(self, pair: Pair) -> bool:
        both = self.pairs.least(pair)
        if both < self.settings.phrase_documents:
            return False
        expected = self.words.greatest(pair[0]) * self.words.greatest(pair[1]) / self.tokens
        return is_phrase(both, expected, self.tokens, self.settings.phrase_npmi)

    def _join(self, pair: Pair) -> None:
        """Take a pair as a phrase; it begins with the count of the pair."""
        phrase = JOINER.join(pair)
        self.phrases.add(phrase)
        self.words.add([(phrase, self.pairs.counts.pop(pair))])

    def _forget(self) -> None:
        """Bring the counts and the phrases within their bounds."""
        self.words.prune()
        self.pairs.prune()
        if self.tokens >= HORIZON:
            self.tokens //= 2
            self.words.halve()
            self.pairs.halve()
        excess = len(self.phrases) - MOST_PHRASES
        if excess > 0:
            by_use = sorted(self.phrases, key=lambda phrase: (self.words.least(phrase), phrase))
            for phrase in by_use[:excess]:
                self.phrases.discard(phrase)

    def forget(self) -> None:
        for items in (self.words, self.pairs):
            items.subtract(1)

    def published(self, snapshot: Snapshot) -> Snapshot:
        return replace(snapshot, joins_phrases=True)

    def to_bytes(self) -> bytes:
        pairs, words = sorted(self.pairs.counts.items()), sorted(self.words.counts.items())
        header = {
            "tokens": self.tokens,
            "pairs_short": self.pairs.short,
            "words_short": self.words.short,
        }
        return wire.pack(
            _STATE,
            header,
            wire.words_to_bytes(tuple(self.phrases)),
            wire.words_to_bytes([first for (first, _), _ in pairs]),
            wire.words_to_bytes([second for (_, second), _ in pairs]),
            _counts_to_bytes(count for _, count in pairs),
            wire.words_to_bytes([word for word, _ in words]),
            _counts_to_bytes(count for _, count in words),
        )

    @classmethod
    def from_bytes(cls, settings: LearnerSettings, data: bytes) -> Self:
        header, (phrases, first, second, pairs, words, uses) = wire.unpack(_STATE, data, 6)
        found = cls.new(settings)
        found.tokens = checks.whole("tokens of phrases", checks.field(header, "tokens"), 0, HORIZON)
        for items, name in ((found.pairs, "pairs"), (found.words, "words")):
            short = checks.field(header, f"{name}_short")
            items.short = checks.whole(f"{name}_short of phrases", short)
        both = zip(wire.words_from_bytes(first), wire.words_from_bytes(second), strict=False)
        found.pairs.counts = _counted("pairs of phrases", list(both), pairs, found.pairs.most)
        known = list(wire.words_from_bytes(words))
        found.words.counts = _counted("words of phrases", known, uses, found.words.most)
        listed = wire.words_from_bytes(phrases)
        found.phrases = Phrases(listed)
        if list(listed) != list(found.phrases):
            checks.refuse("phrases of a state", listed, f"sorted words with {JOINER} inside")
        most = MOST_PHRASES
        checks.whole("phrases of a state", len(found.phrases), 0, most + 1)
        return found

    def nbytes(self) -> int:
        words = len(self.words.counts) + len(self.phrases)
        return _PAIR_BYTES * len(self.pairs.counts) + _WORD_BYTES * words


def is_phrase(both: int, expected: float, tokens: int, npmi: float) -> bool:
    """Return whether a pair is a phrase; see the module's docstring.

    Args:
        both: n_ab, positive.
        expected: E.
        tokens: N, more than ``both``.
        npmi: the least NPMI.
    """
    if both <= expected:
        return False
    lift = ln(both / expected)
    if both * lift - (both - expected) < _LEAST_DEVIANCE:
        return False
    return bool(lift >= npmi * ln(tokens / both))


def _pairs_of(minibatch: Minibatch) -> Iterator[tuple[Pair, int]]:
    """Yield the pairs of neighbours that may be phrases, and the documents that have each."""
    words, tokens = minibatch.words[:], minibatch.tokens.astype(np.int64)
    first, second = tokens[:-1], tokens[1:]
    documents = np.repeat(np.arange(len(minibatch)), np.diff(minibatch.offsets))
    lengths = np.array([word.count(JOINER) + 1 for word in words], np.int64)
    taken = (documents[:-1] == documents[1:]) & (first != second)
    taken &= (lengths[first] < MOST_WORDS) & (lengths[second] == 1)
    size = max(len(words), 1)
    codes = np.unique(documents[:-1][taken] * size * size + first[taken] * size + second[taken])
    places, counts = np.unique(codes % (size * size), return_counts=True)
    for place, count in zip(places.tolist(), counts.tolist(), strict=True):
        yield (words[place // size], words[place % size]), count


def _counts_to_bytes(counts: Iterable[int]) -> bytes:
    return wire.array_to_bytes(np.fromiter(counts, np.int64), "<i8")


def _counted(name: str, items: list[Any], data: bytes, most: int) -> dict[Any, int]:
    """Return counts by item, checked."""
    counts: LongArray = wire.array_from_bytes(data, "<i8")
    checks.sized(name, counts, len(items))
    checks.within(name, counts, 1, checks.LARGEST)
    checks.whole(f"number of {name}", len(items), 0, 2 * most + 1)
    checks.equal(f"distinct {name}", len(set(items)), len(items))
    return dict(zip(items, counts.tolist(), strict=True))
