"""The settings of the engine: what is learned, and the order in which documents are visited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from beam_topics.model.errors import OptionError
from beam_topics.model.learners.base import AUTO, LearnerSettings, implemented_in
from beam_topics.model.learners.seeds import DEFAULT_STRENGTH, check_seeds, seeds_of
from beam_topics.model.learners.vocabularies import VOCABULARIES, Growing, VocabularySettings
from beam_topics.model.settings.options import Kinds, Record, option, part

# Topics are two bytes, of which one value means none.
MOST_TOPICS = 2**16 - 1
# The most topics of --topics=auto.
MAX_TOPICS = 200
# Smaller values of alpha vanish in float32 masses.
LEAST_ALPHA = 1e-4


class Births(Record):
    """Whether topics are born while a stream is learned."""


@dataclass(frozen=True)
class NoBirths(Births):
    """The topics of the start stay."""

    kind = "off"


@dataclass(frozen=True)
class LocalBirths(Births):
    """A subject that is new in the stream gets a topic of its own; there may be 2 T in the end.

    Attributes:
        apart, delay, begins: one document in ``apart`` waits for ``delay``, after ``begins``.
        every, pasts: documents between two proposals, and proposals to a snapshot's age.
        level, rise_level: the chance of a false alarm of the two wagers. In 60,000 documents that
            do not change, no candidate's rise had a wealth above exp(1.5).
        controls: the fewest documents of the past.
        patience: documents that judge a candidate.
        window: the newest documents, which stay at hand.
        least: documents of a candidate that hold it.
        judges: documents that judge together; fewer of a minibatch do not tell of a change.
    """

    kind = "on"

    apart = 4
    delay = 3200
    begins = 2000
    every = 600
    pasts = 2
    level = 0.03
    rise_level = 0.1
    controls = 60
    patience = 1500
    window = 3000
    least = 6
    judges = 50


BIRTHS = Kinds(NoBirths, LocalBirths)


@dataclass(frozen=True)
class Schedule(Record):
    """The order in which documents are visited.

    With births there are 2 T ids. The topics T, ... are born while a stream is learned, also of an
    archive that goes on as a stream.
    """

    births: Births = part(
        LocalBirths(), "whether a new subject gets a new topic", BIRTHS, absent=NoBirths()
    )


@dataclass(frozen=True)
class StreamSchedule(Schedule):
    """Each minibatch is learned when it comes; then earlier documents are visited again."""

    kind = "stream"

    moves: int = option(
        100,
        "R, documents that are visited for each one that arrives; more while there are few",
        unit="documents",
        least=0,
        first=True,
    )
    reservoir: int = option(
        20_000,
        "size of the uniform sample of all documents that can be visited",
        unit="documents",
        least=0,
    )


@dataclass(frozen=True)
class ArchiveSchedule(Schedule):
    """All documents so far are learned again for each version, whatever their order."""

    kind = "archive"

    sweeps: int = option(
        40, "sweeps over all documents, after those by which topics are found", least=1, first=True
    )


SCHEDULES = Kinds(StreamSchedule, ArchiveSchedule)


@implemented_in("beam_topics.model.learners.engine.learner")
@dataclass(frozen=True)
class Gibbs(LearnerSettings):
    """Gibbs sampling in epochs of many documents, for a stream or an archive."""

    kind = "gibbs"

    schedule: Schedule = part(
        StreamSchedule(), "the order in which documents are visited", SCHEDULES, first=True
    )
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
    max_topics: int = option(
        MAX_TOPICS,
        "largest number of topics that --topics=auto learns",
        least=1,
        most=MOST_TOPICS,
        absent=MAX_TOPICS,
    )

    def conditions(self) -> Mapping[str, tuple[bool, str]]:
        return {
            **super().conditions(),
            "seed_strength": (bool(self.seeds), "--seeds is given"),
            "max_topics": (self.learns_topics, "--topics is auto"),
        }

    def check(self) -> None:
        if self.learns_topics and not self.can_learn_topics:
            given, other = self.schedule, StreamSchedule()
            wrong, right = f"--schedule={given.kind}", f"--schedule={other.kind}"
            if isinstance(given, StreamSchedule):
                wrong, right = f"--births={NoBirths.kind}", f"--births={LocalBirths.kind}"
            remedy = f"Give a number, or {right}."
            raise OptionError("--topics", self.topics, f"a number with {wrong}", remedy)
        super().check()
        check_seeds(self.seeds, self.seed_strength, self.topics, self.vocabulary)
        most = MOST_TOPICS // (2 if self.has_more_ids else 1)
        if self.topics != AUTO and self.topics > most:
            allowed = f"at most {most} with --learner={self.kind}"
            raise OptionError("--topics", self.topics, allowed, "Give a smaller number.")
        if self.alpha != AUTO and self.alpha < LEAST_ALPHA:
            allowed = f"at least {LEAST_ALPHA} with --learner={self.kind}"
            raise OptionError("--alpha", self.alpha, allowed, "Give a larger number.")

    @property
    def topic_names(self) -> tuple[str, ...]:
        return tuple(seed.name for seed in seeds_of(self.seeds))

    @property
    def takes_new_words(self) -> bool:
        return self.vocabulary.is_open

    @property
    def births(self) -> LocalBirths | None:
        """Return how topics are born, or None."""
        found = self.schedule.births if isinstance(self.schedule, StreamSchedule) else None
        return found if isinstance(found, LocalBirths) else None

    @property
    def has_more_ids(self) -> bool:
        """Return whether there are T more ids, for topics that are born."""
        return isinstance(self.schedule.births, LocalBirths)

    def goes_on_from(self, earlier: LearnerSettings) -> bool:
        """Return whether the others are those of an archive that goes on as this stream."""
        stream = self.schedule
        if not isinstance(earlier, Gibbs) or not isinstance(stream, StreamSchedule):
            return False
        archive = earlier.schedule
        goes_on = isinstance(archive, ArchiveSchedule) and archive.births == stream.births
        return goes_on and replace(earlier, schedule=stream) == self

    @property
    def can_learn_topics(self) -> bool:
        return self.births is not None

    @property
    def first_topics(self) -> int:
        """Return T, the topics in use when learning begins; of auto they are few."""
        return 1 if self.topics == AUTO else self.topics

    @property
    def chooses_first(self) -> bool:
        """Return whether the first documents choose how many topics there are then."""
        return self.births is not None and not self.seeds

    @property
    def most_first(self) -> int:
        """Return the most topics without those that are born of a change."""
        return self.max_topics if self.topics == AUTO else self.topics

    @property
    def topic_count(self) -> int:
        if self.topics == AUTO:
            return self.max_topics
        return self.topics * (2 if self.has_more_ids else 1)

    @property
    def topic_alpha(self) -> float:
        return self.alpha_of(self.first_topics)

    def alpha_of(self, topics: int) -> float:
        """Return alpha of each topic, given how many are in use when learning begins.

        The sum is at most 2.5 for T topics, and twice that when T more are born.
        """
        topics = topics if self.topics == AUTO else self.topics
        alpha = min(0.1, 2.5 / topics) if self.alpha == AUTO else self.alpha
        return max(alpha, LEAST_ALPHA)
