"""Turn numbered minibatches into candidate versions, one stateful step for each island of each key.

    minibatches: (key, bytes (NumberedMinibatch)) -> candidates: (key, bytes (Candidate))

The order was decided by :class:`beam_topics.transforms.sequence.Sequence`. Minibatches of a key
that one bundle sends travel in runs (:mod:`beam_topics.model.learner_log.log`). With
``silent_after`` a streaming job has an event-time timer for each learner, that long after the end
of its last window. When it fires, the learner is removed from memory and its log from the state of
the runner; the head stays. Later documents continue from the checkpoint.

A minibatch that comes before its turn waits in a bag. :mod:`beam_topics.model.learner_log.log` has
the protocol. This module connects it to Beam's state, its counters and the progress log.

:mod:`beam_topics.model.learner_log.progress` logs a record after a number of tokens of a worker.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import apache_beam as beam
from apache_beam.coders import BytesCoder
from apache_beam.metrics import Metrics
from apache_beam.transforms.timeutil import TimeDomain
from apache_beam.transforms.userstate import BagStateSpec, TimerSpec, on_timer
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.timestamp import Timestamp
from apache_beam.utils.windowed_value import WindowedValue

from beam_topics.model.interrupts import INTERRUPTS
from beam_topics.model.learner_log.head import LearnerHead
from beam_topics.model.learner_log.log import (
    RUN_BYTES,
    RUN_MINIBATCHES,
    Session,
    run_from_bytes,
    run_to_bytes,
)
from beam_topics.model.learner_log.options import LearnOptions
from beam_topics.model.learner_log.progress import Outcome, ProgressLog
from beam_topics.model.publishing.choice import Candidate
from beam_topics.transforms.shared import (
    END_OF_STREAM,
    GLOBAL,
    NAMESPACE,
    PART_BYTES,
    StatefulDoFn,
    key_and_part,
    part_key,
    timer_time,
)

# A session keeps nothing between calls. With more keys than this, all sessions are made again.
_MAX_SESSIONS = 1000
# Counters that are fields of an Outcome, and those that are sums over the infos of its steps.
_OUTCOME_COUNTERS = ("restores", "unpacked", "checkpoints", "gaps", "repeats")
_STEP_COUNTERS = {
    "learned_documents": "documents",
    "learned_tokens": "tokens",
    "unknown_tokens": "unknown_tokens",
    "resamplings": "resamplings",
    "near_copies": "near_copies",
    "over_share": "over_share",
}


@dataclass
class Run:
    """The minibatches of a key that a bundle has gathered.

    Attributes:
        time: The earliest of their event times.
        links: Their bytes (:class:`beam_topics.model.documents.minibatch.NumberedMinibatch`).
        size: The number of these bytes.
    """

    time: Timestamp
    links: list[bytes] = field(default_factory=list)
    size: int = 0


class RunsDoFn(beam.DoFn):
    """Join minibatches of a key that follow each other in a bundle to runs, for every island.

    Short windows make many small minibatches, and an element with state costs more than such a
    minibatch. A run ends by its size or with the bundle, and has the earliest time of its
    minibatches. What is learned does not depend on the runs.
    """

    def __init__(self, islands: int) -> None:
        self._islands = islands

    def start_bundle(self) -> None:
        self._runs: dict[bytes, Run] = {}

    def process(
        self, element: tuple[bytes, bytes], time: Timestamp = beam.DoFn.TimestampParam
    ) -> Iterator[WindowedValue]:
        """Add a minibatch to the run of its key."""
        key, data = element
        run = self._runs.setdefault(key, Run(time))
        run.links.append(data)
        run.size += len(data)
        run.time = min(run.time, time)
        if len(run.links) == RUN_MINIBATCHES or run.size >= RUN_BYTES:
            yield from self._to_islands(key, self._runs.pop(key))

    def finish_bundle(self) -> Iterator[WindowedValue]:
        """Send the runs that the bundle leaves."""
        for key, run in self._runs.items():
            yield from self._to_islands(key, run)
        self._runs = {}

    def _to_islands(self, key: bytes, run: Run) -> Iterator[WindowedValue]:
        data = run_to_bytes(run.links)
        for island in range(self._islands):
            yield WindowedValue((part_key(key, island), data), run.time, GLOBAL)


class LearnDoFn(StatefulDoFn[LearnerHead]):
    """Learn minibatches in order; keyed by :func:`~beam_topics.transforms.shared.part_key`."""

    STAGE = "learned"
    LOG = BagStateSpec("log", BytesCoder())
    GAP = BagStateSpec("gap", BytesCoder())
    _LOG = beam.DoFn.StateParam(LOG)
    _GAP = beam.DoFn.StateParam(GAP)
    _NOW = beam.DoFn.TimestampParam

    def __init__(self, options: LearnOptions) -> None:
        self._options = replace(options, end_of_stream=END_OF_STREAM)

    def setup(self) -> None:
        super().setup()
        self._count = Counters()
        self._progress = ProgressLog()
        self._sessions: dict[bytes, Session] = {}

    def start_bundle(self) -> None:
        super().start_bundle()
        self._unpublished: list[Candidate] = []

    def head_from(self, key: bytes, data: bytes | None) -> LearnerHead:
        if data:
            return LearnerHead.from_bytes(data)
        head, self._unpublished = self._session(key).first()
        return head

    def process(
        self,
        element: tuple[bytes, bytes],
        now: Any = _NOW,
        head: Any = StatefulDoFn._HEAD,
        log: Any = _LOG,
        gap: Any = _GAP,
    ) -> Iterator[TimestampedValue]:
        """Learn the minibatches of a run whose turn it is."""
        name, data = element
        key, island = key_and_part(name)
        before = self.read_head(name, head)
        # An earlier job sent these candidates at times that are past, or at the end of its stream.
        # Neither time would hold the watermark for them.
        for candidate in self._unpublished:
            at = max(candidate.event_time, int(now.micros))
            again = replace(candidate, at=at).to_bytes()
            yield TimestampedValue((name[PART_BYTES:], again), now)
        self._unpublished = []
        with INTERRUPTS.after():
            outcome = self._session(name).handle(before, run_from_bytes(data), log, gap)
        self.write_head(name, outcome.head, head)
        self._count(outcome)
        for step in outcome.steps:
            self.event_time.reached(step.window_end)
            self._progress(key, island, step)
        for candidate in outcome.candidates:
            yield TimestampedValue(
                (name[PART_BYTES:], candidate.to_bytes()), Timestamp(micros=candidate.at)
            )

    def _session(self, name: bytes) -> Session:
        if name not in self._sessions:
            if len(self._sessions) >= _MAX_SESSIONS:
                self._sessions.clear()
            self._sessions[name] = Session(self._options, *key_and_part(name))
        return self._sessions[name]


class RestingLearnDoFn(LearnDoFn):
    """The same; a learner without documents for ``silent_after`` leaves memory and state."""

    SILENCE = TimerSpec("silence", TimeDomain.WATERMARK)
    _SILENCE = beam.DoFn.TimerParam(SILENCE)

    def process(
        self,
        element: tuple[bytes, bytes],
        now: Any = LearnDoFn._NOW,
        head: Any = StatefulDoFn._HEAD,
        log: Any = LearnDoFn._LOG,
        gap: Any = LearnDoFn._GAP,
        silence: Any = _SILENCE,
    ) -> Iterator[TimestampedValue]:
        """Learn the minibatches of a run, and reset the timer."""
        yield from super().process(element, now, head, log, gap)
        silence.set(self._silent_at(self._heads[element[0]]))

    @on_timer(SILENCE)
    def rest(
        self,
        name: bytes = beam.DoFn.KeyParam,
        time: Timestamp = beam.DoFn.TimestampParam,
        head: Any = StatefulDoFn._HEAD,
        log: Any = LearnDoFn._LOG,
    ) -> None:
        """Drop a learner that fell silent, unless documents came since the timer was set."""
        before = self.read_head(name, head)
        if time < self._silent_at(before):
            return
        outcome = self._session(name).rest(before, log)
        self.write_head(name, outcome.head, head)
        self._count(outcome)
        del self._sessions[name]

    def _silent_at(self, head: LearnerHead) -> Timestamp:
        return timer_time(head.window_end + (self._options.run.silent_after or 0))


class Counters:
    """Beam counters and distributions of what a learner did."""

    def __init__(self) -> None:
        names = ("learned_minibatches", *_STEP_COUNTERS, *_OUTCOME_COUNTERS)
        self._counters = {name: Metrics.counter(NAMESPACE, name) for name in names}
        self._ess = Metrics.distribution(NAMESPACE, "ess_x1000")
        self._log_loss = Metrics.distribution(NAMESPACE, "log_loss_per_token_x1000")

    def __call__(self, outcome: Outcome) -> None:
        infos = [step.info for step in outcome.steps]
        counts = {name: getattr(outcome, name) for name in _OUTCOME_COUNTERS}
        counts["learned_minibatches"] = len(infos)
        for name, summand in _STEP_COUNTERS.items():
            counts[name] = sum(getattr(info, summand) for info in infos)
        for name, count in counts.items():
            if count:
                self._counters[name].inc(count)
        for info in infos:
            self._ess.update(round(1000 * info.ess))
            if info.scored_tokens and math.isfinite(info.log_evidence):
                self._log_loss.update(round(-1000 * info.log_evidence / info.scored_tokens))


class Learn(beam.PTransform):
    """Learn minibatches on every island; gives the candidates (key, bytes).

    Args:
        options: What is learned, where it is kept, and when versions are due.
        streams: Whether the job streams (:func:`beam_topics.pipelines.graphs.runners.streams`).
    """

    def __init__(self, options: LearnOptions, *, streams: bool = False) -> None:
        super().__init__()
        self._options, self._streams = options, streams

    def expand(self, minibatches: beam.PCollection) -> beam.PCollection:
        islands = self._options.settings.islands
        rests = self._streams and self._options.run.silent_after
        learn = RestingLearnDoFn if rests else LearnDoFn
        return (
            minibatches
            | "To islands" >> beam.ParDo(RunsDoFn(islands)).with_output_types(tuple[bytes, bytes])
            | "Learn" >> beam.ParDo(learn(self._options)).with_output_types(tuple[bytes, bytes])
        )
