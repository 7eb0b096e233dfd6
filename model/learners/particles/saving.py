"""Write a learner's state as canonical bytes.

The bytes depend on what was learned, not on how particles share it in memory. Their digest is
therefore the digest of the state.

For each word and each page of the history, the distinct rows among the particles are written once,
in the order of the first particle that has each, with a table of the row of each particle.
Documents are written in order of arrival. Free rows, slots and pages are not written. The counts of
a document are not written, since they follow from the topics of its tokens.

:mod:`model.learners.particles.loading` reads the bytes. ``docs/formats.md`` lists the fields.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from model import wire
from model.learners.particles.following_file import following_to_bytes
from model.learners.particles.kernels.history import HEAD, KEPT, RING, SEEN
from model.learners.particles.kernels.particles import GONE, PAGE
from model.learners.particles.packing import pack_numbers, pack_table
from model.learners.particles.priors import parts_each
from model.learners.particles.state import ParticleState
from model.learners.particles.weight_file import weights_to_bytes
from model.learners.particles.word_file import words_to_bytes

MAGIC = b"BTo2"
# Words are in parts.
MAGIC_PARTS = b"BTD1"
WAITING = b"BTa1"
HISTORY = b"BTe1"


def to_bytes(state: ParticleState) -> bytes:
    """Return the whole state as bytes; see the module's docstring."""
    population, topics = state.population, state.settings.topic_count
    header = {
        "sequence": state.sequence,
        "documents": state.documents,
        "tokens": state.tokens,
        "scored": state.scored,
        "ess": float(state.resampler.ess[0]).hex(),
    }
    if state.half_life:
        header["time"] = state.time
    return wire.pack(
        MAGIC_PARTS if parts_each(population) else MAGIC,
        header,
        state.vocabulary.words.text.tobytes(),
        b"".join(evidence.to_bytes() for evidence in (state.evidence, *state.recent)),
        state.characters.to_bytes() if state.characters else b"",
        *(
            wire.array_to_bytes(part, "<f8")
            for part in (
                state.vocabulary.use,
                population.concentration,
                population.weight,
                population.joint,
            )
        ),
        *(
            wire.array_to_bytes(part, "<i8")
            for part in (population.weight_exponent, population.joint_exponent)
        ),
        *(
            wire.array_to_bytes(part[:, :topics], "<i8")
            for part in (population.totals, population.topic_tables)
        ),
        *words_to_bytes(state),
        _waiting_to_bytes(state),
        _history_to_bytes(state),
        *([following_to_bytes(state.following)] if state.following else []),
        *([weights_to_bytes(state)] if state.weighs_topics else []),
    )


def _waiting_to_bytes(state: ParticleState) -> bytes:
    waiting = state.waiting or []
    labels = None if state.waiting is None else [label for _, label in waiting]
    lengths = np.array([len(tokens) for tokens, _ in waiting])
    return wire.pack(
        WAITING,
        {"labels": labels},
        pack_numbers(lengths),
        pack_numbers(_joined([tokens for tokens, _ in waiting])),
    )


def _history_to_bytes(state: ParticleState) -> bytes:
    history, past = state.history, state.history.past
    slots = history.slots()
    # By array: a list of pages for each document would leave megabytes of holes in a worker.
    pages, live = history.all_pages(slots), history.page_lengths(slots)
    words = history.pages.words[pages][np.arange(PAGE) < live[:, None]]
    number = np.zeros(len(history.labels), np.int64)
    number[slots] = np.arange(len(slots))
    ring, kept = int(past.marks[RING]), int(past.marks[KEPT])
    newest = (past.marks[HEAD] - ring + np.arange(ring)) % max(1, len(past.newest_slot))
    header = {
        "labels": [history.labels[slot] for slot in slots.tolist()],
        "seen": int(past.marks[SEEN]),
        "arrived": history.arrived,
    }
    return wire.pack(
        HISTORY,
        header,
        pack_numbers(history.pages.length[slots]),
        pack_numbers(words.astype(np.int64) - GONE),
        pack_numbers(history.arrival[slots]),
        pack_numbers(number[past.newest_slot[newest]]),
        pack_numbers(past.newest_position[newest] + 1),
        pack_numbers(number[past.kept_slot[:kept]]),
        pack_numbers(past.kept_position[:kept] + 1),
        *pack_table(state.population.topics, pages, live),
    )


def _joined(parts: list[Any]) -> npt.NDArray[np.int64]:
    return np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, np.int64)
