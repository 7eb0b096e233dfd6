"""Read a bounded sample of some files, spread over all of them and over the whole of each.

A file of up to :data:`WHOLE` bytes is read whole. Of a larger one, the beginning and windows at
even distances are read, so that its last documents are in the sample, too. Files that cannot be
entered in the middle (UTF-16, an array on one line) give their first records. The sample of a file
holds:

* how the file is written: its encoding and, of a CSV file, the layout of its rows;
* records, with all of their fields;
* the number of its records, counted where all of it was read, else estimated by its size.

If the name of a file does not say its format, :func:`formats_of` says which formats its beginning
fits.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.errors import DamagedDataError, OptionError
from beam_topics.model.reading.delimited import LAYOUT_BYTES, CsvFile, Layout, layout_of
from beam_topics.model.reading.encodings import find_encoding, is_utf_8, to_utf_8
from beam_topics.model.reading.files import records
from beam_topics.model.reading.inner import JsonFile, inner_records, is_mail
from beam_topics.model.reading.lines import BYTE_ORDER_MARK, peeked, unix_lines, unzipped
from beam_topics.model.reading.settings import ENCODED, ReadSettings
from beam_topics.model.reading.sources import format_of
from beam_topics.model.reading.texts import choices_of

Record = Mapping[str, Any]
# The bytes of an input that is read whole, and the windows into a larger one.
WHOLE = 4 * 2**20
_WINDOWS, _WINDOW = 24, 2**16
# The most files that are opened.
_FILES = 64
# The bytes up to which a gzip is unzipped, because it cannot be entered in the middle.
_UNZIPPED = 2**28
# The records that a file without lines gives, and the fewest of one of many files.
_RECORDS, _PLACES = 5000, 40
_TABLES = ("avro", "parquet")
_GZIP = b"\x1f\x8b"
_OBJECT = re.compile(r"^([ \t]*)\{", re.MULTILINE)
# The lines of a window that are tried as the beginning of a row.
_TRIED = 40
_BINARY = {b"PAR1": "parquet", b"Obj\x01": "avro", b"PK\x03\x04": "xlsx"}
# The fewest rows of a table that is known as one, and the most files whose lines are looked at.
_ROWS, _FEW_FILES = 3, 3


@dataclass
class FileSample:
    """Some records of a file.

    Attributes:
        path: the file.
        format: how it is stored, for example ``csv``.
        size: its bytes as they are stored.
        encoding: of a text file; None if it is not known.
        layout: of a CSV file.
        records: some of its records.
        units: the unit of each field of times whose unit the file says, in microseconds.
        count: the number of its records.
        whole: whether all of the file was read.
        unread: the number of records of the sample that cannot be read.
        fault: why the first of them cannot be read.
        inner: whether the records are the elements of an array of the one object in the file.
    """

    path: str
    format: str
    size: int
    encoding: str | None = "utf-8"
    layout: Layout | None = None
    records: list[Record] = field(default_factory=list)
    units: dict[str, Fraction] = field(default_factory=dict)
    count: int = 0
    whole: bool = True
    unread: int = 0
    fault: str = ""
    inner: bool = False

    def take(self, items: Iterator[Any], most: int = _RECORDS) -> bool:
        """Keep records of some items, and return whether there were no more than ``most``."""
        taken = 0
        for item in islice(items, most):
            taken += 1
            if isinstance(item, DeadLetter):
                self.unread += 1
                self.fault = self.fault or item.detail
            else:
                self.records.append(item[1])
                self.inner = self.inner or item[0].startswith(f"{self.path} object 1 item ")
        return taken < most


@dataclass
class Samples:
    """Samples of some of the files of an input."""

    files: Sequence[str]
    size: int
    sampled: list[FileSample]

    @property
    def whole(self) -> bool:
        """Whether every record was read."""
        return len(self.sampled) == len(self.files) and all(one.whole for one in self.sampled)

    @property
    def records(self) -> list[Record]:
        """The records of all samples."""
        return [record for one in self.sampled for record in one.records]

    @property
    def documents(self) -> int:
        """The number of records of all files, an estimate unless all of them were read."""
        count = sum(one.count for one in self.sampled)
        if len(self.sampled) == len(self.files):
            return count
        if all(one.count <= 1 for one in self.sampled):
            return len(self.files)
        return round(count * self.size / max(sum(one.size for one in self.sampled), 1))


def take_samples(files: Sequence[str], settings: ReadSettings, given: Collection[str]) -> Samples:
    """Return samples of files; of many files, evenly spread ones."""
    check_formats_known(files, settings)
    count = min(len(files), _FILES)
    chosen = [files[number * (len(files) - 1) // max(count - 1, 1)] for number in range(count)]
    sampled = [sample_file(path, settings, given, 1 / count) for path in chosen]
    return Samples(files, sum(Path(path).stat().st_size for path in files), sampled)


def sample_file(
    path: str, settings: ReadSettings, given: Collection[str], part: float = 1.0
) -> FileSample:
    """Return a sample of a file."""
    sample = FileSample(path, format_of(path, settings), Path(path).stat().st_size)
    with Path(path).open("rb") as stream:
        if sample.format in ("csv", "jsonl"):
            _sample_text(sample, stream, settings, given, part)
        elif sample.format in _TABLES and sample.size:
            try:
                _sample_table(sample, stream, settings, part)
            except DamagedDataError as error:
                sample.unread, sample.fault = 1, str(error)
        else:
            _sample_others(sample, stream, settings, given, part)
    return sample


def _sample_text(
    sample: FileSample,
    stream: BinaryIO,
    settings: ReadSettings,
    given: Collection[str],
    part: float,
) -> None:
    most, places = max(round(WHOLE * part), LAYOUT_BYTES), max(round(_WINDOWS * part), 1)
    is_zipped = stream.read(len(_GZIP)) == _GZIP
    stream.seek(0)
    if is_zipped:
        head, windows, total = _zipped(stream, sample.size, most, places)
    else:
        head, total = stream.read(most), stream.seek(0, io.SEEK_END)
        windows = [] if total <= most else list(_windows(stream, total, places))
    sample.whole = total <= most
    sample.encoding = settings.encoding if "encoding" in given else find_encoding([head, *windows])
    # Line ends are found in the bytes of most encodings.
    if windows and not is_utf_8(code := sample.encoding or "utf-8"):
        windows = windows if "\n,".encode(code) == b"\n," else []
    read = _read_parts(sample, head, windows, settings, given)
    sample.count = len(sample.records) + sample.unread
    if not sample.whole:
        sample.count = round(sample.count * total / max(read, 1))


def _zipped(stream: BinaryIO, size: int, most: int, places: int) -> tuple[bytes, list[bytes], int]:
    """Return the beginning and windows of a file, unzipped, with its size or an estimate of it."""
    windows: list[bytes] = []
    head, total = bytearray(), 0
    try:
        for chunk in unzipped(stream):
            total += len(chunk)
            if len(head) < most:
                head += chunk[: most - len(head)]
            elif stream.tell() * places >= size * len(windows):
                windows.append(chunk[:_WINDOW])
            if total >= _UNZIPPED:
                total = total * size // stream.tell()
                break
    except DamagedDataError:
        pass
    return bytes(head), windows, total


def _windows(stream: BinaryIO, size: int, places: int) -> Iterator[bytes]:
    """Yield parts of a large file at even distances; the last one is its end."""
    for number in range(1, places + 1):
        stream.seek(LAYOUT_BYTES + (size - LAYOUT_BYTES - _WINDOW) * number // places)
        yield stream.read(_WINDOW)


def _read_parts(
    sample: FileSample,
    head: bytes,
    windows: Sequence[bytes],
    settings: ReadSettings,
    given: Collection[str],
) -> int:
    """Read the records of the beginning and the windows, and return the bytes that had some."""
    encoding, read = sample.encoding or "utf-8", 0
    for number, part in enumerate([head[:LAYOUT_BYTES] if windows else head, *windows]):
        text, before = _utf_8(part, encoding), len(sample.records)
        if not sample.whole:
            # The last line is cut.
            text = text[text.find(b"\n") + 1 if number else 0 : text.rfind(b"\n") + 1]
        if not number and sample.format == "csv":
            sample.layout = _layout(text, settings, given, sample.whole)
        sample.take(_items(sample, text, settings, is_window=number > 0), most=2**31)
        read += len(part) if len(sample.records) > before else 0
    if windows and read <= LAYOUT_BYTES:
        # Nothing can be read from the middle of the file on.
        sample.records.clear()
        return _read_parts(sample, head, [], settings, given)
    if not sample.whole:
        # A part may begin or end within a record.
        sample.unread, sample.fault = 0, ""
    return read


def _utf_8(data: bytes, encoding: str) -> bytes:
    try:
        return b"".join(unix_lines(to_utf_8([data], encoding)))
    except DamagedDataError:
        # A window may cut a character.
        return data.decode(encoding, "replace").encode()


def _layout(text: bytes, settings: ReadSettings, given: Collection[str], whole: bool) -> Layout:
    head = text.removeprefix(BYTE_ORDER_MARK)[:LAYOUT_BYTES].decode("utf-8", "surrogateescape")
    found = layout_of(head, settings.delimiter, whole=whole and len(text) <= LAYOUT_BYTES)
    if settings.columns:
        return replace(found, header=False, names=settings.columns)
    return found


def _items(
    sample: FileSample, part: bytes, settings: ReadSettings, *, is_window: bool
) -> Iterator[Any]:
    if (layout := sample.layout) is None:
        whole = JsonFile([part], sample.path, settings)
        return _objects(part, settings) if is_window else whole.records()
    columns = layout.names if is_window or not layout.header else ()
    part = _from_a_row(part, layout) if is_window else part
    try:
        how = replace(settings, delimiter=layout.word, columns=columns)
        return inner_records(CsvFile([part], sample.path, how).records(), settings.records)
    except DamagedDataError:
        return iter(())


def _objects(part: bytes, settings: ReadSettings) -> Iterator[tuple[str, Record]]:
    """Yield the JSON objects of a window that begin a line, and are in no other object."""
    text, decoder, at = part.decode("utf-8", "replace"), json.JSONDecoder(), 0
    begins = list(_OBJECT.finditer(text))
    depth = min((len(begin[1]) for begin in begins), default=0)
    for begin in begins:
        if len(begin[1]) == depth and begin.end() > at:
            try:
                value, at = decoder.raw_decode(text, begin.end() - 1)
            except (ValueError, RecursionError):
                continue
            found = JsonFile([json.dumps(value).encode()], "", settings).records()
            yield from (item for item in found if not isinstance(item, DeadLetter))


def _from_a_row(part: bytes, layout: Layout) -> bytes:
    """Return a window from a line on with which a row seems to begin."""
    lines = list(io.StringIO(part.decode("utf-8", "surrogateescape"), newline=""))
    for at in range(min(_TRIED, len(lines))):
        reader = csv.reader(lines[at : at + _TRIED], delimiter=layout.delimiter)
        fields = len(next(reader, []))
        # A line that ends a quoted text has one quote alone.
        whole = "".join(lines[at : at + reader.line_num]).count('"') % 2 == 0
        if whole and {fields, *map(len, islice(reader, 2))} == {layout.width}:
            return "".join(lines[at:]).encode("utf-8", "surrogateescape")
    return b""


def _sample_table(
    sample: FileSample, stream: BinaryIO, settings: ReadSettings, part: float
) -> None:
    # Imported here: most runs read no tables.
    from beam_topics.model.reading.child import Request
    from beam_topics.model.reading.tables import TableFile

    sample.encoding, wanted = None, max(round(_RECORDS * part), _PLACES)
    largest = settings.parse.max_document_bytes
    table = TableFile(stream, Request(sample.format, sample.path, largest, sample=wanted))
    items = list(table.records())
    sample.take(inner_records(items, settings.records), most=2**31)
    sample.whole = len(items) >= table.count
    sample.count = round((len(sample.records) + sample.unread) * table.count / max(len(items), 1))
    units = ((name, table.time_unit(name)) for name in table.names)
    sample.units = {name: unit for name, unit in units if unit is not None}


def _sample_others(
    sample: FileSample,
    stream: BinaryIO,
    settings: ReadSettings,
    given: Collection[str],
    part: float,
) -> None:
    """Keep the first records of a file of another format."""
    sample.encoding = settings.encoding if sample.format in ENCODED else None
    if sample.encoding is not None and "encoding" not in given:
        sample.encoding = find_encoding([peeked(unzipped(stream), LAYOUT_BYTES)[0]])
        stream.seek(0)
    read = replace(settings, encoding=sample.encoding or "utf-8")
    wanted = max(round(_RECORDS * part), _PLACES)
    sample.whole = sample.take(records(stream, sample.path, read), wanted)
    sample.count = len(sample.records) + sample.unread
    if not sample.whole:
        sample.count = round(sample.count * sample.size / max(stream.tell(), 1))


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


def formats_of(path: str, files: int) -> tuple[str, ...]:
    """Return the options of the formats that a file begins like, the most likely first."""
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
