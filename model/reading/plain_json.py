"""Decode the fields of JSON records that are needed, and nothing else of them.

A record is plain where it is JSON of at most so many brackets, and each needed field is a text or a
number. msgspec decodes it into the types of its fields and passes over all others. Whatever is not
plain is left to :mod:`beam_topics.model.reading.parsing`, which says what is wrong with it.

>>> plain = PlainRecords.of(ReadSettings())
>>> plain.record(b'{"id": 7, "timestamp": 0, "text": "A ship", "other": [1]}')
{'id': 7, 'timestamp': 0, 'text': 'A ship', 'label': None}
>>> plain.record(b'{"id": 7, "text": "A ship"}') is None
True
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from beam_topics.model.reading.parsing import NESTING, needed_fields
from beam_topics.model.reading.paths import is_path
from beam_topics.model.reading.settings import ReadSettings

# Python reads no whole number with more digits; msgspec passes over it.
_DIGITS = sys.int_info.default_max_str_digits
_LONG_NUMBER = re.compile(rb"[0-9]{%d}" % _DIGITS)
_Scalar = str | int | float


@dataclass(frozen=True)
class PlainRecords:
    """A decoder of plain records.

    Attributes:
        names: The fields.
        decode: Returns the values of a record in the order of the fields.
    """

    names: tuple[str, ...]
    decode: Callable[[bytes], Sequence[Any]]

    @classmethod
    def of(cls, settings: ReadSettings) -> PlainRecords | None:
        """Return a decoder of records; None where a field is a path, or a time is no field."""
        parse = settings.parse
        needed, texts = needed_fields(parse, True), parse.fields.texts
        names = tuple(dict.fromkeys([*needed, *parse.fields.optional()]))
        is_simple = settings.time_from == "field" and settings.records is None and len(texts) == 1
        if not is_simple or not all(map(_is_simple, names)):
            return None
        kinds = {name: str if name in texts else _Scalar for name in names}
        fields: list[Any] = [
            (f"f{at}", kinds[name]) if name in needed else (f"f{at}", kinds[name] | None, None)
            for at, name in enumerate(names)
        ]
        rename = {f"f{at}": name for at, name in enumerate(names)}
        row = msgspec.defstruct("Row", fields, rename=rename, gc=False)
        decoder, values = msgspec.json.Decoder(row), msgspec.structs.astuple
        return cls(names, lambda line: values(decoder.decode(line)))

    def record(self, line: bytes) -> Mapping[str, Any] | None:
        """Return the fields of a record; None where it is not plain."""
        if line.count(b"[") + line.count(b"{") > NESTING:
            return None
        if len(line) >= _DIGITS and _LONG_NUMBER.search(line):
            return None
        try:
            # msgspec does not check the characters that it passes over.
            if not line.isascii():
                line.decode()
            return dict(zip(self.names, self.decode(line), strict=True))
        except (ValueError, RecursionError):
            return None


def _is_simple(name: str) -> bool:
    return name.isprintable() and not is_path(name) and not {*name} & {'"', "\\"}
