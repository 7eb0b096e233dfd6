"""Read mixtures again: their trends, typical documents of each topic, and a sample of all.

A mixture is a row that :mod:`model.encoding` wrote as JSON or Avro. Rows may be repeated, because
outputs are at least once, and a document may have been labelled by several versions. Of each
document (key, id, timestamp) the row of the newest version counts, once. So the rows are read
twice: first to find the newest version of each document, then to count. Memory grows by some 100
bytes a document; everything else is bounded.

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

from model import checks
from model.errors import DamagedDataError
from model.records import FloatArray
from model.reporting.texts import document_digest
from model.times import parse_time
from model.trends import Trends

# A document with fewer known words is typical of a topic only where there are not enough others.
TYPICAL_WORDS = 20
_MOST_TOKENS = 2**40
# Shares are rounded.
_MOST_SHARE = 1.001

Rows = Callable[[], Iterable[tuple[str, Mapping[str, Any]]]]


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
        versions: The number of documents that each version labelled.
        repeated: Rows that repeat a document, or are of an older version than another of it.
        foreign: Rows of versions that are not among the known ones.
        judged: Documents whose rows say whether topics explain them.
        unexplained: Those of them that probably no topic explains.
    """

    trends: Trends
    typical: list[list[Mixture]]
    sample: list[Mixture]
    versions: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    foreign: int = 0
    judged: int = 0
    unexplained: int = 0

    @property
    def documents(self) -> int:
        """The number of documents."""
        return self.versions.total()


def read_mixtures(
    rows: Rows,
    versions: Collection[str],
    places: Mapping[int, int],
    period: Callable[[int], int],
    *,
    typical: int,
    sample: int,
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
        merge: Returns the shares of groups of topics (:mod:`model.reporting.merging`).

    Raises:
        DamagedDataError: A row is not a mixture of this model.
    """
    groups = len(merge(np.zeros(max(places.values()) + 1)))
    newest: dict[bytes, str] = {}
    foreign = read = 0
    for place, row in rows():
        read += 1
        # Another model may have another number of topics.
        if row.get("model_version") not in versions:
            foreign += 1
            continue
        mixture = mixture_of(place, row, places)
        if mixture.version > newest.get(mixture.digest, ""):
            newest[mixture.digest] = mixture.version
    found = Labelled(Trends(groups), [], [], foreign=foreign, repeated=read - foreign - len(newest))
    best: list[list[Any]] = [[] for _ in range(groups)]
    drawn: list[Any] = []
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
        for topic, heap in enumerate(best):
            if mixture.words_known:
                _keep(heap, typical, (*_fit(mixture, topic), mixture))
    found.typical = [[one[-1] for one in sorted(heap, key=_order, reverse=True)] for heap in best]
    found.sample = sorted((one[-1] for one in drawn), key=lambda m: (m.timestamp, m.id, m.digest))
    return found


def mixture_of(place: str, row: Mapping[str, Any], places: Mapping[int, int]) -> Mixture:
    """Check a row and return its mixture.

    Args:
        place: Where it is, for messages.
        row: The row as JSON or Avro gives it.
        places: As of :func:`read_mixtures`.

    Raises:
        DamagedDataError: It is not a mixture.
    """
    try:
        values = {name: row[name] for name in ("key", "id", "model_version")}
        time = parse_time(row["timestamp"])
        listed = [(one["topic"], one["share"]) for one in row["topics"]]
        counts = [row["tokens"], row["words_known"]]
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedDataError(
            f"{place} is not a mixture: {type(error).__name__} {error}. --mixtures takes what infer"
            " or stream wrote."
        ) from error
    if not all(isinstance(value, str) for value in values.values()):
        raise DamagedDataError(f"{place} is not a mixture: its key, id and version are texts")
    proportions = np.zeros(max(places.values()) + 1)
    for topic, share in listed:
        checks.whole(f"topics of {place}", topic, -_MOST_TOKENS, _MOST_TOKENS)
        checks.number(f"shares of {place}", share, 0.0, 1.0)
        if topic in places:
            proportions[places[topic]] += share
    if len(dict(listed)) < len(listed):
        checks.refuse(f"topics of {place}", "a topic twice", "each topic once")
    if (whole := sum(share for _, share in listed)) > _MOST_SHARE:
        checks.refuse(f"shares of {place}", f"{whole:.3f} together", "shares of 1")
    tokens, known = (checks.whole(f"tokens of {place}", n, 0, _MOST_TOKENS) for n in counts)
    none = row.get("none")
    if none is not None:
        checks.number(f"none of {place}", none, 0.0, 1.0)
    digest = document_digest(values["key"], values["id"], time)
    version = values["model_version"]
    return Mixture(values["id"], time, version, proportions, tokens, known, digest, none)


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
    """Yield the rows of a file of mixtures, each with its place.

    Args:
        stream: The bytes of the file.
        name: Its name. One that ends in ``.avro`` is Avro; any other one has JSON lines.

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
