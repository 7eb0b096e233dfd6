"""Progress while a learner runs: one line in a terminal, a line now and then in a pipe.

:mod:`transforms.learn` logs a record for every so many tokens to the logger ``beam_topics.progress``; on a local runner they arrive in
this process, and :func:`progress` shows the newest. The wall clock is used here only, for tokens a second.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from pipelines.terminal import day

LOGGER = "beam_topics.progress"
_SECONDS_BETWEEN_LINES = 5.0


class Progress(logging.Handler):
    """Keeps the newest record of each (key, island) and says where learning stands."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._newest: dict[tuple[str, int], logging.LogRecord] = {}
        self._began = time.monotonic()
        self._first_tokens = 0

    def emit(self, record: logging.LogRecord) -> None:
        if not self._newest:
            # The first record ends compilation and the initial batch, which would spoil the rate.
            self._began, self._first_tokens = time.monotonic(), record.tokens
        self._newest[record.key, record.island] = record
        self.changed(self.line())

    def changed(self, line: str) -> None:
        """Called with each new line."""

    def line(self) -> str:
        """Event time reached, documents, tokens a second, words known, effective sample size."""
        if not self._newest:
            return "working"
        records = self._newest.values()
        last = max(records, key=lambda record: (record.event_time, record.sequence))
        # The counts are of this process, which learns each document once for each island.
        islands = len({record.island for record in records})
        documents, tokens = (max(getattr(record, name) for record in records) for name in ("documents", "tokens"))
        rate = max(tokens - self._first_tokens, 0) / islands / max(time.monotonic() - self._began, 1e-3)
        return (
            f"up to {day(last.event_time)}  {documents // islands:,} documents  {rate:,.0f} tokens/s"
            f"  {last.words:,} words  ESS {last.ess:.1f}"
        )


class _TerminalProgress(Progress):
    def __init__(self, live: Live, spinner: Spinner) -> None:
        super().__init__()
        self._live, self._spinner = live, spinner

    def changed(self, line: str) -> None:
        self._spinner.update(text=Text(line))


class _PipeProgress(Progress):
    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console, self._last = console, -_SECONDS_BETWEEN_LINES

    def changed(self, line: str) -> None:
        if time.monotonic() - self._last >= _SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            self._console.print(line)


@contextmanager
def progress() -> Iterator[Progress]:
    """Show progress on standard error until the block ends."""
    logger, console = logging.getLogger(LOGGER), Console(stderr=True, highlight=False, soft_wrap=True)
    level, propagates = logger.level, logger.propagate
    logger.setLevel(logging.INFO)
    # Beam gives the root logger a handler, which would print every record again.
    logger.propagate = False
    spinner = Spinner("dots", text="working")
    with ExitStack() as stack:
        handler: Progress = _PipeProgress(console)
        if console.is_terminal:
            handler = _TerminalProgress(stack.enter_context(Live(spinner, console=console)), spinner)
        logger.addHandler(handler)
        try:
            yield handler
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)
            logger.propagate = propagates
            spinner.update(text=Text(handler.line()))
