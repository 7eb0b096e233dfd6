"""Where a run begins on a key, and how a learner is restored and verified.

A run begins before the first minibatch of a key, or at a checkpoint of the model store.
:func:`find_start` makes every check that needs no document: the settings, the times of publication,
and the checkpoint to continue from. A program calls it before the run, and the steps call it when
the first document of a key arrives.

The chain of minibatches tells whether the documents are those of the store. :class:`SequenceStart`
compares it as soon as it reaches the newest version. Where the whole input is sequenced before any
of it is learned, this happens before any key has written anything.

A :class:`Replayer` restores the state of a learner from its checkpoint and its log. The bytes come
from the state of a runner and from the model store, and neither is trusted. Digests prove that the
bytes are those that were written. The chain proves that the minibatches are the same and in order.
The fingerprint proves that settings and release are the same. The witness proves that the
arithmetic of this machine gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.cuts import Cuts, Hashes
from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.documents.minibatch import NumberedMinibatch
from beam_topics.model.documents.sequencing import (
    SequenceHead,
    chain_start,
    sequence_documents,
)
from beam_topics.model.errors import (
    DamagedDataError,
    DivergedError,
    OptionError,
    StoreConflictError,
)
from beam_topics.model.learner_log.head import LearnerHead, checkpoint_from_bytes, fingerprinter
from beam_topics.model.learner_log.known import cuts_after, facts_in, hashes_of, known_up_to
from beam_topics.model.learner_log.options import LearnOptions, settings_in
from beam_topics.model.learners import learner_for
from beam_topics.model.publishing.choice import Candidate
from beam_topics.model.publishing.manifest import CheckpointEntry, Manifest


class Start(NamedTuple):
    """Where a run begins on a key.

    Attributes:
        newest: The newest version; None if nothing was published.
        entries: The checkpoint of each island; none if the run begins before the first minibatch.
    """

    newest: Manifest | None
    entries: list[CheckpointEntry]


def earlier_options(options: LearnOptions, key: str) -> LearnOptions | None:
    """Return the options that those of a run go on from, by the settings of the store, or None."""
    try:
        bound = options.opened().bound(key)
        stored = bound.get("before", bound)["settings"]
        settings = settings_in(stored)
    except (DamagedDataError, OptionError):
        # Those of another release, of which the store says what differs; or there are none.
        return None
    earlier = replace(options, settings=settings)
    goes_on = options.settings.goes_on_from(settings) and earlier.bound_settings == stored
    return earlier if goes_on else None


def find_start(options: LearnOptions, key: str) -> Start:
    """Return where a run begins on a key, and check that the store takes it.

    A key without a checkpoint starts over, and so does one without a version where documents are
    added. They may be added to what :func:`earlier_options` have learned.

    Raises:
        StoreConflictError: The store holds what was learned with other settings, or versions that
            were published at other times; or what earlier settings learned did not end.
        OptionError: There is no such point to resume from.
    """
    store, run, digest = options.opened(), options.run, options.settings_digest
    newest = store.latest(key)
    earlier = earlier_options(options, key) if newest and run.add_documents else None
    if newest is not None and (earlier is None or store.settings(key) != earlier.bound_settings):
        store.check_settings(key, options.binding)
    digests = [earlier.settings_digest, digest] if earlier else [digest]
    entries: list[CheckpointEntry] = []
    if (newest or run.resume_from) and run.start and store.has_checkpoints(key):
        islands = options.settings.islands
        entries = store.resume_point(key, run.start, islands, digests, newest)
    if newest is not None and entries and entries[0].settings_digest != digest:
        sequence = entries[0].sequence
        if not newest.sequence == sequence == entries[0].offered:
            raise StoreConflictError(
                f"{store.root} has version {newest.version}, and minibatch {sequence}, from which"
                " this run would go on with other settings, is not the end of what was learned"
                " before. Leave out --resume_from. If the run before was interrupted, finish it"
                " first: run it again with its own settings and --resume_from=latest."
            )
    if newest is not None:
        store.check_start(newest, entries[0].offered if entries else 0, run.publish_every)
    return Start(newest, entries)


def begin_of(start: Start) -> str:
    """Return the digest of the checkpoint of island 0 where a run begins, "" for none."""
    return start.entries[0].digest if start.entries else ""


@dataclass
class SequenceStart:
    """Where the sequences of a run begin.

    Attributes:
        options: The options of the run.
    """

    options: LearnOptions
    _known: dict[str, Manifest] = field(default_factory=dict)
    _learned: dict[str, Hashes] = field(default_factory=dict)

    def head(self, key: str) -> SequenceHead:
        """Return the first head of a key.

        Raises:
            StoreConflictError: See :func:`find_start`.
            OptionError: There is no such point to resume from.
        """
        options, start = self.options, find_start(self.options, key)
        if options.run.add_documents and start.entries:
            entry = start.entries[0]
            # The input before may have ended within that window, so it takes more documents.
            open_since = options.sequence.window_start(entry.window_end)
            return SequenceHead(entry.sequence, bytes.fromhex(entry.chain), closed=open_since)
        if start.newest is not None:
            self._known[key] = start.newest
        return SequenceHead(0, chain_start(key, options.tokeniser, options.sequence))

    def cuts(self, key: str, head: SequenceHead) -> Cuts | None:
        """Return the windows that a restored job repeats on a key; see :func:`cuts_after`."""
        return cuts_after(self.options, key, head.sequence, head.closed)

    def unknown(self, key: str, documents: Block) -> Block:
        """Return the documents that the store has not learned before the run.

        Args:
            key: Their model key.
            documents: Documents to add.
        """
        if key not in self._learned:
            digest = self.options.known_up_to or begin_of(find_start(self.options, key))
            self._learned[key] = known_up_to(self.options.opened(), key, digest)
        if not len(self._learned[key]):
            return documents
        hashes = hashes_of(facts_in([documents]), self.options.id_from, self.options.sequence)
        return documents.take(np.flatnonzero(~np.isin(hashes, self._learned[key])))

    def links(
        self,
        key: str,
        documents: Block,
        head: SequenceHead,
        on_dead_letter: Callable[[DeadLetter], None],
    ) -> Iterator[NumberedMinibatch]:
        """Yield the numbered minibatches of all documents of a key, and the end marker."""
        options, sequence, chain = self.options, head.sequence, head.chain
        adds = options.run.add_documents
        for link in sequence_documents(documents, options.sequence, head, on_dead_letter, adds):
            self.check(key, link)
            yield link
            sequence, chain = link.sequence, link.fingerprint
        end = NumberedMinibatch.end(sequence, chain)
        self.check(key, end)
        yield end

    def check(self, key: str, link: NumberedMinibatch) -> None:
        """Refuse documents other than those of the newest version, or fewer.

        Args:
            key: The model key.
            link: The next minibatch or the end marker.

        Raises:
            StoreConflictError: They are others, or fewer.
        """
        known = self._known.get(key)
        if known is not None and (link.is_end or link.sequence == known.sequence):
            self.options.opened().check_history(known, link.fingerprint.hex())
            del self._known[key]


REPLAY = (
    "The log was replayed by another release, with other libraries or on another kind of processor,"
    " or it was changed. Continue where it was written, or start again with an empty model store."
)


class Replayer:
    """Restore and verify the learner of one island of one key.

    Args:
        options: What to learn, and where to keep it.
        key: The model key.
        island: The number of the island.
    """

    def __init__(self, options: LearnOptions, key: str, island: int) -> None:
        self.options, self.key, self.island = options, key, island
        self.learner_name = f"learner of key {key!r}, island {island}"
        self.store = options.opened()
        self.learner = learner_for(options.settings)
        self.fingerprint = fingerprinter(options.settings, island)

    def first_head(self) -> LearnerHead:
        """Return the head before the first minibatch."""
        chain = chain_start(self.key, self.options.tokeniser, self.options.sequence)
        return LearnerHead(0, chain, self.fingerprint(chain), b"")

    def restore(self, head: LearnerHead, log: Iterable[bytes]) -> object:
        """Return the state of the learner at ``head``, from its checkpoint and its log.

        Raises:
            DamagedDataError: The checkpoint or the log is not what the head names.
            DivergedError: The replay gave other bits.
        """
        options, chain = self.options, self.first_head().chain
        if head.checkpoint:
            saved, data = self.checkpoint(head.checkpoint, head.checkpoint_sequence)
            chain, state = saved.chain, self.load(data)
        else:
            state = self.learner.init(
                options.settings, self.key, self.island, options.run.learner_threads
            )
        links = sorted(
            (NumberedMinibatch.from_bytes(data) for data in log), key=lambda link: link.sequence
        )
        if [link.sequence for link in links] != list(
            range(head.checkpoint_sequence + 1, head.sequence + 1)
        ):
            raise DamagedDataError(
                f"{self.learner_name}: the log holds minibatches"
                f" {[link.sequence for link in links][:10]}, and must hold"
                f" {head.checkpoint_sequence + 1} to {head.sequence}. {REPLAY}"
            )
        for link in links:
            chain = self.next_chain(link, chain)
            self.learner.step(state, link.minibatch())
        self._check_replay(head, chain, state)
        return state

    def load(self, data: bytes) -> object:
        """Return the state of the learner from its saved bytes.

        Raises:
            DamagedDataError: The bytes are not a state of this learner.
        """
        options = self.options
        return self.learner.load(
            options.settings, self.key, self.island, data, options.run.learner_threads
        )

    def _check_replay(self, head: LearnerHead, chain: bytes, state: object) -> None:
        # Before the first minibatch there is no witness to compare.
        same = chain == head.chain and self.fingerprint(chain) == head.fingerprint
        if not same or (head.sequence and self.learner.witness(state) != head.witness):
            what = "other bits" if same else "another history"
            raise DivergedError(
                f"{self.learner_name}: the replay up to minibatch {head.sequence} came to {what}."
                f" {REPLAY}"
            )

    def next_chain(self, link: NumberedMinibatch, chain: bytes) -> bytes:
        """Return h_n of a minibatch that must follow ``chain``.

        Raises:
            DivergedError: It does not follow.
        """
        if link.previous != chain:
            raise self.other_input(f"other documents came before minibatch {link.sequence}")
        return link.fingerprint

    def other_input(self, what: str) -> DivergedError:
        """Return the error of an input that does not continue what was learned."""
        return DivergedError(
            f"{self.learner_name}: {what}. To finish a run that was interrupted, give the whole"
            " input of that run again. To learn what this input holds beyond those that"
            " were learned, give --add_documents in place of --resume_from. For a new run,"
            " give an empty model store."
        )

    def checkpoint(self, digest: str, sequence: int) -> tuple[LearnerHead, bytes]:
        """Return the head and the saved state of a checkpoint.

        Raises:
            DamagedDataError: It is damaged, or of another learner or minibatch.
        """
        saved, data = checkpoint_from_bytes(self.store.get_checkpoint(self.key, digest))
        if saved.sequence != sequence or saved.fingerprint != self.fingerprint(saved.chain):
            raise DamagedDataError(
                f"{self.learner_name}: checkpoint {digest} holds another learner, or minibatch"
                f" {saved.sequence} in place of {sequence}. {REPLAY}"
            )
        return saved, data

    def unpublished(self, saved: LearnerHead) -> list[Candidate]:
        """Return the candidates up to a checkpoint that may not have been published, in order.

        A run may end between an offer and its publication. The search goes back to a candidate that
        was published for certain.
        """
        latest = self.store.latest(self.key)
        reached = latest.sequence if latest else 0
        offers: dict[int, Candidate] = {}
        while True:
            for candidate in map(Candidate.from_bytes, saved.candidates):
                offers[candidate.sequence] = candidate
            # What was offered before a checkpoint that expired is published.
            if (
                not saved.checkpoint
                or min(offers, default=reached + 1) <= reached
                or not self.store.use_checkpoint(self.key, saved.checkpoint)
            ):
                return [offers[sequence] for sequence in sorted(offers)]
            saved, _ = self.checkpoint(saved.checkpoint, saved.checkpoint_sequence)
