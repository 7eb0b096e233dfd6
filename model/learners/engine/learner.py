"""``gibbs``: the engine as a learner, of a stream or of an archive.

With ``--schedule=stream`` a step learns its minibatch and visits earlier documents again
(:mod:`beam_topics.model.learners.engine.stream`). With ``--schedule=archive`` a step holds its
documents, and a snapshot learns all of them anew
(:mod:`beam_topics.model.learners.engine.archive`).

P(w | t) of a version is (n_wt + a G_w) / (n_t + a) with the mean of G given the tables. A growing
vocabulary leaves one share of G, a0 / (W + 1) tables, for a word to come.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from beam_topics.model import wire
from beam_topics.model.evaluation.agreement import nmi
from beam_topics.model.learners.base import Arrivals, StepInfo, Summary, register
from beam_topics.model.learners.engine import stored
from beam_topics.model.learners.engine.holding import (
    Current,
    GibbsState,
    counts_of,
    topics_of_documents,
)
from beam_topics.model.learners.engine.kernels.figures import log_joint
from beam_topics.model.learners.engine.settings import Gibbs, StreamSchedule
from beam_topics.model.learners.engine.state import Array, State, first_strength
from beam_topics.model.learners.engine.stream import keep_sample, learn
from beam_topics.model.records import Minibatch
from beam_topics.model.scaled import Scaled
from beam_topics.model.snapshot import Snapshot, TopicWordPrior


@register(Gibbs)
class GibbsLearner:
    """Gibbs sampling in epochs; see the module's docstring."""

    def init(self, settings: Gibbs, key: str, island: int, threads: int = 1) -> GibbsState:
        return GibbsState(settings, key, threads)

    def step(self, state: GibbsState, minibatch: Minibatch) -> StepInfo:
        before, visits = state.tokens, state.model.visits
        arrived = state.take(minibatch)
        known, fit = state.tokens - before, 0.0
        if known and not state.is_archive:
            fit = _learn(state, arrived)
        elif not state.is_archive:
            state.arrived[:] = 0.0
        _keep_sample(state)
        # It takes memory, and holds nothing between epochs.
        state.model.workspace = None
        scored = 0 if state.is_archive else known
        state.scored, state.log_evidence = state.scored + scored, state.log_evidence + fit
        return StepInfo(
            documents=len(minibatch),
            tokens=len(minibatch.tokens),
            unknown_tokens=len(minibatch.tokens) - known,
            moves=state.model.visits - visits,
            resamplings=0,
            ess=1.0,
            log_evidence=fit,
            words=len(state.vocabulary),
            scored_tokens=scored,
        )

    def snapshot(self, state: GibbsState, chain: int | None = None) -> Snapshot:
        model, rows, _ = state.current()
        counts = model.rows[rows, : model.topics]
        words, topics = np.nonzero(counts)
        strength, mean = model.a or first_strength(model.size), model.base_mean()[rows]
        unseen = max(0.0, 1.0 - model.known_share) if model.unseen else 0.0
        return Snapshot(
            key=state.key,
            sequence=state.sequence,
            event_time=0,
            fingerprint="",
            alpha=model.alpha[: model.topics].copy(),
            prior=TopicWordPrior(np.full(model.topics, strength), mean, unseen),
            words=state.vocabulary.words,
            offsets=np.searchsorted(words, np.arange(len(rows) + 1)).astype(np.int64),
            topics=topics.astype(np.int32),
            counts=counts[words, topics].astype(np.float64),
        )

    def summary(self, state: GibbsState, chain: int | None = None) -> Summary:
        current = state.current()
        return Summary(
            evidence=scaled(state.log_evidence),
            posterior=scaled(_log_joint(current.model)),
            documents=state.documents,
            tokens=state.tokens,
            words=len(state.vocabulary),
            log_evidence=state.log_evidence,
            scored_tokens=state.scored,
            ess=1.0,
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
        model, _, order = state.current()
        z, main, late = model.z[: model.tokens], topics_of_documents(model), order >= after
        tokens = z[np.repeat(late, np.diff(model.offsets[: model.documents + 1]))]
        parts = [
            np.bincount(part, minlength=model.topics) for part in (tokens, main[late & (main >= 0)])
        ]
        return Arrivals(np.array([parts], np.float64), state.documents)

    def witness(self, state: GibbsState) -> bytes:
        model = state.model
        figures = np.array([state.log_evidence, model.a, model.a0, model.epochs, *model.alpha])
        parts = (figures, "<f8"), (model.totals, "<i8"), (model.tables[: model.size], "<i8")
        return wire.digest(*(wire.array_to_bytes(*part) for part in parts))

    def save(self, state: GibbsState) -> bytes:
        return stored.state_to_bytes(state)

    def load(
        self, settings: Gibbs, key: str, island: int, data: bytes, threads: int = 1
    ) -> GibbsState:
        return stored.state_from_bytes(settings, key, data, threads)

    def nbytes(self, state: GibbsState) -> int:
        models = [state.model] + ([state.learned.model] if state.learned else [])
        labels = sum(map(len, filter(None, state.labels))) + 8 * len(state.labels)
        own = state.marks.nbytes + state.vocabulary.nbytes() + state.vocabulary.use.nbytes
        return own + labels + sum(model.nbytes for model in models)

    def held(self, state: GibbsState) -> list[list[str]]:
        words, model = list(state.vocabulary.words), state.model
        ends = model.offsets[: model.documents + 1].tolist()
        numbers: Sequence[int] = model.words[: model.tokens].tolist()
        return [
            [words[w] for w in numbers[first:last]]
            for first, last in zip(ends[:-1], ends[1:], strict=True)
        ]


def _learn(state: GibbsState, arrived: Array) -> float:
    """Learn the documents that arrived; note their topics, and return ln P of their words."""
    schedule = state.settings.schedule
    assert isinstance(schedule, StreamSchedule)
    learns_alpha = state.settings.learns_alpha
    fit = learn(state.model, arrived, state.documents, schedule.moves, learns_alpha, state.pool)
    state.arrived = counts_of(state.model, int(arrived[0]))
    return fit


def _keep_sample(state: GibbsState) -> None:
    """Let documents leave that are more than the settings allow."""
    schedule = state.settings.schedule
    if isinstance(schedule, StreamSchedule) and len(state.marks) > schedule.reservoir:
        staying = keep_sample(state.model, state.marks, schedule.reservoir)
        state.marks = state.marks[staying]
        state.labels = [state.labels[d] for d in staying.tolist()]


def _log_joint(model: State) -> float:
    """Return ln P(w, z)."""
    strength, size = model.a or first_strength(model.size), model.size
    offsets, shares = model.offsets[: model.documents + 1], strength * model.base[:size]
    counts = model.rows[:size], model.totals
    return float(log_joint(offsets, model.z, *counts, shares, strength, model.alpha))


def _in_sample_nmi(current: Current, labels: list[str | None]) -> float | None:
    """Return the nMI of topics and labels over the labelled documents at hand."""
    found = [labels[d] for d in current.order.tolist()]
    labelled = [d for d, label in enumerate(found) if label is not None]
    if not labelled:
        return None
    topics = topics_of_documents(current.model)[labelled].tolist()
    return nmi([found[d] for d in labelled], topics)


def scaled(log: float) -> Scaled:
    """Return the number with this natural logarithm."""
    exponent = math.floor(log / math.log(2.0))
    return Scaled.of(math.exp(log - exponent * math.log(2.0)), exponent)
