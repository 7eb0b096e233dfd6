"""Open a file of each format as a table of records."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.errors import DamagedDataError, LimitError
from beam_topics.model.reading.chats import JsonFile
from beam_topics.model.reading.delimited import CsvFile
from beam_topics.model.reading.found_forms import listed
from beam_topics.model.reading.parsing import (
    DAMAGED,
    SCHEMA,
    TOO_LARGE,
    Table,
    dead_letter,
    wrong_names,
)
from beam_topics.model.reading.sources import Source
from beam_topics.model.reading.text_lines import DocFile, LineFile
from beam_topics.model.reading.texts import TextFile

if TYPE_CHECKING:
    from beam_topics.model.reading.mails import MailFile
    from beam_topics.model.reading.tables import TableFile


def _open_csv(source: Source) -> CsvFile | None:
    settings = source.settings
    table = CsvFile(
        source.text,
        source.path,
        settings.parse.max_document_bytes,
        delimiter=settings.delimiter,
        columns=settings.columns,
        unquoted=settings.unquoted_field,
    )
    return table if table.names else None


def _open_table(source: Source) -> TableFile:
    # Imported here, and below: most runs read none of these.
    from beam_topics.model.reading.tables import open_table

    return open_table(source)


def _open_mail(source: Source) -> MailFile:
    from beam_topics.model.reading.mails import MailFile

    return MailFile(source.unzipped, source.path, source.settings.parse.max_document_bytes)


_OPENERS: dict[str, Callable[[Source], Table | None]] = {
    "jsonl": lambda s: JsonFile(s.text, s.path, s.settings, s.part.line if s.part else None),
    "csv": _open_csv,
    "avro": _open_table,
    "parquet": _open_table,
    "txt": lambda s: TextFile(s.text, s.name, s.path, s.settings),
    "lines": lambda s: LineFile(s.text, s.path, s.settings, is_chat=False),
    "chat": lambda s: LineFile(s.text, s.path, s.settings, is_chat=True),
    "doc": lambda s: DocFile(s.text, s.path, s.settings.parse.max_document_bytes),
    "mail": _open_mail,
    "xlsx": _open_table,
}


def opened(source: Source) -> Table | DeadLetter | None:
    """Open a file.

    Returns:
        The table; a dead letter if the file cannot be read; None if it is empty.
    """
    try:
        return _OPENERS[source.kind](source)
    except DamagedDataError as error:
        if not source.stream.seek(0, 2):
            return None
        reason = TOO_LARGE if isinstance(error, LimitError) else DAMAGED
        return dead_letter(source.path, reason, f"the file cannot be read: {error}", b"")


def checked(source: Source) -> Table | DeadLetter | None:
    """Open a file, and return a dead letter also where it lacks fields."""
    table = opened(source)
    if table is None or isinstance(table, DeadLetter) or table.names is None:
        return table
    wrong = wrong_names(table.names, source.settings)
    return dead_letter(source.path, SCHEMA, wrong, listed(table.names).encode()) if wrong else table
