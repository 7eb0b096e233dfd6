"""When a learner offers a snapshot for publication, and what it offers.

Versions come after minibatches that close their window: after every N windows, or after the first
window that ends in a new period of event time. So they are a function of the minibatches alone, and
all islands offer after the same ones. The head keeps when the last version came and how many
windows were closed since, so a job may go on with another ``--publish_every``, of either kind.
"""

from __future__ import annotations

import math
from dataclasses import replace

from model.learner_log.head import LearnerHead
from model.learner_log.options import LearnOptions
from model.learners.base import Learner, Summary
from model.publishing.candidates import Candidate
from model.publishing.store import ModelStore
from model.records import Minibatch


def is_due(
    head: LearnerHead, minibatch: Minibatch, options: LearnOptions
) -> tuple[LearnerHead, bool]:
    """The head with windows counted, and whether a version is due after this minibatch."""
    kind, every = options.publish_every
    since = minibatch.window_end - options.sequence.window if head.since is None else head.since
    head = replace(head, since=since, windows=head.windows + minibatch.closes_window)
    if not minibatch.closes_window:
        return head, False
    if kind == "windows":
        return head, head.windows >= every
    return head, minibatch.window_end // every > since // every


def offer(
    head: LearnerHead,
    learner: Learner[object],
    state: object,
    *,
    store: ModelStore,
    options: LearnOptions,
    key: str,
    island: int,
    at: int,
) -> tuple[LearnerHead, Candidate | None]:
    """Write the learner's snapshot and refer to it; None while the learner has learned nothing
    yet, and what is due stays due.
    """
    summary = learner.summary(state)
    if not summary.documents:
        return head, None
    snapshot = replace(
        learner.snapshot(state),
        key=key,
        sequence=head.sequence,
        event_time=head.window_end,
        fingerprint=head.fingerprint.hex(),
        tokeniser=options.tokeniser,
    )
    candidate = Candidate(
        key=key,
        island=island,
        sequence=head.sequence,
        previous=head.offered,
        event_time=head.window_end,
        at=at,
        snapshot=store.put_snapshot(snapshot),
        chain=head.chain.hex(),
        fingerprint=head.fingerprint.hex(),
        witness=head.witness.hex(),
        evidence=summary.evidence.to_bytes().hex(),
        posterior=summary.posterior.to_bytes().hex(),
        documents=summary.documents,
        tokens=summary.tokens,
        words=summary.words,
        log_evidence=summary.log_evidence,
        ess=summary.ess,
        in_sample_nmi=summary.in_sample_nmi,
        prequential_perplexity=_of_the_period(head, summary),
    )
    after = replace(
        head,
        offered=head.sequence,
        since=head.window_end,
        windows=0,
        log_evidence=summary.log_evidence,
        scored_tokens=summary.scored_tokens,
        candidates=(*head.candidates, candidate.to_bytes()),
    )
    return after, candidate


def _of_the_period(head: LearnerHead, summary: Summary) -> float | None:
    """The perplexity since the last version; None for the first, because a model without words
    finds every word surprising.
    """
    if not head.offered:
        return None
    return perplexity(
        summary.log_evidence - head.log_evidence, summary.scored_tokens - head.scored_tokens
    )


def perplexity(log_evidence: float, tokens: int) -> float | None:
    """exp(-log evidence / tokens); None of no token."""
    return math.exp(-log_evidence / tokens) if tokens else None
