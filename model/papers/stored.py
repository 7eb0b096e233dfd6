"""The saved state of the learners of this room: ``BTQ1``, canonical bytes.

Rows that particles share are stored once for each distinct content. What is read is checked before
a kernel sees it: every index, every length, the sums of counts, and that no document at hand has
more tokens of a word in a topic than n_wt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from beam_topics.model.arrays import IntArray, LongArray
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.learners.states import (
    load_facts,
    numbers_of,
    pack_numbers,
    settings_digest,
    unpack_numbers,
    unpack_state,
)
from beam_topics.model.papers.kernels.canonical_rows import add_rows, distinct_rows, word_in_excess
from beam_topics.model.papers.kernels.copy_on_write import BLOCK, Table, new_table
from beam_topics.model.papers.kernels.particles import PAGE
from beam_topics.model.papers.kernels.reservoir import KEPT, SEEN, WHOLE
from beam_topics.model.papers.settings import InitialBatch, PaperSettings
from beam_topics.model.papers.state import PaperState
from beam_topics.model.stored import checks, wire

MAGIC = b"BTQ1"
_FACTS = ("sequence", "documents", "tokens", "scored")
_BLOBS = 18
# A sum of weights differs from 1 by rounding.
_ROUNDING = 1e-6
_NAME = "a saved learner"
# Logical rows below one entry of a line.
_ENTRY = BLOCK**2


def state_to_bytes(state: PaperState) -> bytes:
    """Return the state in canonical form: equal states give equal bytes."""
    history, particles, waiting = state.history, state.particles, state.waiting or []
    slots, past = history.slots(), history.past
    kept = slice(0, int(past.marks[KEPT]))
    place = np.zeros(len(history.labels) + 1, np.int64)
    place[slots] = np.arange(len(slots))
    tokens = [history.words_of(slot) for slot in slots.tolist()]
    pages, lengths = history.all_pages(slots)
    every = np.arange(len(state.vocabulary))
    header = {
        **{name: getattr(state, name) for name in _FACTS},
        "seen": int(past.marks[SEEN]),
        "ess": float(state.resampler.ess[0]).hex(),
        "evidence": state.evidence_to_json(),
        "labels": [history.labels[slot] for slot in slots.tolist()],
        "waiting": None if state.waiting is None else [label for _, label in waiting],
        "settings": settings_digest(_whatever_seed(state.settings)),
    }
    return wire.pack(
        MAGIC,
        header,
        wire.words_to_bytes(tuple(state.vocabulary.words)),
        wire.array_to_bytes(particles.weight, "<f8"),
        wire.array_to_bytes(particles.joint, "<f8"),
        wire.array_to_bytes(particles.joint_exponent, "<i8"),
        pack_numbers(particles.totals),
        *pack_table(particles.words, every, np.full(len(every), state.settings.topic_count)),
        *pack_table(particles.topics, pages, lengths),
        *_pack_documents([tokens for tokens, _ in waiting]),
        *_pack_documents(tokens),
        pack_numbers(history.arrival[slots]),
        pack_numbers(place[past.slot[kept]]),
        pack_numbers(past.position[kept] + 1),
    )


def _pack_documents(documents: list[IntArray]) -> tuple[bytes, bytes]:
    lengths = np.array([len(tokens) for tokens in documents], np.int64)
    return pack_numbers(lengths), pack_numbers(np.concatenate([np.zeros(0, np.int32), *documents]))


def state_from_bytes(state: PaperState, data: bytes) -> PaperState:
    """Fill the state of a learner before the first document, and return it.

    Raises:
        DamagedDataError: the bytes do not fit the settings, or no learner writes them.
    """
    header, blobs = unpack_state(MAGIC, data, _whatever_seed(state.settings), _BLOBS)
    load_facts(state, header, _FACTS)
    _load_words(state, wire.words_from_bytes(blobs[0]))
    state.load_evidence(header)
    _load_ess(state, header)
    _load_particles(state, blobs[1:5])
    _load_counts(state, blobs[5:8])
    _load_waiting(state, header, blobs[11:13])
    _load_history(state, header, blobs)
    return state


def _load_words(state: PaperState, words: tuple[str, ...]) -> None:
    settings, name = state.settings.vocabulary, f"words of {_NAME}"
    checks.distinct(name, words)
    if settings.is_open:
        checks.whole(name, len(words), 0, settings.size + 1)
        state.vocabulary.extend(words)
    else:
        checks.equal(name, words, tuple(state.vocabulary.words))


def _load_ess(state: PaperState, header: dict[str, Any]) -> None:
    try:
        ess = float.fromhex(checks.field(header, "ess"))
    except (ValueError, TypeError, OverflowError):
        checks.refuse(f"ess of {_NAME}", repr(header["ess"]), "a number in hexadecimal digits")
    most = 2.0 * len(state.particles.weight)
    state.resampler.ess[0] = checks.number(f"ess of {_NAME}", ess, 0.0, most)


def _load_particles(state: PaperState, blobs: list[bytes]) -> None:
    """Set weights, joint probabilities and totals."""
    particles, count = state.particles, len(state.particles.weight)
    weight, joint = (wire.array_from_bytes(blob, "<f8") for blob in blobs[:2])
    exponent, totals = wire.array_from_bytes(blobs[2], "<i8"), unpack_numbers(blobs[3])
    checks.sized("weights of particles", weight, count)
    checks.measures("weights of particles", weight, 0.0, 1.0 + _ROUNDING)
    whole = weight.sum(keepdims=True)
    checks.measures("sum of the particles' weights", whole, 1.0 - _ROUNDING, 1.0 + _ROUNDING)
    checks.sized("joint probabilities", joint, count)
    checks.measures("joint probabilities", joint, 0.5, np.nextafter(1.0, 0.0))
    name = "exponents of joint probabilities"
    checks.sized(name, exponent, count)
    checks.within(name, exponent, -checks.LARGEST, checks.LARGEST)
    particles.weight[:], particles.joint[:], particles.joint_exponent[:] = weight, joint, exponent
    topics = state.settings.topic_count
    particles.totals[:] = checks.shaped("tokens of a topic", totals, count, topics)


def _load_counts(state: PaperState, blobs: list[bytes]) -> None:
    """Set the rows of words, whose sums are the totals."""
    particles, words = state.particles, len(state.vocabulary)
    topics = state.settings.topic_count
    packed = Packed.of(blobs, words, len(particles.weight), topics, checks.LARGEST)
    if (packed.sums() != particles.totals).any():
        raise DamagedDataError("the tokens of the state's topics are not the sums over its words")
    rows = unpacked(particles.words, np.arange(words), words, packed)
    state.particles = particles._replace(words=rows)


def _load_waiting(state: PaperState, header: dict[str, Any], blobs: list[bytes]) -> None:
    initial, labels = state.settings.initial, checks.field(header, "waiting")
    if labels is None:
        checks.sized("lengths of waiting documents", unpack_numbers(blobs[0]), 0)
        state.waiting = None
        return
    if not isinstance(initial, InitialBatch):
        raise DamagedDataError("the state has an initial batch, which these settings do not have")
    found = _documents(state, "waiting documents", labels, blobs)
    # A complete batch is learned.
    checks.whole("waiting documents", len(found), 0, initial.documents)
    checks.equal("documents of the state", state.documents, len(found))
    if state.particles.totals.any():
        raise DamagedDataError(
            "the state has learned documents although its initial batch is incomplete"
        )
    state.waiting = found


def _documents(
    state: PaperState, name: str, labels: Any, blobs: list[bytes]
) -> list[tuple[IntArray, str | None]]:
    """Return documents with their labels."""
    lengths, tokens = map(unpack_numbers, blobs)
    if not checks.fits(labels, list[str | None]):
        checks.refuse(f"labels of {name}", repr(labels), "a list of texts and nulls")
    checks.sized(f"labels of {name}", labels, len(lengths))
    checks.within(f"tokens of {name}", tokens, 0, len(state.vocabulary))
    checks.within(f"lengths of {name}", lengths, 0, len(tokens) + 1)
    checks.equal(f"tokens of all {name}", len(tokens), int(lengths.sum()))
    narrow, ends = tokens.astype(np.int32), [0, *np.cumsum(lengths).tolist()]
    parts = (narrow[first:last] for first, last in pairwise(ends))
    return list(zip(parts, labels, strict=True))


def _load_history(state: PaperState, header: dict[str, Any], blobs: list[bytes]) -> None:
    """Set the documents at hand, their topics and the units of the reservoir."""
    documents = _documents(state, "documents", checks.field(header, "labels"), blobs[13:15])
    arrival, units, positions = map(unpack_numbers, blobs[15:18])
    if state.waiting is not None:
        checks.sized("documents before the initial batch is complete", documents, 0)
    checks.sized("arrivals of documents", arrival, len(documents))
    checks.within("arrivals of documents", arrival, 0, state.documents)
    checks.ascending("arrivals of documents", arrival, strictly=True)
    seen = checks.whole("units seen", checks.field(header, "seen"))
    _check_units(state, documents, units, positions - 1, seen)
    counts = np.bincount(units, minlength=len(documents))
    slots = np.array(
        [
            state.history.begin(*document, number, count)
            for document, number, count in zip(
                documents, arrival.tolist(), counts.tolist(), strict=True
            )
        ],
        np.int64,
    )
    state.history.restore(slots, seen, units, positions - 1)
    _load_topics(state, slots, blobs[8:11])


def _check_units(
    state: PaperState, documents: list[Any], units: LongArray, positions: LongArray, seen: int
) -> None:
    """Refuse units outside the documents, documents without a unit, and wrong numbers of units."""
    name, history = "units of the reservoir", state.history
    lengths = np.array([len(tokens) for tokens, _ in documents], np.int64)
    checks.sized(f"positions of the {name}", positions, len(units))
    checks.within(f"documents of the {name}", units, 0, len(documents))
    if state.law.visits_tokens:
        checks.within(f"positions of the {name}", positions, 0, checks.LARGEST)
        beyond = positions - lengths[units]
        checks.within(f"positions of the {name}, from the end", beyond, -checks.LARGEST, 0)
    else:
        checks.within(f"positions of the {name}", positions, WHOLE, 0)
    places = units * (int(lengths.max(initial=0)) + 2) + positions
    checks.equal(f"distinct {name}", len(np.unique(places)), len(units))
    if len(np.unique(units)) != len(documents):
        raise DamagedDataError("the state's history has a document that no unit holds")
    room = len(units) if history.whole else len(history.past.slot)
    # Units of erased documents have left.
    checks.whole(name, len(units), 0, min(seen, room) + 1)
    if history.whole:
        checks.equal("units seen", seen, len(units))


def _load_topics(state: PaperState, slots: LongArray, blobs: list[bytes]) -> None:
    """Set the topics of the documents at hand, which the counts must contain."""
    history, particles = state.history, state.particles
    pages, lengths = history.all_pages(slots)
    width, topics = min(int(lengths.max(initial=0)), PAGE), state.settings.topic_count
    packed = Packed.of(blobs, len(pages), len(particles.weight), width, topics)
    rows = unpacked(particles.topics, pages, len(history.pages.words), packed)
    state.particles = particles._replace(topics=rows)
    excess = word_in_excess(state.particles, history.pages, slots, len(state.vocabulary))
    if excess >= 0:
        raise DamagedDataError(
            f"the state's history has more tokens of word number {excess} in a topic than were"
            " counted"
        )


def _whatever_seed(settings: PaperSettings) -> PaperSettings:
    """Return the settings that a saved state belongs to, whatever the later draws."""
    return replace(settings, seed=0)


def pack_table(
    table: Table, logical: npt.NDArray[np.int64], live: npt.NDArray[np.int64]
) -> list[bytes]:
    """Return the distinct contents of some logical rows as three packed arrays.

    The arrays are the number of distinct contents of each row, the choice of each particle where
    there are several, and the contents.

    Args:
        table: the shared rows.
        logical: int64[n], the logical rows.
        live: int64[n], how many entries of each row count. The others are written as zeros.
    """
    if not len(logical):
        return [pack_numbers(np.zeros(0))] * 3
    which, rows, counts = distinct_rows(table, logical, live)
    contents = table.rows[rows][:, : live.max()]
    contents[np.arange(contents.shape[1]) >= np.repeat(live, counts)[:, None]] = 0
    return [
        pack_numbers(counts),
        pack_numbers(which[counts > 1].reshape(-1)),
        pack_numbers(contents),
    ]


@dataclass(frozen=True, eq=False)
class Packed:
    """The checked contents of what :func:`pack_table` wrote.

    Attributes:
        starts: int64[N], the index of each logical row's first content.
        differing: int64[N'], the logical rows with more than one content, ascending.
        owner: int[N', P], which of these contents each particle has.
        contents: int[total, width], in the type that was stored, which may be unsigned.
    """

    starts: LongArray
    differing: LongArray
    owner: npt.NDArray[Any]
    contents: npt.NDArray[Any]

    @classmethod
    def of(
        cls, blobs: Sequence[bytes], count: int, particles: int, width: int, high: int
    ) -> Packed:
        """Read ``count`` logical rows with ``width`` entries below ``high``.

        Raises:
            DamagedDataError: the arrays do not describe such rows.
        """
        distinct, owner, contents = numbers_of(blobs[0]), numbers_of(blobs[1]), numbers_of(blobs[2])
        checks.sized("rows of a table", distinct, count)
        checks.within("contents of a row", distinct, 1, particles + 1)
        differing = np.flatnonzero(distinct > 1)
        owner = checks.shaped("particles' choices of a row", owner, len(differing), particles)
        if len(differing):
            checks.within("particles' choices of a row", owner, 0, particles)
            checks.within(
                "a particle's choice of a row",
                owner.max(axis=1) - distinct[differing].astype(np.int64),
                -particles,
                0,
            )
        total = int(distinct.sum(dtype=np.int64))
        contents = checks.shaped("entries of a table", contents, total, width)
        checks.within("entries of a table", contents, 0, high)
        starts = np.cumsum(distinct, dtype=np.int64) - distinct
        return cls(starts, differing, owner, contents)

    def sums(self) -> LongArray:
        """Return int64[P, width], the sum of each particle's rows.

        A sum above LARGEST is returned as LARGEST + 1.
        """
        result = np.zeros((self.owner.shape[1], self.contents.shape[1]), np.int64)
        alike = np.delete(np.arange(len(self.starts)), self.differing)
        add_rows(
            self.contents,
            self.starts[alike],
            np.zeros((len(alike), 1), np.uint8),
            checks.LARGEST + 1,
            result[:1],
        )
        result[1:] = result[0]
        add_rows(self.contents, self.starts[self.differing], self.owner, checks.LARGEST + 1, result)
        return result


def unpacked(empty: Table, logical: LongArray, count: int, packed: Packed) -> Table:
    """Return the table that was packed.

    Args:
        empty: gives the particles, the row length and the type.
        logical: int64[N], the logical rows that were packed.
        count: how many logical rows the table has.
        packed: their contents.
    """
    particles, length = len(empty.line), empty.rows.shape[1]
    if not len(logical):
        return empty
    table = new_table(particles, max(count, 1), length, empty.rows.dtype)
    rows = np.zeros((1 + len(packed.contents), length), empty.rows.dtype)
    rows[1:, : packed.contents.shape[1]] = packed.contents
    blocks = _blocks(table, logical, packed)
    return table._replace(
        blocks=blocks,
        rows=rows,
        block_owner=np.full(len(blocks), -1, np.int64),
        row_owner=np.full(len(rows), -1, np.int64),
        free_blocks=np.zeros(len(blocks), np.uint32),
        free_rows=np.zeros(len(rows), np.uint32),
    )


def _blocks(table: Table, logical: LongArray, packed: Packed) -> npt.NDArray[np.uint32]:
    """Return the blocks that lead to the rows, and fill the particles' lines.

    Each entry of a line is built separately, which bounds the memory.
    """
    particles = len(table.line)
    order = np.argsort(logical, kind="stable")
    # The place of each logical row among those with several contents, else -1.
    place = np.full(len(logical), -1, np.int64)
    place[packed.differing] = np.arange(len(packed.differing))
    lower, upper, counts = [np.zeros((1, BLOCK), np.int64)], [], [1, 0]
    used, begins = np.unique(logical[order] // _ENTRY, return_index=True)
    for entry, part in zip(used.tolist(), np.split(order, begins[1:]), strict=True):
        column, places = logical[part] - entry * _ENTRY, place[part]
        chosen = places >= 0
        # Where no row differs, all particles have the rows of the first.
        pointers = np.zeros((particles if chosen.any() else 1, _ENTRY), np.int64)
        pointers[:, column] = 1 + packed.starts[part]
        if chosen.any():
            pointers[:, column[chosen]] += packed.owner[places[chosen]].T
        below, which = _distinct_rows(pointers.reshape(-1, BLOCK))
        filled = below.any(axis=1)
        # A block without rows is block 0.
        numbers = np.where(filled, counts[0] + np.cumsum(filled) - 1, 0)
        above, line = _distinct_rows(numbers[which].reshape(-1, BLOCK))
        table.lines[:particles, entry] = line.reshape(-1) + counts[1]
        lower.append(below[filled])
        upper.append(above)
        counts = [counts[0] + int(filled.sum()), counts[1] + len(above)]
    table.lines[:particles, used] += np.uint32(counts[0])
    return np.concatenate([*lower, *upper]).astype(np.uint32)


def _distinct_rows(rows: LongArray) -> tuple[LongArray, LongArray]:
    """Return the distinct rows in some order, and the index of each row among them.

    Rows are compared as bytes. ``np.unique`` with an axis compares number by number, and takes
    several times as long.
    """
    as_bytes = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1] * rows.itemsize)))
    _, first, which = np.unique(as_bytes.reshape(-1), return_index=True, return_inverse=True)
    return rows[first], which
