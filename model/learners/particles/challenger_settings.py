"""The settings of challengers (:mod:`model.learners.particles.challengers`)."""

from __future__ import annotations

from dataclasses import dataclass

from model.kinds import Kinds
from model.learners.particles.change_settings import (
    CHANGE_TESTS,
    BoundsSettings,
    ChangeTestSettings,
    CusumSettings,
)
from model.options import Record, option, part


class ChallengerSettings(Record):
    """Whether particles are challenged by copies that learn the newest documents anew."""

    @property
    def change_share(self) -> float:
        """Return the share of the visits after a change that go to the documents since then."""
        return 1.0


@dataclass(frozen=True)
class NoChallengers(ChallengerSettings):
    """Topics change by visits alone."""

    kind = "off"


@dataclass(frozen=True)
class Challengers(ChallengerSettings):
    """Copies learn the newest documents anew after a change, and replace the particle they beat."""

    kind = "on"

    room: float = option(
        0.65,
        "share of the topics that a challenger empties for new documents after a change",
        least=0,
        most=1,
    )
    judges: int = option(
        100,
        "documents, learned by neither, that decide a duel; trials come at multiples of it",
        unit="documents",
        least=1,
    )
    first_trial: int = option(
        4,
        "the first trial at the start of a stream comes after so many times --judges documents, and"
        " two more after twice and four times as many",
        least=1,
        absent=4,
    )
    change_share: float = option(
        0.95,
        "share of the visits after a change that go to the documents since then",
        least=0,
        most=1,
        remedy="Give for example 0.95.",
        absent=0.85,
    )
    change_test: ChangeTestSettings = part(
        CusumSettings(),
        "what tells a change of the stream",
        CHANGE_TESTS,
        absent=BoundsSettings(),
    )


CHALLENGERS = Kinds(NoChallengers, Challengers)
