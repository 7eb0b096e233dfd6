"""A learner's state as bytes, canonical: they depend on what was learned, not on how particles share it in memory.

For each word, and each page of the history, the distinct rows among the particles are written once, in the order of the first particle
that has them, beside a table of who has which. Free rows, slots and pages leave no trace: documents are written in order of arrival. So the
digest of these bytes is the digest of the state. Counts per document are not written: they follow from the topics of its tokens.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from model import wire
from model.errors import DamagedDataError
from model.kernels.history import HEAD, KEPT, RING, SEEN
from model.kernels.particles import GONE, PAGE
from model.kernels.saving import count_documents
from model.kernels.seating import NONE
from model.kernels.sharing import with_rows
from model.kernels.tables import with_room
from model.learners import cloud as clouds
from model.learners.packing import pack_numbers, pack_table, unpack_numbers, unpack_table
from model.learners.priors import row_length
from model.learners.state import ParticleState
from model.scaled import Scaled
from model.words.strings import CharacterModel

MAGIC = b"BTo2"
_WAITING = b"BTa1"
_HISTORY = b"BTe1"


def to_bytes(state: ParticleState) -> bytes:
    """The whole state; see the module's docstring."""
    cloud, topics, words = state.cloud, state.settings.topics, len(state.vocabulary)
    live = np.full(words, topics if state.prior.tables == NONE else row_length(state.prior))
    header = {
        "sequence": state.sequence,
        "documents": state.documents,
        "tokens": state.tokens,
        "scored": state.scored,
        "ess": float(state.meeting.ess[0]).hex(),
    }
    return wire.pack(
        MAGIC,
        header,
        wire.words_to_bytes(tuple(state.vocabulary.words)),
        b"".join(evidence.to_bytes() for evidence in (state.evidence, *state.recent)),
        state.characters.to_bytes() if state.characters else b"",
        *(wire.array_to_bytes(part, "<f8") for part in (state.vocabulary.use, cloud.concentration, cloud.weight, cloud.joint)),
        *(wire.array_to_bytes(part, "<i8") for part in (cloud.weight_exponent, cloud.joint_exponent)),
        *(wire.array_to_bytes(part[:, :topics], "<i8") for part in (cloud.totals, cloud.kinds)),
        *pack_table(with_rows(cloud.words, words), np.arange(words), live),
        _waiting_to_bytes(state),
        _history_to_bytes(state),
    )


def from_bytes(state: ParticleState, data: bytes) -> ParticleState:
    """Fill a state that has seen nothing.

    Raises:
        DamagedDataError: the bytes are not a state of this form, or of other settings.
    """
    header, blobs = wire.unpack(MAGIC, data)
    words, evidence, characters, use, concentration, weight, joint, weight_exponent, joint_exponent, totals, kinds = blobs[:11]
    state.sequence, state.documents = header["sequence"], header["documents"]
    state.tokens, state.scored = header["tokens"], header["scored"]
    state.meeting.ess[0] = float.fromhex(header["ess"])
    state.vocabulary.extend(wire.words_from_bytes(words))
    state.evidence, *recent = [Scaled.from_bytes(evidence[at : at + 16]) for at in range(0, len(evidence), 16)]
    state.recent.extend(recent)
    state.vocabulary.use = wire.array_from_bytes(use, "<f8")
    state.characters = CharacterModel.from_bytes(characters) if characters else None
    cloud, topics, particles = state.cloud, state.settings.topics, len(state.cloud.weight)
    if len(totals) != 8 * particles * topics or len(weight) != 8 * particles:
        raise DamagedDataError(f"the state is not of {particles} particles with {topics} topics, as the settings say")
    cloud.weight[:], cloud.joint[:] = (wire.array_from_bytes(part, "<f8") for part in (weight, joint))
    cloud.concentration[:] = wire.array_from_bytes(concentration, "<f8").reshape(particles, 2)
    exponents = (wire.array_from_bytes(part, "<i8") for part in (weight_exponent, joint_exponent))
    cloud.weight_exponent[:], cloud.joint_exponent[:] = exponents
    for part, into in ((totals, cloud.totals), (kinds, cloud.kinds)):
        into[:, :topics] = wire.array_from_bytes(part, "<i8").reshape(particles, topics)
    cloud.tables[:] = cloud.kinds.sum(axis=1)
    wide = int(cloud.totals.max()) > clouds.WIDEST
    empty = cloud.words._replace(rows=cloud.words.rows.astype(np.int64)) if wide else cloud.words
    count = len(state.vocabulary)
    state.cloud = cloud._replace(words=unpack_table(empty, np.arange(count), count, blobs[11:14]))
    _waiting_from_bytes(state, blobs[14])
    _history_from_bytes(state, blobs[15])
    return state


def _waiting_to_bytes(state: ParticleState) -> bytes:
    waiting = state.waiting or []
    labels = None if state.waiting is None else [label for _, label in waiting]
    lengths = np.array([len(tokens) for tokens, _ in waiting])
    return wire.pack(_WAITING, {"labels": labels}, pack_numbers(lengths), pack_numbers(_joined([tokens for tokens, _ in waiting])))


def _waiting_from_bytes(state: ParticleState, data: bytes) -> None:
    header, (lengths, tokens) = wire.unpack(_WAITING, data)
    if header["labels"] is None:
        state.waiting = None
    else:
        state.waiting = list(zip(_parts(lengths, tokens), header["labels"], strict=True))


def _history_to_bytes(state: ParticleState) -> bytes:
    history, past = state.history, state.history.past
    slots = [int(slot) for slot in history.slots()]
    pages = [np.array(history.pages_of(slot)) for slot in slots]
    lengths = history.pages.length[slots]
    live = [np.clip(length - PAGE * np.arange(len(own)), 0, PAGE) for length, own in zip(lengths, pages, strict=True)]
    number = np.zeros(len(history.labels), np.int64)
    number[slots] = np.arange(len(slots))
    ring, kept = int(past.marks[RING]), int(past.marks[KEPT])
    newest = (past.marks[HEAD] - ring + np.arange(ring)) % max(1, len(past.newest_slot))
    header = {"labels": [history.labels[slot] for slot in slots], "seen": int(past.marks[SEEN]), "arrived": history.arrived}
    return wire.pack(
        _HISTORY,
        header,
        pack_numbers(lengths),
        pack_numbers(_joined([history.words_of(slot) for slot in slots]) - GONE),
        pack_numbers(history.arrival[slots]),
        pack_numbers(number[past.newest_slot[newest]]),
        pack_numbers(past.newest_position[newest] + 1),
        pack_numbers(number[past.kept_slot[:kept]]),
        pack_numbers(past.kept_position[:kept] + 1),
        *pack_table(state.cloud.topics, _joined(pages), _joined(live)),
    )


def _history_from_bytes(state: ParticleState, data: bytes) -> None:
    header, blobs = wire.unpack(_HISTORY, data)
    history = state.history
    documents = [tokens + GONE for tokens in _parts(blobs[0], blobs[1])]
    slots = history.begin_all(list(zip(documents, header["labels"], strict=True))).astype(np.int64)
    arrival, newest, newest_position, kept, kept_position = (unpack_numbers(blob) for blob in blobs[2:7])
    if len(newest) > len(history.past.newest_slot) or len(kept) > len(history.past.kept_slot):
        raise DamagedDataError("the state's history is larger than the settings allow")
    history.arrival[slots], history.arrived = arrival, header["arrived"]
    past = history.past
    past.marks[:4] = (len(newest) % max(1, len(past.newest_slot)), len(newest), len(kept), header["seen"])
    past.newest_slot[: len(newest)], past.newest_position[: len(newest)] = slots[newest], newest_position - 1
    past.kept_slot[: len(kept)], past.kept_position[: len(kept)] = slots[kept], kept_position - 1
    past.held[:] = 0
    np.add.at(past.held, np.concatenate([slots[newest], slots[kept]]), 1)
    pages = _joined([np.array(history.pages_of(int(slot))) for slot in slots])
    topics = unpack_table(state.cloud.topics, pages, len(history.pages.words), blobs[7:10])
    state.cloud = state.cloud._replace(topics=topics)
    count_documents_of(state, slots)


def count_documents_of(state: ParticleState, slots: npt.NDArray[np.int64]) -> None:
    """n_td of each particle and these documents anew, from the topics of their tokens."""
    particles = len(state.cloud.weight)
    documents = with_room(state.cloud.documents, len(state.history.labels), particles * (len(slots) + 1), particles)
    state.cloud = state.cloud._replace(documents=documents)
    count_documents(state.cloud, state.history.pages, slots)


def _joined(parts: list[Any]) -> npt.NDArray[np.int64]:
    return np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, np.int64)


def _parts(lengths: bytes, tokens: bytes) -> list[npt.NDArray[np.int32]]:
    ends = np.cumsum(unpack_numbers(lengths))
    return np.split(unpack_numbers(tokens).astype(np.int32), ends[:-1]) if len(ends) else []
