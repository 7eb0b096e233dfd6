"""Documents of a report: their mixtures, read again, and their texts.

:func:`read_mixtures` gives the trends of mixtures, typical documents of each topic, and a sample of
all documents. Rows may be repeated, because outputs are at least once, and a document may have been
labelled by several versions. Of each document (key, id, timestamp) the row of the newest version
counts, once. So the rows are read twice: first to find the newest version of each document, then to
count. Memory grows by some 100 bytes a document; everything else is bounded.

Which documents are kept does not depend on the order of the rows: typical ones are those with the
largest share, and the sample consists of those with the smallest digests.
"""

from __future__ import annotations

import heapq
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

import fastavro
import numpy as np

from beam_topics.model.arrays import FloatArray
from beam_topics.model.documents.document import DeadLetter, Document
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.reporting.trends import Trends
from beam_topics.model.stored import checks, wire
from beam_topics.model.times import parse_time

# Topics for which a report has room with the usual limits.
_TOPICS = 50
_TITLE = 120
_DIGEST = 16
# A document with fewer known words is typical of a topic only where there are not enough others.
TYPICAL_WORDS = 20
_MOST_TOKENS = 2**40
# Shares are rounded.
_MOST_SHARE = 1.001
# Smaller shares are not listed. What is left of 1 is shown as the rest.
LEAST_SHARE = 0.01
_MILLISECOND = 1000

Rows = Callable[[], Iterable[tuple[str, Mapping[str, Any]]]]


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


@dataclass(frozen=True, slots=True)
class Mixture:
    """The mixture of a document.

    Attributes:
        id, timestamp: Of the document; the time in microseconds.
        version: The version that labelled it.
        proportions: float64[T], shares by place; all are 0 where the document has no topic.
        tokens, words_known: The number of its tokens, and of those whose word the model knows.
        digest: Names the document: its key, id and time.
        none: The probability that no topic explains it; None where it was not computed.
    """

    id: str
    timestamp: int
    version: str
    proportions: FloatArray
    tokens: int
    words_known: int
    digest: bytes
    none: float | None = None


@dataclass
class Labelled:
    """What mixtures say together.

    Attributes:
        trends: By the start of the period, see :func:`read_mixtures`.
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

    trends: Trends
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
        for topic, some in enumerate(topics):
            own = [m for m in some if m.version == version] + [m for m in sampled if m.words_known]
            unique = {m.digest: m for m in own if again}.values() or some
            best = sorted(unique, key=lambda m: _fit(m, topic), reverse=True)
            self.typical[topic] = best[: limits.typical]
        kept = {m.digest for m in sorted(sample, key=lambda m: m.digest)[: limits.sample]}
        self.sample = [mixture for mixture in sample if mixture.digest in kept]
        if again:
            self.again = Trends(len(topics))
            for one in sampled:
                start, shares = period(one.timestamp), one.proportions
                self.again.add(start, "", shares, tokens=one.tokens, words_known=one.words_known)


def read_mixtures(
    rows: Rows,
    versions: Collection[str],
    places: Mapping[int, int],
    period: Callable[[int], int],
    *,
    typical: int,
    sample: int,
    named: Collection[str] = (),
    merge: Callable[[FloatArray], FloatArray] = np.asarray,
) -> Labelled:
    """Read mixtures.

    Args:
        rows: Returns all rows, each with its place for messages; it is called twice.
        versions: The versions whose rows count.
        places: The place of each id of a topic or part that is shown. Shares of other topics,
            which died, are not counted.
        period: Returns a number for the period of a time in microseconds.
        typical: The number of typical documents of each topic.
        sample: The size of the sample.
        named: The ids of further documents that are kept.
        merge: Returns the shares of groups of topics (:mod:`beam_topics.model.reporting.shown`).

    Raises:
        DamagedDataError: A row is not a mixture of this model.
    """
    groups = len(merge(np.zeros(max(places.values()) + 1)))
    newest, foreign, repeated = _newest(rows, versions, places)
    found = Labelled(Trends(groups), [], [], foreign=foreign, repeated=repeated)
    best: list[list[Any]] = [[] for _ in range(groups)]
    drawn: list[Any] = []
    told: list[Any] = []
    for place, row in rows():
        if row.get("model_version") not in versions:
            continue
        mixture = mixture_of(place, row, places)
        if newest.get(mixture.digest) != mixture.version:
            continue
        del newest[mixture.digest]
        mixture = replace(mixture, proportions=merge(mixture.proportions))
        _count(found, mixture, period(mixture.timestamp))
        _keep(drawn, sample, (bytes(255 - b for b in mixture.digest), mixture))
        if mixture.id in named:
            _keep(told, len(named), (mixture.digest, mixture))
        for topic, heap in enumerate(best):
            if mixture.words_known:
                _keep(heap, typical, (*_fit(mixture, topic), mixture))
    found.typical = [[one[-1] for one in sorted(heap, key=_order, reverse=True)] for heap in best]
    found.named = [one[-1] for one in told]
    found.sample = sorted((one[-1] for one in drawn), key=lambda m: (m.timestamp, m.id, m.digest))
    return found


def _newest(
    rows: Rows, versions: Collection[str], places: Mapping[int, int]
) -> tuple[dict[bytes, str], int, int]:
    """Return the newest version of each document, and the numbers of foreign and repeated rows."""
    newest: dict[bytes, str] = {}
    foreign = read = 0
    for place, row in rows():
        read += 1
        # Another model may have another number of topics.
        if row.get("model_version") not in versions:
            foreign += 1
            continue
        _, _, version, digest = _name_of(place, row)
        if version > newest.get(digest, ""):
            newest[digest] = version
    return newest, foreign, read - foreign - len(newest)


def _name_of(place: str, row: Mapping[str, Any]) -> tuple[str, int, str, bytes]:
    """Return the id, the time and the version of a row, and the digest of its document."""
    try:
        key, id, version = (row[name] for name in ("key", "id", "model_version"))
        time = parse_time(row["timestamp"])
    except (KeyError, TypeError, ValueError) as error:
        raise _no_mixture(place, error) from error
    if not all(isinstance(value, str) for value in (key, id, version)):
        raise DamagedDataError(f"{place} is not a mixture: its key, id and version are texts")
    return id, time, version, document_digest(key, id, time)


def _no_mixture(place: str, error: Exception) -> DamagedDataError:
    told = f"{type(error).__name__} {error}. --mixtures takes what infer or stream wrote."
    return DamagedDataError(f"{place} is not a mixture: {told}")


def mixture_of(place: str, row: Mapping[str, Any], places: Mapping[int, int]) -> Mixture:
    """Check a row that JSON or Avro gave, and return its mixture; ``place`` is for messages.

    Raises:
        DamagedDataError: It is not a mixture.
    """
    id, time, version, digest = _name_of(place, row)
    try:
        listed = [(one["topic"], one["share"]) for one in row["topics"]]
        counts = [row["tokens"], row["words_known"]]
    except (KeyError, TypeError, ValueError) as error:
        raise _no_mixture(place, error) from error
    proportions = np.zeros(max(places.values()) + 1)
    topics_of, shares_of = f"topics of {place}", f"shares of {place}"
    for topic, share in listed:
        checks.whole(topics_of, topic, -_MOST_TOKENS, _MOST_TOKENS)
        checks.number(shares_of, share, 0.0, 1.0)
        if topic in places:
            proportions[places[topic]] += share
    if len(dict(listed)) < len(listed):
        checks.refuse(topics_of, "a topic twice", "each topic once")
    if (whole := sum(share for _, share in listed)) > _MOST_SHARE:
        checks.refuse(shares_of, f"{whole:.3f} together", "shares of 1")
    tokens, known = (checks.whole(f"tokens of {place}", n, 0, _MOST_TOKENS) for n in counts)
    none = row.get("none")
    if none is not None:
        checks.number(f"none of {place}", none, 0.0, 1.0)
    return Mixture(id, time, version, proportions, tokens, known, digest, none)


def document_digest(key: str, id: str, timestamp: int) -> bytes:
    """Return the digest that names a document, of 16 bytes."""
    return wire.digest(key.encode(), id.encode(), str(timestamp).encode())[:_DIGEST]


def _count(found: Labelled, mixture: Mixture, start: int) -> None:
    found.versions[mixture.version] += 1
    judged = mixture.none is not None and mixture.words_known > 0
    found.judged += judged
    found.unexplained += judged and (mixture.none or 0) > 1 / 2
    found.trends.add(
        start, "", mixture.proportions, tokens=mixture.tokens, words_known=mixture.words_known
    )


def _fit(mixture: Mixture, topic: int) -> tuple[bool, float, bytes]:
    """Return how typical a document is of a topic; of equal shares, the digest decides."""
    enough = mixture.words_known >= TYPICAL_WORDS
    return enough, float(mixture.proportions[topic]), mixture.digest


def _order(item: tuple[Any, ...]) -> tuple[Any, ...]:
    return item[:-1]


def _keep(heap: list[Any], most: int, item: tuple[Any, ...]) -> None:
    """Keep the largest items. Digests differ, so mixtures themselves are not compared."""
    if len(heap) < most:
        heapq.heappush(heap, item)
    elif most and _order(heap[0]) < _order(item):
        heapq.heapreplace(heap, item)


def rows_of_file(stream: BinaryIO, name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the rows of a file of mixtures, Avro by its name or JSON lines, each with its place.

    Raises:
        DamagedDataError: The file cannot be read.
    """
    try:
        if name.endswith(".avro"):
            for number, row in enumerate(fastavro.reader(stream), 1):
                yield f"{name}, row {number}", row
        else:
            for number, line in enumerate(stream, 1):
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise ValueError("it is not an object")
                yield f"{name}:{number}", row
    except (ValueError, EOFError, KeyError, IndexError) as error:
        raise DamagedDataError(
            f"{name} cannot be read as mixtures: {error}. Restore it from a copy."
        ) from error


@dataclass(frozen=True)
class Text:
    """The text of a document.

    Attributes:
        title: Its first line, or how it begins.
        text: The beginning of its text.
        label: Its label; "" without one.
    """

    title: str
    text: str
    label: str


def texts_of(
    items: Iterable[Document | DeadLetter], wanted: Collection[bytes], limits: Limits
) -> dict[bytes, Text]:
    """Return the texts of the documents with the wanted digests; dead letters are passed over."""
    found: dict[bytes, Text] = {}
    for item in items:
        if isinstance(item, Document):
            digest = document_digest(item.key, item.id, item.timestamp)
            if digest in wanted and digest not in found:
                found[digest] = Text(
                    title_of(item.text),
                    shortened(item.text.strip(), limits.text),
                    shortened(item.label or "", limits.name),
                )
    return found


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


def shown(labelled: Labelled) -> list[Mixture]:
    """Return the documents of a report once each, by time and id."""
    both = [*(mixture for topic in labelled.typical for mixture in topic), *labelled.sample]
    both += labelled.named
    unique = {mixture.digest: mixture for mixture in both}
    return sorted(unique.values(), key=lambda m: (m.timestamp, m.id, m.digest))


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
        none = Text("", "", "")
        own = [texts.get(m.digest, none) for m in mixtures]
        found |= {name: [getattr(t, name) for t in own] for name in ("title", "text", "label")}
    return found


def largest(mixture: Mixture) -> list[list[float]]:
    """Return the topics of a document with at least 1 %, each with its share, largest first."""
    order = np.argsort(-mixture.proportions, kind="stable").tolist()
    shares = mixture.proportions.tolist()
    return [[z, shares[z]] for z in order if shares[z] >= LEAST_SHARE]
