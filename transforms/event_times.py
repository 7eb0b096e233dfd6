"""How far event time has come in each stage, as a metric.

The distribution ``event_time_<stage>`` (namespace ``beam_topics``) gets the event times that a
stage has handled, in seconds since 1970-01-01 UTC. Its maximum is the newest one. The lag of a
stage is the maximum of ``read`` less its own. No clock takes part, so the metric depends on the
data alone. A distribution is used and not a gauge, because the maximum of many workers is the
newest time of all, and a gauge keeps what one of them wrote last.
"""

from __future__ import annotations

from collections.abc import Mapping

from apache_beam.metrics import Metrics

from model.times import MICROSECONDS_PER_SECOND, to_iso
from transforms.constants import END_OF_STREAM, NAMESPACE

PREFIX = "event_time_"
# The stages in their order. Documents are read, windows are sequenced and learned, versions are
# published, and documents are labelled.
STAGES = ("read", "sequenced", "learned", "published", "labelled")


class EventTime:
    """The newest event time that one instance of a stage has handled in a bundle.

    Args:
        stage: One of :data:`STAGES`.
    """

    def __init__(self, stage: str) -> None:
        self._metric = Metrics.distribution(NAMESPACE, PREFIX + stage)
        self._newest: int | None = None

    def start_bundle(self) -> None:
        """Begin anew: the metrics of a bundle that failed are lost."""
        self._newest = None

    def reached(self, micros: int) -> None:
        """Note an event time in microseconds. Times of the end of a stream are left out."""
        seconds = micros // MICROSECONDS_PER_SECOND
        if micros < END_OF_STREAM and (self._newest is None or seconds > self._newest):
            self._newest = seconds
            self._metric.update(seconds)


def lags(newest: Mapping[str, int]) -> str:
    """Return a line with the newest event time that was read, and how far each stage is behind it.

    A stage whose last window ends after the newest document is not behind.

    Args:
        newest: The newest event time of each stage in seconds. Stages that a program does not have
            are absent.
    """
    if "read" not in newest:
        return ""
    read = newest["read"]
    behind = [
        f"{stage} {max(read - newest[stage], 0):,} s" for stage in STAGES[1:] if stage in newest
    ]
    line = f"event time: read up to {to_iso(read * MICROSECONDS_PER_SECOND)[:19]}"
    return f"{line}; behind it: {', '.join(behind)}" if behind else line
