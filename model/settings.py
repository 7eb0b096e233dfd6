"""Every setting that changes what is learned, in one place, checked when it is made.

Three records, each with canonical JSON, which is what fingerprints are made of: :class:`TokeniserSettings` (text to
words), :class:`SequenceSettings` (documents to numbered minibatches) and :class:`LearnerSettings` (minibatches to
topics). Options that do not change what is learned (threads, paths, how often to checkpoint) are not in here, so they may change
between a run and its continuation. Defaults are measured: ``benchmarks/README.md`` says how.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, Self, get_args

from model import wire
from model.errors import OptionError, above_zero, at_least, one_of
from model.together import check_together

Resampling = Literal["residual", "multinomial", "stratified", "systematic"]
EssCheck = Literal["document", "token"]
Trigger = Literal["never", "resampling", "document", "tokens"]
Choice = Literal["uniform", "decayed", "newest"]
Unit = Literal["document", "token"]
HistoryKind = Literal["reservoir", "full"]
InitialChoice = Literal["perplexity", "nmi", "posterior"]
VocabularyKind = Literal["growing", "given", "null", "dict", "dict-hash", "full-hash"]
Sampler = Literal["auto", "dense", "sparse"]
Remainder = Literal["share", "stick", "mass"]
Entry = Literal["prior", "one"]
TopicPrior = Literal["flat", "urn", "hierarchical"]
Tables = Literal["minimal", "sampled"]
Concentrations = Literal["fixed", "learned"]


class _Settings:
    """Canonical JSON there and back, for frozen dataclasses."""

    def canonical(self) -> str:
        """JSON with one spelling for equal settings."""
        return wire.canonical_json(asdict(self))  # type: ignore[call-overload]

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Settings from parsed JSON; a list becomes the tuple that it was."""
        known = {item.name for item in fields(cls)}  # type: ignore[arg-type]
        unknown = sorted(set(values) - known)
        if unknown:
            raise OptionError(cls.__name__, unknown[0], f"one of {', '.join(sorted(known))}", "It was written by another release.")
        return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})


@dataclass(frozen=True)
class TokeniserSettings(_Settings):
    """How a text becomes words. The same settings travel in each published model and are used again at inference.

    Attributes:
        stop_words: ``none``, a language's ISO code (``en``), or ``file``, with the words themselves in ``stop_list``.
        stop_list: the words of a ``file``, sorted.
        min_length, max_length: in characters; shorter and longer words are dropped.
        stemmer: ``none`` or a Snowball algorithm (``english``).
        digits: keep words that hold a digit.
    """

    stop_words: str = "en"
    stop_list: tuple[str, ...] = ()
    min_length: int = 2
    max_length: int = 40
    stemmer: str = "none"
    digits: bool = False

    def __post_init__(self) -> None:
        at_least("--min_word_length", self.min_length, 1)
        at_least("--max_word_length", self.max_length, self.min_length)


@dataclass(frozen=True)
class SequenceSettings(_Settings):
    """How documents become numbered minibatches.

    Attributes:
        window: length of the event-time windows, microseconds, aligned to 1970-01-01 UTC.
        minibatch_size: documents in a minibatch, at most.
        minibatch_tokens: tokens in a minibatch, at most (a longer document is a minibatch of its own).
    """

    window: int = 3_600_000_000
    minibatch_size: int = 200
    minibatch_tokens: int = 200_000

    def __post_init__(self) -> None:
        at_least("--window", self.window, 1)
        at_least("--minibatch_size", self.minibatch_size, 1)
        at_least("--minibatch_tokens", self.minibatch_tokens, 1)


@dataclass(frozen=True)
class LearnerSettings(_Settings):
    """Which learner, and everything that changes what it learns. ``benchmarks/README.md`` has the measurements.

    Attributes:
        learner: a registered name: ``particle-filter``, ``incremental-gibbs``, ``o-lda``, ``batch-gibbs``,
            ``fixvoc-vb``, ``fixvoc-hybrid``, ``infvoc``.
        topics: T. alpha: of the symmetric Dirichlet over a document's topics, per topic. beta: the same over words, of the ``flat`` prior.
        prior: of the topics over words: ``flat`` (every word alike), ``urn`` (by its spelling: each topic draws its words from G0), or
            ``hierarchical`` (topics draw from a distribution that they share, and that from G0).
        concentration, base_concentration: a of the urn, the hierarchical prior and infvoc (the paper's alpha^beta), and a_0 of the
            hierarchical one. concentrations: whether the hierarchical prior's are ``learned`` from the stream, from these to begin with,
            or ``fixed``.
        discount: d of Pitman and Yor, with the hierarchical prior. tables: ``sampled`` (exact), or ``minimal``, one a word and topic.
        particles: P, over all islands together. islands: I, a divisor of P.
        ess: resample when the effective sample size is at or below this: a number of particles, or below 1 a fraction of P; 0 never.
        ess_check: after every ``document`` or every ``token``. resampling: the scheme.
        rejuvenation: what triggers it. every: with ``tokens``, how many. moves: R, visits to units at each trigger; with 0 what could be
            visited is kept, for in-sample measures alone.
        unit: what a visit redraws: a whole ``document`` or one ``token``.
        choice: how units are picked from a source; ``decay`` is the exponent of ``decayed``, by rank of age.
        history: which of the past can be visited: ``reservoir``, a bounded part (``newest`` and ``reservoir`` say how large), or, for
            study, ``full``: everything, in a tree of hash tables (:mod:`model.kernels.tree`) and one thread; the state grows on and on.
        newest, reservoir: how many of the newest documents, and of a uniform sample over all earlier units, can be visited.
        newest_share: the share of visits that goes to the newest; the rest goes to the reservoir.
        initial_documents: size of the initial batch; 0 starts without. chains, initial_sweeps: C Gibbs chains of so many sweeps.
        initial_choice: the chain is chosen by held-out ``perplexity``, by its ``posterior``, or by in-sample ``nmi`` (needs labels).
        vocabulary: ``growing`` (words join as they come; where there would be more than ``max_words`` those of least use leave, or, with
            the fixvoc learners, none leaves and later ones are not learned), or ``given`` (``words``).
        max_words: W_max of the growing vocabulary; it is in the flat prior, so it never changes in mid-stream.
        word_memory: how many minibatches a word's use is remembered for, as a weight that falls by 1/word_memory at each; not of fixvoc.
        word_list: distinct words, sorted, from which the distribution over strings is learned (:mod:`model.words.strings`); without any,
            those of the stream's first documents.
        evidence_window: islands are compared by their evidence over so many of the last minibatches.
        sweeps: of ``batch-gibbs``, at each publication. sampler: of the same: ``dense`` weighs every topic, ``sparse`` (SparseLDA) those of
            the word and the document; the law is the same, the draws are not. ``auto`` chooses by the number of topics.

    Of the variational learners (:mod:`model.learners.variational`), whose ``vocabulary`` may also be ``null``, ``dict``, ``dict-hash`` or
    ``full-hash`` (:mod:`model.learners.fixed_words`):
        kappa, tau0: minibatch i has the step size (tau0 + i)^-kappa. stream_documents: D, 0: as many as there were so far.
        local_iterations: of ``fixvoc-vb``, on each document. local_burn_in, local_sweeps: Gibbs sweeps of the others, left out and kept.
        truncation: T, words that a topic of ``infvoc`` keeps; also how many numbers ``full-hash`` has.
        reorder_every: U, minibatches.
        remainder: what a topic of infvoc gives a word outside its set: the word's ``share`` of what its stick has left, or, as printed,
            all that the ``stick`` has left (eq. 6), or all the ``mass`` that its words leave.
        entry: where nu2 of a word that joins a topic begins: at its ``prior``, the concentration, or, as printed, at ``one``.
    """

    learner: str = "particle-filter"
    seed: int = 1
    topics: int = 50
    alpha: float = 0.1
    beta: float = 0.1
    prior: TopicPrior = "hierarchical"
    concentration: float = 1000.0
    base_concentration: float = 1000.0
    concentrations: Concentrations = "learned"
    discount: float = 0.3
    tables: Tables = "sampled"
    particles: int = 2
    islands: int = 1
    ess: float = 0.0
    ess_check: EssCheck = "document"
    resampling: Resampling = "residual"
    rejuvenation: Trigger = "document"
    every: int = 1
    moves: int = 60
    unit: Unit = "document"
    choice: Choice = "uniform"
    decay: float = 1.0
    history: HistoryKind = "reservoir"
    newest: int = 2500
    reservoir: int = 500
    newest_share: float = 0.85
    initial_documents: int = 200
    chains: int = 8
    initial_sweeps: int = 50
    initial_choice: InitialChoice = "perplexity"
    vocabulary: VocabularyKind = "growing"
    words: tuple[str, ...] = field(default=(), repr=False)
    max_words: int = 50_000
    word_memory: int = 100
    word_list: tuple[str, ...] = field(default=(), repr=False)
    evidence_window: int = 20
    sweeps: int = 200
    sampler: Sampler = "auto"
    kappa: float = 0.6
    tau0: float = 64.0
    stream_documents: int = 0
    local_iterations: int = 50
    local_burn_in: int = 5
    local_sweeps: int = 10
    truncation: int = 30_000
    reorder_every: int = 20
    remainder: Remainder = "share"
    entry: Entry = "prior"

    def __post_init__(self) -> None:
        for option, value, least in (
            ("--topics", self.topics, 1),
            ("--particles", self.particles, 1),
            ("--islands", self.islands, 1),
            ("--rejuvenate_every", self.every, 1),
            ("--moves", self.moves, 0),
            ("--newest", self.newest, 0),
            ("--reservoir", self.reservoir, 0),
            ("--initial_documents", self.initial_documents, 0),
            ("--chains", self.chains, 1),
            ("--initial_sweeps", self.initial_sweeps, 1),
            ("--max_words", self.max_words, 1),
            ("--word_memory", self.word_memory, 1),
            ("--evidence_window", self.evidence_window, 1),
            ("--sweeps", self.sweeps, 1),
            ("--seed", self.seed, 0),
            ("--ess", self.ess, 0),
            ("--tau0", self.tau0, 0),
            ("--stream_documents", self.stream_documents, 0),
            ("--local_iterations", self.local_iterations, 1),
            ("--local_burn_in", self.local_burn_in, 0),
            ("--local_sweeps", self.local_sweeps, 1),
            ("--truncation", self.truncation, 1),
            ("--reorder_every", self.reorder_every, 1),
        ):
            at_least(option, value, least)
        above_zero("--alpha", self.alpha, "0.001 and 1")
        above_zero("--beta", self.beta, "0.001 and 1")
        above_zero("--concentration", self.concentration, "100 and 10000")
        above_zero("--base_concentration", self.base_concentration, "100 and 10000")
        one_of("--prior", self.prior, get_args(TopicPrior))
        one_of("--tables", self.tables, get_args(Tables))
        one_of("--concentrations", self.concentrations, get_args(Concentrations))
        if not 0 <= self.discount < 1:
            raise OptionError("--discount", self.discount, "a number from 0 to below 1", "0 is a Dirichlet process.")
        one_of("--resampling", self.resampling, get_args(Resampling))
        one_of("--ess_check", self.ess_check, get_args(EssCheck))
        one_of("--rejuvenation", self.rejuvenation, get_args(Trigger))
        one_of("--rejuvenation_unit", self.unit, get_args(Unit))
        one_of("--history", self.history, get_args(HistoryKind))
        one_of("--rejuvenation_choice", self.choice, get_args(Choice))
        one_of("--initial_choice", self.initial_choice, get_args(InitialChoice))
        one_of("--vocabulary", self.vocabulary, get_args(VocabularyKind))
        one_of("--sampler", self.sampler, get_args(Sampler))
        one_of("--remainder", self.remainder, get_args(Remainder))
        one_of("--entry", self.entry, get_args(Entry))
        # Powers by halves need a square root and products only, which IEEE fixes; pow() differs between machines.
        one_of("--rejuvenation_decay", self.decay, (0.5, 1.0, 1.5, 2.0))
        if not 0 <= self.newest_share <= 1:
            raise OptionError("--newest_share", self.newest_share, "a share from 0 to 1", "Give for example 0.85.")
        if not 0 <= self.kappa <= 1:
            raise OptionError("--kappa", self.kappa, "a number from 0 to 1", "Learning converges with more than 0.5; 0 is for batches.")
        check_together(self)

    @property
    def island_particles(self) -> int:
        """Particles in one island."""
        return self.particles // self.islands

    @property
    def whole_past(self) -> bool:
        """Whether every unit of the past can be visited."""
        return self.history == "full" and self.rejuvenation != "never" and self.moves > 0

    @property
    def ess_threshold(self) -> float:
        """The threshold as a number of an island's particles."""
        return self.ess * self.island_particles if self.ess < 1 else self.ess / self.islands

    @property
    def prior_words(self) -> int:
        """The W of the topic-word prior: B(w) = 1/W, a = W beta."""
        return len(self.words) if self.vocabulary == "given" else self.max_words
