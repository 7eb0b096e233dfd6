"""Documents of a report: their mixtures, read again, and what is shown of their texts.

:func:`read_mixtures` gives the trends of mixtures, typical documents of each topic, and a sample of
all documents. Rows may be repeated, because outputs are at least once, and a document may have been
labelled by several versions. Of each document (key, id, timestamp) the row of the newest version
counts, once. So the rows are read twice: first to find the newest version of each document, then to
count. Memory grows by some 100 bytes a document; everything else is bounded.

Which documents are kept does not depend on the order of the rows: typical ones are those with the
largest share, and the sample consists of those with the smallest digests.

A stream labels documents as they come, each by the newest version of its time. So a topic has no
document from before its birth, and a document of an early version may be about something else than
the topic is now. Where a report has texts, those of its documents that other versions labelled are
labelled again, with the defaults of ``infer`` (:class:`Again`).
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain, islice
from typing import Any

import numpy as np

from beam_topics.model.arrays import FloatArray, LongArray
from beam_topics.model.documents.document import Document
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.evaluation.held_out import main_topics
from beam_topics.model.inference import METHOD, PublishedModel, inference_for
from beam_topics.model.inference.features import numbered
from beam_topics.model.inference.mixtures import Groups, inferred
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.reporting.encoding import (
    Mixture,
    Mixtures,
    RowName,
    Rows,
    blocks,
    document_digest,
    parsed,
)
from beam_topics.model.reporting.shown import Shown
from beam_topics.model.reporting.trends import Trends, best_of
from beam_topics.model.words.tokeniser import Tokeniser

_TITLE = 120
# Smaller shares are not listed. What is left of 1 is shown as the rest.
LEAST_SHARE = 0.01
_MILLISECOND = 1000
# Topics for which a report has room with the usual limits.
_TOPICS = 50
# A document with fewer known words is typical of a topic only where there are not enough others.
TYPICAL_WORDS = 20
# Documents that are labelled at a time.
_BATCH = 64
Found = Iterable[tuple[Mixture, Document]]


@dataclass(frozen=True)
class Limits:
    """How much a report holds.

    Attributes:
        words: Words of each topic at each place of the slider, and by FREX.
        ranked: Words of each topic whose ranks are followed.
        typical: Typical documents of each topic.
        sample: Further documents.
        near: Topics that are named as near to one.
        points: Points of a curve; more versions are added up.
        models: Versions whose models are read for ranks.
        text: Characters of a document's text.
        name: Characters of a word, an id or a title.
        events: Events, the last ones.
        changed: Words of a topic that are named as new in a period.
    """

    words: int = 30
    ranked: int = 8
    typical: int = 10
    sample: int = 1000
    near: int = 5
    points: int = 200
    models: int = 24
    text: int = 1200
    name: int = 200
    events: int = 200
    changed: int = 10

    @classmethod
    def of(cls, topics: int) -> Limits:
        """Return the limits for a number of topics; more topics have less room each."""
        room = min(1.0, _TOPICS / max(1, topics))
        return cls(
            words=max(10, round(30 * room)),
            ranked=max(3, round(8 * room)),
            typical=max(3, round(10 * room)),
            points=max(50, round(200 * room)),
        )


def shortened(text: str, most: int) -> str:
    """Return a text that is cut to so many characters, and says how many it had.

    >>> shortened("abcdef", 3)
    'abc… (6 characters)'
    """
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"


@dataclass
class Labelled:
    """What mixtures say together.

    Attributes:
        periods: Sums over the documents of each period (:func:`read_mixtures`), in one group.
        typical: For each topic, documents by descending share.
        sample: A uniform sample of all documents, by time and id.
        named: The documents whose ids were asked for.
        versions: The number of documents that each version labelled.
        repeated: Rows that repeat a document, or are of an older version than another of it.
        foreign: Rows of versions that are not among the known ones.
        judged: Documents whose rows say whether topics explain them.
        unexplained: Those of them that probably no topic explains.
        again: Those of the sample that the version of the report labelled, by period; None where
            none was labelled again.
    """

    periods: Trends
    typical: list[list[Mixture]]
    sample: list[Mixture]
    named: list[Mixture] = field(default_factory=list)
    versions: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    foreign: int = 0
    judged: int = 0
    unexplained: int = 0
    again: Trends | None = None

    @property
    def documents(self) -> int:
        """The number of documents."""
        return self.versions.total()

    def take(
        self,
        again: Mapping[bytes, Mixture],
        version: str,
        limits: Limits,
        period: Callable[[int], int],
    ) -> None:
        """Put mixtures of one version in the place of others, and keep as much as a report holds.

        Args:
            again: The mixtures by the digests of their documents; empty for none. With them,
                documents are typical by the version, where it labelled some of the topic.
            version: The version.
            limits: How much a report holds.
            period: As for :func:`read_mixtures`.
        """
        self.named, sample, *topics = (
            [again.get(mixture.digest, mixture) for mixture in some]
            for some in (self.named, self.sample, *self.typical)
        )
        sampled = [mixture for mixture in sample if again and mixture.version == version]
        known = np.array([m.words_known for m in sampled], np.int64)
        shares = np.reshape([m.proportions for m in sampled], (len(sampled), len(topics)))
        digests, most = list(map(_digest, sampled)), limits.typical
        best = _best(shares, known, digests, most, [0.0] * len(topics))
        for topic, (some, places) in enumerate(zip(topics, best, strict=True)):
            own = [m for m in some if m.version == version] + [sampled[n] for n in places]
            unique = {m.digest: m for m in own if again}.values() or some
            self.typical[topic] = _typical(topic, unique, most)
        kept = {m.digest for m in sorted(sample, key=_digest)[: limits.sample]}
        self.sample = [mixture for mixture in sample if mixture.digest in kept]
        if again:
            self.again = Trends(len(topics))
            starts = [period(one.timestamp) for one in sampled]
            tokens = np.array([one.tokens for one in sampled], np.int64)
            self.again.add(starts, shares, tokens=tokens, words_known=known)


def read_mixtures(
    rows: Rows,
    versions: Collection[str],
    topics: Sequence[int],
    period: Callable[[int], int],
    *,
    typical: int,
    sample: int,
    named: Collection[str] = (),
    groups: Groups | None = None,
) -> Labelled:
    """Read mixtures.

    Args:
        rows: Returns all rows, each with its place for messages; it is called twice.
        versions: The versions whose rows count.
        topics: The ids of the topics that are shown, by place. Shares of other topics, which died,
            are not counted.
        period: Returns a number for the period of a time in microseconds.
        typical: The number of typical documents of each topic.
        sample: The size of the sample.
        named: The ids of further documents that are kept.
        groups: The groups of the topics; None where each is one.

    Raises:
        DamagedDataError: A row is not a mixture of this model.
    """
    groups = groups or Groups(tuple(topics), tuple(range(len(topics))))
    newest, foreign, repeated = _newest(rows, versions)
    numbers, count = set(newest.values()), len(groups.ids)
    chosen = (row for number, row in enumerate(rows()) if number in numbers)
    found = Labelled(
        Trends(count), [[] for _ in range(count)], [], foreign=foreign, repeated=repeated
    )
    for block in blocks(chosen, topics, groups):
        if any(newest.pop(digest, None) is None for digest in block.digests):
            raise DamagedDataError("--mixtures changed while they were read. Read them again.")
        _count(found, block, period)
        _keep(found, block, typical, sample)
        more = [block.mixture(n) for n, row in enumerate(block.rows) if row.id in named]
        found.named = sorted([*found.named, *more], key=_digest, reverse=True)[: len(named)]
    found.sample.sort(key=_by_time)
    return found


def _newest(rows: Rows, versions: Collection[str]) -> tuple[dict[bytes, int], int, int]:
    """Return the number of the row of each document that counts, and of foreign and repeated rows.

    It is the first row of the newest version.
    """
    newest: dict[bytes, int] = {}
    ranks = {version: rank for rank, version in enumerate(sorted(versions))}
    # The ranks of the versions of the rows. Another model may have another number of topics.
    found = array("q")
    for number, (place, row) in enumerate(rows()):
        name = parsed(place, row, RowName)
        found.append(ranks.get(name.model_version, -1))
        if found[-1] >= 0:
            _, digest = name.document(place)
            if found[-1] > found[newest.setdefault(digest, number)]:
                newest[digest] = number
    foreign = found.count(-1)
    return newest, foreign, len(found) - foreign - len(newest)


def _count(found: Labelled, block: Mixtures, period: Callable[[int], int]) -> None:
    found.versions.update(row.model_version for row in block.rows)
    judged = [row.none for row in block.rows if row.none is not None and row.words_known]
    found.judged += len(judged)
    found.unexplained += sum(none > 1 / 2 for none in judged)
    starts = list(map(period, block.times))
    found.periods.add(starts, block.shares, tokens=block.tokens, words_known=block.words_known)


def _keep(found: Labelled, block: Mixtures, typical: int, sample: int) -> None:
    """Keep the typical documents of each topic, and those of the sample, with those of a block."""
    last = max(map(_digest, found.sample)) if len(found.sample) >= sample > 0 else None
    drawn = [n for n, digest in enumerate(block.digests) if last is None or digest < last]
    drawn = sorted(drawn, key=block.digests.__getitem__)[:sample]
    least = [
        float(_fit(topic[-1].proportions[z], topic[-1].words_known))
        if len(topic) >= typical > 0
        else 0.0
        for z, topic in enumerate(found.typical)
    ]
    best = _best(block.shares, block.words_known, block.digests, typical, least)
    mixtures = {n: block.mixture(n) for n in {*drawn, *chain.from_iterable(best)}}
    found.sample = sorted([*found.sample, *(mixtures[n] for n in drawn)], key=_digest)[:sample]
    for z, places in enumerate(best):
        found.typical[z] = _typical(z, [*found.typical[z], *(mixtures[n] for n in places)], typical)


def _best(
    shares: FloatArray,
    words_known: LongArray,
    digests: Sequence[bytes],
    most: int,
    least: Sequence[float],
) -> list[list[int]]:
    """Return the numbers of the most typical of D documents for each topic, at most so many.

    Args:
        shares: float64[D, T], their mixtures.
        words_known: int64[D]. A document without a known word is not typical.
        digests: Of the documents.
        most: The most documents of a topic.
        least: For each topic, the least fit.
    """
    order = sorted(range(len(digests)), key=digests.__getitem__, reverse=True)
    fits = _fit(shares, words_known[:, None])
    return best_of(fits, [n for n in order if words_known[n]], most, least)


def _fit(share: Any, words_known: Any) -> Any:
    """Return how typical documents are, by their shares of a topic and their known words."""
    return share + 2.0 * (words_known >= TYPICAL_WORDS)


def _typical(topic: int, mixtures: Iterable[Mixture], most: int) -> list[Mixture]:
    """Return the most typical of some documents for a topic, the best first."""

    def fit(mixture: Mixture) -> tuple[float, bytes]:
        # Of equal shares, the digest decides.
        return float(_fit(mixture.proportions[topic], mixture.words_known)), mixture.digest

    return sorted(mixtures, key=fit, reverse=True)[:most]


def _digest(mixture: Mixture) -> bytes:
    return mixture.digest


def _by_time(mixture: Mixture) -> tuple[int, str, bytes]:
    return mixture.timestamp, mixture.id, mixture.digest


def shown(labelled: Labelled) -> list[Mixture]:
    """Return the documents of a report once each, by time and id."""
    both = [*(mixture for topic in labelled.typical for mixture in topic), *labelled.sample]
    both += labelled.named
    unique = {mixture.digest: mixture for mixture in both}
    return sorted(unique.values(), key=_by_time)


def with_documents(mixtures: Iterable[Mixture], items: Iterable[Any]) -> Found:
    """Yield mixtures with their documents, the first of each among documents and dead letters."""
    wanted = {mixture.digest: mixture for mixture in mixtures}
    ids = {mixture.id for mixture in wanted.values()}
    for item in items:
        if isinstance(item, Document) and item.id in ids:
            mixture = wanted.pop(document_digest(item.key, item.id, item.timestamp), None)
            if mixture is not None:
                yield mixture, item


def largest_topics(
    sample: Sequence[Mixture], items: Iterable[Any], view: Shown
) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the largest topic of each document of a sample, and its words in their order."""
    tokeniser, phrases = Tokeniser(view.manifest.tokeniser), view.snapshot.phrases
    topics = main_topics(np.array([m.proportions for m in sample]))
    of = {m.digest: topic for m, topic in zip(sample, topics, strict=True) if topic >= 0}
    for mixture, document in with_documents((m for m in sample if m.digest in of), items):
        words = tokeniser.words(document.text)
        yield of[mixture.digest], phrases.in_words(words) if phrases else words


class Again:
    """Labels documents again that other versions labelled than the one that is shown.

    Args:
        view: The version that is shown.
        snapshot: Its model, with all its topics.

    Attributes:
        found: The new mixtures by the digests of the documents. They do not say whether topics
            explain a document.

    Raises:
        OptionError: The tokeniser of the model cannot be used here.
    """

    def __init__(self, view: Shown, snapshot: Snapshot) -> None:
        self.found: dict[bytes, Mixture] = {}
        self._version, self._groups, self._snapshot = view.manifest.version, view.groups, snapshot
        self._tokeniser = Tokeniser(view.manifest.tokeniser)
        self._settings = METHOD.kinds[METHOD.default]()
        published = PublishedModel(snapshot, self._version)
        self._prepared = inference_for(self._settings).prepare(self._settings, published)

    def passing(self, found: Found) -> Found:
        """Yield mixtures and documents as they are, and label the documents."""
        stream = iter(found)
        while some := list(islice(stream, _BATCH)):
            self._label([one for one in some if one[0].version != self._version])
            yield from some

    def _label(self, some: Sequence[tuple[Mixture, Document]]) -> None:
        if not some:
            return
        documents = self._tokeniser.block([document for _, document in some])
        found = numbered(self._snapshot, documents)
        block = inferred(self._settings, self._prepared, found, self._version)
        for at, (mixture, _) in enumerate(some):
            # A text without a known word may be another one than was labelled: its mixture stays.
            if block.words_known[at]:
                self.found[mixture.digest] = replace(
                    mixture,
                    version=self._version,
                    proportions=self._groups.sums(block.proportions[at]),
                    tokens=int(block.tokens[at]),
                    words_known=int(block.words_known[at]),
                    none=None,
                )


@dataclass(frozen=True)
class Text:
    """The text of a document.

    Attributes:
        title: Its first line, or how it begins.
        text: The beginning of its text.
        label, group: Its label, and the group of trends that it names; "" without one.
    """

    title: str
    text: str
    label: str
    group: str

    @classmethod
    def of(cls, document: Document, limits: Limits) -> Text:
        """Return what a report shows of a document."""
        return cls(
            title_of(document.text),
            shortened(document.text.strip(), limits.text),
            shortened(document.label or "", limits.name),
            shortened(document.group or "", limits.name),
        )


def title_of(text: str) -> str:
    r"""Return the first line of a text; where it is long, the words that it begins with.

    >>> title_of("A title  here\nand more")
    'A title here'
    >>> title_of("word " * 50)[-6:]
    'word …'
    """
    line = " ".join((text.strip().splitlines() or [""])[0].split())
    if len(line) <= _TITLE:
        return line
    return f"{line[:_TITLE].rpartition(' ')[0] or line[:_TITLE]} …"


def document_columns(
    labelled: Labelled | None, texts: Mapping[bytes, Text] | None, limits: Limits
) -> dict[str, Any] | None:
    """Return the documents as columns, and the places of typical ones and of the sample."""
    if labelled is None:
        return None
    mixtures = shown(labelled)
    place = {mixture.digest: number for number, mixture in enumerate(mixtures)}
    found: dict[str, Any] = {
        "all": labelled.documents,
        "id": [shortened(m.id, limits.name) for m in mixtures],
        "time": [m.timestamp // _MILLISECOND for m in mixtures],
        "version": [m.version for m in mixtures],
        "tokens": [m.tokens for m in mixtures],
        "known": [m.words_known for m in mixtures],
        "none": [m.none for m in mixtures],
        "mixture": [largest(m) for m in mixtures],
        "typical": [[place[m.digest] for m in topic] for topic in labelled.typical],
        "sample": [place[m.digest] for m in labelled.sample],
    }
    if texts is not None:
        none = Text("", "", "", "")
        own = [texts.get(m.digest, none) for m in mixtures]
        names = [one.name for one in fields(Text)]
        found |= {name: [getattr(text, name) for text in own] for name in names}
    return found


def largest(mixture: Mixture) -> list[list[float]]:
    """Return the topics of a document with at least 1 %, each with its share, largest first."""
    order = np.argsort(-mixture.proportions, kind="stable").tolist()
    shares = mixture.proportions.tolist()
    return [[z, shares[z]] for z in order if shares[z] >= LEAST_SHARE]
