"""The settings of the particle family: one machine, of which each learner sets other parts.

The machine (:mod:`model.learners.particles.particle_filter`) reads the attributes of
:class:`ParticleSettings`. A learner has a field for a part that it lets users choose, and a
property for one that it fixes.
"""

from __future__ import annotations

from dataclasses import dataclass

from model.errors import OptionError
from model.learners.base import LearnerSettings
from model.learners.particles.challenger_settings import Challengers
from model.learners.particles.initial_settings import (
    INITIALS,
    Initial,
    InitialBatch,
    NoInitialBatch,
)
from model.learners.particles.rejuvenation import (
    SCHEDULES,
    AfterResampling,
    EveryDocument,
    EveryTokens,
    Never,
    Rejuvenation,
)
from model.learners.particles.resampling import RESAMPLINGS, NeverResample, Resampling
from model.learners.particles.topic_priors import PRIORS, Hierarchical, TopicPrior
from model.learners.particles.vocabularies import VOCABULARIES, Growing, VocabularySettings
from model.options import Kinds, option, part

# A learner alone keeps the evidence of so many minibatches, though nobody compares it with
# another's.
EVIDENCE_WINDOW = 20


@dataclass(frozen=True)
class ParticleSettings(LearnerSettings):
    """What all learners of the family have."""

    prior: TopicPrior = part(Hierarchical(), "of topics over words", PRIORS, first=True)
    vocabulary: VocabularySettings = part(
        Growing(), "which words are learned", VOCABULARIES, first=True
    )

    @property
    def particles(self) -> int:
        """P, over all islands together."""
        return 1

    @property
    def evidence_window(self) -> int:
        """Minibatches whose evidence is kept."""
        return EVIDENCE_WINDOW

    @property
    def initial(self) -> Initial:
        """How learning begins."""
        return NoInitialBatch()

    @property
    def resampling(self) -> Resampling:
        """When particles are resampled."""
        return NeverResample()

    @property
    def rejuvenation(self) -> Rejuvenation:
        """When the past is visited."""
        return Never()

    def check(self) -> None:
        if self.prior.word_list and not self.vocabulary.is_open:
            remedy = "Spelling tells nothing of words that are given: leave the list out."
            size = f"{len(self.prior.word_list)} words"
            raise OptionError(
                "--word_list", size, f"nothing with --vocabulary={self.vocabulary.kind}", remedy
            )

    @property
    def island_particles(self) -> int:
        """Particles of one island."""
        return self.particles // self.islands

    @property
    def ess_threshold(self) -> float:
        """The effective sample size at or below which an island's particles are resampled; 0:
        never.
        """
        return self.resampling.threshold(self.particles, self.islands)

    @property
    def is_spelled(self) -> bool:
        """Whether G is a distribution over all strings."""
        return self.prior.is_spelled and self.vocabulary.is_open

    @property
    def by_tokens(self) -> bool:
        """Whether particles meet, or rejuvenate, after single tokens."""
        return self.resampling.by_tokens or self.rejuvenation.tokens > 0


@dataclass(frozen=True)
class StreamingParticles(ParticleSettings):
    """What the learners have that read each document once."""

    particles: int = option(2, "P, over all islands together", least=1, first=True)
    islands: int = option(
        1, "I, a divisor of P; each island may run on a worker of its own", least=1
    )
    evidence_window: int = option(
        EVIDENCE_WINDOW,
        "islands are compared by their evidence over so many of the last minibatches",
        unit="minibatches",
        least=1,
        only_where=(lambda settings: settings.islands > 1, "--islands is above 1"),
    )
    initial: Initial = part(
        InitialBatch(),
        "how learning begins: with an initial batch, or with the first document",
        INITIALS,
    )

    def check(self) -> None:
        super().check()
        if self.particles % self.islands:
            allowed = f"a divisor of --particles ({self.particles})"
            raise OptionError(
                "--islands",
                self.islands,
                allowed,
                "Each island holds the same number of particles.",
            )
        if isinstance(self.rejuvenation.challengers, Challengers):
            self._check_challenged()
        if self.islands > 1 and isinstance(self.initial, NoInitialBatch):
            remedy = "Islands agree on what a topic is by sharing an initial batch."
            raise OptionError("--initial", "none", "batch when --islands is above 1", remedy)
        self.resampling.check_particles(self.particles, self.islands)

    def _check_challenged(self) -> None:
        if self.islands > 1:
            remedy = "Each island would decide by itself, and their topics would differ in meaning."
            raise OptionError("--islands", self.islands, "1 with --challengers=on", remedy)
        if not isinstance(self.resampling, NeverResample):
            remedy = "Challengers compete with chains that are not resampled."
            raise OptionError(
                "--resampling", self.resampling.kind, "never with --challengers=on", remedy
            )


@dataclass(frozen=True)
class ParticleFilter(StreamingParticles):
    """Particles that are resampled and rejuvenated (Canini et al. 2009, Alg. 4)."""

    kind = "particle-filter"

    resampling: Resampling = part(
        NeverResample(), "whether particles are resampled, and by which scheme", RESAMPLINGS
    )
    rejuvenation: Rejuvenation = part(
        EveryDocument(), "what triggers visits of the past", SCHEDULES
    )

    def check(self) -> None:
        super().check()
        if isinstance(self.rejuvenation, AfterResampling) and isinstance(
            self.resampling, NeverResample
        ):
            allowed = "document, tokens or never with --resampling=never"
            raise OptionError(
                "--rejuvenation",
                "resampling",
                allowed,
                "Nothing resamples then; give --resampling=residual.",
            )


@dataclass(frozen=True)
class IncrementalGibbs(StreamingParticles):
    """Chains that revise the past and never meet (Alg. 3)."""

    kind = "incremental-gibbs"

    rejuvenation: Rejuvenation = part(
        EveryDocument(), "what triggers visits of the past", Kinds(EveryDocument, EveryTokens)
    )


@dataclass(frozen=True)
class OLda(StreamingParticles):
    """Chains that draw each topic once (Alg. 2)."""

    kind = "o-lda"
