"""Read Avro, Parquet, Excel and feeds, in processes with limits.

fastavro, Arrow, openpyxl and feedparser trust what a file says of itself: some kilobytes can take
gigabytes of memory, hours of time, or the stack of a process. So
:mod:`beam_topics.model.reading.child` reads them in another process, with limits of memory and
processor time for each file, and passes the records on. A process that the system ends gives one
dead letter after the records that it has read. A process that has read a small file without a
fault waits some seconds for the next one.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, BinaryIO

from beam_topics.model.documents.document import DeadLetter, Document
from beam_topics.model.errors import DamagedDataError, LimitError, SourceError
from beam_topics.model.reading import time_forms
from beam_topics.model.reading.child import (
    LENGTH_BYTES,
    MEGABYTE,
    REMEDY,
    SECONDS,
    SECONDS_OF_MEGABYTE,
    TOO_LARGE,
    Request,
    memory_of,
)
from beam_topics.model.reading.parsing import DAMAGED, Placed, Table, dead_letter, needed_fields
from beam_topics.model.reading.paths import root_of
from beam_topics.model.reading.plain_records import found_by, json_reader
from beam_topics.model.reading.settings import ReadSettings
from beam_topics.model.reading.sources import Source
from beam_topics.model.times import DURATION_UNITS

# The number and the first byte of a block.
Block = tuple[int, int]

# Microseconds in the units of times that schemas declare.
UNITS = time_forms.UNITS | {"d": Fraction(DURATION_UNITS["d"])}
# The signals by which a process ends that has exceeded its time, its stack or its memory. Others
# come from elsewhere.
_OWN = (signal.SIGXCPU, signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE)


class _Child:
    """A process that reads files. It is ended when nothing refers to this object."""

    def __init__(self) -> None:
        self.asking, its_end = socket.socketpair()
        with its_end:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "beam_topics.model.reading.child"],
                stdin=its_end.fileno(),
                stdout=subprocess.PIPE,
                bufsize=2**16,
                # It finds this project and the libraries where this process does. Arrow's own
                # allocator reserves more than it needs.
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(sys.path),
                    "ARROW_DEFAULT_MEMORY_POOL": "system",
                },
                # Ctrl-C is for this process, which then ends the other one.
                start_new_session=True,
            )
        self.owner = os.getpid()
        weakref.finalize(self, _close, self.process, self.asking)

    def ask(self, request: bytes, file: BinaryIO) -> bool:
        """Ask for a file, and return whether the process is there."""
        if self.owner != os.getpid() or self.process.poll() is not None:
            return False
        try:
            head = len(request).to_bytes(LENGTH_BYTES, "big")
            socket.send_fds(self.asking, [head], [file.fileno()])
            self.asking.sendall(request)
        except OSError:
            return False
        return True


# Processes that wait for a file.
_WAITING: list[_Child] = []


class TableFile(Table):
    """An open Avro, Parquet or Excel file, or a feed.

    Attributes:
        names: The names of the fields of its records.
        count: The number of its records if the request is a sample.

    Raises:
        DamagedDataError: The beginning of the file, or its footer, cannot be read.
        LimitError: That takes more than the limits allow.
        SourceError: The process was ended from outside, or cannot read any file.
    """

    def __init__(self, stream: BinaryIO, request: Request) -> None:
        self._name, self._is_read = request.name, False
        with _on_disk(stream) as file:
            self._memory = memory_of(os.fstat(file.fileno()).st_size)
            head = self._asked(request.to_json().encode(), file)
        if head is None or "fault" in head:
            fault = head["fault"] if head else self._ended()
            reason, detail = fault or (DAMAGED, "its process ended at once")
            raise (LimitError if reason == TOO_LARGE else DamagedDataError)(detail)
        self.names: tuple[str, ...] = tuple(head["names"])
        self.count: int = head["count"]
        self._units = head["units"]

    def _asked(self, request: bytes, file: BinaryIO) -> Any:
        """Ask a process for the file, and return its first answer; None if the file ended it."""
        while True:
            waiting = _WAITING.pop() if _WAITING else None
            self._child = waiting or _Child()
            self._process = self._child.process
            if self._child.ask(request, file) or waiting is None:
                head = next(self._lines(), None)
                # One that has waited too long ends without an answer.
                if head is not None or waiting is None or self._process.wait():
                    return json.loads(head) if head else None

    def time_unit(self, field: str) -> Fraction | None:
        """Return the microseconds in one unit of a field of times; None for other types."""
        return UNITS[self._units[field]] if field in self._units else None

    def items(self) -> Iterator[tuple[str, bytes] | DeadLetter]:
        """Yield each record as JSON, and dead letters. Read them once."""
        return (item for _, item in self._written())

    def records_of(self, place: str, item: bytes) -> Iterator[Placed]:
        yield place, json.loads(item)

    def placed(self) -> Iterator[tuple[Block, Placed | DeadLetter]]:
        """Yield each record and dead letter with its block."""
        for block, item in self._written():
            yield block, item if isinstance(item, DeadLetter) else (item[0], json.loads(item[1]))

    def found(self, settings: ReadSettings) -> Iterator[Placed | Document | DeadLetter]:
        reader = json_reader(settings, self.time_unit(settings.parse.fields.timestamp))
        return found_by(reader, self.items(), self.records_of)

    def _written(self) -> Iterator[tuple[Block, tuple[str, bytes] | DeadLetter]]:
        """Yield each record as the JSON that the process wrote, and dead letters."""
        block = 0, 0
        for line in self._lines():
            before, tab, record = line.partition(b"\t")
            answer = json.loads(before)
            if tab:
                yield block, (answer, record)
            elif isinstance(answer[0], int):
                block = answer[0], answer[1]
            else:
                place, reason, detail = answer
                yield block, dead_letter(place, reason, detail, b"")
        if ended := self._ended():
            reason, detail = ended
            what = f"the rest of the file cannot be read: {detail}"
            yield block, dead_letter(self._name, reason, what, b"")

    def _lines(self) -> Iterator[bytes]:
        assert self._process.stdout is not None, "it is a pipe"
        for line in self._process.stdout:
            if line in (b"true\n", b"false\n"):
                self._is_read = True
                if line == b"true\n":
                    _WAITING.append(self._child)
                    del self._child
                return
            # The last line of a process that was ended may be cut.
            if line.endswith(b"\n"):
                yield line[:-1]

    def _ended(self) -> tuple[str, str] | None:
        """Return the reason and the detail if the process exceeded a limit; None if all is read.

        Raises:
            SourceError: It ended for a reason that is not in the file.
        """
        if self._is_read:
            return None
        status = self._process.wait()
        if status == -signal.SIGXCPU:
            more = f"{SECONDS_OF_MEGABYTE} more for each megabyte of the file and of its records"
            limit = f"{SECONDS} seconds of the processor and {more}"
            return TOO_LARGE, f"it takes more than {limit}. {REMEDY}"
        if -status in _OWN:
            name, limit = signal.Signals(-status).name, f"{self._memory // MEGABYTE} MB of memory"
            detail = f"it ended its process ({name}), which may have {limit}"
            return DAMAGED, f"{detail}. {REMEDY}"
        if status:
            how = f"a signal ({-status})" if status < 0 else f"status {status}"
            raise SourceError(
                f"the process that read {self._name} ended with {how}, for a reason outside of the"
                " file. Run again, with more free memory"
            )
        return None


def _close(process: subprocess.Popen[bytes], asking: socket.socket) -> None:
    """End a process that may still read, because nobody wants the rest."""
    with asking, process:
        process.kill()


def _on_disk(stream: BinaryIO) -> BinaryIO:
    """Return a file that another process can read: another handle of the stream, or a copy."""
    try:
        return os.fdopen(os.dup(stream.fileno()), "rb")
    except (AttributeError, OSError):
        stream.seek(0)
        copy: Any = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
        shutil.copyfileobj(stream, copy)
        copy.flush()
        return copy


def open_table(source: Source) -> TableFile:
    """Open a file, with the fields that are needed of its records."""
    settings = source.settings
    needed = needed_fields(settings.parse, settings.time_from == "field")
    # Literal names with points are wanted, too; a file without one gives the outermost field.
    named = [settings.records] if settings.records else [*needed, *settings.parse.fields.optional()]
    wanted = None if source.every_field else (*named, *map(root_of, named))
    largest = settings.parse.max_document_bytes
    request = Request(source.kind, source.path, largest, wanted, start=source.start)
    return TableFile(source.stream, request)
