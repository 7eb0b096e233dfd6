"""Let a step end before an interrupt (Ctrl-C) ends the run.

A learner whose step ends half-way is lost, and with it everything learned since the last
checkpoint. So a program that runs a graph passes its signals to :meth:`Interrupts.ask`, and
whatever must not end half-way runs within :meth:`Interrupts.after`.

>>> interrupts = Interrupts()
>>> try:
...     with interrupts.after():
...         interrupts.ask()
...         print("the step ends")
... except KeyboardInterrupt:
...     print("then the run")
the step ends
then the run
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Interrupts:
    """Whether the run is to end, and whether a step is under way.

    Attributes:
        asked: Whether an interrupt came.
    """

    def __init__(self) -> None:
        self.asked = False
        self._steps = 0

    def ask(self) -> None:
        """End the run, after the step that is under way.

        Raises:
            KeyboardInterrupt: No step is under way.
        """
        self.asked = True
        if not self._steps:
            raise KeyboardInterrupt

    @contextmanager
    def after(self) -> Iterator[None]:
        """Run a block that an interrupt does not end half-way.

        Raises:
            KeyboardInterrupt: One came meanwhile.
        """
        self._steps += 1
        try:
            yield
        finally:
            self._steps -= 1
        if self.asked and not self._steps:
            raise KeyboardInterrupt


# One for the process, as it has one handler of a signal.
INTERRUPTS = Interrupts()
