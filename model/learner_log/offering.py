"""Decide when a learner offers a snapshot for publication, and what it offers.

Versions come after minibatches that close their window: after every N windows, or after the first
window that ends in a new period of event time. They are a function of the minibatches alone, and
all islands offer after the same ones. The head keeps the time of the last version and the number of
windows since, so a job may continue with another ``--publish_every`` of either kind.

A candidate says how many tokens and documents of each topic came since the previous one. The head
has the sums (``arrived``) and the number of documents that are in them or in an earlier candidate
(``counted``). Documents are numbered as they come. A document is counted once: after the step that
learns it, or, if it waits within the learner while a candidate is offered, with that candidate.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

from beam_topics.model.arrays import FloatArray
from beam_topics.model.learner_log.head import LearnerHead
from beam_topics.model.learner_log.options import LearnOptions
from beam_topics.model.learner_log.restoring import Replayer
from beam_topics.model.learners.base import HoldsDocuments, Learner, LearnerSettings, Summary
from beam_topics.model.publishing.choice import Candidate, Standing, choose
from beam_topics.model.publishing.events import Event, events_from_json, renumbered
from beam_topics.model.publishing.snapshot import CANDIDATES, Snapshot
from beam_topics.model.publishing.succession import LEAST_NEW, match_topics
from beam_topics.model.stored import checks, wire

# What a candidate takes over from a summary.
_FIGURES = ("documents", "tokens", "words", "log_evidence", "ess", "in_sample_nmi")
# Words whose documents a candidate counts.
_MOST_WORDS = 1000


def count_arrivals(
    head: LearnerHead,
    learner: Learner[object],
    state: object,
    settings: LearnerSettings,
    *,
    waiting: bool = False,
) -> tuple[int, FloatArray]:
    """Count the documents that the last step learned, or those that wait within the learner.

    Args:
        head: The head before the step, or at a candidate.
        learner: The learner.
        state: Its state.
        settings: The settings of the learner.
        waiting: Whether those that wait are counted.

    Returns:
        The number of documents that are counted then, and float64[C, 2, T], the tokens and
        documents of each topic since the candidate before.
    """
    new = learner.arrivals(state, head.counted, unlearned=waiting)
    sums = new.counts + _sums(head.arrived, settings) if head.arrived else new.counts
    return max(head.counted, new.until), sums


def _sums(arrived: bytes, settings: LearnerSettings) -> FloatArray:
    shape = settings.independent_chains, 2, settings.topic_count
    flat = wire.array_from_bytes(arrived, "<f8")
    return checks.shaped("arrived of a learner's head", flat, shape[0], 2 * shape[2]).reshape(shape)


def offer(
    of: Replayer, head: LearnerHead, state: object, at: int
) -> tuple[LearnerHead, Candidate | None]:
    """Write the snapshot of a learner and refer to it.

    Up to the base of the run, only what the store has published is written again.

    Args:
        of: The learner.
        head: Its head.
        state: Its state.
        at: The event time at which the candidate travels, in microseconds.

    Returns:
        The head afterwards and the candidate. The candidate is None if the learner has learned no
        token yet, or nothing but documents without tokens since the last one; it then stays due.

    Raises:
        StoreConflictError: The store has another version there.
    """
    options, learner = of.options, of.learner
    chains = options.settings.independent_chains
    summaries = [learner.summary(state, chain) for chain in _names(chains)]
    last = Candidate.from_bytes(head.candidates[-1]) if head.candidates else None
    if not _has_learned(last, summaries[0]):
        return head, None
    if not head.at_base:
        of.store.check_offer(of.key, head.base, head.sequence, head.chain.hex(), head.offered)
    standing = _chosen(last, summaries, options, head.window_end)
    summary, number = summaries[standing.number], standing.number
    counted, arrived = count_arrivals(head, learner, state, options.settings, waiting=True)
    tokens, documents = arrived[number]
    events = _events_of_chain(head, learner, state, number, chains)
    snapshot = _snapshot(of, head, state, _names(chains)[number])
    candidate = Candidate(
        key=of.key,
        island=of.island,
        sequence=head.sequence,
        previous=head.offered,
        event_time=head.window_end,
        at=at,
        snapshot=_put(of, snapshot),
        chain=head.chain.hex(),
        fingerprint=head.fingerprint.hex(),
        witness=head.witness.hex(),
        evidence=summary.evidence.to_bytes().hex(),
        posterior=summary.posterior.to_bytes().hex(),
        **{name: getattr(summary, name) for name in _FIGURES},
        prequential_perplexity=_perplexity_since_offer(head, summary),
        particle=number,
        rivals=[rival.to_json() for rival in standing.rivals],
        replaced=standing.replaced.to_json() if standing.replaced else None,
        topic_tokens=tokens.tolist(),
        topic_documents=documents.astype(int).tolist(),
        events=[event.to_json() for event in events],
        base="",
        times=head.times,
        word_documents=_word_documents(of, last, state, summary.documents, snapshot),
    )
    after = _offered(replace(head, counted=counted, arrived=b""), summary, candidate)
    return after, replace(candidate, base=head.base)


def _snapshot(of: Replayer, head: LearnerHead, state: object, chain: int | None) -> Snapshot:
    return replace(
        of.learner.snapshot(state, chain),
        key=of.key,
        sequence=head.sequence,
        event_time=head.window_end,
        fingerprint=head.fingerprint.hex(),
        tokeniser=of.options.tokeniser,
    )


def _put(of: Replayer, snapshot: Snapshot) -> str:
    """Write a model and return its digest."""
    digest = of.store.put_snapshot(snapshot)
    # The publisher needs it next, and mostly runs in the same process.
    CANDIDATES.put((of.store.root, of.key, digest), snapshot)
    return digest


def _word_documents(
    of: Replayer, last: Candidate | None, state: object, documents: int, snapshot: Snapshot
) -> dict[str, int] | None:
    """Return the words that may be new, with the number of documents at hand that have each.

    These came since the last candidate; ``documents`` have come in all. A word that may be new has
    half of all its tokens in them. The first thousand are named, by the number of documents.
    """
    if last is None or not isinstance(of.learner, HoldsDocuments):
        return None
    held = of.learner.held(state, last.documents)
    if not held:
        return None
    tokens = Counter(word for words in held for word in words)
    own = Counter(word for words in held for word in set(words))
    words = sorted(word for word in own if own[word] >= LEAST_NEW)
    in_all = snapshot.rows(snapshot.rows_of(words)).sum(axis=1).tolist()
    scale = 2 * (documents - last.documents) / len(held)
    new = [word for word, n in zip(words, in_all, strict=True) if scale * tokens[word] >= n]
    return {word: own[word] for word in sorted(new, key=own.__getitem__)[::-1][:_MOST_WORDS]}


def _has_learned(last: Candidate | None, summary: Summary) -> bool:
    """Return whether a model has tokens, and other tokens or documents than the last one."""
    if last is None:
        return summary.tokens > 0
    return summary.tokens > last.tokens or summary.documents == last.documents


def _offered(head: LearnerHead, summary: Summary, candidate: Candidate) -> LearnerHead:
    """Return the head after a candidate has been offered."""
    return replace(
        head,
        offered=head.sequence,
        since=head.window_end,
        windows=0,
        log_evidence=summary.log_evidence,
        scored_tokens=summary.scored_tokens,
        # What the store has needs no other candidate, and no checkpoint shortens the list there.
        candidates=(*(head.candidates if head.at_base else ()), candidate.to_bytes()),
        events=(),
    )


def _names(chains: int) -> list[int | None]:
    """Return the names of independent chains for the methods of a learner."""
    return list(range(chains)) if chains > 1 else [None]


def _chosen(
    last: Candidate | None, summaries: list[Summary], options: LearnOptions, window_end: int
) -> Standing:
    """Return which independent chain is offered, by the posteriors of all chains."""
    figures = [(summary.posterior,) for summary in summaries]
    before = None if last is None else last.standing()
    return choose(before, figures, options.publishing, window_end)


def _events_of_chain(
    head: LearnerHead, learner: Learner[object], state: object, chain: int, chains: int
) -> list[Event]:
    """Return the events of a head with the topic numbers of a chain.

    Topics of another chain are matched with those of this one as topics of versions are.
    """
    events = events_from_json(head.events, "events of a learner's head")
    orders: dict[int, list[int]] = {}
    for other in {event.particle for event in events if event.topics} - {chain}:
        checks.whole("particle in events of a learner's head", other, 0, chains)
        theirs, ours = (learner.snapshot(state, one) for one in (other, chain))
        orders[other] = match_topics(theirs, ours)[0]
    found = [
        renumbered(event, orders[event.particle]) if event.particle in orders else event
        for event in events
    ]
    return [replace(event, particle=chain) for event in found]


def _perplexity_since_offer(head: LearnerHead, summary: Summary) -> float | None:
    """Return the perplexity since the last version.

    It is None for the first version, because every word is new to a model without words.
    """
    if not head.offered:
        return None
    return perplexity(
        summary.log_evidence - head.log_evidence, summary.scored_tokens - head.scored_tokens
    )


def perplexity(log_evidence: float, tokens: int) -> float | None:
    """Return exp(-log_evidence / tokens), or None without tokens."""
    return math.exp(-log_evidence / tokens) if tokens else None
