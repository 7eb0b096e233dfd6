"""Read Avro, Parquet, Excel and feeds in another process: the program of that process.

:class:`beam_topics.model.reading.tables.TableFile` starts it. Its standard input is a socket, which
gives the open file and a :class:`Request` for it. Its standard output has lines of JSON:

* first ``{"names": ..., "units": ..., "count": ...}``, or ``{"fault": [reason, detail]}``
* ``[number, byte]`` before the items of a block: of Avro, a row group of Parquet, or some rows
* the place, a tab, and the record
* ``[place, reason, detail]`` for what cannot be read
* at the end ``true`` where it waits for another file, and ``false`` where it ends

A process takes a fifth of a second to start, so one process reads many small files, one after the
other. A file that is large or has a fault is the last one of its process. Each file has the same
limits. The memory of the process is bounded by the size of the file (:func:`memory_of`), and its
time on the processor by the bytes that it has read and written (:func:`seconds_of`). Exceeding the
memory mostly raises an exception, which costs its block. Otherwise, and when the time is over, the
system ends the process, and the caller reports it.
"""

from __future__ import annotations

import gc
import json
import os
import re
import resource
import signal
import socket
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from beam_topics.model.errors import DamagedDataError, LimitError

MEGABYTE = 10**6
# The address space of the process, of which Python and the libraries take 330 MB: that for small
# files, and for each of their bytes, and the most.
_MEMORY, _MEMORY_OF_BYTE, _MOST_MEMORY = 830 * MEGABYTE, 8, 1500 * MEGABYTE
# Seconds of the processor, and those for a megabyte of the file or of its records. Workbooks take
# most.
SECONDS, SECONDS_OF_MEGABYTE = 30, 5
REMEDY = "Write the file again with smaller blocks or row groups, or as JSON, one record a line"
DAMAGED, TOO_LARGE = "damaged", "too_large"
# The memory for the largest documents of a batch of Parquet.
_BATCH = 200 * MEGABYTE
_MOST_CHARACTERS = 300
# A process reads on after a file of at most this many bytes, if it never had more than this many
# kilobytes of memory, and waits this many seconds for the next one.
_SMALL, _LEAN, _WAITED = 8 * MEGABYTE, 300_000, 5.0
LENGTH_BYTES = 8


@dataclass(frozen=True)
class Request:
    """What is to be read.

    Attributes:
        format: ``avro``, ``parquet``, ``xlsx`` or ``feed``.
        name: The name of the file, for places.
        largest: The bytes of the largest document.
        wanted: The columns of Parquet that are read; None for all.
        sample: About how many records are read, evenly spread; None for all.
        start: The number and the first byte of the block of Avro to begin with.
    """

    format: str
    name: str
    largest: int
    wanted: tuple[str, ...] | None = None
    sample: int | None = None
    start: tuple[int, int] = (1, 0)

    def to_json(self) -> str:
        """Return the request as the argument of the program."""
        return json.dumps(asdict(self))


class _Answers:
    """The lines for the caller."""

    def __init__(self, out: BinaryIO, longest: int, size: int) -> None:
        self._out, self._longest, self._size = out, longest, size
        self._bytes = self._timed = size
        self.sound = True

    def begin(self, number: int, byte: int) -> None:
        """Begin a block; what was read before it reaches the caller, whatever the block does."""
        self.write([number, byte])
        self._out.flush()

    def add(self, item: Any) -> None:
        """Write a record, or what cannot be read and why."""
        if len(item) == 2:
            try:
                self._record(item)
                return
            except Exception as error:  # too deep, too large, or no JSON
                item = item[0], "the record cannot be read", error
        place, what, fault = item
        self.sound = False
        reason, detail = _why(fault, self._size)
        self.write([place, reason, f"{what}: {detail}"])

    def _record(self, item: tuple[str, dict[str, Any]]) -> None:
        place, record = map(_json, item)
        # JSON has no tab between its values, and writes one in a text as an escape.
        line = place + b"\t" + record + b"\n"
        if len(line) > self._longest:
            raise LimitError(f"it has more than {self._longest} bytes")
        self._out.write(line)
        self._bytes += len(line)
        if self._bytes >= self._timed + MEGABYTE:
            limit_time(self._bytes)
            self._timed = self._bytes

    def write(self, answer: Any) -> None:
        """Write one line."""
        self._out.write(_json(answer) + b"\n")


def _json(answer: Any) -> bytes:
    # Values that JSON does not have are not text, and stay so.
    text = json.dumps(
        answer, ensure_ascii=False, default=lambda value: {type(value).__name__: str(value)}
    )
    return text.encode("utf-8", "surrogatepass")


def _why(error: Exception, size: int) -> tuple[str, str]:
    """Return the reason of a dead letter for an error in a file of a size, and what it says."""
    if isinstance(error, MemoryError):
        limit = f"{memory_of(size) // MEGABYTE} MB of memory"
        return TOO_LARGE, f"it takes more than {limit}, the limit for its file. {REMEDY}"
    text = str(error)[:_MOST_CHARACTERS]
    reason = TOO_LARGE if isinstance(error, LimitError) else DAMAGED
    return reason, text if isinstance(
        error, DamagedDataError
    ) else f"{type(error).__name__}: {text}"


def memory_of(size: int) -> int:
    """Return the bytes of memory that the process for a file of this size may have."""
    return min(_MEMORY + _MEMORY_OF_BYTE * size, _MOST_MEMORY)


def seconds_of(size: int) -> int:
    """Return the processor seconds for these bytes of a file and of its records."""
    return SECONDS + SECONDS_OF_MEGABYTE * size // MEGABYTE


# The seconds of the processor that the files before have taken.
_SPENT = [0]


def limit_time(size: int) -> None:
    """Give this process the time for these bytes of its file, since the file began."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (_SPENT[0] + seconds_of(size), hard))


def _opened(request: Request, stream: BinaryIO) -> tuple[Any, int, Iterator[Any]]:
    """Return the file, the number of its records if a sample is wanted, and its blocks."""
    first: tuple[Any, ...] = ()
    # Imported here: each takes as long as all the rest.
    if request.format == "avro":
        from beam_topics.model.reading.avro import AvroFile

        file: Any = AvroFile(stream, request.name)
        first = request.start[0], request.start[1] or None
    elif request.format == "xlsx":
        from beam_topics.model.reading.sheets import SheetTable

        file = SheetTable(stream, request.name)
    elif request.format == "feed":
        from beam_topics.model.reading.feeds import FeedTable

        file = FeedTable(stream, request.name)
    else:
        from beam_topics.model.reading.parquet import ParquetTable

        rows = _BATCH // max(request.largest, 1)
        file = ParquetTable(stream, request.name, request.wanted, rows)
    if request.sample is not None:
        return file, *file.sample(request.sample)
    return file, 0, file.blocks(*first)


def _asked(asking: socket.socket) -> tuple[Request, int] | None:
    """Return the next request and its open file; None when there are no more."""
    try:
        head, files, _, _ = socket.recv_fds(asking, LENGTH_BYTES, 1)
    except TimeoutError:
        return None
    if not files:
        return None
    with asking.makefile("rb") as lines:
        return Request(**json.loads(lines.read(int.from_bytes(head, "big")))), files[0]


def _read(request: Request, stream: BinaryIO) -> bool:
    """Read a file, and return whether the process may read another one."""
    size = os.fstat(stream.fileno()).st_size
    used = resource.getrusage(resource.RUSAGE_SELF)
    _SPENT[0] = int(used.ru_utime + used.ru_stime)
    resource.setrlimit(resource.RLIMIT_AS, (memory_of(size), _MOST_MEMORY))
    limit_time(size)
    answers = _Answers(sys.stdout.buffer, 2 * max(request.largest, 32 * MEGABYTE), size)
    stream.seek(0)
    try:
        file, count, blocks = _opened(request, stream)
    except Exception as error:  # the libraries raise whatever the damage leads to
        answers.write({"fault": _why(error, size)})
        return False
    answers.write({"names": file.names, "units": file.units, "count": count})
    for number, byte, items in blocks:
        answers.begin(number, byte)
        for item in items:
            answers.add(item)
    more = answers.sound and size <= _SMALL and peak() <= _LEAN
    answers.write(more)
    return more


def peak() -> int:
    """Return the most memory that this process has had, in kilobytes.

    The maximum of ``getrusage`` has that of the process which started this one in it.
    """
    found = re.search(r"^VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(found[1]) if found else 0


def main() -> None:
    """Read the files that come through the socket that is standard input."""
    # Nothing here makes many cycles, and a search for them takes long where values are many.
    gc.disable()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with socket.socket(fileno=os.dup(0)) as asking:
        asking.settimeout(_WAITED)
        more = True
        while more and (asked := _asked(asking)) is not None:
            with os.fdopen(asked[1], "rb") as stream:
                more = _read(asked[0], stream)
            sys.stdout.buffer.flush()
            gc.collect()


if __name__ == "__main__":
    main()
