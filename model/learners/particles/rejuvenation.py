"""Settings of rejuvenation: its triggers, and the units that can be visited.

What can be visited is the history. Challengers are copies of a particle that learn the newest
documents anew (:mod:`beam_topics.model.learners.particles.challengers`).

A trigger answers three questions: :meth:`Rejuvenation.after_document`,
:attr:`Rejuvenation.tokens` and :attr:`Rejuvenation.after_resampling`. A new trigger that these
three describe is one record that is registered in :data:`SCHEDULES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from beam_topics.model.errors import OptionError
from beam_topics.model.options import Kinds, Record, option, part

Unit = Literal["document", "token"]


class HistorySettings(Record):
    """Which units of the past can be visited.

    Attributes:
        rows_move: whether a write of a particle may move rows of others, so that one thread learns.
    """

    rows_move: ClassVar[bool] = False

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
    """Every unit, for study: the state grows without bound."""

    kind = "full"


@dataclass(frozen=True)
class DirectedTree(FullHistory):
    """Every unit, in the directed tree of Canini et al. (2009), for study: one thread learns.

    Attributes:
        module: has ``new_tree``, the rows of topics of such a history.
    """

    kind = "tree"

    rows_move: ClassVar[bool] = True
    module: ClassVar[str] = "beam_topics.model.papers.directed_tree"


HISTORIES = Kinds(Reservoir, FullHistory, DirectedTree)
NOTHING = Reservoir(newest=0, reservoir=0)


class ChallengerSettings(Record):
    """Whether particles are challenged by copies that learn the newest documents anew.

    Attributes:
        change_share: the share of the visits after a change that go to the documents since then.
    """

    change_share: ClassVar[float] = 1.0


@dataclass(frozen=True)
class NoChallengers(ChallengerSettings):
    """Topics change by visits alone."""

    kind = "off"


@dataclass(frozen=True)
class Challengers(ChallengerSettings):
    """Copies learn the newest documents anew after a change, and replace the particle they beat.

    The constants are chosen by measurement (docs/results/drift.md): with more room the first domain
    of a stream loses topics that it needs, and with less the second one gets too few. The standard
    error of fewer judges hides most gains, and more judges keep documents waiting.

    Attributes:
        room: the share of the topics that a challenger empties for new documents.
        judges: documents, learned by neither, that decide a duel; trials come at multiples of it.
    """

    kind = "on"

    room: ClassVar[float] = 0.65
    judges: ClassVar[int] = 100
    change_share: ClassVar[float] = 0.95

    false_alarms: float = option(
        1000.0,
        "blocks of 100 documents between two changes that are told although nothing changes, on"
        " average",
        unit="blocks",
        least=1,
    )


CHALLENGERS = Kinds(NoChallengers, Challengers)


class Rejuvenation(Record):
    """What the particle family asks of rejuvenation settings."""

    @property
    def moves(self) -> int:
        """Return R, the number of visits at each trigger."""
        return 0

    @property
    def unit(self) -> Unit:
        """Return what a visit redraws."""
        return "document"

    @property
    def history(self) -> HistorySettings:
        """Return which units can be visited."""
        return NOTHING

    @property
    def challengers(self) -> ChallengerSettings:
        """Whether copies of a particle that learn the newest documents anew compete with it."""
        return NoChallengers()

    @property
    def whole_past(self) -> bool:
        """Return whether every unit of the past can be visited."""
        return isinstance(self.history, FullHistory)

    @property
    def tokens(self) -> int:
        """Return the number of tokens between two triggers; 0 means that tokens do not trigger."""
        return 0

    @property
    def after_resampling(self) -> bool:
        """Return whether a resampling triggers."""
        return False

    def after_document(self, resampled: bool) -> bool:
        """Return whether the end of a document triggers.

        Args:
            resampled: whether the particles were resampled after the document.
        """
        return False


@dataclass(frozen=True)
class Never(Rejuvenation):
    """No topic is drawn again."""

    kind = "never"


@dataclass(frozen=True)
class _Visits(Rejuvenation):
    """R units of the history are visited at each trigger."""

    moves: int = option(
        100,
        "R, visits at each trigger; with 0 the history serves in-sample measures only",
        unit="documents or tokens",
        least=0,
        first=True,
    )
    unit: Unit = option(
        "document", "what a visit redraws: a whole document, or one token", name="rejuvenation_unit"
    )
    history: HistorySettings = part(
        Reservoir(), "which units of the past can be visited", HISTORIES
    )

    def conditions(self) -> Mapping[str, tuple[bool, str]]:
        visits = self.moves > 0, "--moves is above 0"
        return {"rejuvenation_unit": visits, "newest_share": visits}

    def check(self) -> None:
        if self.moves and self.history.is_empty:
            remedy = "Set one of them above 0, or give --rejuvenation=never."
            raise OptionError(
                "--rejuvenation",
                self.kind,
                "never when --newest and --reservoir are both 0",
                remedy,
            )
        if not self.moves and self.whole_past:
            self._refuse_no_moves(f"--history={self.history.kind}")

    def _refuse_no_moves(self, beside: str) -> None:
        remedy = "Without visits it has no use."
        raise OptionError("--moves", 0, f"1 or more with {beside}", remedy)


@dataclass(frozen=True)
class AfterResampling(_Visits):
    """After each resampling (Canini et al. 2009, Alg. 4)."""

    kind = "resampling"

    @property
    def after_resampling(self) -> bool:
        return True

    def after_document(self, resampled: bool) -> bool:
        return resampled

    def check(self) -> None:
        super().check()
        if not self.moves:
            self._refuse_no_moves("--rejuvenation=resampling")


@dataclass(frozen=True)
class EveryDocument(_Visits):
    """After each document."""

    kind = "document"

    challengers: ChallengerSettings = part(
        Challengers(),
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
            remedy = "Challengers learn whole documents anew. Give --challengers=off."
            raise OptionError(
                "--rejuvenation_unit", "token", "document with --challengers=on", remedy
            )
        if self.whole_past:
            remedy = (
                "The full history does not tell the newest documents from the others."
                " Give --challengers=off."
            )
            raise OptionError(
                "--history", self.history.kind, "reservoir with --challengers=on", remedy
            )
        if self.history.newest < judges:
            allowed = f"{judges} or more with --challengers=on"
            remedy = (
                "Challengers learn the newest documents anew, and these have to be at hand."
                " Give --challengers=off."
            )
            raise OptionError("--newest", self.history.newest, allowed, remedy)

    def after_document(self, resampled: bool) -> bool:
        return True


@dataclass(frozen=True)
class EveryTokens(_Visits):
    """After every n tokens."""

    kind = "tokens"

    every: int = option(
        1, "tokens between two triggers", name="rejuvenate_every", unit="tokens", least=1
    )

    @property
    def tokens(self) -> int:
        return self.every

    def check(self) -> None:
        super().check()
        if not self.moves:
            self._refuse_no_moves("--rejuvenation=tokens")


SCHEDULES = Kinds(EveryDocument, EveryTokens, AfterResampling, Never)
