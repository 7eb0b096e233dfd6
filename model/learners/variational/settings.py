"""The settings of the variational learners, and of the vocabularies of fixvoc."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from beam_topics.model.errors import OptionError
from beam_topics.model.learners.base import LearnerSettings, implemented_in
from beam_topics.model.learners.vocabularies import (
    DEFAULT_MAX_WORDS,
    FirstWords,
    Given,
    VocabularySettings,
)
from beam_topics.model.settings.options import Kinds, option, part


@dataclass(frozen=True)
class Null(VocabularySettings):
    """The words of the first minibatch that has any, and no others."""

    kind = "null"


@dataclass(frozen=True)
class Dict(VocabularySettings):
    """The words that the tokeniser finds in a list, and no others."""

    kind = "dict"

    word_list: tuple[str, ...] = option((), "file of the words", file="text")

    def check(self) -> None:
        if not self.word_list:
            remedy = "Give a file of words with --word_list."
            raise OptionError("--vocabulary", self.kind, "a list of words with it", remedy)

    @property
    def words(self) -> tuple[str, ...]:
        return self.word_list


@dataclass(frozen=True)
class DictHash(Dict):
    """The words of a list; a hash gives every other word the number of one of these."""

    kind = "dict-hash"


@dataclass(frozen=True)
class FullHash(VocabularySettings):
    """A hash gives every word one of --buckets numbers."""

    kind = "full-hash"

    buckets: int = option(30_000, "how many numbers words share", least=1)

    @property
    def size(self) -> int:
        return self.buckets


FIXVOC_VOCABULARIES = Kinds(FirstWords, Given, Null, Dict, DictHash, FullHash)


@dataclass(frozen=True)
class VariationalSettings(LearnerSettings):
    """Settings of all variational learners."""

    # Sweeps over each document, or updates of it.
    sweeps: ClassVar[int]

    kappa: float = option(
        0.6,
        "minibatch i has the step size (tau0 + i)^-kappa",
        least=0,
        most=1,
        remedy="Learning converges with more than 0.5; 0 is for batches.",
    )
    tau0: float = option(
        64.0,
        "tau0 of the step size; a larger value gives early minibatches less weight",
        unit="minibatches",
        least=0,
    )
    stream_documents: int = option(
        0,
        "D, documents in the whole stream; 0: as many as there were so far",
        unit="documents",
        least=0,
    )

    def conditions(self) -> Mapping[str, tuple[bool, str]]:
        return {"tau0": (self.kappa > 0, "--kappa is above 0")}


@dataclass(frozen=True)
class SampledLocally(VariationalSettings):
    """Settings of learners that draw a minibatch's topics by Gibbs sweeps within its documents."""

    # Sweeps over each document that do not count, and sweeps that do.
    local_burn_in: ClassVar[int] = 5
    local_sweeps: ClassVar[int] = 10
    sweeps: ClassVar[int] = local_burn_in + local_sweeps


@dataclass(frozen=True)
class Fixvoc(VariationalSettings):
    """Settings of both learners."""

    beta: float = option(
        0.1,
        "eta, Dirichlet parameter of a topic's words, for each word",
        above=0,
        usual="0.001 and 1",
        first=True,
    )
    vocabulary: VocabularySettings = part(
        FirstWords(), "which words are learned", FIXVOC_VOCABULARIES, first=True
    )

    @property
    def takes_new_words(self) -> bool:
        return False

    @property
    def least_bytes(self) -> int:
        """Return the bytes of the expected counts of all words that the vocabulary can have."""
        return 8 * self.topic_count * self.vocabulary.size

    @property
    def hashes_words(self) -> bool:
        return isinstance(self.vocabulary, DictHash | FullHash)


@implemented_in("beam_topics.model.learners.variational.fixvoc")
@dataclass(frozen=True)
class FixvocHybrid(Fixvoc, SampledLocally):
    """Online variational LDA with Gibbs sweeps in each document (Mimno, Hoffman and Blei 2012)."""

    kind = "fixvoc-hybrid"


@implemented_in("beam_topics.model.learners.variational.fixvoc")
@dataclass(frozen=True)
class FixvocVb(Fixvoc):
    """Online variational LDA, coordinate ascent on each document (Hoffman, Blei and Bach 2010)."""

    kind = "fixvoc-vb"

    sweeps: ClassVar[int] = 50


@implemented_in("beam_topics.model.learners.variational.infvoc")
@dataclass(frozen=True)
class Infvoc(SampledLocally):
    """Online variational topics over all strings (Zhai and Boyd-Graber 2013)."""

    kind = "infvoc"

    stick_concentration: float = option(
        1000.0,
        "alpha^beta: the larger, the more of a topic's stick is left for new words",
        least=1,
        remedy="Thousands are usual.",
    )
    truncation: int = option(
        30_000, "T, words that a topic keeps", unit="words", least=1, first=True
    )
    max_words: int = option(
        DEFAULT_MAX_WORDS, "words that all topics together keep", unit="words", least=1, first=True
    )
    reorder_every: int = option(
        20, "U, between two reorderings of a topic's words", unit="minibatches", least=1
    )
    remainder: Literal["share", "printed"] = option(
        "share",
        "what a word outside a topic's set gets: its share of what the stick has left, and the"
        " prior when it joins; or, as printed, all that the stick has left, and nu2 = 1",
    )
    word_list: tuple[str, ...] = option(
        (),
        "file of words that show how words are spelled; without it, the first minibatch",
        file="text",
    )
