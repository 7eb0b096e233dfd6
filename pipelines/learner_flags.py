"""The flags of :class:`model.settings.LearnerSettings`: one row for each field, defaults and checks are the record's own.

Where a field takes one of a few values, the help names them as its type has them.
"""

from __future__ import annotations

from typing import get_args

from model.learners import learner_names
from model.settings import (
    Choice,
    Concentrations,
    Entry,
    EssCheck,
    HistoryKind,
    InitialChoice,
    Remainder,
    Resampling,
    Sampler,
    Tables,
    TopicPrior,
    Trigger,
    Unit,
    VocabularyKind,
)
from pipelines.values import choices

SAMPLERS = choices(get_args(Sampler), auto="by the number of topics", sparse="SparseLDA")

# Flag, field, what --help says. Values are checked together by LearnerSettings, whose errors name these flags.
LEARNER_FLAGS: tuple[tuple[str, str, str], ...] = (
    ("--learner", "learner", choices(learner_names())),
    ("--seed", "seed", "of all draws; the same seed and archive give the same bits"),
    ("--topics", "topics", "T"),
    ("--alpha", "alpha", "Dirichlet parameter of a document's topics, for each topic"),
    ("--beta", "beta", "Dirichlet parameter of a topic's words, for each word, with --prior=flat"),
    (
        "--prior",
        "prior",
        f"of topics over words: {choices(get_args(TopicPrior), urn='by spelling', hierarchical='topics share words')}",
    ),
    (
        "--concentration",
        "concentration",
        "a of the urn, the hierarchical prior and infvoc: pseudo-counts of words that a topic has not seen",
    ),
    ("--base_concentration", "base_concentration", "a_0 of the hierarchical prior"),
    ("--concentrations", "concentrations", f"of the hierarchical prior: {choices(get_args(Concentrations), learned='from the stream')}"),
    ("--discount", "discount", "d of the hierarchical prior, 0 to below 1: more weight to rare words"),
    ("--tables", "tables", f"of the hierarchical prior: {choices(get_args(Tables), sampled='exact', minimal='faster')}"),
    ("--particles", "particles", "P, over all islands together"),
    ("--islands", "islands", "I, a divisor of P; each island may run on a worker of its own"),
    ("--ess", "ess", "resample at this effective sample size or below: particles, or below 1 a share of P; 0 never"),
    ("--ess_check", "ess_check", f"after each {choices(get_args(EssCheck))}"),
    ("--resampling", "resampling", choices(get_args(Resampling))),
    ("--rejuvenation", "rejuvenation", f"what triggers it: {choices(get_args(Trigger))}"),
    ("--rejuvenate_every", "every", "with --rejuvenation=tokens: after how many"),
    ("--moves", "moves", "R, visits at each trigger"),
    ("--rejuvenation_unit", "unit", f"what a visit redraws: {choices(get_args(Unit), document='whole')}"),
    ("--rejuvenation_choice", "choice", f"which are visited: {choices(get_args(Choice), decayed='by age')}"),
    ("--rejuvenation_decay", "decay", "exponent of decayed: 0.5, 1, 1.5 or 2"),
    ("--history", "history", f"which of the past can be visited: {choices(get_args(HistoryKind), reservoir='bounded', full='for study')}"),
    ("--newest", "newest", "how many of the newest documents can be visited"),
    ("--reservoir", "reservoir", "size of the uniform sample of all earlier ones that can be visited"),
    ("--newest_share", "newest_share", "share of the visits that goes to the newest"),
    ("--initial_documents", "initial_documents", "size of the batch that learning starts with; 0 starts without"),
    ("--chains", "chains", "C, Gibbs chains over the initial batch, of which the best goes on"),
    ("--initial_sweeps", "initial_sweeps", "sweeps of each chain"),
    (
        "--initial_choice",
        "initial_choice",
        f"what says which is best: {choices(get_args(InitialChoice), perplexity='held-out', nmi='with the labels')}",
    ),
    (
        "--vocabulary",
        "vocabulary",
        f"{choices(get_args(VocabularyKind), given='by --vocabulary_file')}; only fixvoc-... has more than the first two",
    ),
    (
        "--max_words",
        "max_words",
        "of the growing vocabulary: the least used leave (fixvoc: later ones are not learned); part of the flat prior",
    ),
    ("--word_memory", "word_memory", "minibatches for which a word's use counts when words have to leave (not of fixvoc)"),
    ("--evidence_window", "evidence_window", "islands are compared by their evidence over so many minibatches"),
    ("--sweeps", "sweeps", "of batch-gibbs, at each publication"),
    ("--sampler", "sampler", f"of batch-gibbs: {SAMPLERS}"),
    ("--kappa", "kappa", "fixvoc, infvoc: minibatch i has the step size (tau0 + i)^-kappa"),
    ("--tau0", "tau0", "the larger, the less early minibatches count"),
    ("--stream_documents", "stream_documents", "fixvoc, infvoc: D, documents in the whole stream; 0: as many as there were so far"),
    ("--local_iterations", "local_iterations", "fixvoc-vb: updates of each document"),
    ("--local_burn_in", "local_burn_in", "fixvoc-hybrid, infvoc: sweeps over each document that do not count"),
    ("--local_sweeps", "local_sweeps", "sweeps that count"),
    ("--truncation", "truncation", "T, words that a topic of infvoc keeps; the numbers of full-hash"),
    ("--reorder_every", "reorder_every", "infvoc: U, minibatches between two reorderings of a topic's words"),
    (
        "--remainder",
        "remainder",
        f"infvoc: what a word outside a topic's set gets: {choices(get_args(Remainder), stick='as printed', mass='as printed')}",
    ),
    ("--entry", "entry", f"infvoc: where nu2 of a word that joins a topic begins: {choices(get_args(Entry), one='as printed')}"),
)
