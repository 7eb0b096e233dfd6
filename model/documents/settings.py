"""The settings by which documents become numbered minibatches, checked when they are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from beam_topics.model.settings.options import Record, option, time_zone
from beam_topics.model.times import check_zone, window_number, window_start


@dataclass(frozen=True)
class SequenceSettings(Record):
    """How documents become numbered minibatches.

    Attributes:
        time_zone: The zone of windows of days, see :mod:`beam_topics.model.times`; on the command
            line it is that of :class:`beam_topics.model.reading.settings.ParseSettings` too.
    """

    window: int = option(
        3_600_000_000, "length of the event-time windows", unit="microseconds", least=1, first=True
    )
    minibatch_size: int = option(
        200, "largest number of documents in a minibatch", unit="documents", least=1, first=True
    )
    # A longer document is a minibatch of its own.
    minibatch_tokens: ClassVar[int] = 200_000
    time_zone: str = time_zone(absent="UTC")
    on_repeat: Literal["first", "last"] = option(
        "first",
        "which of the documents of a window with one id is learned, in the order of arrival",
        absent="first",
    )

    def check(self) -> None:
        check_zone(self.time_zone)

    def window_number(self, time: int) -> int:
        """Return the number of the window that holds a time."""
        return window_number(time, self.window, self.time_zone)

    def window_end(self, time: int) -> int:
        """Return the end of the window that holds a time; a window does not hold its end."""
        return window_start(self.window_number(time) + 1, self.window, self.time_zone)

    def window_start(self, end: int) -> int:
        """Return the start of the window that ends at ``end``."""
        return window_start(self.window_number(end - 1), self.window, self.time_zone)
