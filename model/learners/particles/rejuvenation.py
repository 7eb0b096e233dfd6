"""Rejuvenation: what triggers it, how much of the past is visited, and which documents or tokens.

A schedule answers three questions: :meth:`Rejuvenation.after_document`, :attr:`Rejuvenation.tokens`
and :attr:`Rejuvenation.after_resampling`. A new schedule that can be said in these terms is one
record, registered in :data:`SCHEDULES`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from model.errors import OptionError
from model.learners.particles.challenger_settings import (
    CHALLENGERS,
    Challengers,
    ChallengerSettings,
    NoChallengers,
)
from model.learners.particles.history import (
    HISTORIES,
    NOTHING,
    FullHistory,
    HistorySettings,
    Reservoir,
)
from model.learners.particles.kernels.history import CHOICES
from model.options import Kinds, Record, option, part

Unit = Literal["document", "token"]


class UnitChoice(Record):
    """Which units of the past are visited."""

    @property
    def number(self) -> int:
        """Of the choice, in :mod:`model.learners.particles.kernels.history`."""
        return CHOICES.index(self.kind)


@dataclass(frozen=True)
class Uniform(UnitChoice):
    """All alike."""

    kind = "uniform"


@dataclass(frozen=True)
class Decayed(UnitChoice):
    """Newer ones more often, by a power of their age."""

    kind = "decayed"

    # Powers by halves need a square root and products only, which IEEE fixes; pow() differs between
    # machines.
    decay: float = option(
        1.0, "exponent of the age's rank", name="rejuvenation_decay", values=(0.5, 1.0, 1.5, 2.0)
    )


@dataclass(frozen=True)
class NewestFirst(UnitChoice):
    """The newest, one after the other."""

    kind = "newest"


class Rejuvenation(Record):
    """What a learner of the particle family asks of its rejuvenation."""

    @property
    def moves(self) -> int:
        """R, visits at each trigger."""
        return 0

    @property
    def unit(self) -> Unit:
        """What a visit redraws."""
        return "document"

    @property
    def choice(self) -> UnitChoice:
        """Which units are visited."""
        return Uniform()

    @property
    def history(self) -> HistorySettings:
        """Which of the past can be visited."""
        return NOTHING

    @property
    def challengers(self) -> ChallengerSettings:
        """Whether copies of a particle that learn the newest documents anew compete with it."""
        return NoChallengers()

    @property
    def whole_past(self) -> bool:
        """Whether every unit of the past can be visited."""
        return isinstance(self.history, FullHistory)

    @property
    def tokens(self) -> int:
        """Tokens between two triggers; 0: tokens do not trigger."""
        return 0

    @property
    def after_resampling(self) -> bool:
        """Whether resampling triggers."""
        return False

    def after_document(self, resampled: bool) -> bool:
        """Whether the end of a document triggers, after which particles were ``resampled`` or
        not.
        """
        return False


@dataclass(frozen=True)
class Never(Rejuvenation):
    """A topic is never drawn again."""

    kind = "never"


@dataclass(frozen=True)
class _Visits(Rejuvenation):
    """R units of the past are visited at each trigger."""

    moves: int = option(
        60,
        "R, visits at each trigger; with 0 what could be visited is kept, for in-sample measures"
        " alone",
        unit="documents or tokens",
        least=0,
        first=True,
    )
    unit: Unit = option(
        "document", "what a visit redraws: a whole document, or one token", name="rejuvenation_unit"
    )
    choice: UnitChoice = part(
        Uniform(),
        "which units are visited",
        Kinds(Uniform, Decayed, NewestFirst),
        name="rejuvenation_choice",
    )
    history: HistorySettings = part(Reservoir(), "which of the past can be visited", HISTORIES)

    def check(self) -> None:
        if self.moves and self.history.is_empty:
            remedy = "Give one of them a size, or turn it off."
            raise OptionError(
                "--rejuvenation",
                self.kind,
                "never when --newest and --reservoir are both 0",
                remedy,
            )
        if not self.moves and self.whole_past:
            raise OptionError(
                "--moves", 0, "1 or more with --history=full", "Nothing visits it otherwise."
            )


class AfterResampling(_Visits):
    """After each resampling (Canini et al. 2009, Alg. 4)."""

    kind = "resampling"

    @property
    def after_resampling(self) -> bool:
        return True

    def after_document(self, resampled: bool) -> bool:
        return resampled


@dataclass(frozen=True)
class EveryDocument(_Visits):
    """After each document."""

    kind = "document"

    challengers: ChallengerSettings = part(
        NoChallengers(),
        "whether copies of a particle that learn the newest documents anew compete with it",
        CHALLENGERS,
        absent=NoChallengers(),
    )

    def check(self) -> None:
        super().check()
        if isinstance(self.challengers, Challengers):
            self._check_challenged(self.challengers.judges)

    def _check_challenged(self, judges: int) -> None:
        if self.unit == "token":
            remedy = "Challengers learn whole documents anew."
            raise OptionError(
                "--rejuvenation_unit", "token", "document with --challengers=on", remedy
            )
        if self.whole_past:
            remedy = "The full history does not tell the newest documents from the others."
            raise OptionError("--history", "full", "reservoir with --challengers=on", remedy)
        if self.history.newest < judges:
            allowed = f"--judges ({judges}) or more with --challengers=on"
            remedy = "Challengers learn the newest documents anew, and these have to be at hand."
            raise OptionError("--newest", self.history.newest, allowed, remedy)

    def after_document(self, resampled: bool) -> bool:
        return True


@dataclass(frozen=True)
class EveryTokens(_Visits):
    """After so many tokens."""

    kind = "tokens"

    every: int = option(
        1, "tokens between two triggers", name="rejuvenate_every", unit="tokens", least=1
    )

    @property
    def tokens(self) -> int:
        return self.every


SCHEDULES = Kinds(EveryDocument, EveryTokens, AfterResampling, Never)
