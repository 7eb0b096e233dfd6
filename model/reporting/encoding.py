"""Files for others: mixtures and documents as Avro, records as JSON lines; mixtures, read again.

Each function turns a batch of records into the bytes of a file. It sorts them first, so the bytes
depend on the set of records alone. A file is named after its content (:func:`content_name`), so
writing the same batch twice changes nothing. The batches of a large file follow each other
(:func:`continued`).

A row of mixtures is a line of JSON, or the values of a row of Avro. :func:`parsed` checks it
against a type and reads no other field, so what names the rows is found without their topics.
:func:`blocks` makes matrices of the shares of many rows.

>>> content_name([b"two", b"one"]) == content_name([b"one", b"two"])
True
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from operator import itemgetter
from typing import Annotated, Any, BinaryIO, TypeVar

import fastavro
import msgspec
import numpy as np

from beam_topics.model.arrays import FloatArray, LongArray
from beam_topics.model.documents.document import Document
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.inference.mixtures import Groups, MixtureBlock, TopicMixture
from beam_topics.model.stored import checks, wire
from beam_topics.model.times import parse_time, to_iso

NAME_CHARACTERS = 20
# How Avro begins, and the size of the marker after its header and after each of its blocks.
_AVRO, MARKER_BYTES = b"Obj\x01", 16
# The fields that identify a mixture: an id may be used again at another time.
ROW_KEY = ("key", "id", "timestamp", "model_version")

_TIME = {"type": "long", "logicalType": "timestamp-micros"}

# It takes an eighth of the time of the module json, for each row that is written.
_ENCODER = msgspec.json.Encoder(order="deterministic")

# Topics with smaller shares are left out, except the largest one.
LEAST_SHARE = 0.001
# Decimals of a share. Draws leave a share uncertain by some hundredths.
_DECIMALS = 6

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

_SHARE = {
    "type": "record",
    "name": "TopicShare",
    "fields": [
        {"name": "topic", "type": "long"},
        {"name": "share", "type": "double"},
        {"name": "name", "type": ["null", "string"], "default": None},
    ],
}


def _schema(name: str, **types: Any) -> Any:
    """Return the schema of a record, by the types of its fields."""
    fields = [{"name": field, "type": kind} for field, kind in types.items()]
    return fastavro.parse_schema(
        {"type": "record", "name": name, "namespace": "beam_topics", "fields": fields}
    )


MIXTURE_SCHEMA = _schema(
    "TopicMixture",
    key="string",
    id="string",
    timestamp=_TIME,
    model_version="string",
    method="string",
    topic=["null", "long"],
    topics={"type": "array", "items": _SHARE},
    none=["null", "double"],
    words_known="long",
    tokens="long",
)
DOCUMENT_SCHEMA = _schema(
    "Document", id="string", timestamp=_TIME, text="string", label=["null", "string"], key="string"
)


def content_name(records: Iterable[bytes]) -> str:
    """Return the name of a set of records: hexadecimal digits of their digest.

    It does not depend on the release of a compressor.
    """
    return wire.digest(*sorted(records)).hex()[:NAME_CHARACTERS]


def joined_name(names: Sequence[str]) -> str:
    """Return the name of batches that follow each other in a file, by their names in this order."""
    return (
        names[0]
        if len(names) == 1
        else wire.digest(*map(str.encode, names)).hex()[:NAME_CHARACTERS]
    )


def continued(data: bytes, marker: bytes) -> bytes:
    """Return what to append to a file, so that it goes on with the rows of another file.

    JSON lines stay as they are. Avro loses its header, and its blocks get the marker of the file. A
    marker is a digest of all rows, so no row has it.

    Args:
        data: The bytes of the other file, with at least one row.
        marker: The last :data:`MARKER_BYTES` bytes of the file.
    """
    if not data.startswith(_AVRO):
        return data
    own = data[-MARKER_BYTES:]
    return data.partition(own)[2].replace(own, marker)


def mixture_fields(mixture: TopicMixture) -> dict[str, Any]:
    """Return a mixture as named plain values.

    ``topics`` are the topics of the document, the largest first, each with its id as ``topic`` and
    its ``share``; with names they are the groups and parts of the catalogue without hidden ones,
    and have a ``name``. ``topic`` is the id of the first one, or None for a document without a
    topic. ``none`` is the probability that no topic explains the document: 1 without a known word,
    else None where it was not computed.
    """
    shown = mixture.shown()
    found = shown.largest(mixture.proportions, least=LEAST_SHARE)
    return _fields(mixture, shown.ids, found)


def _fields(
    mixture: TopicMixture, ids: Sequence[int], found: Sequence[tuple[int, float]]
) -> dict[str, Any]:
    """Return the values of a mixture, given the ids of its groups and the largest groups."""
    topics: list[dict[str, Any]] = [
        {"topic": ids[at], "share": round(share, _DECIMALS)} for at, share in found
    ]
    if mixture.names:
        for one, (at, _) in zip(topics, found, strict=True):
            one["name"] = mixture.names[at]
    none = mixture.none if mixture.words_known else 1.0
    return {
        "key": mixture.key,
        "id": mixture.id,
        "timestamp": mixture.timestamp,
        "model_version": mixture.model_version,
        "method": mixture.method,
        "topic": topics[0]["topic"] if topics else None,
        "topics": topics,
        "none": None if none is None else round(none, _DECIMALS),
        "words_known": mixture.words_known,
        "tokens": mixture.tokens,
    }


def _block_fields(block: MixtureBlock) -> Iterator[dict[str, Any]]:
    """Yield :func:`mixture_fields` of the mixtures of a block."""
    shown = block.shown()
    rows = shown.largest_rows(block.proportions, LEAST_SHARE)
    for mixture, found in zip(block.mixtures(), rows, strict=True):
        yield _fields(mixture, shown.ids, found)


def mixture_to_json(mixture: TopicMixture) -> bytes:
    """Return a mixture as JSON on one line, with its time in ISO 8601."""
    return _json(mixture_fields(mixture))


def _json(fields: dict[str, Any]) -> bytes:
    return _ENCODER.encode(fields | {"timestamp": to_iso(fields["timestamp"])})


def row_key(mixture: TopicMixture) -> bytes:
    """Return the JSON list of the values of ``ROW_KEY``, as :func:`mixture_to_json` writes them."""
    return wire.canonical_json(
        [mixture.key, mixture.id, to_iso(mixture.timestamp), mixture.model_version]
    ).encode()


def mixtures_to_json_lines(records: Sequence[bytes]) -> bytes:
    """Return JSON lines for bytes of mixtures or of blocks of them, with times in ISO 8601."""
    return b"".join(_json(fields) + b"\n" for fields in _sorted_fields(records))


def mixtures_to_avro(records: Sequence[bytes]) -> bytes:
    """Return an Avro file for bytes of mixtures or of blocks of them."""
    return _avro(MIXTURE_SCHEMA, _sorted_fields(records), wire.digest(*sorted(records)))


def _sorted_fields(records: Sequence[bytes]) -> list[dict[str, Any]]:
    """Return the values of TopicMixture or MixtureBlock bytes by key, time and id."""
    rows = chain.from_iterable(map(_fields_in, sorted(records)))
    return sorted(rows, key=itemgetter("key", "timestamp", "id"))


def _fields_in(record: bytes) -> Iterable[dict[str, Any]]:
    if record.startswith(MixtureBlock.MAGIC):
        return _block_fields(MixtureBlock.from_bytes(record))
    return [mixture_fields(TopicMixture.from_bytes(record))]


def record_count(record: bytes) -> int:
    """Return the number of mixtures of MixtureBlock bytes; 1 for any other record."""
    if not record.startswith(MixtureBlock.MAGIC):
        return 1
    return len(wire.header_of(MixtureBlock.MAGIC, record)["ids"])


def documents_to_avro(records: Sequence[bytes]) -> bytes:
    """Return an Avro file for Document bytes in the order of learning.

    That is by time, id, and place in the source, which itself is not in the file.
    """
    documents = sorted(
        map(Document.from_bytes, sorted(records)),
        key=lambda document: (document.timestamp, document.id, document.arrived),
    )
    rows = [
        {"id": d.id, "timestamp": d.timestamp, "text": d.text, "label": d.label, "key": d.key}
        for d in documents
    ]
    return _avro(DOCUMENT_SCHEMA, rows, wire.digest(*sorted(records)))


def json_lines(records: Sequence[bytes]) -> bytes:
    """Return one record per line, for dead letters, which are JSON already."""
    return b"".join(record + b"\n" for record in sorted(records))


def _avro(schema: Any, rows: list[dict[str, Any]], digest: bytes) -> bytes:
    """Return deflated Avro; the sync marker, usually random, comes from the content."""
    out = io.BytesIO()
    fastavro.writer(out, schema, rows, codec="deflate", sync_marker=digest[:MARKER_BYTES])
    return out.getvalue()


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
    reason = f"{type(error).__name__} {error}. --mixtures takes what infer or stream wrote."
    return DamagedDataError(f"{place} is not a mixture: {reason}")


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
