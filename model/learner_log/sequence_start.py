"""Where the sequence of a key begins: before its first minibatch, or at a checkpoint."""

from __future__ import annotations

from dataclasses import dataclass

from model.publishing.store import ModelStore
from model.sequencing import SequenceHead, chain_start
from model.settings import SequenceSettings, TokeniserSettings


@dataclass(frozen=True)
class AddedTo:
    """The checkpoints that a sequence continues.

    Attributes:
        store: The root of the model store.
        islands: The number of islands of its learners.
        point: ``latest``, or the sequence number of a checkpoint.
    """

    store: str
    islands: int = 1
    point: str = "latest"


@dataclass
class SequenceStart:
    """Where the sequence of a key begins: at h_0, or at a checkpoint of the model store."""

    tokeniser: TokeniserSettings
    settings: SequenceSettings
    added_to: AddedTo | None = None

    def head(self, key: str) -> SequenceHead:
        """Return the first head of a key. A key without a checkpoint in the store begins at h_0."""
        if self.added_to is None or not (store := ModelStore(self.added_to.store)).has_checkpoints(
            key
        ):
            return SequenceHead(0, chain_start(key, self.tokeniser, self.settings))
        entry = store.resume_point(key, self.added_to.point, self.added_to.islands)[0]
        return SequenceHead(entry.sequence, bytes.fromhex(entry.chain), closed=entry.window_end)
