"""Run a learner from a log: every minibatch once and in order, despite failures and repeats.

A :class:`Session` handles what arrives for one (model key, island). Its state between calls is the
head and two bags: ``log`` has the minibatches since the last checkpoint, ``gap`` has those that
came before their turn. Minibatches arrive alone or in runs. Minibatch n has h_n-1 and h_n of the
chain:

1. If n is at or before the head, it is a repeat, and is checked and dropped. If n is beyond the
   next one, it goes to the gap bag.
2. The live learner is checked out of :mod:`beam_topics.model.learner_log.head`, and used only if it
   stands exactly where the head does. Otherwise the checkpoint is loaded and the log replayed. A
   replay that gives another fingerprint or witness is an error.
3. The learner steps, and the bytes of the minibatch join the log. Minibatches of the gap bag that
   are now contiguous follow. A learner that learns runs takes everything before the next version
   or checkpoint in one call.
4. When a version is due, the snapshot is written to the store and offered as a
   :class:`beam_topics.model.publishing.choice.Candidate`.
5. After a number of tokens or versions, and at the end of the stream, the state is written to the
   store and the log is cleared.

   A run that repeats what the store has published may turn out to differ. Up to the newest version
   that it found (the *base* of the head), it writes no checkpoint, and a snapshot only after
   comparing it with the version that the store has there.
6. The learner is checked in, except after the end of the stream. If a step before this one raised,
   the learner is dropped. A learner that falls silent may be dropped, too (:meth:`Session.rest`).

Minibatches of one key travel in runs (:func:`run_to_bytes`), which a learner takes in one call. A
session cuts runs where the head of the learner must be known: after a minibatch that is followed by
a version or a checkpoint. The cuts depend on the minibatches alone, and what is learned does not
depend on the runs.

:mod:`beam_topics.model.learner_log.local` learns a finite collection of documents in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from beam_topics.model.documents.minibatch import Minibatch, NumberedMinibatch
from beam_topics.model.documents.pending import Bag, ListBag
from beam_topics.model.errors import DamagedDataError, MemoryLimitError, StoreConflictError
from beam_topics.model.learner_log import offering
from beam_topics.model.learner_log.head import (
    LIVE_LEARNERS,
    LearnerHead,
    Live,
    LiveLearners,
    checkpoint_to_bytes,
)
from beam_topics.model.learner_log.known import (
    Segment,
    facts_in,
    hashes_of,
    offsets_after,
    windows_of,
)
from beam_topics.model.learner_log.offering import count_arrivals
from beam_topics.model.learner_log.options import LearnOptions
from beam_topics.model.learner_log.progress import Outcome, Step
from beam_topics.model.learner_log.restoring import REPLAY, Replayer, earlier_options, find_start
from beam_topics.model.learners.base import GoesOn, LearnsRuns, StepInfo
from beam_topics.model.publishing.choice import Candidate
from beam_topics.model.publishing.events import collected
from beam_topics.model.publishing.manifest import CheckpointEntry
from beam_topics.model.stored import wire

_RUN = b"BTA1"
# The largest run. A learner is measured once a run, and a call costs little compared with it.
RUN_MINIBATCHES = 64
RUN_BYTES = 256 << 10


def run_to_bytes(links: Sequence[bytes]) -> bytes:
    """Return a run of numbered minibatches, given as bytes, in their order."""
    return wire.pack(_RUN, {}, *links)


def run_from_bytes(data: bytes) -> list[NumberedMinibatch]:
    """Read the bytes that :func:`run_to_bytes` wrote.

    Raises:
        DamagedDataError: The bytes are not a run.
    """
    return [NumberedMinibatch.from_bytes(link) for link in wire.unpack(_RUN, data)[1]]


def parts_of(links: Sequence[NumberedMinibatch]) -> Iterator[list[NumberedMinibatch]]:
    """Yield runs of minibatches within the bounds of a run, and each end marker alone.

    What waits in a gap bag may be of any size, and is parsed run by run.
    """
    part: list[NumberedMinibatch] = []
    size = 0
    for link in links:
        size += len(link.payload)
        if part and (link.is_end or len(part) == RUN_MINIBATCHES or size > RUN_BYTES):
            yield part
            part, size = [], len(link.payload)
        if link.is_end:
            yield [link]
        else:
            part.append(link)
    if part:
        yield part


def passed(
    head: LearnerHead, minibatches: Sequence[Minibatch], options: LearnOptions
) -> LearnerHead:
    """Return a head that has counted minibatches into its log and its windows.

    What depends on the learner is left as it is.
    """
    begin = options.sequence.window_start(minibatches[0].window_end)
    documents = np.concatenate([minibatch.timestamps for minibatch in minibatches])
    times = [*head.times, *documents.tolist()]
    return replace(
        head,
        times=(min(times), max(times)) if times else (),
        log_count=head.log_count + len(minibatches),
        log_tokens=head.log_tokens + tokens_of(minibatches),
        window_end=minibatches[-1].window_end,
        since=begin if head.since is None else head.since,
        windows=head.windows + sum(minibatch.closes_window for minibatch in minibatches),
    )


def tokens_of(minibatches: Sequence[Minibatch]) -> int:
    """Return the number of tokens of minibatches."""
    return sum(len(minibatch.tokens) for minibatch in minibatches)


def before_due(head: LearnerHead, minibatches: Sequence[Minibatch], options: LearnOptions) -> int:
    """Return the number of minibatches, one or more, up to the next version or checkpoint.

    Args:
        head: The head before the minibatches.
        minibatches: The minibatches.
        options: The options of the stream.
    """
    begin = options.sequence.window_start(minibatches[0].window_end)
    since = begin if head.since is None else head.since
    windows, tokens = head.windows, head.log_tokens
    for count, minibatch in enumerate(minibatches, 1):
        windows += minibatch.closes_window
        tokens += len(minibatch.tokens)
        due = options.is_due(minibatch, windows=windows, since=since)
        if due or tokens >= options.run.checkpoint_tokens:
            return count
    return len(minibatches)


_MB = 1 << 20
# The head is written at every run of minibatches, so it must not grow with the number of versions.
_MAX_CANDIDATES = 64
# A learner is measured once in this many tokens, because measuring adds up some fifty arrays.
_TOKENS_MEASURED = 10_000


class Session(Replayer):
    """The learner of one island of one key.

    A session keeps nothing between calls but its arguments.

    Args:
        options: What to learn, and where to keep it.
        key: The model key.
        island: The number of the island.
        live: The learners of the process.
    """

    def __init__(
        self, options: LearnOptions, key: str, island: int, live: LiveLearners = LIVE_LEARNERS
    ) -> None:
        super().__init__(options, key, island)
        self._live = live
        self._runs = self.learner if isinstance(self.learner, LearnsRuns) else None
        self._name = (key, island, options.settings_digest)

    def first(self) -> tuple[LearnerHead, list[Candidate]]:
        """Return the first head of the key, and candidates that may not have been published.

        There are such candidates only with ``resume_from``.

        Raises:
            StoreConflictError: See :func:`beam_topics.model.learner_log.restoring.find_start`.
            OptionError: There is no such point to resume from.
        """
        start = find_start(self.options, self.key)
        base = start.newest.version if start.newest else ""
        if not start.entries:
            return replace(self.first_head(), base=base), []
        entry = start.entries[self.island]
        # Until the next checkpoint the runner's state refers to this one.
        self.store.use_checkpoint(self.key, entry.digest)
        is_own = entry.settings_digest == self.options.settings_digest
        of = self if is_own else self._earlier()
        # What others have learned ends with a version that is published.
        saved, _ = of.checkpoint(entry.digest, entry.sequence)
        head = replace(
            saved,
            checkpoint=entry.digest,
            checkpoint_sequence=entry.sequence,
            candidates=saved.candidates[-1:],
            base=base,
        )
        unpublished = self.unpublished(saved) if is_own else []
        return head, [replace(one, base=base) for one in unpublished]

    def handle(
        self, head: LearnerHead, links: Sequence[NumberedMinibatch], log: Bag, gap: Bag
    ) -> Outcome:
        """Take a run of minibatches and end markers, and what follows them in the gap bag.

        Args:
            head: The committed head.
            links: The minibatches and end markers, in ascending order.
            log: The bag of minibatches since the checkpoint.
            gap: The bag of minibatches that came before their turn.

        Raises:
            DivergedError: A minibatch or the log does not continue this head.
            DamagedDataError: The log or the checkpoint is not what the head names.
            MemoryLimitError: The learner has outgrown ``max_state_mb``.
            StoreConflictError: The store has published another history.
        """
        out = Outcome(head)
        new = [link for link in links if not self._is_repeat(out, link)]
        ready = self._contiguous(out, new, gap) if new else []
        is_own = head.fingerprint == self.fingerprint(head.chain)
        if not ready or (ready[0].is_end and not is_own):
            return out
        live = self._check_out(out, log) if is_own else self._go_on(out, log)
        for some in parts_of(ready):
            if some[0].is_end:
                live = self._end(out, live, some[0], log)
            else:
                live = self._learn(out, live, some, log)
        # After the end nothing follows in most jobs, and the checkpoint has the learner.
        if not ready[-1].is_end:
            live = replace(live, head=out.head)
            self._live.check_in(self._name, live, self.options.run.memory_mb)
        return out

    def rest(self, head: LearnerHead, log: Bag) -> Outcome:
        """Write a checkpoint of a learner that fell silent, clear its log, and drop the learner.

        Later minibatches continue from the checkpoint and give the same bits.

        Args:
            head: The committed head.
            log: The bag of minibatches since the checkpoint.
        """
        out = Outcome(head)
        if head.log_count and head.at_base:
            self._write_checkpoint(out, self._check_out(out, log), log)
        self._live.check_out(self._name)
        return out

    def _is_repeat(self, out: Outcome, link: NumberedMinibatch) -> bool:
        """Return whether a minibatch was learned already; refuse another one in its place."""
        head = out.head
        if link.sequence > head.sequence or (link.sequence == head.sequence and link.is_end):
            return False
        if link.is_end:
            ends = f"the input ends after minibatch {link.sequence} of {head.sequence}"
            raise self.other_input(ends)
        if link.sequence == head.sequence and link.fingerprint != head.chain:
            again = f"minibatch {link.sequence} came again with other documents"
            raise self.other_input(again)
        out.repeats += 1
        return True

    def _contiguous(
        self, out: Outcome, links: list[NumberedMinibatch], gap: Bag
    ) -> list[NumberedMinibatch]:
        """Return what can be learned now, in order, and leave the rest in the gap bag."""
        head, at = out.head, out.head.sequence
        ready: list[NumberedMinibatch] = []
        rest: list[NumberedMinibatch] = []
        is_next = any(link.sequence <= at + (not link.is_end) for link in links)
        waiting = self._waiting(head, gap) if is_next and head.gaps else []
        for item in sorted([*links, *waiting], key=lambda item: (item.sequence, item.is_end)):
            if item.sequence == at + (not item.is_end):
                ready.append(item)
                at = item.sequence
            elif item.sequence > at:
                rest.append(item)
        if waiting:
            gap.clear()
        for item in rest:
            gap.add(item.to_bytes())
        out.gaps = sum(link.sequence > at for link in links)
        out.head = replace(head, gaps=head.gaps - len(waiting) + len(rest))
        return ready

    def _waiting(self, head: LearnerHead, gap: Bag) -> list[NumberedMinibatch]:
        waiting = [NumberedMinibatch.from_bytes(data) for data in gap.read()]
        if len(waiting) != head.gaps:
            raise DamagedDataError(
                f"{self.learner_name}: the gap bag holds {len(waiting)} minibatches,"
                f" not {head.gaps}. {REPLAY}"
            )
        return waiting

    def _check_out(self, out: Outcome, log: Bag) -> Live:
        head, live = out.head, self._live.check_out(self._name)
        if live and live.stands_at(head):
            if not live.packed:
                return live
            out.unpacked = 1
            return self._live_at(head, self.load(live.state))
        out.restores = int(head.sequence > 0)
        state = self.restore(head, log.read() if head.log_count else ())
        return self._live_at(head, state)

    def _earlier(self) -> Replayer:
        """Return what restores the learner of the settings that those of this run go on from."""
        options = earlier_options(self.options, self.key)
        if options is None:
            raise DamagedDataError(f"{self.learner_name}: its head is of another one. {REPLAY}")
        return Replayer(options, self.key, self.island)

    def _go_on(self, out: Outcome, log: Bag) -> Live:
        """Go on from what earlier settings have learned, and bind the store to those of the run."""
        head, before = out.head, self._earlier()
        assert isinstance(self.learner, GoesOn)
        state = self.learner.go_on(self.options.settings, before.restore(head, ()))
        out.restores = 1
        out.head = replace(
            head,
            fingerprint=self.fingerprint(head.chain),
            witness=self.learner.witness(state),
            checkpoint="",
            checkpoint_sequence=0,
            candidates=(),
            arrived=b"",
        )
        self._put_checkpoint(out, self._live_at(out.head, state), log, head.checkpoint)
        self.store.rebind(self.key, self.options.binding)
        return self._live_at(out.head, state)

    def _live_at(self, head: LearnerHead, state: object) -> Live:
        """Return a live learner that stands at a head; its size of 0 is not measured yet."""
        return Live(state, head, 0, self.learner.save)

    def _learn(self, out: Outcome, live: Live, links: list[NumberedMinibatch], log: Bag) -> Live:
        """Learn minibatches that follow each other, as many at a time as the learner can."""
        chain, minibatches = out.head.chain, []
        for link in links:
            chain = self.next_chain(link, chain)
            minibatches.append(link.minibatch())
        at = 0
        while at < len(links):
            rest = minibatches[at:]
            end = at + (before_due(out.head, rest, self.options) if self._runs else 1)
            live = self._step(out, live, links[at:end], minibatches[at:end], log)
            at = end
        return live

    def _step(
        self,
        out: Outcome,
        live: Live,
        links: list[NumberedMinibatch],
        minibatches: list[Minibatch],
        log: Bag,
    ) -> Live:
        if self._runs:
            infos = self._runs.steps(live.state, minibatches)
        else:
            infos = [self.learner.step(live.state, minibatches[0])]
        for link in links:
            log.add(link.to_bytes())
        size = self._measured(live, out.head.log_tokens, tokens_of(minibatches))
        out.head = self._after(out.head, live.state, links[-1], minibatches, infos)
        live = replace(live, head=out.head, nbytes=size)
        for link, minibatch, info in zip(links, minibatches, infos, strict=True):
            out.steps.append(Step(link.sequence, minibatch.window_end, info))
        windows, since = out.head.windows, out.head.since
        if self.options.is_due(minibatches[-1], windows=windows, since=since):
            self._offer(out, live, minibatches[-1].window_end)
            # A publication may leave copies of the state.
            live = replace(live, nbytes=self.learner.nbytes(live.state))
        if out.head.at_base and (
            out.head.log_tokens >= self.options.run.checkpoint_tokens
            or len(out.head.candidates) > _MAX_CANDIDATES
            # A job that begins at stored offsets begins at a checkpoint that knows all versions.
            or (out.head.offered == out.head.sequence and links[-1].offsets)
        ):
            self._write_checkpoint(out, live, log)
        return live

    def _after(
        self,
        head: LearnerHead,
        state: object,
        last: NumberedMinibatch,
        minibatches: list[Minibatch],
        infos: list[StepInfo],
    ) -> LearnerHead:
        """Return the head after minibatches. It is copied once, because each copy takes time."""
        counted, sums = count_arrivals(head, self.learner, state, self.options.settings)
        placed = [
            replace(event, sequence=minibatch.sequence, time=minibatch.window_end)
            for info, minibatch in zip(infos, minibatches, strict=True)
            for event in info.events
        ]
        return replace(
            passed(head, minibatches, self.options),
            sequence=last.sequence,
            chain=last.fingerprint,
            fingerprint=self.fingerprint(last.fingerprint),
            witness=self.learner.witness(state),
            counted=counted,
            arrived=wire.array_to_bytes(sums, "<f8"),
            events=collected(head.events, placed),
        )

    def _end(self, out: Outcome, live: Live, link: NumberedMinibatch, log: Bag) -> Live:
        self.next_chain(link, out.head.chain)
        offered = out.head.offered
        if out.head.sequence > offered:
            self._offer(out, live, self.options.end_of_stream)
        # A checkpoint after this minibatch may exist already. It does not know of the new version,
        # so another one is written. Without a version there is nothing to continue.
        if out.head.at_base and out.head.offered > min(offered, out.head.checkpoint_sequence):
            self._write_checkpoint(out, live, log)
        return live

    def _offer(self, out: Outcome, live: Live, at: int) -> None:
        out.head, candidate = offering.offer(self, out.head, live.state, at)
        if candidate:
            out.candidates.append(candidate)

    def _write_checkpoint(self, out: Outcome, live: Live, log: Bag) -> None:
        """Write a checkpoint and clear the log, unless the base has a checkpoint already."""
        head = out.head
        if head.is_base and self.store.has_checkpoint(self._entry(head)):
            return
        if not head.checkpoint and not head.base:
            self.store.remove_checkpoints_of(self.key, self.island)
        self._put_checkpoint(out, live, log, head.checkpoint)

    def _entry(self, head: LearnerHead) -> CheckpointEntry:
        return CheckpointEntry(
            key=self.key,
            island=self.island,
            sequence=head.sequence,
            chain=head.chain.hex(),
            window_end=head.window_end,
            offered=head.offered,
            settings_digest=self.options.settings_digest,
        )

    def _put_checkpoint(self, out: Outcome, live: Live, log: Bag, before: str) -> None:
        """Write a checkpoint after the one with the digest ``before``, and clear the log.

        Raises:
            StoreConflictError: The one before is gone: it was erased or rolled back.
        """
        head = out.head
        if before and not self.store.use_checkpoint(self.key, before):
            raise StoreConflictError(
                f"{self.learner_name}: its last checkpoint {before} was removed from"
                f" {self.store.root} by beam-topics erase or versions rollback, and this job still"
                " holds what it learned before. Start the job again from the store, with"
                " --add_documents."
            )
        entry = self.store.put_checkpoint(
            self._entry(head), checkpoint_to_bytes(head, self.learner.save(live.state))
        )
        if not self.island:
            self._write_known(before, entry.digest, log, head.log_count)
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

    def _write_known(self, before: str, digest: str, log: Bag, count: int) -> None:
        """Write which documents the log holds, next to the checkpoint that replaces it.

        A run that ends early no longer has the log, of ``count`` minibatches.
        """
        found = map(NumberedMinibatch.from_bytes, log.read())
        links = sorted(found, key=lambda link: link.sequence)
        learned = [link.offsets for link in links] if len(links) == count else None
        offsets = offsets_after(self.store, self.key, before, learned)
        hashes, cut = [np.zeros(0, np.uint64)], []
        for link in links:
            minibatch, options = link.minibatch(), self.options
            hashes.append(hashes_of(facts_in([minibatch]), options.id_from, options.sequence))
            cut.append((minibatch.window_end, len(minibatch), link.reach))
        windows = windows_of(cut) if offsets else []
        segment = Segment(before, np.concatenate(hashes), offsets, windows)
        self.store.put_known(self.key, digest, segment.to_bytes())

    def _measured(self, live: Live, before: int, tokens: int) -> int:
        """Return the bytes of the learner, which are measured once in many tokens.

        Args:
            live: The learner; its size is 0 if it was not measured yet.
            before: The tokens of the log before the minibatch.
            tokens: The tokens of the minibatch.
        """
        if live.nbytes and (before + tokens) // _TOKENS_MEASURED == before // _TOKENS_MEASURED:
            return live.nbytes
        size, most = self.learner.nbytes(live.state), self.options.run.max_state_mb
        if size > most * _MB:
            raise MemoryLimitError(
                f"{self.learner_name}: the learner holds {size / _MB:.1f} MB, above"
                f" --max_state_mb ({most:g}). Raise it, or give an empty model store and fewer"
                " --topics, or a smaller --max_words or --reservoir."
            )
        return size


def keep_live(options: LearnOptions) -> list[str]:
    """Write checkpoints of the learners in memory, where a run ends before its input does.

    A run can continue only where all islands of a key have a checkpoint after the same minibatch,
    so others are not written.

    Args:
        options: What was learned, and where it is kept.

    Returns:
        The keys that have a checkpoint at their newest minibatch.
    """
    heads: dict[str, dict[int, LearnerHead]] = {}
    for (key, island, digest), head in LIVE_LEARNERS.heads().items():
        if digest == options.settings_digest:
            heads.setdefault(key, {})[island] = head
    kept = []
    for key, by_island in sorted(heads.items()):
        whole = len(by_island) == options.settings.islands
        if whole and len({head.sequence for head in by_island.values()}) == 1:
            for island, head in by_island.items():
                Session(options, key, island).rest(head, ListBag())
            kept.append(key)
    return kept
