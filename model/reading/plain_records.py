"""Make documents of plain records: JSON of which only the needed fields are decoded, and rows.

A record is plain if it is JSON with few brackets, and each needed field is a text or a number.
msgspec decodes these fields and skips all others. Plain records become documents in groups, so that
their texts are checked in one step. Whatever is not plain is left to
:mod:`beam_topics.model.reading.parsing`, which says what is wrong with it.

>>> documents_of = json_reader(ReadSettings())
>>> lines = [b'{"id": 7, "timestamp": 0, "text": "A ship", "other": [1]}', b'{"id": 7}']
>>> [found and found.id for found in documents_of(["a:1", "a:2"], lines)]
['7', None]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import groupby, repeat
from typing import Any, TypeVar, cast

import msgspec

from beam_topics.model.documents.document import DeadLetter, Document
from beam_topics.model.reading.parsing import (
    NESTING,
    Placed,
    needed_fields,
    parse_record,
    place_id,
)
from beam_topics.model.reading.paths import is_path
from beam_topics.model.reading.settings import ParseSettings, ReadSettings
from beam_topics.model.reading.time_forms import read_time

# Python reads no whole number with more digits; msgspec passes over it.
_DIGITS, _TEN = sys.int_info.default_max_str_digits, b"0123456789"
# The records that become documents at a time, by number and by size.
_TOGETHER, _TOGETHER_BYTES = 128, 2**18

R = TypeVar("R", bytes, Sequence[str])
# It gets places and records.
Reader = Callable[[Sequence[str], Sequence[R]], list[Document | None]]


def json_reader(settings: ReadSettings, unit: Fraction | None = None) -> Reader[bytes]:
    """Return a function that gives the documents of places and records; None if one is not plain.

    No record is plain under settings with paths, several texts or times that are not fields.

    Args:
        settings: How the records are read.
        unit: As for :func:`beam_topics.model.reading.parsing.parse_record`.
    """
    parse = settings.parse
    needed, texts, names = needed_fields(parse, True), parse.fields.texts, _names(parse)
    # msgspec takes no other names of fields.
    is_known = all(name.isprintable() and not {*name} & {'"', "\\"} for name in names)
    if not (_is_simple(settings) and is_known):
        return _none
    time = parse.fields.timestamp
    kinds: list[Any] = [
        str if name in texts else str | int | float if name == time else str | int for name in names
    ]
    fields = [
        (f"f{at}", kind) if name in needed else (f"f{at}", kind | None, None)
        for at, (name, kind) in enumerate(zip(names, kinds, strict=True))
    ]
    rename = {field[0]: name for field, name in zip(fields, names, strict=True)}
    decode = msgspec.json.Decoder(msgspec.defstruct("Row", fields, rename=rename, gc=False)).decode
    # A key may be refused, and a time that is also an id or a label has several types.
    is_plain = parse.fields.key is None and time not in (parse.fields.id, *parse.fields.optional())
    made = _maker(parse, names, unit) if is_plain else None

    def values_of(line: bytes) -> tuple[Any, ...] | None:
        # To find a byte takes a thirtieth of the time of counting it.
        is_flat = b"[" not in line and line.find(b"{", 1) < 0
        if not is_flat and line.count(b"[") + line.count(b"{") > NESTING:
            return None
        if len(line) > _DIGITS and len(line) - len(line.translate(None, _TEN)) > _DIGITS:
            return None
        try:
            # msgspec does not check the characters that it passes over.
            if not line.isascii():
                line.decode()
            return msgspec.structs.astuple(decode(line))
        except (ValueError, RecursionError):
            return None

    def parsed(place: str, values: tuple[Any, ...] | None) -> Document | None:
        if values is None:
            return None
        record = dict(zip(names, values, strict=True))
        found = parse_record(record, place, parse, time_unit=unit)
        return found if isinstance(found, Document) else None

    def documents_of(places: Sequence[str], lines: Sequence[bytes]) -> list[Document | None]:
        rows = list(map(values_of, lines))
        if made is None or max(map(len, lines)) > parse.max_document_bytes:
            return list(map(parsed, places, rows))
        return made(places, rows)

    return documents_of


def row_reader(settings: ReadSettings, names: Sequence[str]) -> Reader[Sequence[str]]:
    """Return a function that gives the documents of places and rows; None if one is not plain.

    Args:
        settings: As of :func:`json_reader`.
        names: The names of the columns. An empty field is missing.
    """
    if settings.parse.fields.key is not None or not _is_simple(settings):
        return _none
    made = _maker(settings.parse, names)

    def documents_of(places: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Document | None]:
        return made(places, [tuple([value or None for value in row]) for row in rows])

    return documents_of


def found_by(
    reader: Reader[R],
    items: Iterable[tuple[str, R] | DeadLetter],
    records_of: Callable[[str, R], Iterator[Placed | DeadLetter]],
) -> Iterator[Document | Placed | DeadLetter]:
    """Yield items in their order: each plain one as its document, others as their records."""
    for is_letter, run in groupby(items, lambda item: isinstance(item, DeadLetter)):
        if is_letter:
            yield from cast("Iterator[DeadLetter]", run)
            continue
        while some := _some(cast("Iterator[tuple[str, R]]", run)):
            for item, document in zip(some, reader(*zip(*some, strict=True)), strict=True):
                if document is None:
                    yield from records_of(*item)
                else:
                    yield document


def _some(records: Iterator[tuple[str, R]]) -> list[tuple[str, R]]:
    """Take the next records, as many as are read together."""
    some: list[tuple[str, R]] = []
    size = 0
    for record in records:
        some.append(record)
        size += sum(map(len, record[1])) if isinstance(record[1], list) else len(record[1])
        if len(some) == _TOGETHER or size >= _TOGETHER_BYTES:
            break
    return some


def _none(places: Sequence[str], records: Sequence[Any]) -> list[Document | None]:
    return [None] * len(places)


def _names(parse: ParseSettings) -> tuple[str, ...]:
    """Return the fields that are read, each once."""
    return tuple(dict.fromkeys([*needed_fields(parse, True), *parse.fields.optional()]))


def _is_simple(settings: ReadSettings) -> bool:
    """Return whether the time and one text are fields, and no field is a path."""
    has_fields = settings.time_from == "field" and settings.records is None
    one_text = len(settings.parse.fields.texts) == 1
    return has_fields and one_text and not any(map(is_path, _names(settings.parse)))


def _maker(
    parse: ParseSettings, names: Sequence[str], unit: Fraction | None = None
) -> Callable[[Sequence[str], Sequence[tuple[Any, ...] | None]], list[Document | None]]:
    """Return a function that makes the documents of places and of the values of their fields.

    A document is None where there are no values, or one of them is not plain.
    """
    fields, zone = parse.fields, parse.time_zone
    # A field that is not asked for comes after all others, where there is None.
    at, none = {name: place for place, name in enumerate(names)}, len(names)
    by_place, form = parse.id_from == "place", parse.timestamp_format
    chosen = (fields.texts[0], fields.timestamp, None if by_place else fields.id)
    marks = (fields.label, fields.source, fields.group)
    where = [at.get(name or "", none) for name in (*chosen, *marks)]

    def plain(places: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> list[Document]:
        """Return the documents, or raise ValueError if a value is not plain."""
        columns = [*zip(*rows, strict=True), (None,) * len(rows)]
        texts, times, ids, *optional = (columns[place] for place in where)
        ids = tuple(map(place_id, places)) if by_place else ids
        if None in texts or not all(texts) or any(map(str.isspace, texts)):
            raise ValueError("a text is missing or blank")
        if None in ids or "" in ids:
            raise ValueError("an id is missing")
        ids = tuple(map(str, ids))
        labels, sources, groups = (
            [value if value is None else str(value) for value in column] for column in optional
        )
        whole = "".join((*texts, *ids, *filter(None, (*labels, *sources, *groups))))
        if "\0" in whole or not (whole.isascii() or whole.encode()):
            raise ValueError("a value has a NUL")
        read = {time: read_time(time, form, zone, unit) for time in set(times)}
        return list(
            map(Document, ids, map(read.get, times), texts, labels, repeat(""), sources, groups)
        )

    def one(place: str, row: tuple[Any, ...] | None) -> Document | None:
        try:
            return None if row is None else plain([place], [row])[0]
        except ValueError:
            return None

    def made(
        places: Sequence[str], rows: Sequence[tuple[Any, ...] | None]
    ) -> list[Document | None]:
        try:
            return [*plain(places, cast("Sequence[tuple[Any, ...]]", rows))]
        except (TypeError, ValueError):
            # Not all of them are plain.
            return list(map(one, places, rows))

    return made
