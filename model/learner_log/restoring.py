"""Restore the state of a learner from its checkpoint and its log, and verify every step.

The bytes come from the state of a runner and from the model store, and neither is trusted. Digests
prove that the bytes are those that were written. The chain proves that the minibatches are the same
and in order. The fingerprint proves that settings and release are the same. The witness proves that
the arithmetic of this machine comes to the same bits.
"""

from __future__ import annotations

from collections.abc import Iterable

from model.errors import DamagedDataError, DivergedError
from model.learner_log.head import LearnerHead, checkpoint_from_bytes, fingerprinter
from model.learner_log.options import LearnOptions
from model.learners.base import Learner
from model.publishing.candidates import Candidate
from model.publishing.store import ModelStore
from model.records import NumberedMinibatch
from model.sequencing import chain_start

REPLAY = (
    "The log was replayed by another release, with other libraries or on another kind of processor,"
    " or it was changed. Continue where it was written, or start again with an empty model store."
)


class Replayer:
    """Restore and verify one learner.

    Args:
        options: The options of the stream.
        key: The model key.
        island: The number of the island.
        store: The model store.
        learner: The learner.
    """

    def __init__(
        self,
        options: LearnOptions,
        key: str,
        island: int,
        store: ModelStore,
        learner: Learner[object],
    ) -> None:
        self._options, self._key, self._island = options, key, island
        self._store, self._learner = store, learner
        self._fingerprint = fingerprinter(options.settings, island)

    def first_head(self) -> LearnerHead:
        """Return the head before the first minibatch."""
        chain = chain_start(self._key, self._options.tokeniser, self._options.sequence)
        return LearnerHead(0, chain, self.fingerprint(chain), b"")

    def fingerprint(self, chain: bytes) -> bytes:
        """Return the fingerprint after the minibatch with this h_n."""
        return self._fingerprint(chain)

    def learner_name(self) -> str:
        """Return the name of the learner for messages."""
        return f"learner of key {self._key!r}, island {self._island}"

    def restore(self, head: LearnerHead, log: Iterable[bytes]) -> object:
        """Return the state of the learner at ``head``, from its checkpoint and its log.

        Raises:
            DamagedDataError: The checkpoint or the log is not what the head names.
            DivergedError: The replay came to other bits.
        """
        options, chain = self._options, self.first_head().chain
        if head.checkpoint:
            saved, data = self.checkpoint(head.checkpoint, head.checkpoint_sequence)
            chain, state = saved.chain, self.load(data)
        else:
            state = self._learner.init(
                options.settings, self._key, self._island, options.run.threads
            )
        links = sorted(
            (NumberedMinibatch.from_bytes(data) for data in log), key=lambda link: link.sequence
        )
        if [link.sequence for link in links] != list(
            range(head.checkpoint_sequence + 1, head.sequence + 1)
        ):
            raise DamagedDataError(
                f"{self.learner_name()}: the log holds minibatches"
                f" {[link.sequence for link in links][:10]}, and must hold"
                f" {head.checkpoint_sequence + 1} to {head.sequence}. {REPLAY}"
            )
        for link in links:
            chain = self.next_chain(link, chain)
            self._learner.step(state, link.minibatch())
        self._check_replay(head, chain, state)
        return state

    def load(self, data: bytes) -> object:
        """Return the state of the learner from its saved bytes.

        Raises:
            DamagedDataError: The bytes are not a state of this learner.
        """
        options = self._options
        return self._learner.load(
            options.settings, self._key, self._island, data, options.run.threads
        )

    def _check_replay(self, head: LearnerHead, chain: bytes, state: object) -> None:
        # Before the first minibatch there is no witness to compare.
        same = chain == head.chain and self.fingerprint(chain) == head.fingerprint
        if not same or (head.sequence and self._learner.witness(state) != head.witness):
            what = "other bits" if same else "another history"
            raise DivergedError(
                f"{self.learner_name()}: the replay up to minibatch {head.sequence} came to {what}."
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
            f"{self.learner_name()}: {what}. To finish a run that was interrupted, give the whole"
            " input of that run again. If this input holds only documents that came after those"
            " that were learned, give --add_documents in place of --resume_from. For a new run,"
            " give an empty model store."
        )

    def checkpoint(self, digest: str, sequence: int) -> tuple[LearnerHead, bytes]:
        """Return the head and the saved state of a checkpoint.

        Raises:
            DamagedDataError: It is damaged, or of another learner or minibatch.
        """
        saved, data = checkpoint_from_bytes(self._store.get_checkpoint(self._key, digest))
        if saved.sequence != sequence or saved.fingerprint != self.fingerprint(saved.chain):
            raise DamagedDataError(
                f"{self.learner_name()}: checkpoint {digest} holds another learner, or minibatch"
                f" {saved.sequence} in place of {sequence}. {REPLAY}"
            )
        return saved, data

    def unpublished(self, saved: LearnerHead) -> list[Candidate]:
        """Return the candidates up to a checkpoint that may not have been published, in order.

        A run may end between an offer and its publication. The search goes back to a candidate that
        was published for certain.
        """
        latest = self._store.latest(self._key)
        reached = latest.sequence if latest else 0
        offers: dict[int, Candidate] = {}
        while True:
            for candidate in map(Candidate.from_bytes, saved.candidates):
                offers[candidate.sequence] = candidate
            # What was offered before a checkpoint that expired is published.
            if (
                not saved.checkpoint
                or min(offers, default=reached + 1) <= reached
                or not self._store.use_checkpoint(self._key, saved.checkpoint)
            ):
                return [offers[sequence] for sequence in sorted(offers)]
            saved, _ = self.checkpoint(saved.checkpoint, saved.checkpoint_sequence)
