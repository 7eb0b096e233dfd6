r"""Read mails: one that is a file of its own (.eml, Maildir), or all of a mailbox (mbox, RFC 4155).

A file is a mailbox if its first line begins with ``From `` and has a time. Each such line after a
blank line begins a mail. The fields of a record are ``id`` (Message-ID, or the digest of the
place), ``timestamp`` (Date, or else that of the newest Received), ``text`` (the subject and the
body), ``subject`` and ``from``. The time in the line of the mailbox is not used: programs write
there when they copied the mail.

The body is the first part that is plain text, or else HTML without its tags. Attachments are not
read. Of a mail larger than a document may be, only the beginning is read, which has the body if
attachments are what makes it large.

>>> mail = b"Message-ID: <1@x>\nDate: Fri, 01 Jan 2010 00:00:00 +0000\nSubject: Tea\n\nYes.\n"
>>> [record["text"] for _, record in MailFile([mail], "a.eml", 1000).records()]
['Tea\n\nYes.\n']
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from email import message_from_bytes
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import Any

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.reading.lines import BYTE_ORDER_MARK, HEAD
from beam_topics.model.reading.parsing import (
    DAMAGED,
    NESTING,
    TOO_LARGE,
    Table,
    dead_letter,
    place_id,
    too_large,
)
from beam_topics.model.words.cleaning import without_html

# The line before a mail of a mailbox has a time and a year.
_BEGIN = re.compile(rb"From [^\n]{0,200}\d\d:\d\d[^\n]{0,40}\d{4}[^\n]{0,40}\r?\n")
_NEXT = re.compile(rb"(?:(?<=\n\n)|(?<=\n\r\n))" + _BEGIN.pattern)
# Mailboxes mark lines that begin like the one before a mail.
_MARKED = re.compile(rb"^>(?=>*From )", re.MULTILINE)
# What Python's parser takes quadratic time for, or recursion, where it is long or nested.
_KIND = re.compile(
    rb"^content-(?:type|disposition|transfer-encoding):((?:[^\n]*\n[ \t])*[^\n]*)",
    re.MULTILINE | re.IGNORECASE,
)
_CONTAINER = re.compile(rb"\s*(?:multipart|message)/", re.IGNORECASE)
_OVERLAP = 512
_LONGEST_HEADER = 10_000
# Encodings whose decoders take quadratic time.
_SLOW = ("punycode", "idna")


class MailFile(Table):
    """An open mail or mailbox.

    Args:
        chunks: The bytes, unzipped. They may raise DamagedDataError.
        name: The name of the file. The place ``name mail 17`` is the 17th of a mailbox.
        max_bytes: How much of a mail is read.
    """

    def __init__(self, chunks: Iterable[bytes], name: str, max_bytes: int) -> None:
        self._chunks, self._name, self._max = chunks, name, max_bytes
        self._damage: str | None = None

    def records(self) -> Iterator[tuple[str, dict[str, Any]] | DeadLetter]:
        """Yield (place, record) of each mail, and dead letters."""
        number = 0
        for number, (data, size) in enumerate(self._mails(), 1):
            place = f"{self._name} mail {number}"
            try:
                record = _record(data, size > len(data), place)
            except _CutError:
                limit = too_large(size, self._max)
                yield dead_letter(place, TOO_LARGE, limit, data[:HEAD])
            except (MessageError, ValueError, LookupError, RecursionError, TypeError) as error:
                yield dead_letter(place, DAMAGED, f"the mail cannot be read: {error}", data[:HEAD])
            else:
                yield place, record
        if self._damage is not None:
            detail = f"{self._damage}; the rest of the file cannot be read"
            yield dead_letter(f"{self._name} mail {number + 1}", DAMAGED, detail, b"")

    def _mails(self) -> Iterator[tuple[bytes, int]]:
        """Yield the beginning of each mail, and its whole size."""
        chunks, buffer = self._undamaged(), b""
        while len(buffer) < _OVERLAP and (chunk := next(chunks, b"")):
            buffer += chunk
        buffer = buffer.removeprefix(BYTE_ORDER_MARK)
        begin = _BEGIN.match(buffer)
        at, held, size = begin.end() if begin else 0, bytearray(), 0
        is_last = not buffer
        while not is_last:
            chunk = next(chunks, b"")
            is_last = not chunk
            for found in _NEXT.finditer(buffer, at) if begin else ():
                held += buffer[at : found.start()][: max(self._max - len(held), 0)]
                yield bytes(held), size + found.start() - at
                held.clear()
                at, size = found.end(), 0
            # A line that may go on in the next bytes stays, with the blank line before it.
            end = len(buffer) if is_last else max(at, len(buffer) - _OVERLAP)
            held += buffer[at:end][: max(self._max - len(held), 0)]
            size += end - at
            kept = max(end - len("\n\r\n"), 0)
            buffer, at = buffer[kept:] + chunk, end - kept
        if size or begin:
            yield bytes(held), size

    def _undamaged(self) -> Iterator[bytes]:
        try:
            yield from self._chunks
        except DamagedDataError as error:
            self._damage = str(error)


class _CutError(Exception):
    """The body of a mail is larger than a document may be."""


def _record(data: bytes, is_cut: bool, place: str) -> dict[str, Any]:
    containers = 0
    for kind in _KIND.finditer(data):
        containers += _CONTAINER.match(kind[1]) is not None
        if containers > NESTING or len(kind[1]) > _LONGEST_HEADER:
            raise ValueError(f"it has more than {NESTING} parts with parts, or too long a header")
    message = message_from_bytes(_MARKED.sub(b"", data))
    leaves = [part for part in message.walk() if not part.is_multipart()]
    body = _body(leaves)
    if is_cut and body is leaves[-1]:
        raise _CutError
    subject = _header(message, "subject")
    text = "" if body is None else _text(body)
    return {
        "id": _header(message, "message-id").strip(" <>") or place_id(place),
        "timestamp": _time(message),
        "text": f"{subject}\n\n{text}",
        "subject": subject,
        "from": _header(message, "from"),
    }


def _body(leaves: list[Message]) -> Message | None:
    shown = [part for part in leaves if part.get_content_disposition() != "attachment"]
    for kind in ("text/plain", "text/html"):
        for part in shown:
            if part.get_content_type() == kind:
                return part
    return None


def _text(part: Message) -> str:
    data = part.get_payload(decode=True)
    text = _decoded(data if isinstance(data, bytes) else b"", part.get_content_charset())
    return without_html(text) if part.get_content_type() == "text/html" else text


def _decoded(data: bytes, charset: str | None) -> str:
    """Return a text in a charset, or in the one of UTF-8 and Windows-1252 that fits."""
    for name in (charset or "utf-8", "utf-8"):
        try:
            if codecs.lookup(name).name not in _SLOW:
                return data.decode(name)
        except (LookupError, ValueError):
            continue
    return data.decode("cp1252", "replace")


def _header(message: Message, name: str) -> str:
    raw = next((value for field, value in message.raw_items() if field.lower() == name), "")
    text = _decoded(str(raw)[:_LONGEST_HEADER].encode("utf-8", "surrogateescape"), None)
    if "=?" in text:
        with suppress(MessageError, LookupError, ValueError):
            text = str(make_header(decode_header(text)))
    return " ".join(text.split())


def _time(message: Message) -> str | None:
    """Return the time of a mail in ISO 8601, or the text that cannot be read as one."""
    said = _header(message, "date")
    for value in (said, _header(message, "received").rpartition(";")[2]):
        try:
            return parsedate_to_datetime(value).isoformat()
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    return said or None
