"""Which test tells changes of a stream."""

from __future__ import annotations

from dataclasses import dataclass

from model.kinds import Kinds
from model.options import Record, option


class ChangeTestSettings(Record):
    """When blocks of documents tell that the stream changed."""


@dataclass(frozen=True)
class BoundsSettings(ChangeTestSettings):
    """Two bounds for a single block; the rate of false alarms is not known."""

    kind = "bounds"


@dataclass(frozen=True)
class CusumSettings(ChangeTestSettings):
    """A self-starting CUSUM (Hawkins 1987) with a stated rate of false alarms."""

    kind = "cusum"

    false_alarms: float = option(
        1000.0,
        "blocks of --judges documents between two changes that are told although nothing changes,"
        " on average",
        unit="blocks",
        least=1,
    )


CHANGE_TESTS = Kinds(BoundsSettings, CusumSettings)
