"""Decode the fields of JSON records that are needed, and nothing else of them.

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
from functools import partial
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
_Scalar = str | int | float


def document_decoder(settings: ReadSettings) -> Callable[[str, bytes], Document | None]:
    """Return a function that gives the document of a place and a record; None if it is not plain.

    No record is plain to settings with paths, several texts or times that are no fields.
    """
    parse = settings.parse
    needed, texts = needed_fields(parse, True), parse.fields.texts
    names = tuple(dict.fromkeys([*needed, *parse.fields.optional()]))
    is_simple = settings.time_from == "field" and settings.records is None and len(texts) == 1
    # msgspec takes no other names of fields.
    is_known = all(name.isprintable() and not {*name} & {'"', "\\"} for name in names)
    if not (is_simple and is_known) or any(map(is_path, names)):
        return lambda place, line: None
    kinds: list[Any] = [str if name in texts else _Scalar for name in names]
    fields = [
        (f"f{at}", kind) if name in needed else (f"f{at}", kind | None, None)
        for at, (name, kind) in enumerate(zip(names, kinds, strict=True))
    ]
    rename = {field[0]: name for field, name in zip(fields, names, strict=True)}
    decoder = msgspec.json.Decoder(msgspec.defstruct("Row", fields, rename=rename, gc=False))
    made = _maker(parse, names) if parse.fields.key is None else None

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
            # msgspec refuses half of a pair. So without this escape every text can be a document.
            if made and b"\\u0000" not in line and len(line) <= parse.max_document_bytes:
                return made(place, values)
        except (ValueError, RecursionError):
            return None
        found = parse_record(dict(zip(names, values, strict=True)), place, parse)
        return found if isinstance(found, Document) else None

    return document_of


def _maker(
    parse: ParseSettings, names: Sequence[str]
) -> Callable[[str, tuple[Any, ...]], Document | None]:
    """Return a function that makes the document of a place and the values of its fields.

    It returns None where a value is not plain, and raises ValueError where a time is none.
    """
    fields, read = parse.fields, partial(read_time, zone=parse.time_zone)
    # A field that is not asked for is behind all others, where there is None.
    at, none = {name: place for place, name in enumerate(names)}, len(names)
    by_place = parse.id_from == "place"
    marks = [at.get(name or "", none) for name in (fields.label, fields.source, fields.group)]
    others = itemgetter(*marks, none if by_place else at[fields.id])
    text_field, time_field = at[fields.texts[0]], at[fields.timestamp]
    form = parse.timestamp_format

    def made(place: str, values: tuple[Any, ...]) -> Document | None:
        text, written = values[text_field], others((*values, None))
        if not text or text.isspace() or float in map(type, written):
            return None
        label, source, group, name = [None if one is None else str(one) for one in written]
        name, moment = place_id(place) if by_place else name, read(values[time_field], form)
        return Document(name, moment, text, label, "", source, group) if name else None

    return made
