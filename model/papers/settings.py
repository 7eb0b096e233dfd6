"""The settings of the learners of Canini et al. (2009), one record for each algorithm.

* ``batch-gibbs`` is Alg. 1: chains of sweeps over all documents so far, restarted for each
  version.
* ``o-lda`` is Alg. 2: particles that draw each topic once.
* ``incremental-gibbs`` is Alg. 3: particles that visit documents or tokens again.
* ``particle-filter`` is Alg. 4: particles that are resampled, and visit again.

All have Dirichlet priors. A learner has a field for each part that a user chooses, and a property
for each part that the algorithm fixes.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from beam_topics.model.errors import OptionError
from beam_topics.model.learners.base import LearnerSettings, implemented_in
from beam_topics.model.learners.vocabularies import (
    FirstWords,
    Given,
    VocabularySettings,
)
from beam_topics.model.settings.options import Kinds, Record, option, part

# The module of the learner of all of them.
_MODULE = "beam_topics.model.papers.learner"
# The number of documents of a batch that is never complete.
ENDLESS = sys.maxsize
VOCABULARIES = Kinds(FirstWords, Given)


class HistorySettings(Record):
    """Which units of the past can be visited."""

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


HISTORIES = Kinds(Reservoir, FullHistory)


class Rejuvenation(Record):
    """When units of the past are visited."""

    @property
    def moves(self) -> int:
        """Return R, the number of visits at each trigger."""
        return 0

    @property
    def by_tokens(self) -> bool:
        """Return whether a visit redraws one token; else a whole document.

        So the effective sample size is checked after each token, or after each document.
        """
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
        "document",
        "what a visit redraws, and after what the effective sample size is checked: a whole"
        " document, or one token",
        name="rejuvenation_unit",
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

    def _refuse_no_moves(self, given: str) -> None:
        remedy = "Without visits it has no use."
        raise OptionError("--moves", 0, f"1 or more with {given}", remedy)


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


class Resampling(Record):
    """When and how particles are resampled."""

    def threshold(self, particles: int, islands: int) -> float:
        """Return the effective sample size at or below which an island resamples; 0 means never."""
        return 0.0

    def check_particles(self, particles: int, islands: int) -> None:
        """Check that the threshold can be reached by the number of particles.

        Raises:
            OptionError: it cannot.
        """


@dataclass(frozen=True)
class NeverResample(Resampling):
    """No resampling: particles are independent chains."""

    kind = "never"


@dataclass(frozen=True)
class _AtThreshold(Resampling):
    """Resample when the effective sample size is at or below a threshold."""

    ess: float = option(
        0.5,
        "resample at or below this effective sample size: particles, or below 1 a share of P",
        above=0,
        remedy="Give --resampling=never to resample never.",
        first=True,
    )

    def threshold(self, particles: int, islands: int) -> float:
        return self.ess * (particles // islands) if self.ess < 1 else self.ess / islands

    def check_particles(self, particles: int, islands: int) -> None:
        if particles == islands:
            allowed = "never where an island has one particle"
            remedy = "Give more --particles, or --resampling=never."
            raise OptionError("--resampling", self.kind, allowed, remedy)
        if self.ess > particles:
            remedy = "Give a number of particles, or a share below 1."
            raise OptionError("--ess", self.ess, f"at most --particles ({particles})", remedy)
        threshold, island = self.threshold(particles, islands), particles // islands
        if threshold < 1:
            least = (
                f"a value that comes to 1 or more of the {island} particles of an island,"
                f" not to {threshold:g}"
            )
            raise OptionError(
                "--ess", self.ess, least, "An effective sample size is never below 1."
            )


@dataclass(frozen=True)
class Residual(_AtThreshold):
    """A certain number of copies of each particle first, then draws from the remaining weights."""

    kind = "residual"


@dataclass(frozen=True)
class Multinomial(_AtThreshold):
    """Independent draws."""

    kind = "multinomial"


RESAMPLINGS = Kinds(Residual, Multinomial, NeverResample)


class Initial(Record):
    """How learning begins."""


@dataclass(frozen=True)
class NoInitialBatch(Initial):
    """Learn the first document like all others."""

    kind = "none"


@dataclass(frozen=True)
class InitialBatch(Initial):
    """Run Gibbs chains over the first documents and start all particles from the best chain."""

    kind = "batch"

    documents: int = option(
        200,
        "size of the initial batch",
        name="initial_documents",
        unit="documents",
        least=1,
        remedy="Give --initial=none to start without.",
    )
    chains: int = option(
        8,
        "C, Gibbs chains over the initial batch; all particles start from that with the largest"
        " P(w, z)",
        least=1,
    )
    sweeps: int = option(50, "sweeps of each chain", name="initial_sweeps", least=1)


INITIALS = Kinds(InitialBatch, NoInitialBatch)


@dataclass(frozen=True)
class PaperSettings(LearnerSettings):
    """Settings that all of these learners have."""

    beta: float = option(
        0.1,
        "Dirichlet parameter of a topic's words, for each word",
        above=0,
        usual="0.001 and 1",
        first=True,
    )
    vocabulary: VocabularySettings = part(
        FirstWords(), "which words are learned", VOCABULARIES, first=True
    )

    @property
    def takes_new_words(self) -> bool:
        return self.vocabulary.is_open

    @property
    def particles(self) -> int:
        """Return P, over all islands."""
        return 1

    @property
    def island_particles(self) -> int:
        """Return the number of particles of one island."""
        return self.particles // self.islands

    @property
    def independent_chains(self) -> int:
        """Return C: the particles of an island, unless resampling makes copies of some of them."""
        return self.island_particles if isinstance(self.resampling, NeverResample) else 1

    @property
    def initial(self) -> Initial:
        """Return how learning begins."""
        return NoInitialBatch()

    @property
    def resampling(self) -> Resampling:
        """Return when and how particles are resampled."""
        return NeverResample()

    @property
    def rejuvenation(self) -> Rejuvenation:
        """Return when units of the history are visited."""
        return Never()

    @property
    def by_tokens(self) -> bool:
        """Return whether a unit of the filter is a token."""
        return self.rejuvenation.by_tokens or self.rejuvenation.after_tokens


@implemented_in(_MODULE)
@dataclass(frozen=True)
class BatchGibbs(PaperSettings):
    """Chains of Gibbs sweeps over all documents so far, restarted for each version (Alg. 1)."""

    kind = "batch-gibbs"

    chains: int = option(
        2, "C, number of Gibbs chains, of which the best is published", least=1, first=True
    )
    sweeps: int = option(200, "sweeps of each chain", least=1, first=True)

    @property
    def initial(self) -> Initial:
        return InitialBatch(documents=ENDLESS, chains=self.chains, sweeps=self.sweeps)


@dataclass(frozen=True)
class StreamingParticles(PaperSettings):
    """Settings of the algorithms that learn each document once."""

    particles: int = option(1, "P, the number of particles over all islands", least=1, first=True)
    islands: int = option(
        1,
        "I, groups of particles that learn apart and may run on other workers; a version publishes"
        " that of the largest evidence",
        least=1,
    )
    initial: Initial = part(InitialBatch(), "how learning begins", INITIALS)

    def check(self) -> None:
        super().check()
        if self.particles % self.islands:
            allowed = f"a divisor of --particles ({self.particles})"
            remedy = (
                f"Each island holds the same number of particles: give --particles={self.islands}."
            )
            raise OptionError("--islands", self.islands, allowed, remedy)
        if self.islands > 1 and isinstance(self.initial, NoInitialBatch):
            remedy = "A shared initial batch gives all islands the same topics."
            raise OptionError("--initial", "none", "batch when --islands is above 1", remedy)
        self.resampling.check_particles(self.particles, self.islands)


@implemented_in(_MODULE)
@dataclass(frozen=True)
class OLda(StreamingParticles):
    """Particles that draw each topic once (Canini et al. 2009, Alg. 2)."""

    kind = "o-lda"


@implemented_in(_MODULE)
@dataclass(frozen=True)
class IncrementalGibbs(StreamingParticles):
    """Particles that are rejuvenated (Canini et al. 2009, Alg. 3)."""

    kind = "incremental-gibbs"

    rejuvenation: Rejuvenation = part(
        EveryDocument(), "what triggers visits of the history", Kinds(EveryDocument, EveryTokens)
    )


@implemented_in(_MODULE)
@dataclass(frozen=True)
class ParticleFilter(StreamingParticles):
    """Particles that are resampled and rejuvenated (Canini et al. 2009, Alg. 4)."""

    kind = "particle-filter"

    particles: int = option(10, "P, the number of particles over all islands", least=1, first=True)
    resampling: Resampling = part(
        Residual(), "whether particles are resampled, and by which scheme", RESAMPLINGS
    )
    rejuvenation: Rejuvenation = part(
        AfterResampling(), "what triggers visits of the history", TRIGGERS
    )

    def check(self) -> None:
        super().check()
        never = isinstance(self.resampling, NeverResample)
        if never and isinstance(self.rejuvenation, AfterResampling):
            allowed = "document, tokens or never with --resampling=never"
            remedy = "No resampling triggers it then. Give --resampling=residual."
            raise OptionError("--rejuvenation", "resampling", allowed, remedy)
