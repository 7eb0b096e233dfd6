"""The contract of all learners, and their registry.

A learner is a small class without state of its own; what it learns is in a state object, made by
``init``, changed by ``step`` only, and turned into bytes by ``save``. The same calls are made by
:mod:`transforms.learn` and in a notebook:

>>> from model.learners import NoInitialBatch, OLda, learner_for
>>> settings = OLda(topics=2, initial=NoInitialBatch())
>>> learner = learner_for(settings)
>>> state = learner.init(settings, key="", island=0)
>>> learner.summary(state).words
0

Laws, tested over every registered learner: equal settings and minibatches give equal bits, whatever
the threads; ``load(save(state))`` goes on with the same bits; ``save`` gives the same bytes for the
same logical state, however its parts are shared in memory, so the digest of those bytes is the
state's digest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from model.compositions import Choice
from model.options import Kinds, Record, option
from model.records import Minibatch
from model.scaled import Scaled
from model.snapshot import Snapshot

# Part of every learner's fingerprint: raise it when the same settings and minibatches come to give
# other bits.
ALGORITHM_VERSION = 2

State = TypeVar("State")


@dataclass(frozen=True)
class LearnerSettings(Record):
    """What every learner has; a learner's own settings derive from it, and its ``kind`` is the
    learner's name.
    """

    seed: int = option(
        1, "of all draws; the same seed and archive give the same bits", least=0, first=True
    )
    topics: int = option(50, "T", least=1, first=True)
    alpha: float = option(
        0.1,
        "Dirichlet parameter of a document's topics, for each topic",
        above=0,
        usual="0.001 and 1",
    )

    @property
    def islands(self) -> int:
        """I, learners of one key side by side, of which each version publishes the best."""
        return 1


@dataclass(frozen=True, slots=True)
class StepInfo:
    """What one step did; for counters and progress, never fed back.

    ``log_evidence`` is ln P(minibatch | everything before) as the learner estimates it while it
    learns, so exp(-log_evidence / scored_tokens) is the prequential perplexity of the minibatch. An
    initial batch is not scored.
    """

    documents: int
    tokens: int
    unknown_tokens: int
    moves: int
    resamplings: int
    ess: float
    log_evidence: float
    words: int
    scored_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Summary:
    """Where a learner stands: how its island compares with others, and figures for the manifest.

    Attributes:
        evidence: of the last minibatches (``--evidence_window``). posterior: of the best particle,
        P(w, z). documents, tokens, words: learned so far; the vocabulary's size. log_evidence: of
        everything scored since the learner began. scored_tokens: how many tokens that covers. ess:
        now. in_sample_nmi: of the labelled documents in the history, None where there are none
        (``batch-gibbs`` has no history
            when its sampler is dense).
    """

    evidence: Scaled
    posterior: Scaled
    documents: int
    tokens: int
    words: int
    log_evidence: float
    scored_tokens: int
    ess: float
    in_sample_nmi: float | None


class Learner(Protocol[State]):
    """See the module's docstring. ``threads`` never changes a result."""

    def init(self, settings: Any, key: str, island: int, threads: int = 1) -> State:
        """A learner that has seen nothing."""

    def step(self, state: State, minibatch: Minibatch) -> StepInfo:
        """Learn one minibatch, in place. A state whose step raised must not be used again."""

    def snapshot(self, state: State) -> Snapshot:
        """The best particle as a model; key, sequence and times are filled in by the caller
        (dataclasses.replace).
        """

    def summary(self, state: State) -> Summary:
        """Evidence, posterior and figures."""

    def witness(self, state: State) -> bytes:
        """32 bytes over the bits of the evidence and of each particle's posterior."""

    def save(self, state: State) -> bytes:
        """The whole state, canonical: equal logical states give equal bytes."""

    def load(self, settings: Any, key: str, island: int, data: bytes, threads: int = 1) -> State:
        """The inverse of ``save``. Raises DamagedDataError where the bytes do not fit the
        settings.
        """

    def nbytes(self, state: State) -> int:
        """Memory that the state holds now, for ``--max_state_mb``."""


LEARNERS = Kinds()
LEARNER: Choice[LearnerSettings] = Choice(
    "learner", "the algorithm that learns", LEARNERS, "particle-filter"
)

_BY_SETTINGS: dict[type[LearnerSettings], Learner[object]] = {}

L = TypeVar("L")


def register(*settings: type[LearnerSettings]) -> Callable[[type[L]], type[L]]:
    """Class decorator: make the learner known by the ``kind`` of its settings; several settings
    may share one learner.
    """

    def add(cls: type[L]) -> type[L]:
        learner = cls()
        for one in settings:
            LEARNERS.register(one)
            _BY_SETTINGS[one] = learner  # type: ignore[assignment]
        return cls

    return add


def learner_names() -> tuple[str, ...]:
    """The registered names, sorted."""
    return tuple(sorted(LEARNERS))


def learner_for(settings: LearnerSettings) -> Learner[object]:
    """The learner that these settings belong to."""
    return _BY_SETTINGS[type(settings)]
