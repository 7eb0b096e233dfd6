"""Settings of rejuvenation: what triggers visits, and which units can be visited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from beam_topics.model.errors import OptionError
from beam_topics.model.settings.options import Kinds, Record, option, part


class HistorySettings(Record):
    """Which units of the past can be visited.

    Attributes:
        module: has ``new_tree``, the rows of topics of such a history; "" for tables.
    """

    module: ClassVar[str] = ""

    @property
    def reservoir(self) -> int:
        """Return the size of the uniform sample of units; 0 where every unit stays."""
        return 0


@dataclass(frozen=True)
class Reservoir(HistorySettings):
    """A uniform sample of all units so far (May et al. 2014)."""

    kind = "reservoir"

    reservoir: int = option(
        10_000,
        "size of the uniform sample of units that can be visited",
        unit="documents or tokens",
        least=1,
    )


@dataclass(frozen=True)
class FullHistory(HistorySettings):
    """Every unit, for study: the state grows without bound."""

    kind = "full"


@dataclass(frozen=True)
class DirectedTree(FullHistory):
    """Every unit, in the directed tree of Canini et al. (2009), for study."""

    kind = "tree"

    module: ClassVar[str] = "beam_topics.model.papers.directed_tree"


HISTORIES = Kinds(Reservoir, FullHistory, DirectedTree)


class Rejuvenation(Record):
    """When units of the past are visited."""

    @property
    def moves(self) -> int:
        """Return R, the number of visits at each trigger."""
        return 0

    @property
    def by_tokens(self) -> bool:
        """Return whether a visit redraws one token; else a whole document."""
        return False

    @property
    def history(self) -> HistorySettings:
        """Return which units can be visited."""
        return Reservoir(1)

    @property
    def after_tokens(self) -> bool:
        """Return whether each token triggers."""
        return False


@dataclass(frozen=True)
class Never(Rejuvenation):
    """No topic is drawn again."""

    kind = "never"


@dataclass(frozen=True)
class _Visits(Rejuvenation):
    """R units of the history are visited at each trigger."""

    moves: int = option(
        30,
        "R, visits at each trigger; with 0 the history serves in-sample measures only",
        unit="documents or tokens",
        least=0,
        first=True,
    )
    unit: Literal["document", "token"] = option(
        "document", "what a visit redraws: a whole document, or one token", name="rejuvenation_unit"
    )
    history: HistorySettings = part(
        Reservoir(), "which units of the past can be visited", HISTORIES
    )

    def conditions(self) -> Mapping[str, tuple[bool, str]]:
        return {"rejuvenation_unit": (self.moves > 0, "--moves is above 0")}

    @property
    def by_tokens(self) -> bool:
        return self.unit == "token"

    def check(self) -> None:
        if not self.moves and isinstance(self.history, FullHistory):
            self._refuse_no_moves(f"--history={self.history.kind}")

    def _refuse_no_moves(self, beside: str) -> None:
        remedy = "Without visits it has no use."
        raise OptionError("--moves", 0, f"1 or more with {beside}", remedy)


@dataclass(frozen=True)
class AfterResampling(_Visits):
    """After each resampling (Canini et al. 2009, Alg. 4)."""

    kind = "resampling"

    def check(self) -> None:
        super().check()
        if not self.moves:
            self._refuse_no_moves("--rejuvenation=resampling")


@dataclass(frozen=True)
class EveryDocument(_Visits):
    """After each document."""

    kind = "document"


@dataclass(frozen=True)
class EveryTokens(_Visits):
    """After every token."""

    kind = "tokens"

    @property
    def after_tokens(self) -> bool:
        return True

    def check(self) -> None:
        super().check()
        if not self.moves:
            self._refuse_no_moves("--rejuvenation=tokens")


TRIGGERS = Kinds(AfterResampling, EveryDocument, EveryTokens, Never)
