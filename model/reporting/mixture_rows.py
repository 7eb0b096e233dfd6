"""Rows of files of mixtures, read again: what names them, and the shares of many at once.

A row is a line of JSON, or the values of a row of Avro. :func:`parsed` checks it against a type and
reads no other field, so what names the rows is found without their topics. :func:`blocks` makes
matrices of the shares of many rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Annotated, Any, BinaryIO, TypeVar

import fastavro
import msgspec
import numpy as np

from beam_topics.model.arrays import FloatArray, LongArray
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.inference.mixtures import Groups
from beam_topics.model.stored import checks, wire
from beam_topics.model.times import parse_time

_DIGEST = 16
_MOST_TOKENS = 2**40
# Shares are rounded.
_MOST_SHARE = 1.001
# Shares of a block, and rows of one at least.
_SHARES, _LEAST_ROWS = 2**18, 64

RawRow = bytes | Mapping[str, Any]
Rows = Callable[[], Iterable[tuple[str, RawRow]]]
_Whole = Annotated[int, msgspec.Meta(ge=0, lt=_MOST_TOKENS)]
_Part = Annotated[float, msgspec.Meta(ge=0, le=1)]


class _Share(msgspec.Struct, gc=False):
    topic: Annotated[int, msgspec.Meta(gt=-_MOST_TOKENS, lt=_MOST_TOKENS)]
    share: _Part


class RowName(msgspec.Struct):
    """What names a row."""

    key: str
    id: str
    timestamp: Any
    model_version: str

    def document(self, place: str) -> tuple[int, bytes]:
        """Return the time of its document, and the digest that names it; ``place`` is for messages.

        Raises:
            DamagedDataError: The time is none.
        """
        try:
            time = parse_time(self.timestamp)
        except (TypeError, ValueError) as error:
            raise _no_mixture(place, error) from error
        return time, document_digest(self.key, self.id, time)


class Row(RowName):
    """A mixture as it is written."""

    topics: list[_Share]
    tokens: _Whole
    words_known: _Whole
    none: _Part | None = None


_Kind = TypeVar("_Kind", bound=RowName)


@cache
def _decoder(kind: type[_Kind]) -> msgspec.json.Decoder[_Kind]:
    return msgspec.json.Decoder(kind)


def parsed(place: str, row: RawRow, kind: type[_Kind]) -> _Kind:
    """Return a row; ``place`` is for messages.

    Raises:
        DamagedDataError: It is not a mixture.
    """
    try:
        if isinstance(row, bytes):
            return _decoder(kind).decode(row)
        return msgspec.convert(row, kind)
    except (ValueError, RecursionError) as error:
        raise _no_mixture(place, error) from error


def _no_mixture(place: str, error: Exception) -> DamagedDataError:
    told = f"{type(error).__name__} {error}. --mixtures takes what infer or stream wrote."
    return DamagedDataError(f"{place} is not a mixture: {told}")


def document_digest(key: str, id: str, timestamp: int) -> bytes:
    """Return the digest that names a document, of 16 bytes."""
    return wire.digest(key.encode(), id.encode(), str(timestamp).encode())[:_DIGEST]


def rows_of_file(stream: BinaryIO, name: str) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a file of mixtures, Avro by its name or JSON lines.

    Raises:
        DamagedDataError: The file cannot be read.
    """
    for _, row in raw_rows(stream, name):
        try:
            found = msgspec.json.decode(row) if isinstance(row, bytes) else row
            if not isinstance(found, dict):
                raise ValueError("a row is not an object")
        except (ValueError, RecursionError) as error:
            raise _unreadable(name, error) from error
        yield found


def raw_rows(stream: BinaryIO, name: str) -> Iterator[tuple[str, RawRow]]:
    """Yield what :func:`parsed` takes of a file, with the place of each row.

    Raises:
        DamagedDataError: The file cannot be read.
    """
    try:
        if name.endswith(".avro"):
            for number, row in enumerate(fastavro.reader(stream), 1):
                yield f"{name}, row {number}", row
        else:
            for number, line in enumerate(stream, 1):
                yield f"{name}:{number}", line
    except (ValueError, EOFError, KeyError, IndexError) as error:
        raise _unreadable(name, error) from error


def _unreadable(name: str, error: Exception) -> DamagedDataError:
    return DamagedDataError(f"{name} cannot be read as mixtures: {error}. Restore it from a copy.")


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


@dataclass(frozen=True)
class Mixtures:
    """Mixtures of D documents.

    Attributes:
        rows: As they are written.
        times, digests: Of their documents.
        shares: float64[D, G], the shares of groups of topics.
        tokens, words_known: int64[D].
    """

    rows: Sequence[Row]
    times: Sequence[int]
    digests: Sequence[bytes]
    shares: FloatArray
    tokens: LongArray
    words_known: LongArray

    def mixture(self, n: int) -> Mixture:
        """Return the mixture of a document."""
        row = self.rows[n]
        return Mixture(
            row.id,
            self.times[n],
            row.model_version,
            self.shares[n].copy(),
            row.tokens,
            row.words_known,
            self.digests[n],
            row.none,
        )


def blocks(
    rows: Iterable[tuple[str, RawRow]], topics: Sequence[int], groups: Groups
) -> Iterator[Mixtures]:
    """Yield the mixtures of rows, each with its place for messages.

    Args:
        rows: The rows.
        topics: The ids of the topics that are shown, by place. Shares of others are not counted.
        groups: The groups of the topics.

    Raises:
        DamagedDataError: A row is not a mixture.
    """
    stream, size = iter(rows), max(_LEAST_ROWS, _SHARES // len(topics))
    order = np.argsort(topics)
    ids = np.array(topics, np.int64)[order]
    while some := list(islice(stream, size)):
        places = [place for place, _ in some]
        read = [parsed(place, row, Row) for place, row in some]
        documents = [row.document(place) for place, row in zip(places, read, strict=True)]
        shares = np.zeros((len(read), len(topics)))
        shares[:, order] = _shares(places, read, ids)
        yield Mixtures(
            read,
            [time for time, _ in documents],
            [digest for _, digest in documents],
            shares if groups.trivial else np.stack(list(map(groups.sums, shares))),
            np.array([row.tokens for row in read], np.int64),
            np.array([row.words_known for row in read], np.int64),
        )


def _shares(places: Sequence[str], rows: Sequence[Row], ids: LongArray) -> FloatArray:
    """Return float64[D, T], the shares of topics with ascending ids."""
    listed = [one for row in rows for one in row.topics]
    topics = np.array([one.topic for one in listed], np.int64)
    shares = np.array([one.share for one in listed], np.float64)
    of_row = np.repeat(np.arange(len(rows)), [len(row.topics) for row in rows])
    whole = np.bincount(of_row, weights=shares, minlength=len(rows))
    if len(wrong := np.flatnonzero(whole > _MOST_SHARE)):
        place = places[wrong[0]]
        checks.refuse(f"shares of {place}", f"{whole[wrong[0]]:.3f} together", "shares of 1")
    at = np.minimum(np.searchsorted(ids, topics), len(ids) - 1)
    known = ids[at] == topics
    cells = (of_row * len(ids) + at)[known]
    size = len(rows) * len(ids)
    if len(wrong := np.flatnonzero(np.bincount(cells, minlength=size) > 1)):
        place = places[wrong[0] // len(ids)]
        checks.refuse(f"topics of {place}", "a topic twice", "each topic once")
    found = np.bincount(cells, weights=shares[known], minlength=size).astype(np.float64)
    return found.reshape(len(rows), len(ids))
