"""``gibbs``: the engine as a learner, of a stream or of an archive.

With ``--schedule=stream`` a step learns its minibatch and visits earlier documents again
(:mod:`beam_topics.model.learners.engine.stream`). With ``--schedule=archive`` a step holds its
documents, and a snapshot learns all of them again
(:mod:`beam_topics.model.learners.engine.archive`).

P(w | t) of a version is (n_wt + a G_w) / (n_t + a) with the mean of G given the tables. A growing
vocabulary reserves one share of G, a0 / (W + 1) tables, for the next new word.

An archive may go on as a stream, which begins with the model of the archive's newest version:
counts, topics of tokens, tables, G, a, a0 and alpha. The documents are numbered as they came. A
sample of them and the newest ones stay at hand. T is already chosen, and D counts the documents of
the archive, so the stream visits earlier documents as often as one that has seen them. Births have
the archive's words, and its model as their first snapshot.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from beam_topics.model.documents.minibatch import Minibatch
from beam_topics.model.evaluation.held_out import nmi
from beam_topics.model.learners.base import Arrivals, StepInfo, Summary, register
from beam_topics.model.learners.engine import stored
from beam_topics.model.learners.engine.births import follow, labelled, remember
from beam_topics.model.learners.engine.births_stored import nursery_to_bytes
from beam_topics.model.learners.engine.holding import Current, GibbsState
from beam_topics.model.learners.engine.kernels.figures import log_joint
from beam_topics.model.learners.engine.nursery import Nursery, Stream
from beam_topics.model.learners.engine.settings import LEAST_ALPHA, Gibbs, StreamSchedule
from beam_topics.model.learners.engine.start import CHOOSING, LOOKS
from beam_topics.model.learners.engine.state import Array, State
from beam_topics.model.learners.engine.stream import learn, places_of, settle
from beam_topics.model.publishing.events import Event
from beam_topics.model.publishing.snapshot import Snapshot, TopicWordPrior
from beam_topics.model.scaled import Scaled
from beam_topics.model.stored import wire


class Learned(NamedTuple):
    """What was learned of documents that arrived.

    Attributes:
        fit: ln P of the tokens that were learned at once, each given what came before.
        tokens: these.
        events: what is reported.
    """

    fit: float = 0.0
    tokens: int = 0
    events: tuple[Event, ...] = ()


@register(Gibbs)
class GibbsLearner:
    """Gibbs sampling in epochs; see the module's docstring."""

    def init(self, settings: Gibbs, key: str, island: int, threads: int = 1) -> GibbsState:
        return GibbsState(settings, key, threads)

    def step(self, state: GibbsState, minibatch: Minibatch) -> StepInfo:
        return self.steps(state, [minibatch])[0]

    def steps(self, state: GibbsState, minibatches: Sequence[Minibatch]) -> list[StepInfo]:
        state.arrived = np.zeros_like(state.arrived)
        infos = [_step(state, minibatch) for minibatch in minibatches]
        # It takes memory, and holds nothing between epochs.
        state.live.workspace = None
        return infos

    def snapshot(self, state: GibbsState, chain: int | None = None) -> Snapshot:
        live, rows, _ = state.current()
        counts = live.rows[rows, : live.topics]
        words, topics = np.nonzero(counts)
        mean = live.base_mean(rows)
        # Topics that are not yet born, or whose number is free, have as good as no weight.
        alpha = np.full(state.settings.topic_count, LEAST_ALPHA)
        used = np.flatnonzero(live.totals[: live.topics]) if live.epochs else slice(live.topics)
        alpha[used] = live.alpha[used]
        factors = _without_prior_tokens(state, live)
        strengths = np.full(len(alpha), live.strength)
        strengths[: live.topics] *= factors
        unseen = max(0.0, 1.0 - live.known_share) if live.unseen else 0.0
        return Snapshot(
            key=state.key,
            sequence=state.sequence,
            event_time=0,
            fingerprint="",
            alpha=alpha,
            prior=TopicWordPrior(strengths, mean, unseen),
            words=state.vocabulary.words,
            offsets=np.searchsorted(words, np.arange(len(rows) + 1)).astype(np.int64),
            topics=topics.astype(np.int32),
            counts=counts[words, topics] * factors[topics],
        )

    def summary(self, state: GibbsState, chain: int | None = None) -> Summary:
        current = state.current()
        return Summary(
            evidence=Scaled.from_log(state.log_evidence),
            posterior=Scaled.from_log(_log_joint(state, current)),
            documents=state.documents,
            tokens=state.tokens,
            words=len(state.vocabulary),
            log_evidence=state.log_evidence,
            scored_tokens=state.scored,
            in_sample_nmi=_in_sample_nmi(current, state.labels),
        )

    def arrivals(self, state: GibbsState, after: int, unlearned: bool = False) -> Arrivals:
        none = Arrivals(
            np.zeros((1, *state.arrived.shape)), 0 if state.is_archive else state.documents
        )
        if unlearned != state.is_archive or after >= state.documents:
            return none._replace(until=state.documents) if unlearned else none
        if not state.is_archive:
            return Arrivals(state.arrived[None].copy(), state.documents)
        live, _, order = state.current()
        z, main, late = live.z[: live.tokens], live.main_topics(), order >= after
        tokens = z[np.repeat(late, np.diff(live.offsets[: live.documents + 1]))]
        parts = [
            np.bincount(part, minlength=state.settings.topic_count)
            for part in (tokens, main[late & (main >= 0)])
        ]
        return Arrivals(np.array([parts], np.float64), state.documents)

    def witness(self, state: GibbsState) -> bytes:
        live = state.live
        figures = np.array([state.log_evidence, live.a, live.a0, live.epochs, *live.alpha])
        parts = (figures, "<f8"), (live.totals, "<i8"), (live.tables[: live.size], "<i8")
        own = [nursery_to_bytes(state.nursery)] if state.nursery else []
        return wire.digest(*(wire.array_to_bytes(*part) for part in parts), *own)

    def save(self, state: GibbsState) -> bytes:
        return stored.state_to_bytes(state)

    def load(
        self, settings: Gibbs, key: str, island: int, data: bytes, threads: int = 1
    ) -> GibbsState:
        return stored.state_from_bytes(settings, key, data, threads)

    def go_on(self, settings: Gibbs, state: GibbsState) -> GibbsState:
        """Return the stream that goes on where an archive has learned all its documents."""
        return as_stream(settings, state)

    def nbytes(self, state: GibbsState) -> int:
        models = [state.live] + ([state.learned.live] if state.learned else [])
        labels = sum(map(len, filter(None, state.labels))) + 8 * len(state.labels)
        own = state.nursery.nbytes if state.nursery else 0
        own += (
            state.marks.nbytes
            + state.places.nbytes
            + state.vocabulary.nbytes()
            + state.vocabulary.use.nbytes
        )
        return own + labels + sum(live.nbytes for live in models)

    def held(self, state: GibbsState, after: int = 0) -> list[list[str]]:
        words, live = list(state.vocabulary.words), state.live
        newest = after if state.is_archive else int(np.searchsorted(state.marks, after))
        bounds = live.offsets[newest : live.documents + 1]
        numbers: Sequence[int] = live.words[bounds[0] : bounds[-1]].tolist()
        return [
            [words[w] for w in numbers[first:last]]
            for first, last in pairwise((bounds - bounds[0]).tolist())
        ]

    def erase(self, state: GibbsState, arrivals: Array, came: int) -> int | None:
        return state.erase(arrivals) if came == state.documents else None


def _step(state: GibbsState, minibatch: Minibatch) -> StepInfo:
    """Learn a minibatch, and add its tokens and documents to what arrived."""
    before, visits = state.tokens, state.live.visits
    arrived, learned = state.take(minibatch), Learned()
    if len(arrived) and not state.is_archive:
        learned = _learn(state, arrived, minibatch.ids)
        # The number of the first document is its place, whatever the model of it.
        state.arrived += state.live.counts_from(int(arrived[0]), state.settings.topic_count)
    state.keep_sample(len(minibatch))
    state.scored += learned.tokens
    state.log_evidence += learned.fit
    return StepInfo(
        documents=len(minibatch),
        tokens=len(minibatch.tokens),
        unknown_tokens=len(minibatch.tokens) - (state.tokens - before),
        moves=state.live.visits - visits,
        log_evidence=learned.fit,
        words=len(state.vocabulary),
        scored_tokens=learned.tokens,
        events=learned.events,
    )


def _learn(state: GibbsState, arrived: Array, ids: Sequence[str]) -> Learned:
    """Learn the documents that arrived."""
    if state.nursery is None:
        return _learned(state, arrived, state.documents)
    before, chooses = state.documents - len(arrived), state.is_choosing
    looks = [look - before for look in LOOKS if chooses and before < look < state.documents]
    found = Learned()
    for first, end in pairwise([0, *looks, len(arrived)]):
        step = _begin if state.is_choosing else _follow
        part = step(state, state.nursery, arrived[first:end], ids[first:end])
        fit, tokens = found.fit + part.fit, found.tokens + part.tokens
        found = Learned(fit, tokens, found.events + part.events)
    return found


def _learned(state: GibbsState, arrived: Array, seen: int, reach: Array | None = None) -> Learned:
    """Learn documents that arrived, ``seen`` with them in all, and visit some again."""
    schedule, live = state.settings.schedule, state.live
    assert isinstance(schedule, StreamSchedule)
    tokens = live.tokens_of(arrived)
    if not tokens:
        return Learned()
    return Learned(learn(live, arrived, seen, schedule.moves, state.pool, reach), tokens)


def _begin(state: GibbsState, nursery: Nursery, arrived: Array, ids: Sequence[str]) -> Learned:
    """Learn some of the first documents; when enough are there, choose how many topics."""
    seen = int(arrived[-1]) + 1
    everyone = np.arange(seen)
    # The others of the minibatch come later.
    learned = _learned(state, arrived, seen, everyone)
    if seen in LOOKS:
        state.choose_topics(seen)
        settle(state.live, everyone, state.pool)
    nursery.uses = np.zeros((2, state.live.size), np.int64)
    if seen == CHOOSING:
        remember(_stream(state, nursery, everyone[seen:], ids)._replace(seen=seen), everyone)
    return learned


def _follow(state: GibbsState, nursery: Nursery, arrived: Array, ids: Sequence[str]) -> Learned:
    """Learn the documents that arrived, and let topics be born."""
    stream = _stream(state, nursery, arrived, ids)
    fit, tokens = follow(stream)
    state.arrived += labelled(stream)
    return Learned(fit, tokens, tuple(nursery.events))


def _stream(state: GibbsState, nursery: Nursery, arrived: Array, ids: Sequence[str]) -> Stream:
    """Return the stream at documents that arrived."""
    schedule = state.settings.schedule
    assert isinstance(schedule, StreamSchedule)
    about = state.documents, arrived, tuple(ids), schedule.moves, state.pool
    return Stream(state.live, state.marks, nursery, *about)


def _without_prior_tokens(state: GibbsState, live: State) -> Array:
    """Return the factors that scale topics to the tokens that they really have, float64[T].

    P(w | t) is a ratio of the two, so it stays what it is. The share of a topic in a model is then
    that of its tokens, not of the strength of its seed.
    """
    given = state.prior[1].sum(axis=0)
    totals, factors = live.totals[: len(given)], np.ones(live.topics)
    # A topic without tokens of its own counts as one token.
    factors[: len(given)] = np.maximum(totals - given, 1) / totals
    return factors


def _log_joint(state: GibbsState, current: Current) -> float:
    """Return ln P(w, z) given the prior tokens of seeds."""
    live, (words, tokens) = current.live, state.prior
    strength, size = live.strength, live.size
    offsets, shares = live.offsets[: live.documents + 1], strength * live.base[:size]
    counts = live.rows[:size], live.totals
    found = log_joint(offsets, live.z, *counts, shares, strength, live.alpha)
    if len(words):
        rows = current.rows[words]
        counts = tokens.astype(np.int32), tokens.sum(axis=0)
        found -= log_joint(offsets[:1], live.z, *counts, shares[rows], strength, live.alpha)
    return float(found)


def _in_sample_nmi(current: Current, labels: list[str | None]) -> float | None:
    """Return the nMI of topics and labels over the labelled documents at hand."""
    found = [labels[d] for d in current.order.tolist()]
    labelled = [d for d, label in enumerate(found) if label is not None]
    if not labelled:
        return None
    topics = current.live.main_topics()[labelled].tolist()
    return nmi([found[d] for d in labelled], topics)


def as_stream(settings: Gibbs, archive: GibbsState) -> GibbsState:
    """Return a stream that has learned what an archive has.

    Args:
        settings: of the stream; the others are those of the archive.
        archive: must not be used again.
    """
    learned, rows, order = archive.current()
    live = archive.live
    live.recount(live.places(order)[0], learned.z[: learned.tokens])
    live.tables[: live.size], live.base[: live.size] = learned.tables[rows], learned.base[rows]
    live.alpha[: live.topics] = learned.alpha[: live.topics]
    for name in ("a", "a0", "epochs", "visits", "reseated"):
        setattr(live, name, getattr(learned, name))
    live.workspace = None
    stream = GibbsState(settings, archive.key, archive.threads)
    for name in ("live", "vocabulary", "sequence", "documents", "tokens", "labels"):
        setattr(stream, name, getattr(archive, name))
    stream.first, stream.marks = live.topics, np.arange(archive.documents)
    stream.places = places_of(live, stream.marks)
    if nursery := stream.nursery:
        nursery.alpha, nursery.uses = stream.alpha, np.zeros((2, live.size), np.int64)
        remember(_stream(stream, nursery, stream.marks[:0], ()), stream.marks)
    stream.keep_sample(stream.documents)
    return stream
