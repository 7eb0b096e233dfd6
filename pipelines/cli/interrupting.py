"""Ctrl-C: the first one ends a program after the step under way, a second one at once.

A program that was interrupted says in one line what is kept, and the command that goes on.
"""

from __future__ import annotations

import shlex
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from model.errors import InterruptedRunError
from model.interrupts import INTERRUPTS


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn an interrupt into an error of this project.

    Where the caller handles signals, or this is not the main thread, nothing is changed.

    Raises:
        InterruptedRunError: an interrupt came.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        # The system takes the second one, because Python handles none while a kernel runs.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        INTERRUPTS.ask()

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    except InterruptedRunError:
        raise
    except BaseException as error:
        # Beam passes an interrupt on as an error of its own.
        if INTERRUPTS.asked:
            raise InterruptedRunError("interrupted. What was written stays.", ()) from error
        raise
    finally:
        INTERRUPTS.asked = False
        signal.signal(signal.SIGINT, signal.default_int_handler)


def how_to_go_on(error: InterruptedRunError, start: str, argv: Sequence[str]) -> str:
    """Return the command that goes on, or begins again, as the end of a message.

    Args:
        error: the error.
        start: the words that start the program.
        argv: the command line.
    """
    if error.again is None:
        return ""
    names = [one.partition("=")[0] for one in error.again]
    # The value of such an option may be an argument of its own.
    valued = [one.partition("=")[0] for one in error.again if "=" in one]
    given = [
        one
        for at, one in enumerate(argv)
        if one.partition("=")[0] not in names and (not at or argv[at - 1] not in valued)
    ]
    return f" To go on: {start} {shlex.join([*given, *error.again])}"
