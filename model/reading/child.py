"""Read an Avro, Parquet or Excel file in a process of its own: the program of that process.

:class:`beam_topics.model.reading.tables.TableFile` starts it. Its standard input is the file, its
argument a :class:`Request` as JSON, and its standard output lines of JSON:

* first ``{"names": ..., "units": ..., "count": ...}``, or ``{"fault": [reason, detail]}``
* ``[number, byte]`` before the items of a block: of Avro, a row group of Parquet, or some rows
* ``[place, record]`` for a record
* ``[place, reason, detail]`` for what cannot be read

The process has at most :data:`MEMORY` bytes, and :data:`SECONDS` of the processor for each block
that has a record. What exceeds the memory is mostly an exception, which costs its block. Where it
is not, and where the time is over, the system ends the process, and the caller says so.
"""

from __future__ import annotations

import gc
import json
import resource
import signal
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO

from beam_topics.model.errors import DamagedDataError, LimitError

MEGABYTE = 10**6
# The address space of the process, of which Python and the libraries take 330 MB.
MEMORY = 1500 * MEGABYTE
SECONDS = 30
DAMAGED, TOO_LARGE = "damaged", "too_large"
# The memory for the largest documents of a batch of Parquet.
_BATCH = 500 * MEGABYTE
_MOST_CHARACTERS = 300


@dataclass(frozen=True)
class Request:
    """What is to be read.

    Attributes:
        format: ``avro``, ``parquet`` or ``xlsx``.
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

    def __init__(self, out: BinaryIO, longest: int) -> None:
        self._out, self._longest = out, longest
        self._is_extended = False

    def begin(self, number: int, byte: int) -> None:
        """Begin a block; what was read before it reaches the caller, whatever the block does."""
        self.write([number, byte])
        self._out.flush()
        self._is_extended = False

    def add(self, item: Any) -> None:
        """Write a record, or what cannot be read and why."""
        if len(item) == 2:
            try:
                self._record(item)
                return
            except Exception as error:  # too deep, too large, or no JSON
                item = item[0], "the record cannot be read", error
        place, what, fault = item
        reason, detail = _why(fault)
        self.write([place, reason, f"{what}: {detail}"])

    def _record(self, item: tuple[str, dict[str, Any]]) -> None:
        line = _line(item)
        if len(line) > self._longest:
            raise LimitError(f"it has more than {self._longest} bytes")
        self._out.write(line)
        if not self._is_extended:
            limit_time()
            self._is_extended = True

    def write(self, answer: Any) -> None:
        """Write one line."""
        self._out.write(_line(answer))


def _line(answer: Any) -> bytes:
    # Values that JSON does not have are no text, and stay so.
    text = json.dumps(
        answer, ensure_ascii=False, default=lambda value: {type(value).__name__: str(value)}
    )
    return text.encode("utf-8", "surrogatepass") + b"\n"


def _why(error: Exception) -> tuple[str, str]:
    """Return the reason of a dead letter for an error, and what it says."""
    if isinstance(error, MemoryError):
        return TOO_LARGE, f"it takes more than {MEMORY // MEGABYTE} MB of memory"
    text = str(error)[:_MOST_CHARACTERS]
    reason = TOO_LARGE if isinstance(error, LimitError) else DAMAGED
    return reason, text if isinstance(
        error, DamagedDataError
    ) else f"{type(error).__name__}: {text}"


def limit_time() -> None:
    """Give this process so many seconds of the processor from now on."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    used = resource.getrusage(resource.RUSAGE_SELF)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + SECONDS, hard))


def _opened(request: Request, stream: BinaryIO) -> tuple[Any, int, Iterator[Any]]:
    """Return the file, the number of its records if a sample is wanted, and its blocks."""
    # Imported here: each takes as long as all the rest.
    if request.format == "avro":
        from beam_topics.model.reading.avro import AvroFile

        file: Any = AvroFile(stream, request.name)
        blocks = file.blocks(request.start[0], request.start[1] or None)
    elif request.format == "xlsx":
        from beam_topics.model.reading.sheets import SheetTable

        file = SheetTable(stream, request.name)
        blocks = file.blocks()
    else:
        from beam_topics.model.reading.parquet import ParquetTable

        rows = _BATCH // max(request.largest, 1)
        file = ParquetTable(stream, request.name, request.wanted, rows)
        blocks = file.blocks()
    return file, *((0, blocks) if request.sample is None else file.sample(request.sample))


def main() -> None:
    """Read the file that is standard input."""
    # Nothing here makes cycles, and a search for them takes long where values are many.
    gc.disable()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    limit_time()
    request, stream = Request(**json.loads(sys.argv[1])), sys.stdin.buffer
    answers = _Answers(sys.stdout.buffer, 2 * max(request.largest, 32 * MEGABYTE))
    stream.seek(0)
    try:
        file, count, blocks = _opened(request, stream)
    except Exception as error:  # the libraries raise whatever the damage leads to
        answers.write({"fault": _why(error)})
        return
    answers.write({"names": file.names, "units": file.units, "count": count})
    for number, byte, items in blocks:
        answers.begin(number, byte)
        for item in items:
            answers.add(item)


if __name__ == "__main__":
    main()
