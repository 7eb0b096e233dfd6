"""The settings of the engine: what is learned, and the order in which documents are visited."""

from __future__ import annotations

from dataclasses import dataclass

from beam_topics.model.errors import OptionError
from beam_topics.model.learners.base import AUTO, LearnerSettings, implemented_in
from beam_topics.model.learners.particles.settings import (
    VOCABULARIES,
    Growing,
    VocabularySettings,
)
from beam_topics.model.options import Kinds, Record, option, part

# Topics are two bytes, of which one value means none.
MOST_TOPICS = 2**16 - 1
# Smaller values of alpha vanish in float32 masses.
LEAST_ALPHA = 1e-4


class Schedule(Record):
    """The order in which documents are visited."""


@dataclass(frozen=True)
class StreamSchedule(Schedule):
    """Each minibatch is learned when it comes; then earlier documents are visited again."""

    kind = "stream"

    moves: int = option(
        30,
        "R, documents that are visited for each one that arrives; more while there are few",
        unit="documents or tokens",
        least=0,
        first=True,
    )
    reservoir: int = option(
        20_000,
        "size of the uniform sample of all documents that can be visited",
        unit="documents or tokens",
        least=0,
    )


@dataclass(frozen=True)
class ArchiveSchedule(Schedule):
    """All documents so far are learned anew for each version, whatever their order."""

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

    def check(self) -> None:
        super().check()
        if self.topics != AUTO and self.topics > MOST_TOPICS:
            allowed = f"at most {MOST_TOPICS} with --learner={self.kind}"
            raise OptionError("--topics", self.topics, allowed, "Give a smaller number.")
        if self.alpha != AUTO and self.alpha < LEAST_ALPHA:
            allowed = f"at least {LEAST_ALPHA} with --learner={self.kind}"
            raise OptionError("--alpha", self.alpha, allowed, "Give a larger number.")

    @property
    def takes_new_words(self) -> bool:
        return self.vocabulary.is_open

    @property
    def topic_alpha(self) -> float:
        """Return alpha of each topic."""
        return max(super().topic_alpha, LEAST_ALPHA)
