"""The settings of the particle family.

All learners of the family run one algorithm
(:mod:`beam_topics.model.learners.particles.particle_filter`), which reads the attributes of
:class:`ParticleSettings`. A learner has a field for each part that a user chooses, and a property
for each part that the learner fixes. Two of the parts are here: the vocabulary, and resampling with
the schemes of :mod:`beam_topics.model.learners.particles.kernels.resampling`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from beam_topics.model.errors import OptionError
from beam_topics.model.learners.base import LearnerSettings, implemented_in
from beam_topics.model.learners.particles.rejuvenation import (
    SCHEDULES,
    AfterResampling,
    Challengers,
    EveryDocument,
    EveryTokens,
    Never,
    Rejuvenation,
)
from beam_topics.model.learners.particles.topic_priors import PRIORS, Hierarchical, TopicPrior
from beam_topics.model.learners.seeds import (
    MOST_TOKENS,
    STRENGTH_FLAG,
    seeds_of,
    words_of,
)
from beam_topics.model.learners.vocabularies import VOCABULARIES, Growing, VocabularySettings
from beam_topics.model.options import Kinds, Record, option, part
from beam_topics.model.times import duration_text


class Resampling(Record):
    """What the particle filter asks of resampling settings."""

    @property
    def by_tokens(self) -> bool:
        """Return whether the effective sample size is checked after each token."""
        return False

    @property
    def scheme(self) -> int:
        """Return the number of the scheme."""
        return 0

    def threshold(self, particles: int, islands: int) -> float:
        """Return the effective sample size at or below which an island resamples; 0 means never."""
        return 0.0

    def check_particles(self, particles: int, islands: int) -> None:
        """Check that the threshold can be reached by so many particles.

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
    ess_check: Literal["document", "token"] = option(
        "document",
        "after what the effective sample size is checked; always token with --rejuvenation=tokens",
    )

    @property
    def by_tokens(self) -> bool:
        return self.ess_check == "token"

    @property
    def scheme(self) -> int:
        # Imported here, so that settings can be listed without kernels.
        from beam_topics.model.learners.particles.kernels.resampling import SCHEMES

        return SCHEMES.index(self.kind)

    def threshold(self, particles: int, islands: int) -> float:
        return self.ess * (particles // islands) if self.ess < 1 else self.ess / islands

    def check_particles(self, particles: int, islands: int) -> None:
        if particles == islands:
            allowed = "never where an island has one particle"
            remedy = "Give more --particles, or leave it out."
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


RESAMPLINGS = Kinds(NeverResample, Residual, Multinomial)


# The module of the learner of all of them.
_MODULE = "beam_topics.model.learners.particles.particle_filter"
# Minibatches whose evidence is kept, also where there is one learner and nothing to compare.
EVIDENCE_WINDOW = 20
# Prior tokens of a word of a seed.
DEFAULT_STRENGTH = 100
MAX_TOPICS = 200
# The parts that most learners fix. A step reads them often, so they are made once.
_NEVER_RESAMPLE, _NEVER = NeverResample(), Never()
# The half-lives that the stream chooses among.
AUTO: tuple[int, ...] = ()
# With AUTO, the half-life of each island in learned tokens for each topic; 0 for none. What a
# memory costs on a stream that does not change depends on its tokens for each topic
# (docs/results/half-life.md).
MEMORIES = (0, 12_000, 3_000)

# The number of documents of a batch that is never complete.
ENDLESS = sys.maxsize


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
    tokens: int = option(
        200_000,
        "the initial batch ends earlier when it has so many tokens",
        name="initial_tokens",
        unit="tokens",
        least=1,
    )
    chains: int = option(
        8, "C, Gibbs chains over the initial batch; all particles start from the best", least=1
    )
    sweeps: int = option(50, "sweeps of each chain", name="initial_sweeps", least=1)
    choice: Literal["perplexity", "nmi", "posterior"] = option(
        "perplexity",
        "how chains are compared: by held-out perplexity, P(w, z), or nMI with the labels",
        name="initial_choice",
    )

    def conditions(self) -> Mapping[str, tuple[bool, str]]:
        return {"initial_choice": (self.chains > 1, "--chains is above 1")}


INITIALS = Kinds(InitialBatch, NoInitialBatch)


def memory_text(learner: Mapping[str, Any], island: int) -> str:
    """Return the half-life of an island for people; "" where no island forgets.

    Args:
        learner: the learner's settings as JSON, as in a manifest.
        island: the island.
    """
    lengths = learner.get("half_life", [0])
    if not any(lengths) and lengths != list(AUTO):
        return ""
    if not lengths:
        topics = learner["max_topics"] if learner["topics"] == "auto" else learner["topics"]
        tokens = MEMORIES[island] * int(topics)
        return f"half-life of {tokens:,} learned tokens" if tokens else "nothing is forgotten"
    length = lengths[island if len(lengths) > 1 else 0]
    return f"half-life of {duration_text(length)}" if length else "nothing is forgotten"


@dataclass(frozen=True)
class ParticleSettings(LearnerSettings):
    """Settings that all learners of the family have."""

    prior: TopicPrior = part(Hierarchical(), "prior of topics over words", PRIORS, first=True)
    vocabulary: VocabularySettings = part(
        Growing(), "which words are learned", VOCABULARIES, first=True
    )
    seeds: tuple[str, ...] = option(
        (),
        "YAML file of topics to begin with: names, each with a list of words; topic 0 is the first",
        file="seeds",
        absent=(),
    )
    seed_strength: int = option(
        DEFAULT_STRENGTH,
        "prior tokens of each word of --seeds in its topic",
        unit="tokens",
        least=1,
        absent=DEFAULT_STRENGTH,
    )

    def conditions(self) -> Mapping[str, tuple[bool, str]]:
        return {**super().conditions(), "seed_strength": (bool(self.seeds), "--seeds is given")}

    @property
    def takes_new_words(self) -> bool:
        return self.vocabulary.is_open

    @property
    def topic_names(self) -> tuple[str, ...]:
        return tuple(seed.name for seed in seeds_of(self.seeds))

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
        """Return the half-life of tokens in microseconds, of all islands or of each; 0 for none.

        :data:`AUTO` stands for half-lives in learned tokens, of :data:`MEMORIES`.
        """
        return (0,)

    def half_life_of(self, island: int) -> int:
        """Return the half-life in an island, in microseconds, or in learned tokens with AUTO."""
        if self.half_life == AUTO:
            return MEMORIES[island] * self.topic_count
        return self.half_life[island if len(self.half_life) > 1 else 0]

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

    def _check_seeds(self) -> None:
        """Refuse seeds that do not fit the other settings."""
        seeds, words = seeds_of(self.seeds), words_of(self.seeds)
        if seeds and self.learns_topics:
            remedy = "Seeds need topics that stay: give --topics a number."
            raise OptionError(
                "--seeds", f"{len(seeds)} topics", "none beside --topics=auto", remedy
            )
        if len(seeds) > self.topic_count:
            allowed = f"at most as many as --topics ({self.topic_count})"
            remedy = f"Give --topics={len(seeds)} or more."
            raise OptionError("--seeds", f"{len(seeds)} topics", allowed, remedy)
        given = (tokens for seed in seeds for tokens in seed.tokens.values())
        if (tokens := sum(number or self.seed_strength for number in given)) > MOST_TOKENS:
            allowed = f"at most {MOST_TOKENS} prior tokens of all words together"
            remedy = f"Give a lower {STRENGTH_FLAG}, or lower numbers behind words."
            raise OptionError("--seeds", f"{tokens} prior tokens", allowed, remedy)
        if self.vocabulary.is_open:
            if 2 * len(words) > (size := self.vocabulary.size):
                allowed, remedy = (
                    f"at most half of --max_words ({size})",
                    "Give a larger --max_words.",
                )
                raise OptionError("--seeds", f"{len(words)} words", allowed, remedy)
        elif unknown := sorted(set(words) - set(self.vocabulary.new().words)):
            remedy = "Add it to --vocabulary_file, or leave it out of the seeds."
            raise OptionError("--seeds", unknown[0], "words of the given vocabulary", remedy)

    def check(self) -> None:
        super().check()
        self._check_seeds()
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
    def least_bytes(self) -> int:
        """Return the bytes of the totals, and of the losses of all pairs of topics in a trial."""
        pairs = self.topic_count**2 if isinstance(self.rejuvenation.challengers, Challengers) else 0
        return 16 * self.topic_count * self.island_particles + 8 * pairs

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
        " island, and their evidence compares them; auto: three islands with lengths of their own,"
        " in learned tokens",
        unit="durations",
        absent=(0,),
    )

    @classmethod
    def implied(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        islands = len(MEMORIES)
        return {"particles": islands, "islands": islands} if given.get("half_life") == AUTO else {}

    def conditions(self) -> Mapping[str, tuple[bool, str]]:
        several = self.islands > 1, "--islands is above 1"
        return {**super().conditions(), "evidence_window": several}

    def check(self) -> None:
        super().check()
        self._check_memories()
        if self.particles % self.islands:
            allowed = f"a divisor of --particles ({self.particles})"
            raise OptionError(
                "--islands",
                self.islands,
                allowed,
                f"Each island holds the same number of particles: give --particles={self.islands}.",
            )
        if self.seeds and (any(self.half_life) or self.half_life == AUTO):
            given, remedy = f"{len(self.seeds)} topics", "Prior tokens do not fade. Leave one out."
            raise OptionError("--seeds", given, "none beside --half_life", remedy)
        if self.islands > 1 and isinstance(self.initial, NoInitialBatch):
            remedy = "A shared initial batch gives all islands the same topics."
            raise OptionError("--initial", "none", "batch when --islands is above 1", remedy)
        self.resampling.check_particles(self.particles, self.islands)

    def _check_memories(self) -> None:
        if self.half_life != AUTO:
            if len(self.half_life) not in (1, self.islands):
                given = f"{len(self.half_life)} lengths"
                allowed = f"one, or as many as --islands ({self.islands})"
                raise OptionError("--half_life", given, allowed, "Each island has one of them.")
            return
        memories = len(MEMORIES)
        if self.islands != memories:
            allowed = f"{memories} with --half_life=auto"
            remedy = "Each island has a memory of its own: leave the option out."
            raise OptionError("--islands", self.islands, allowed, remedy)
        if self.particles % memories:
            allowed = f"a multiple of {memories} with --half_life=auto"
            remedy = "Each island has as many particles as the others: leave the option out."
            raise OptionError("--particles", self.particles, allowed, remedy)


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
        MAX_TOPICS, "largest number of topics that --topics=auto learns", least=1, absent=MAX_TOPICS
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
            given = self.rejuvenation.history.kind
            raise OptionError("--history", given, "reservoir with --topics=auto", why)
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
