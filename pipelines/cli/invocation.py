"""How the user started a program, for usage lines and messages.

A program is a module, ``python -m beam_topics.pipelines.train``, and a subcommand of
``beam-topics``:

>>> shown("train")
'python -m beam_topics.pipelines.train'
>>> with as_subcommand("beam-topics"):
...     shown("train")
'beam-topics train'
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

_COMMAND: ContextVar[str] = ContextVar("command", default="")


def shown(prog: str) -> str:
    """Return the words that start a program."""
    command = _COMMAND.get()
    return f"{command} {prog}" if command else f"python -m beam_topics.pipelines.{prog}"


# Of a process that ``watch`` has started: the program and the arguments that the user gave.
_STARTED = "BEAM_TOPICS_STARTED"


def started_by(prog: str, line: Sequence[str]) -> dict[str, str]:
    """Return the environment of a process whose messages name the command of the user."""
    return {**os.environ, _STARTED: json.dumps([shown(prog), *line])}


def started(prog: str, line: Sequence[str]) -> tuple[str, list[str]]:
    """Return the words that start the program of the user, and its arguments."""
    start, *given = json.loads(os.environ.get(_STARTED, "null")) or [shown(prog), *line]
    return start, given


@contextmanager
def as_subcommand(command: str) -> Iterator[None]:
    """Show programs as subcommands of a command until the block ends."""
    token = _COMMAND.set(command)
    try:
        yield
    finally:
        _COMMAND.reset(token)


@contextmanager
def quiet_pipes() -> Iterator[None]:
    """End the process as other filters end if the reader of its output, such as head, goes away."""
    try:
        try:
            yield
        finally:
            # What waits in the buffer would fail at the end of the process, with a traceback.
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(_BROKEN_PIPE) from None


# As a shell shows a process that ended by SIGPIPE.
_BROKEN_PIPE = 141
