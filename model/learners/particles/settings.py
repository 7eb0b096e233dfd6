"""The settings of the particle family.

All learners of the family run one algorithm (:mod:`model.learners.particles.particle_filter`),
which reads the attributes of :class:`ParticleSettings`. A learner has a field for each part that
a user chooses, and a property for each part that the learner fixes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model.errors import OptionError
from model.kinds import Kinds
from model.learners.base import LearnerSettings, implemented_in
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
from model.options import option, part

# The module of the learner of all of them.
_MODULE = "model.learners.particles.particle_filter"
# Minibatches whose evidence is kept, also where there is one learner and nothing to compare.
EVIDENCE_WINDOW = 20
MAX_TOPICS = 200
# The parts that most learners fix. A step reads them often, so they are made once.
_NEVER_RESAMPLE, _NEVER = NeverResample(), Never()


@dataclass(frozen=True)
class ParticleSettings(LearnerSettings):
    """Settings that all learners of the family have."""

    prior: TopicPrior = part(Hierarchical(), "prior of topics over words", PRIORS, first=True)
    vocabulary: VocabularySettings = part(
        Growing(), "which words are learned", VOCABULARIES, first=True
    )

    @property
    def particles(self) -> int:
        """Return P, over all islands."""
        return 1

    @property
    def evidence_window(self) -> int:
        """Return the number of minibatches whose evidence is kept."""
        return EVIDENCE_WINDOW

    @property
    def half_life(self) -> tuple[int, ...]:
        """Return the half-life of tokens in microseconds, of all islands or of each; 0 for none."""
        return (0,)

    @property
    def initial(self) -> Initial:
        """Return how learning begins."""
        return NoInitialBatch()

    @property
    def resampling(self) -> Resampling:
        """Return when and how particles are resampled."""
        return _NEVER_RESAMPLE

    @property
    def rejuvenation(self) -> Rejuvenation:
        """Return when units of the history are visited."""
        return _NEVER

    def check(self) -> None:
        super().check()
        if self.prior.word_list and not self.vocabulary.is_open:
            remedy = "A given vocabulary does not use spelling. Leave the list out."
            size = f"{len(self.prior.word_list)} words"
            raise OptionError(
                "--word_list", size, f"no list with --vocabulary={self.vocabulary.kind}", remedy
            )

    @property
    def island_particles(self) -> int:
        """Return the number of particles of one island."""
        return self.particles // self.islands

    @property
    def independent_chains(self) -> int:
        """Return C: the particles of an island, unless resampling makes copies of some of them."""
        return self.island_particles if isinstance(self.resampling, NeverResample) else 1

    @property
    def ess_threshold(self) -> float:
        """Return the effective sample size at or below which an island resamples; 0 means never."""
        return self.resampling.threshold(self.particles, self.islands)

    @property
    def is_spelled(self) -> bool:
        """Return whether G is a distribution over all strings."""
        return self.prior.is_spelled and self.vocabulary.is_open

    @property
    def by_tokens(self) -> bool:
        """Return whether particles are resampled or rejuvenated after single tokens."""
        return self.resampling.by_tokens or self.rejuvenation.tokens > 0


@dataclass(frozen=True)
class StreamingParticles(ParticleSettings):
    """Settings of the learners that read each document once."""

    particles: int = option(1, "P, the number of particles over all islands", least=1, first=True)
    islands: int = option(
        1, "I, the number of islands, a divisor of P; islands may run on different workers", least=1
    )
    evidence_window: int = option(
        EVIDENCE_WINDOW,
        "number of the last minibatches whose evidence compares islands",
        unit="minibatches",
        least=1,
    )
    initial: Initial = part(
        InitialBatch(),
        "whether learning begins with an initial batch or with the first document",
        INITIALS,
    )
    half_life: tuple[int, ...] = option(
        (0,),
        "event time in which half of the learned tokens are forgotten; with commas one for each"
        " island, and their evidence compares them",
        unit="durations",
        absent=(0,),
    )

    def conditions(self) -> Mapping[str, tuple[bool, str]]:
        return {"evidence_window": (self.islands > 1, "--islands is above 1")}

    def check(self) -> None:
        super().check()
        if self.particles % self.islands:
            allowed = f"a divisor of --particles ({self.particles})"
            raise OptionError(
                "--islands",
                self.islands,
                allowed,
                f"Each island holds the same number of particles: give --particles={self.islands}.",
            )
        if len(self.half_life) not in (1, self.islands):
            given = f"{len(self.half_life)} lengths"
            allowed = f"one, or as many as --islands ({self.islands})"
            raise OptionError("--half_life", given, allowed, "Each island has one of them.")
        if self.islands > 1 and isinstance(self.initial, NoInitialBatch):
            remedy = "A shared initial batch gives all islands the same topics."
            raise OptionError("--initial", "none", "batch when --islands is above 1", remedy)
        self.resampling.check_particles(self.particles, self.islands)


@implemented_in(_MODULE)
@dataclass(frozen=True)
class ParticleFilter(StreamingParticles):
    """Particles that are resampled and rejuvenated (Canini et al. 2009, Alg. 4)."""

    kind = "particle-filter"

    resampling: Resampling = part(
        NeverResample(), "whether particles are resampled, and by which scheme", RESAMPLINGS
    )
    rejuvenation: Rejuvenation = part(
        EveryDocument(), "what triggers visits of the history", SCHEDULES
    )
    max_topics: int = option(
        MAX_TOPICS, "largest number of topics with --topics=auto", least=1, absent=MAX_TOPICS
    )

    @property
    def can_learn_topics(self) -> bool:
        return True

    @property
    def topic_count(self) -> int:
        return self.max_topics if self.learns_topics else super().topic_count

    def conditions(self) -> Mapping[str, tuple[bool, str]]:
        by_documents = self.rejuvenation.tokens == 0, "--rejuvenation is not tokens"
        bounded = self.learns_topics, "--topics is auto"
        return {**super().conditions(), "ess_check": by_documents, "max_topics": bounded}

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
                "No resampling triggers it then. Give --resampling=residual.",
            )
        if self.learns_topics:
            self._check_learned_topics()

    def _check_learned_topics(self) -> None:
        remedy = "Give a number of topics."
        if self.island_particles > 1:
            allowed = f"--islands ({self.islands}) with --topics=auto"
            why = f"The particles of an island share the weights of topics. {remedy}"
            raise OptionError("--particles", self.particles, allowed, why)
        why = f"Weights of topics are learned from the documents of the reservoir. {remedy}"
        if self.rejuvenation.whole_past:
            raise OptionError("--history", "full", "reservoir with --topics=auto", why)
        if self.rejuvenation.history.is_empty:
            allowed = "one with documents at hand, with --topics=auto"
            raise OptionError("--rejuvenation", self.rejuvenation.kind, allowed, why)


@implemented_in(_MODULE)
@dataclass(frozen=True)
class IncrementalGibbs(StreamingParticles):
    """Independent chains that are rejuvenated (Canini et al. 2009, Alg. 3)."""

    kind = "incremental-gibbs"

    rejuvenation: Rejuvenation = part(
        EveryDocument(), "what triggers visits of the history", Kinds(EveryDocument, EveryTokens)
    )


@implemented_in(_MODULE)
@dataclass(frozen=True)
class OLda(StreamingParticles):
    """Independent chains that draw each topic once (Canini et al. 2009, Alg. 2)."""

    kind = "o-lda"
