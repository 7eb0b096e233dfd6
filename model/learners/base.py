"""The contract that all learners meet, and their registry.

A learner is a small class without attributes. What it learns is in a state object: ``init`` makes
the state, only ``step`` changes it, and ``save`` turns it into bytes:

>>> from beam_topics.model.learners import NoInitialBatch, OLda, learner_for
>>> settings = OLda(topics=2, initial=NoInitialBatch())
>>> learner = learner_for(settings)
>>> state = learner.init(settings, key="", island=0)
>>> learner.summary(state).words
0

Tests check three laws for every registered learner:

* Equal settings and minibatches give equal bits, whatever the number of threads.
* ``load(save(state))`` continues with the same bits.
* ``save`` gives the same bytes, and so one digest, however parts are shared in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

from beam_topics.model.errors import OptionError
from beam_topics.model.learners.filters.settings import (
    DUPLICATES,
    PHRASES,
    Duplicates,
    Keep,
    NoPhrases,
    PhraseSettings,
)
from beam_topics.model.settings.compositions import Choice
from beam_topics.model.settings.options import Implementations, Kinds, Record, option, part

if TYPE_CHECKING:
    from beam_topics.model.arrays import FloatArray
    from beam_topics.model.documents.minibatch import Minibatch
    from beam_topics.model.publishing.events import Event
    from beam_topics.model.publishing.snapshot import Snapshot
    from beam_topics.model.scaled import Scaled

# Part of every learner's fingerprint. Raise it when the same settings and minibatches give other
# bits than before.
ALGORITHM_VERSION = 2

# The value of --topics where their number is learned, and of --alpha where it goes by T.
AUTO: Literal["auto"] = "auto"

State = TypeVar("State")


@dataclass(frozen=True)
class LearnerSettings(Record):
    """Settings that every learner has.

    The settings of a learner derive from this record. Their ``kind`` is the learner's name.
    """

    seed: int = option(
        1, "seed of all draws; equal seeds and archives give equal bits", least=0, first=True
    )
    topics: int | Literal["auto"] = option(
        50,
        "T, the number of topics",
        least=1,
        word=AUTO,
        first=True,
    )
    alpha: float | Literal["auto"] = option(
        AUTO,
        "Dirichlet parameter of a document's topics, for each topic; auto: 0.1, or 2.5 / T if less",
        above=0,
        usual="0.001 and 1",
        word=AUTO,
    )
    duplicates: Duplicates = part(
        Keep(), "whether near copies of documents are learned", DUPLICATES, absent=Keep()
    )
    max_source_share: float = option(
        1.0,
        "largest share of one --source_field of the documents learned last; what is above it is"
        " labelled, not learned",
        above=0,
        most=1,
        absent=1.0,
    )
    phrases: PhraseSettings = part(
        NoPhrases(),
        "whether neighbouring words that belong together become one word",
        PHRASES,
        absent=NoPhrases(),
    )
    max_df: float = option(
        1.0,
        "largest share of the documents that have a word; a word above it is left out",
        above=0,
        most=1,
        absent=1.0,
    )

    def check(self) -> None:
        super().check()
        if not isinstance(self.phrases, NoPhrases) and not self.takes_new_words:
            remedy = "Use --vocabulary=growing with gibbs or infvoc."
            allowed = "none with words that are known in advance or may no longer join"
            raise OptionError("--phrases", self.phrases.kind, allowed, remedy)
        if self.max_df < 1 and self.hashes_words:
            allowed = "1 with a vocabulary that hashes words"
            raise OptionError("--max_df", self.max_df, allowed, "Use another --vocabulary.")
        if self.learns_topics and not self.can_learn_topics:
            remedy = "Give a number, or --learner=gibbs."
            allowed = f"a number with --learner={self.kind}"
            raise OptionError("--topics", self.topics, allowed, remedy)

    def goes_on_from(self, earlier: LearnerSettings) -> bool:
        """Return whether documents may be added by these settings to what others have learned."""
        return False

    @property
    def is_filtered(self) -> bool:
        """Return whether minibatches pass through filters before they are learned."""
        whole = isinstance(self.duplicates, Keep) and isinstance(self.phrases, NoPhrases)
        return not whole or self.max_source_share < 1 or self.max_df < 1

    @property
    def learns_topics(self) -> bool:
        """Return whether the number of topics is learned."""
        return self.topics == AUTO

    @property
    def can_learn_topics(self) -> bool:
        """Return whether the learner is able to learn the number of topics."""
        return False

    @property
    def takes_new_words(self) -> bool:
        """Return whether new words join the vocabulary at any time."""
        return True

    @property
    def hashes_words(self) -> bool:
        """Return whether several words may share a row of the model."""
        return False

    @property
    def least_bytes(self) -> int:
        """Return the bytes of a state, at least, when its parts of a stated size are full.

        What follows from the words that come is not in it.
        """
        return 0

    @property
    def topic_count(self) -> int:
        """Return T, the number of topics, or the most that there can be."""
        assert isinstance(self.topics, int)
        return self.topics

    @property
    def topic_alpha(self) -> float:
        """Return alpha of each topic; auto bounds their sum (docs/results/comparison.md)."""
        return min(0.1, 2.5 / self.topic_count) if self.alpha == AUTO else self.alpha

    @property
    def islands(self) -> int:
        """Return I, the number of learners of one key; a version publishes one of them."""
        return 1

    @property
    def topic_names(self) -> tuple[str, ...]:
        """Return the names that the first topics have from the start."""
        return ()

    @property
    def independent_chains(self) -> int:
        """Return C, the number of models of one learner that never meet; one of them is offered."""
        return 1


@dataclass(frozen=True, slots=True)
class StepInfo:
    """What one step did, for counters, progress and events. What is learned does not depend on it.

    Attributes:
        documents: documents of the minibatch.
        tokens: tokens of the minibatch, unknown words included.
        unknown_tokens: tokens whose word is not in the vocabulary. They are not learned.
        words: size of the vocabulary after the minibatch.
        moves: topics that rejuvenation drew again.
        resamplings: how often the particles were resampled.
        ess: effective sample size after the minibatch.
        log_evidence: ln P(minibatch | everything before), as the learner estimates it while it
            learns. The prequential perplexity of the minibatch is
            exp(-log_evidence / scored_tokens).
        scored_tokens: tokens that ``log_evidence`` covers. An initial batch is not scored.
        near_copies: documents of the minibatch that were not learned, because they are near copies
            of others. They are not among ``documents``.
        over_share: documents of the minibatch that were not learned, because their source has its
            share. They are not among ``documents``.
        events: what the stream did, as this step reports it. The log sets sequence and time.
    """

    documents: int
    tokens: int
    unknown_tokens: int
    words: int
    moves: int = 0
    resamplings: int = 0
    ess: float = 1.0
    log_evidence: float = 0.0
    scored_tokens: int = 0
    events: tuple[Event, ...] = ()
    near_copies: int = 0
    over_share: int = 0


@dataclass(frozen=True, slots=True)
class Summary:
    """Where a learner stands: figures to compare islands by, and figures for the manifest.

    Attributes:
        evidence: P(minibatches | everything before), of the last ones or of all. Islands are
            compared by it.
        posterior: P(w, z) of the best particle.
        documents: documents learned so far.
        tokens: tokens learned so far.
        words: size of the vocabulary.
        log_evidence: log evidence of everything that was scored since the learner began.
        scored_tokens: tokens that ``log_evidence`` covers.
        ess: effective sample size now.
        in_sample_nmi: nMI of topics and labels over the labelled documents in the history. None
            where there are none.
    """

    evidence: Scaled
    posterior: Scaled
    documents: int
    tokens: int
    words: int
    log_evidence: float
    scored_tokens: int
    ess: float = 1.0
    in_sample_nmi: float | None = None


class Arrivals(NamedTuple):
    """How many tokens and documents came to each topic.

    Attributes:
        counts: float64[C, 2, T]: for each independent chain the tokens and the documents of each
            topic.
        until: the number after that of the last document that can be counted now.
    """

    counts: FloatArray
    until: int


class Learner(Protocol[State]):
    """The methods of a learner. ``threads`` never changes a result."""

    def init(self, settings: Any, key: str, island: int, threads: int = 1) -> State:
        """Return the state of a learner before the first minibatch.

        Args:
            settings: the settings.
            key: the model key. It names the draws, with the seed and the island.
            island: the number of the island; 0 for a learner without islands.
            threads: the number of threads.
        """

    def step(self, state: State, minibatch: Minibatch) -> StepInfo:
        """Learn one minibatch in place.

        A state whose step raised must not be used again.
        """

    def snapshot(self, state: State, chain: int | None = None) -> Snapshot:
        """Return a chain as a model, or the best particle without ``chain``.

        The caller sets key, sequence and times with ``dataclasses.replace``.
        """

    def summary(self, state: State, chain: int | None = None) -> Summary:
        """Return evidence and figures, with the posterior of the model that ``snapshot`` gives."""

    def arrivals(self, state: State, after: int, unlearned: bool = False) -> Arrivals:
        """Return how many tokens and documents came to each topic.

        Documents are numbered from 0 in the order in which they came. A document belongs to the
        topic with the most of its tokens, the first of equals, and to none without a known word.

        Args:
            state: the state.
            after: earlier documents do not count.
            unlearned: count the documents that came and wait (they are part of what ``snapshot``
                gives) in place of those that the last step learned.
        """

    def witness(self, state: State) -> bytes:
        """Return a 32-byte digest of the bits of the evidence and of each particle's posterior."""

    def save(self, state: State) -> bytes:
        """Return the whole state in canonical form: equal logical states give equal bytes."""

    def load(self, settings: Any, key: str, island: int, data: bytes, threads: int = 1) -> State:
        """Return the state that ``save`` wrote.

        Raises:
            DamagedDataError: the bytes do not fit the settings.
        """

    def nbytes(self, state: State) -> int:
        """Return the memory that the state uses now in bytes, for ``--max_state_mb``."""


@runtime_checkable
class LearnsRuns(Protocol):
    """What a learner has in addition that learns several minibatches in one call.

    Short windows make minibatches of few documents, for which the costs of a call are most of a
    step. A learner without this method learns one minibatch at a time.
    """

    def steps(self, state: Any, minibatches: Sequence[Minibatch]) -> list[StepInfo]:
        """Learn consecutive minibatches in place, to the bits of a ``step`` for each.

        Afterwards ``arrivals`` counts the documents that all of these steps learned.
        """


@runtime_checkable
class GoesOn(Protocol):
    """What a learner has in addition whose settings may go on from others."""

    def go_on(self, settings: Any, state: Any) -> Any:
        """Return a state of ``settings`` that holds what one of earlier settings has learned.

        The earlier state must not be used again. A snapshot of both is the same model.
        """


@runtime_checkable
class HoldsDocuments(Protocol):
    """What a learner has in addition whose state holds documents."""

    def held(self, state: Any, after: int = 0) -> list[list[str]]:
        """Return the known words of the documents that can be visited again.

        Args:
            state: the state.
            after: documents before which fewer came are left out.
        """

    def erase(self, state: Any, arrivals: Any, came: int) -> int | None:
        """Take documents that are at hand out of the state, with their tokens in all counts.

        Their places stay, as those of documents without words. Words that no other document used
        leave a vocabulary that grows.

        Args:
            state: the state.
            arrivals: int64[n], how many documents came before each of them.
            came: how many documents came.

        Returns:
            How many of them were at hand. None, with the state as it was, if another number of
            documents came, because filters left some out: it is not known which ones they are.
        """


LEARNERS = Kinds()
LEARNER: Choice[LearnerSettings] = Choice("learner", "the algorithm that learns", LEARNERS, "gibbs")

_LEARNERS: Implementations[Learner[Any]] = Implementations(LEARNERS)

L = TypeVar("L")
S = TypeVar("S", bound=LearnerSettings)


def register(*settings: type[LearnerSettings]) -> Callable[[type[L]], type[L]]:
    """Return a class decorator that registers a learner under the ``kind`` of its settings.

    Args:
        settings: the records of settings of the learner. One learner may have several.
    """

    def add(cls: type[L]) -> type[L]:
        learner = cls()
        for one in settings:
            _LEARNERS.add(one, learner)  # type: ignore[arg-type]
        return cls

    return add


def implemented_in(module: str) -> Callable[[type[S]], type[S]]:
    """Return a class decorator that registers settings whose learner is in another module.

    The module is imported when a learner is first made, so options are listed without kernels.

    Args:
        module: the module that has the learner, under :func:`register`.
    """
    return _LEARNERS.declare(module)


def learner_names() -> tuple[str, ...]:
    """Return the registered names, sorted."""
    return tuple(sorted(LEARNERS))


def implementation_of(settings: LearnerSettings) -> Learner[Any]:
    """Return the learner that the settings belong to, without the filters before it."""
    return _LEARNERS.of(type(settings))
