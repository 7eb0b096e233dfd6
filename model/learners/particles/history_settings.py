"""The settings of the history: which units of the past can be visited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model.kinds import Kinds
from model.options import Record, option


class HistorySettings(Record):
    """Which units of the past can be visited."""

    @property
    def newest(self) -> int:
        """Return how many of the newest documents or tokens can be visited."""
        return 0

    @property
    def reservoir(self) -> int:
        """Return the size of the uniform sample of earlier units."""
        return 0

    @property
    def newest_share(self) -> float:
        """Return the share of visits that go to the newest units."""
        return 0.0

    @property
    def is_empty(self) -> bool:
        """Return whether no unit can be visited."""
        return False


@dataclass(frozen=True)
class Reservoir(HistorySettings):
    """The newest units, and a uniform sample of all units before them."""

    kind = "reservoir"

    newest: int = option(
        2500, "number of newest units that can be visited", unit="documents or tokens", least=0
    )
    reservoir: int = option(
        10_000,
        "size of the uniform sample of earlier units that can be visited",
        unit="documents or tokens",
        least=0,
    )
    newest_share: float = option(
        0.65,
        "share of the visits that go to the newest units",
        least=0,
        most=1,
        remedy="Give for example 0.65.",
    )

    def conditions(self) -> Mapping[str, tuple[bool, str]]:
        both = self.newest > 0 and self.reservoir > 0
        return {"newest_share": (both, "--newest and --reservoir are above 0")}

    @property
    def is_empty(self) -> bool:
        return not self.newest and not self.reservoir


@dataclass(frozen=True)
class FullHistory(HistorySettings):
    """Every unit, for study: the state grows without bound, and one thread learns."""

    kind = "full"


HISTORIES = Kinds(Reservoir, FullHistory)
NOTHING = Reservoir(newest=0, reservoir=0)
