"""The flags of :class:`model.settings.LearnerSettings`: one row for each field, defaults and checks are the record's own."""

from __future__ import annotations

# Flag, field, what --help says. Values are checked together by LearnerSettings, whose errors name these flags.
LEARNER_FLAGS: tuple[tuple[str, str, str], ...] = (
    ("--learner", "learner", "particle-filter, incremental-gibbs, o-lda or batch-gibbs"),
    ("--seed", "seed", "of all draws; the same seed and archive give the same bits"),
    ("--topics", "topics", "T"),
    ("--alpha", "alpha", "Dirichlet parameter of a document's topics, for each topic"),
    ("--beta", "beta", "Dirichlet parameter of a topic's words, for each word"),
    ("--particles", "particles", "P, over all islands together"),
    ("--islands", "islands", "I, a divisor of P; each island may run on a worker of its own"),
    ("--ess", "ess", "resample at this effective sample size or below: particles, or below 1 a share of P; 0 never"),
    ("--ess_check", "ess_check", "after every document, or every token"),
    ("--resampling", "resampling", "residual, multinomial, stratified or systematic"),
    ("--rejuvenation", "rejuvenation", "what triggers it: never, resampling, document or tokens"),
    ("--rejuvenate_every", "every", "with --rejuvenation=tokens: after how many"),
    ("--moves", "moves", "R, visits at each trigger"),
    ("--rejuvenation_unit", "unit", "what a visit redraws: a whole document, or one token"),
    ("--rejuvenation_choice", "choice", "which are visited: uniform, decayed (by age) or newest"),
    ("--rejuvenation_decay", "decay", "exponent of decayed: 0.5, 1, 1.5 or 2"),
    ("--newest", "newest", "how many of the newest documents can be visited"),
    ("--reservoir", "reservoir", "size of the uniform sample of all earlier ones that can be visited"),
    ("--newest_share", "newest_share", "share of the visits that goes to the newest"),
    ("--initial_documents", "initial_documents", "size of the batch that learning starts with; 0 starts without"),
    ("--chains", "chains", "C, Gibbs chains over the initial batch, of which the best goes on"),
    ("--initial_sweeps", "initial_sweeps", "sweeps of each chain"),
    ("--initial_choice", "initial_choice", "the best by held-out perplexity, or by nmi with the labels"),
    ("--vocabulary", "vocabulary", "growing: words join as they come; given: those of --vocabulary_file"),
    ("--max_words", "max_words", "size of the growing vocabulary; part of the prior, so it never changes in mid-stream"),
    ("--evidence_window", "evidence_window", "islands are compared by their evidence over so many minibatches"),
    ("--sweeps", "sweeps", "of batch-gibbs, at each publication"),
)
