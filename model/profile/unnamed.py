"""Say what the format of a file may be whose name does not say it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from beam_topics.model.errors import DamagedDataError, OptionError
from beam_topics.model.reading.delimited import LAYOUT_BYTES, layout_of
from beam_topics.model.reading.encodings import find_encoding
from beam_topics.model.reading.files import format_of
from beam_topics.model.reading.inner import is_mail
from beam_topics.model.reading.lines import peeked, unzipped
from beam_topics.model.reading.settings import ReadSettings
from beam_topics.model.reading.text_lines import choices_of

_BINARY = {b"PAR1": "parquet", b"Obj\x01": "avro", b"PK\x03\x04": "xlsx"}
# The fewest rows of a table that is known as one, and the most files whose lines are looked at.
_ROWS, _FEW_FILES = 3, 3


def check_formats_known(files: Sequence[str], settings: ReadSettings) -> None:
    """Check that the name of each file says its format, or ``--format`` does.

    Raises:
        OptionError: one does not. The message names the formats that the beginning of it fits.
    """
    for path in files:
        try:
            format_of(path, settings)
        except OptionError:
            if not (choices := formats_of(path, len(files))):
                raise
            allowed = "a file whose ending says its format, as .jsonl, .csv and .txt do"
            remedy = f"Give {' or '.join(choices)}."
            raise OptionError("--input", path, allowed, remedy) from None


def formats_of(path: str, files: int = 1) -> tuple[str, ...]:
    """Return the options of the formats that the beginning of a file fits, the most likely first.

    Args:
        path: the file.
        files: the number of files. Lines of many files are not looked at.
    """
    try:
        with Path(path).open("rb") as stream:
            head = peeked(unzipped(stream), LAYOUT_BYTES)[0]
    except (DamagedDataError, OSError):
        return ()
    for mark, kind in _BINARY.items():
        if head.startswith(mark):
            return (f"--format={kind}",)
    encoding = find_encoding([head])
    if not head.strip() or encoding is None or (b"\0" in head and encoding == "utf-8"):
        return ()
    text = head.decode(encoding, "replace")
    if _is_json(text):
        return ("--format=jsonl",)
    if is_mail(text) or text.startswith("From "):
        return ("--format=mail", "--format=txt")
    _, choices = choices_of([text] if files == 1 else [text] * 2)
    if choices and (files <= _FEW_FILES or choices[0] == "--format=doc"):
        return ("--format=csv", *choices) if _is_table(text) else choices
    return ("--format=csv", "--format=txt") if _is_table(text) else ("--format=txt",)


def _is_json(text: str) -> bool:
    begin = text.lstrip("\ufeff \t\r\n")
    with suppress(ValueError, RecursionError):
        json.JSONDecoder().raw_decode(begin)
        return begin[:1] in ("{", "[")
    # The value may be longer than what was read.
    return begin[:1] in ("{", "[") and begin[1:].lstrip()[:1] in ('"', "{", "[")


def _is_table(text: str) -> bool:
    found = layout_of(text, "auto", whole=False)
    return found.header and found.width > 1 and not found.others and text.count("\n") >= _ROWS
