"""One learner's life as a log: every minibatch once, in one order, whatever fails and whatever is
sent again.

A :class:`Session` handles what arrives for one (model key, island). Its memory between calls is the
head, and two bags: ``log`` (the minibatches since the last checkpoint) and ``gap`` (those that came
before their turn). Minibatch n arrives with the chain's h_n-1 and h_n:

1. n at or before the head: a repeat; it is checked and dropped. Beyond the next: it goes to the gap
    bag.
2. The live learner is checked out of :mod:`model.learner_log.live`, and used only if it stands
   exactly where the head does. Otherwise the checkpoint is loaded, the log replayed, and
   fingerprint and witness compared: a replay that comes to other bits is an error.
3. The learner steps. The bytes of the minibatch join the log. Gaps that have become contiguous
    follow.
4. When it is due the snapshot is written to the store and offered as a
    :class:`model.publishing.candidates.Candidate`.
5. After so many tokens (or versions), and at the end of the stream, the state is written to the
    store, and the log is cleared.
6. The learner is checked in. If anything above raised, nobody will see it again.

:func:`run_without_beam` is the same learning for a finished list of minibatches.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from model.errors import DamagedDataError, DivergedError, MemoryLimitError
from model.learner_log import offering
from model.learner_log.head import LearnerHead, checkpoint_to_bytes, fingerprinter
from model.learner_log.live import LIVE_LEARNERS, Live, LiveLearners
from model.learner_log.options import LearnOptions
from model.learner_log.restoring import REPLAY, Replayer
from model.learners.base import LearnerSettings, StepInfo, learner_for
from model.pending import Bag
from model.publishing.candidates import Candidate
from model.publishing.manifest import CheckpointEntry
from model.publishing.store import ModelStore
from model.records import NumberedMinibatch

_MB = 1 << 20
# The head is written at every minibatch, so it may not grow with the number of versions.
_CANDIDATES = 64


@dataclass(slots=True)
class Outcome:
    """What one call of :meth:`Session.handle` did; all but the head and the candidates is for
    counters and progress.
    """

    head: LearnerHead
    candidates: list[Candidate] = field(default_factory=list)
    steps: list[tuple[LearnerHead, StepInfo]] = field(default_factory=list)
    restores: int = 0
    checkpoints: int = 0
    repeats: int = 0
    gaps: int = 0
    ended_early: int = 0


class Session:
    """The learner of one island of one key; it keeps nothing between calls but what it was made
    with.
    """

    def __init__(
        self, options: LearnOptions, key: str, island: int, live: LiveLearners = LIVE_LEARNERS
    ) -> None:
        self.options, self.key, self.island = options, key, island
        self._live = live
        self._store = ModelStore(options.store)
        self._learner = learner_for(options.settings)
        self._replayer = Replayer(options, key, island, self._store, self._learner)
        self._name = (key, island, options.settings_digest())

    def first(self) -> tuple[LearnerHead, list[Candidate]]:
        """The head at the first sight of the key; with ``resume_from`` also the candidates that may
        not have been published.

        Raises:
            StoreConflictError: the store holds what was learned with other settings.
            OptionError: there is no such point to resume from.
        """
        self._store.bind(
            self.key,
            self.options.settings_digest(),
            self.options.settings_dict(),
            self.options.settings_flags(),
        )
        if not self.options.resume_from or not self._store.has_checkpoints(self.key):
            return self._replayer.first_head(), []
        entry = self._store.resume_point(
            self.key, self.options.resume_from, self.options.settings.islands
        )[self.island]
        saved, _ = self._replayer.checkpoint(entry.digest, entry.sequence)
        head = replace(
            saved,
            checkpoint=entry.digest,
            checkpoint_sequence=entry.sequence,
            candidates=saved.candidates[-1:],
        )
        return head, self._replayer.unpublished(saved)

    def handle(self, head: LearnerHead, link: NumberedMinibatch, log: Bag, gap: Bag) -> Outcome:
        """Take one minibatch or end marker, and whatever of the gap bag follows it.

        Raises:
            DivergedError, DamagedDataError: what arrived, the log or the checkpoint does not
            continue this head. MemoryLimitError: the learner has outgrown ``max_state_mb``.
        """
        out = Outcome(head)
        if link.sequence < head.sequence or (link.sequence == head.sequence and not link.is_end):
            self._check_repeat(head, link)
            out.repeats = 1
            out.ended_early = int(link.is_end)
            return out
        ready = self._contiguous(out, link, gap)
        if not ready:
            return out
        live = self._check_out(out, log)
        for following in ready:
            live = (
                self._end(out, live, following, log)
                if following.is_end
                else self._step(out, live, following, log)
            )
        self._live.check_in(self._name, live)
        return out

    def _check_repeat(self, head: LearnerHead, link: NumberedMinibatch) -> None:
        if link.sequence == head.sequence and link.fingerprint != head.chain:
            raise DivergedError(
                f"{self._replayer.learner_name()}: minibatch {link.sequence} came again with other"
                " documents."
                " If the input holds only documents that came after those that were learned, give"
                " --add_documents in place of --resume_from. To finish a run that was interrupted,"
                " give the whole input of that run again. For a new run, give an empty model"
                " store."
            )

    def _contiguous(
        self, out: Outcome, link: NumberedMinibatch, gap: Bag
    ) -> list[NumberedMinibatch]:
        """What can be learned now, in order; the rest is in the gap bag afterwards."""
        if link.sequence > out.head.sequence + (not link.is_end):
            gap.add(link.to_bytes())
            out.gaps, out.head = 1, replace(out.head, gaps=out.head.gaps + 1)
            return []
        if not out.head.gaps:
            return [link]
        waiting = sorted(
            (NumberedMinibatch.from_bytes(data) for data in gap.read()),
            key=lambda item: (item.sequence, item.is_end),
        )
        if len(waiting) != out.head.gaps:
            raise DamagedDataError(
                f"{self._replayer.learner_name()}: the gap bag holds {len(waiting)} minibatches,"
                f" not {out.head.gaps}. {REPLAY}"
            )
        ready, rest = [link], []
        for item in waiting:
            if item.sequence == ready[-1].sequence + (not item.is_end):
                ready.append(item)
            elif item.sequence > ready[-1].sequence:
                rest.append(item)
        gap.clear()
        for item in rest:
            gap.add(item.to_bytes())
        out.head = replace(out.head, gaps=len(rest))
        return ready

    def _check_out(self, out: Outcome, log: Bag) -> Live:
        head, live = out.head, self._live.check_out(self._name)
        if live and live.stands_at(head.sequence, head.fingerprint, head.witness):
            return live
        out.restores = int(head.sequence > 0)
        state = self._replayer.restore(head, log.read() if head.log_count else ())
        return Live(state, head.sequence, head.fingerprint, head.witness, 0)

    def _step(self, out: Outcome, live: Live, link: NumberedMinibatch, log: Bag) -> Live:
        chain = self._replayer.next_chain(link, out.head.chain)
        minibatch = link.minibatch()
        info = self._learner.step(live.state, minibatch)
        log.add(link.to_bytes())
        witness, size = self._learner.witness(live.state), self._measured(live.state)
        live = Live(live.state, link.sequence, self._replayer.fingerprint(chain), witness, size)
        out.head = replace(
            out.head,
            sequence=link.sequence,
            chain=chain,
            fingerprint=live.fingerprint,
            witness=live.witness,
            log_count=out.head.log_count + 1,
            log_tokens=out.head.log_tokens + len(minibatch.tokens),
            window_end=minibatch.window_end,
        )
        out.steps.append((out.head, info))
        out.head, due = offering.is_due(out.head, minibatch, self.options)
        if due:
            self._offer(out, live, minibatch.window_end)
        if (
            out.head.log_tokens >= self.options.checkpoint_tokens
            or len(out.head.candidates) > _CANDIDATES
        ):
            self._write_checkpoint(out, live, log)
        return live

    def _end(self, out: Outcome, live: Live, link: NumberedMinibatch, log: Bag) -> Live:
        self._replayer.next_chain(link, out.head.chain)
        offered = out.head.offered
        if out.head.sequence > offered:
            self._offer(out, live, self.options.end_of_stream)
        # Also where there is a checkpoint after this minibatch already, which does not know of the
        # version.
        if out.head.offered > offered or out.head.sequence > out.head.checkpoint_sequence:
            self._write_checkpoint(out, live, log)
        return live

    def _offer(self, out: Outcome, live: Live, at: int) -> None:
        out.head, candidate = offering.offer(
            out.head,
            self._learner,
            live.state,
            store=self._store,
            options=self.options,
            key=self.key,
            island=self.island,
            at=at,
        )
        if candidate:
            out.candidates.append(candidate)

    def _write_checkpoint(self, out: Outcome, live: Live, log: Bag) -> None:
        head = out.head
        entry = CheckpointEntry(
            key=self.key,
            island=self.island,
            sequence=head.sequence,
            chain=head.chain.hex(),
            window_end=head.window_end,
            offered=head.offered,
            settings_digest=self.options.settings_digest(),
        )
        entry = self._store.put_checkpoint(
            entry, checkpoint_to_bytes(head, self._learner.save(live.state))
        )
        log.clear()
        out.checkpoints += 1
        out.head = replace(
            head,
            checkpoint=entry.digest,
            checkpoint_sequence=head.sequence,
            log_count=0,
            log_tokens=0,
            candidates=head.candidates[-1:],
        )

    def _measured(self, state: object) -> int:
        size, most = self._learner.nbytes(state), self.options.max_state_mb
        if size > most * _MB:
            raise MemoryLimitError(
                f"{self._replayer.learner_name()}: the learner holds {size / _MB:.1f} MB, above"
                f" --max_state_mb ({most:g}). Give fewer --particles, more --islands (each is a"
                " learner of its own), a smaller --max_words, --newest or --reservoir, or"
                " raise it."
            )
        return size


@dataclass(frozen=True, slots=True)
class Learned:
    """What :func:`run_without_beam` comes to; the digest is of the learner's saved state."""

    state: Any
    sequence: int
    fingerprint: bytes
    witness: bytes
    state_digest: str


def run_without_beam(
    links: Iterable[NumberedMinibatch],
    settings: LearnerSettings,
    key: str = "",
    island: int = 0,
    threads: int = 1,
) -> Learned:
    """Learn numbered minibatches in order: the same bits as the pipeline, without Beam and without
    a store.

    >>> from model.sequencing import sequence_documents  # doctest: +SKIP
    >>> links = sequence_documents("", documents, sequence, start)  # doctest: +SKIP
    >>> run_without_beam(links, settings).state_digest  # doctest: +SKIP
    """
    learner = learner_for(settings)
    state = learner.init(settings, key, island, threads)
    sequence, chain = 0, b""
    for link in links:
        if link.sequence != sequence + 1 or (sequence and link.previous != chain):
            raise DivergedError(f"minibatch {link.sequence} does not follow minibatch {sequence}")
        sequence, chain = link.sequence, link.fingerprint
        learner.step(state, link.minibatch())
    digest = hashlib.sha256(learner.save(state)).hexdigest()
    return Learned(
        state, sequence, fingerprinter(settings, island)(chain), learner.witness(state), digest
    )
