"""Settings of reading. They are apart from the readers, so that options are listed without them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from beam_topics.model.reading.encodings import check_encoding
from beam_topics.model.reading.time_forms import check_form
from beam_topics.model.settings.options import MEGABYTE, Record, names_in, nested, option, time_zone
from beam_topics.model.times import check_zone

Format = Literal[
    "auto", "jsonl", "csv", "avro", "parquet", "txt", "lines", "chat", "doc", "mail", "xlsx", "feed"
]
Chats = Literal["conversation", "turn"]
Delimiter = Literal["auto", "comma", "semicolon", "tab", "bar"]
TimeFrom = Literal["field", "order", "path"]
IdFrom = Literal["field", "place"]

# The formats by the ending of a name. Those of the first group may be gzipped.
TEXT_ENDINGS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "txt",
    ".md": "txt",
    ".mbox": "mail",
    ".eml": "mail",
}
BINARY_ENDINGS = {".avro": "avro", ".parquet": "parquet", ".xlsx": "xlsx", ".xlsm": "xlsx"}
BINARY_ENDINGS |= dict.fromkeys((".rss", ".atom", ".xml"), "feed")
# Those that do not say how they are encoded, and those whose files mostly have one document.
ENCODED = ("jsonl", "csv", "txt", "lines", "chat", "doc")
SMALL = ("txt", "mail")
# Files of an export of Slack whose records are not documents.
METADATA = ("users.json", "channels.json", "groups.json", "dms.json", "mpims.json")


@dataclass(frozen=True)
class FieldNames(Record):
    """The names of the fields in the source."""

    id: str = option("id", "field with the id of a document", name="id_field", first=True)
    timestamp: str = option(
        "timestamp",
        "field with the time, in the form of --timestamp_format",
        name="timestamp_field",
        first=True,
    )
    text: str = option(
        "text",
        "field with the text of a document, or several with commas, which are joined; in nested"
        " records each is a path, for example payload.comment.body",
        name="text_field",
        first=True,
    )
    label: str = option(
        "label",
        "field with the known class, for evaluation only; records may lack it",
        name="label_field",
    )
    key: str | None = option(
        None,
        "learn one model for each value of this field; without it, one model for all",
        name="key_field",
        first=True,
    )
    source: str | None = option(
        None,
        "field with the author or other source, for --max_source_share; records may lack it",
        name="source_field",
    )
    group: str | None = option(
        None,
        "field by which --trends and --alerts group documents; records may lack it",
        name="group_field",
    )

    @property
    def texts(self) -> tuple[str, ...]:
        """The fields that make the text, in their order."""
        return _texts(self.text)

    def optional(self) -> tuple[str, ...]:
        """Return the fields that records may lack."""
        named = (self.label, self.source, self.group)
        return tuple(dict.fromkeys(field for field in named if field is not None))


@cache
def _texts(names: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names_in(names)))


@dataclass(frozen=True)
class ParseSettings(Record):
    """How a record is parsed."""

    fields: FieldNames = nested(FieldNames())
    max_document_bytes: int = option(
        10 * MEGABYTE,
        "megabytes; longer records become dead letters",
        name="max_document_mb",
        unit="bytes",
        least=1,
    )
    id_from: IdFrom = option("field", "field: --id_field; place: the file and the place in it")
    timestamp_format: str = option(
        "iso",
        "iso: ISO 8601, or seconds since 1970; s, ms, us or ns since 1970; year, quarter, excel,"
        " buddhist, rfc2822, or a form of strptime",
    )
    time_zone: str = time_zone()

    def check(self) -> None:
        check_form(self.timestamp_format)
        check_zone(self.time_zone)


@dataclass(frozen=True)
class ReadSettings(Record):
    """How sources are read; ``docs/running.md`` describes the formats."""

    parse: ParseSettings = nested(ParseSettings())
    format: Format = option("auto", "format of the files; auto: by the ending of each name")
    time_from: TimeFrom = option(
        "field",
        "field: --timestamp_field; order: the order of the records; path: the date in the path of"
        " the file, as in dt=2001-01-31",
    )
    encoding: str = option("utf-8", "encoding of text, JSON and CSV files, for example latin-1")
    chats: Chats = option(
        "conversation", "what is a document of an export of chats: a conversation, or each turn"
    )
    delimiter: Delimiter = option(
        "auto", "what is between two fields of a CSV file; auto: what cuts its rows alike"
    )
    columns: tuple[str, ...] = option(
        (), "names of the columns of CSV files that have none in their first row", unit="names"
    )
    unquoted_field: str | None = option(
        None, "column whose texts contain the delimiter without quotes"
    )

    records: str | None = option(
        None,
        "array within each record whose elements are the records, for example"
        " chats.list[].messages, or field that holds a mail; fields of the outer record are not"
        " theirs",
    )

    def check(self) -> None:
        check_encoding(self.encoding)
