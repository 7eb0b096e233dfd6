"""Make documents of plain records: JSON of which only the needed fields are decoded, and rows.

A record is plain where it is JSON with few brackets, and each needed field is a text or a number.
msgspec decodes these and passes over all others. Whatever is not plain is left to
:mod:`beam_topics.model.reading.parsing`, which says what is wrong with it.

>>> document_of = document_decoder(ReadSettings())
>>> document_of("a:1", b'{"id": 7, "timestamp": 0, "text": "A ship", "other": [1]}').id
'7'
>>> document_of("a:1", b'{"id": 7, "text": "A ship"}') is None
True
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import msgspec

from beam_topics.model.documents.document import Document
from beam_topics.model.reading.parsing import NESTING, needed_fields, parse_record, place_id
from beam_topics.model.reading.paths import is_path
from beam_topics.model.reading.settings import ParseSettings, ReadSettings
from beam_topics.model.reading.time_forms import read_time

# Python reads no whole number with more digits; msgspec passes over it.
_DIGITS, _TEN = sys.int_info.default_max_str_digits, b"0123456789"


def document_decoder(settings: ReadSettings) -> Callable[[str, bytes], Document | None]:
    """Return a function that gives the document of a place and a record; None if it is not plain.

    No record is plain to settings with paths, several texts or times that are no fields.
    """
    parse = settings.parse
    needed, texts, names = needed_fields(parse, True), parse.fields.texts, _names(parse)
    # msgspec takes no other names of fields.
    is_known = all(name.isprintable() and not {*name} & {'"', "\\"} for name in names)
    if not (_is_simple(settings) and is_known):
        return lambda place, line: None
    time, parts = parse.fields.timestamp, (parse.fields.id, *parse.fields.optional())
    is_plain = parse.fields.key is None and time not in parts
    kinds: list[Any] = [
        str if name in texts else str | int | float if name == time else str | int for name in names
    ]
    fields = [
        (f"f{at}", kind) if name in needed else (f"f{at}", kind | None, None)
        for at, (name, kind) in enumerate(zip(names, kinds, strict=True))
    ]
    rename = {field[0]: name for field, name in zip(fields, names, strict=True)}
    decoder = msgspec.json.Decoder(msgspec.defstruct("Row", fields, rename=rename, gc=False))
    made = _maker(parse, names) if is_plain else None

    def document_of(place: str, line: bytes) -> Document | None:
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
            values = msgspec.structs.astuple(decoder.decode(line))
            if made and len(line) <= parse.max_document_bytes:
                return made(place, values)
        except (ValueError, RecursionError):
            return None
        found = parse_record(dict(zip(names, values, strict=True)), place, parse)
        return found if isinstance(found, Document) else None

    return document_of


def row_reader(
    settings: ReadSettings, names: Sequence[str]
) -> Callable[[str, Sequence[str]], Document | None]:
    """Return a function that gives the document of a place and a row; None if it is not plain.

    Args:
        settings: As of :func:`document_decoder`.
        names: The names of the columns. An empty field is missing.
    """
    if settings.parse.fields.key is not None or not _is_simple(settings):
        return lambda place, row: None
    made = _maker(settings.parse, names)

    def document_of(place: str, row: Sequence[str]) -> Document | None:
        try:
            return made(place, tuple([value or None for value in row]))
        except ValueError:
            return None

    return document_of


def _names(parse: ParseSettings) -> tuple[str, ...]:
    """Return the fields that are read, each once."""
    return tuple(dict.fromkeys([*needed_fields(parse, True), *parse.fields.optional()]))


def _is_simple(settings: ReadSettings) -> bool:
    """Return whether the time and one text are fields, and no field is a path."""
    has_fields = settings.time_from == "field" and settings.records is None
    one_text = len(settings.parse.fields.texts) == 1
    return has_fields and one_text and not any(map(is_path, _names(settings.parse)))


def _maker(
    parse: ParseSettings, names: Sequence[str]
) -> Callable[[str, tuple[Any, ...]], Document | None]:
    """Return a function that makes the document of a place and the values of its fields.

    It returns None where a value is not plain, and raises ValueError where a time is none.
    """
    fields, zone = parse.fields, parse.time_zone
    # A field that is not asked for is behind all others, where there is None.
    at, none = {name: place for place, name in enumerate(names)}, len(names)
    by_place, form = parse.id_from == "place", parse.timestamp_format
    chosen = (fields.texts[0], fields.timestamp, None if by_place else fields.id)
    marks = (fields.label, fields.source, fields.group)
    pick = itemgetter(*(at.get(name or "", none) for name in (*chosen, *marks)))

    def made(place: str, values: tuple[Any, ...]) -> Document | None:
        text, time, name, label, source, group = pick((*values, None))
        name = place_id(place) if by_place else name
        if text is None or text.isspace() or not text or name in (None, ""):
            return None
        whole = f"{text}{name}{label}{source}{group}"
        if "\0" in whole or not (whole.isascii() or whole.encode()):
            return None
        return Document(
            str(name),
            read_time(time, form, zone),
            text,
            None if label is None else str(label),
            "",
            None if source is None else str(source),
            None if group is None else str(group),
        )

    return made
