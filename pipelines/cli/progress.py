"""Progress while a graph runs: one line in a terminal, a line now and then in a pipe.

On a local runner the records of ``beam_topics.progress`` and ``beam_topics.fitting`` arrive in this
process, and :func:`progress` shows the newest, with per cent and the time that is left where the
number of documents is known. While numba compiles, the line says so. Reports of coverage are summed
up at the end. Events are printed in one line a version, the first ones. The wall clock is used here
only, for rates and times.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from numba.core import event
from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from beam_topics.model.errors import counted
from beam_topics.model.times import DURATION_UNITS
from beam_topics.pipelines.cli.terminal import day, plain

LOGGER = "beam_topics.progress"
FITTING = "beam_topics.fitting"
COVERAGE = "beam_topics.coverage"
EVENTS = "beam_topics.events"
WORKING = "working"
_SECONDS_BETWEEN_LINES = 5.0
# The order of records in place of times begins in 1970, a second for each.
_SECOND_DAY = DURATION_UNITS["d"]
# Records that the rate is of.
_RECENT = 8


class Progress(logging.Handler):
    """A log handler that keeps the newest record of each (key, island) and formats a line."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._newest: dict[tuple[str, int], logging.LogRecord] = {}
        self._began = time.monotonic()
        self._read = 0
        self._said = ""
        # When records came, and how many documents were learned by then.
        self._course: deque[tuple[float, int]] = deque(maxlen=_RECENT)

    def emit(self, record: logging.LogRecord) -> None:
        if hasattr(record, "read"):
            self._read += record.read
            if time.monotonic() - self._began >= _SECONDS_BETWEEN_LINES:
                self.changed(f"read {counted(self._read, 'document')}")
            return
        if not hasattr(record, "event_time"):
            self._said = record.getMessage()
            self.changed(self._said)
            return
        self._newest[record.key, record.island] = record
        self._course.append((time.monotonic(), self._learned()))
        self.changed(self.line())

    def changed(self, line: str) -> None:
        """Handle a new line."""

    def line(self) -> str:
        """Return event time, documents, rate, time that is left, and words."""
        if not self._newest:
            return self._said or WORKING
        records = self._newest.values()
        last = max(records, key=lambda record: (record.event_time, record.sequence))
        documents, words = self._learned(), f"{last.words:,} words"
        until = [] if last.event_time < _SECOND_DAY else [f"up to {day(last.event_time)}"]
        parts = [*until, self._share(documents), *self._rates(), words]
        return "  ".join(parts)

    def _learned(self) -> int:
        """Return how many documents were learned in every island."""
        records = self._newest.values()
        # The counts are of this process, which learns each document once for each island.
        islands = len({record.island for record in records})
        return int(max(record.documents for record in records)) // islands

    def _share(self, documents: int) -> str:
        if documents >= self._read:
            return counted(documents, "document")
        return f"{documents / self._read:.0%} of {counted(self._read, 'document')}"

    def _rates(self) -> list[str]:
        """Return documents a second and the time that is left, as the last records came.

        The first documents take longer than later ones: compilation, and more visits of each.
        """
        (begin, first), (end, last) = self._course[0], self._course[-1]
        if last <= first:
            return []
        rate = (last - first) / max(end - begin, 1e-3)
        left = (self._read - last) / rate
        return [f"{rate:,.0f} documents/s", *([f"{_length(left)} left"] if left > 0 else [])]


def _length(seconds: float) -> str:
    """Return a length of time in one unit."""
    for size, name in ((3600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} s"


class _TerminalProgress(Progress):
    def __init__(self, live: Live, spinner: Spinner) -> None:
        super().__init__()
        self._live, self._spinner = live, spinner

    def changed(self, line: str) -> None:
        self._spinner.update(text=Text(line))


class _PipeProgress(Progress):
    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console, self._last, self._line = console, -_SECONDS_BETWEEN_LINES, ""

    def changed(self, line: str) -> None:
        if line != self._line and time.monotonic() - self._last >= _SECONDS_BETWEEN_LINES:
            self._last, self._line = time.monotonic(), line
            self._console.print(line)


class _Events(logging.Handler):
    """A log handler that prints the events of the first versions, and counts the others."""

    MOST = 10

    def __init__(self, console: Console) -> None:
        super().__init__(logging.INFO)
        self._console, self._said = console, 0

    def emit(self, record: logging.LogRecord) -> None:
        self._said += 1
        if self._said <= self.MOST:
            self._console.print(plain(record.getMessage()))

    def sum_up(self) -> None:
        """Print how many versions had events, where not all were printed."""
        if self._said > self.MOST:
            more = f"{self._said - self.MOST:,} more versions have events"
            self._console.print(plain(f"{more}, which beam-topics show and the report list"))


class _Compiling(event.Listener):  # type: ignore[misc]
    """Say that numba compiles. It compiles no kernel that an earlier process has compiled."""

    def __init__(self, handler: Progress) -> None:
        self._handler = handler

    def on_start(self, event: Any) -> None:
        self._handler.changed("compiling kernels, once")

    def on_end(self, event: Any) -> None:
        if (line := self._handler.line()) != WORKING:
            self._handler.changed(line)


class _Coverage(logging.Handler):
    """A log handler that counts retrain signals and keeps the lowest coverage."""

    def __init__(self, console: Console) -> None:
        super().__init__(logging.INFO)
        self._console, self._windows, self._signals = console, 0, 0
        self._lowest: tuple[float, str] = (2.0, "")
        self._newest: tuple[int, str] | None = None

    def emit(self, record: logging.LogRecord) -> None:
        self._windows += 1
        report = record.report  # type: ignore[attr-defined]
        share = report.word_share
        if report.retrain_below is None:
            self._newest = max(self._newest or (report.end, ""), (report.end, record.getMessage()))
        self._lowest = min(self._lowest, (2.0 if share is None else share, record.getMessage()))
        self._signals += record.levelno >= logging.WARNING

    def sum_up(self) -> None:
        """Print the lowest coverage, or for a model that is being trained the newest.

        Prints nothing where there is no report.
        """
        if self._newest is not None:
            self._console.print(plain(f"{self._windows} windows; the newest {self._newest[1]}"))
        elif self._lowest[1]:
            command = "beam-topics train data.topics new.csv --add_documents"
            remedy = f". To train it further, for example: {command}" * (self._signals > 0)
            self._console.print(
                plain(
                    f"{self._windows} windows, {self._signals} retrain signals; the lowest"
                    f" {self._lowest[1]}{remedy}"
                )
            )


@contextmanager
def _listening(handler: logging.Handler, *names: str) -> Iterator[None]:
    """Connect loggers to one handler, and to no other.

    Beam gives the root logger a handler that would print every record again.
    """
    loggers = [logging.getLogger(name) for name in names]
    before = [(logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.INFO)
        logger.propagate = False
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger, (level, propagates) in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(level)
            logger.propagate = propagates


@contextmanager
def progress() -> Iterator[Progress]:
    """Show progress on standard error until the block ends."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    spinner, coverage = Spinner("dots", text=WORKING), _Coverage(console)
    events = _Events(console)
    with ExitStack() as stack:
        handler: Progress = _PipeProgress(console)
        if console.is_terminal:
            handler = _TerminalProgress(
                stack.enter_context(Live(spinner, console=console)), spinner
            )
        stack.enter_context(_listening(handler, LOGGER, FITTING))
        stack.enter_context(event.install_listener("numba:compile", _Compiling(handler)))
        stack.enter_context(_listening(coverage, COVERAGE))
        stack.enter_context(_listening(events, EVENTS))
        try:
            yield handler
        finally:
            spinner.update(text=Text(handler.line()))
            events.sum_up()
            coverage.sum_up()
