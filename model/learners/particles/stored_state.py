"""A learner's state as canonical bytes, and back.

The bytes depend on what was learned, not on how particles share it in memory. Their digest is
therefore the digest of the state.

For each word and each page of the history, the distinct rows among the particles are written once,
in the order of the first particle that has each, with a table of the row of each particle
(:mod:`beam_topics.model.learners.particles.packing`). Where there are many topics, words are in
parts, and the parts with tokens are written. Documents are written in order of arrival. Free rows,
slots and pages are not written. The counts of a document are not written, since they follow from
the topics of its tokens. ``docs/formats.md`` lists the fields.

Bytes may come from anywhere. Kernels do not test indices, and they subtract counts from counts, so
everything is checked before a kernel runs (:mod:`beam_topics.model.checks`): each number against
its bounds, and the parts against each other. Sizes are compared with what the settings allow before
memory is allocated. Three laws hold for each particle:

* n_t is the sum of n_wt over the words, and k_t that of t_wt;
* 1 <= t_wt <= n_wt where n_wt > 0, and t_wt = 0 elsewhere;
* the history has at most n_wt tokens of w in t.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from beam_topics.model import checks, wire
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.learners.packed_numbers import pack_numbers, unpack_numbers
from beam_topics.model.learners.particles import population as populations
from beam_topics.model.learners.particles.following import (
    FIGURES,
    REMEMBERED,
    Block,
    Cusum,
    Following,
)
from beam_topics.model.learners.particles.history import Documents, Units
from beam_topics.model.learners.particles.kernels.canonical_rows import word_in_excess
from beam_topics.model.learners.particles.kernels.history import HEAD, KEPT, RING, SEEN
from beam_topics.model.learners.particles.kernels.particles import GONE, PAGE, Prior
from beam_topics.model.learners.particles.kernels.parts import PART, filled_parts
from beam_topics.model.learners.particles.kernels.table_counts import MINIMAL, NONE
from beam_topics.model.learners.particles.kernels.topic_weights import LEAST
from beam_topics.model.learners.particles.packing import (
    Packed,
    pack_table,
    unpacked,
)
from beam_topics.model.learners.particles.priors import (
    parts_each,
    row_length,
    with_alpha,
    with_words,
    word_rows,
)
from beam_topics.model.learners.particles.state import ParticleState, seed_counts
from beam_topics.model.learners.seeds import words_of
from beam_topics.model.records import FloatArray, LongArray
from beam_topics.model.scaled import Scaled
from beam_topics.model.words.character_model import CharacterModel
from beam_topics.model.words.vocabulary import Vocabulary

MAGIC = b"BTo2"
# Words are in parts.
MAGIC_PARTS = b"BTD1"
WAITING = b"BTa1"
HISTORY = b"BTe1"
_BLOBS, _HISTORY_BLOBS = 16, 10
_SCALED_BYTES = 16
# The draw of a concentration takes a step for each table.
_MOST_TABLES = 2**28
# Bounds of a learned concentration. Beyond them the products of a draw leave the range of a float.
_SMALLEST, _LARGEST = 2.0**-100, 2.0**100
# Event times are 64-bit numbers.
_LATEST = 2**63
_ROUNDING = 1e-6
_WEIGHTS = b"BTB1"
_FOLLOWING = b"BTj1"
_COUNTS = ("changed", "changes", "trial", "won", "tokens", "documents", "began", "since")


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
        *_words_to_bytes(state),
        _waiting_to_bytes(state),
        _history_to_bytes(state),
        *([following_to_bytes(state.following)] if state.following else []),
        *([weights_to_bytes(state)] if state.settings.learns_topics else []),
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


def _words_to_bytes(state: ParticleState) -> list[bytes]:
    """Return the table of words.

    Of words in parts, the parts with tokens: their number for each word, then which they are.
    """
    population, words = state.population, len(state.vocabulary)
    table, each = with_words(population, words), parts_each(population)
    if not each:
        length = state.settings.topic_count
        length = length if state.prior.tables == NONE else row_length(state.prior)
        return pack_table(table, np.arange(words), np.full(words, length))
    filled = filled_parts(table, 0, words * each)
    length = table.rows.shape[1]
    return [
        pack_numbers(np.bincount(filled // each, minlength=words)),
        pack_numbers(filled % each),
        *pack_table(table, filled, np.full(len(filled), length)),
    ]


def weights_to_bytes(state: ParticleState) -> bytes:
    """Return gamma and alpha as bytes."""
    alpha = state.prior.alpha[: state.settings.topic_count]
    return wire.pack(_WEIGHTS, {"gamma": state.gamma.hex()}, wire.array_to_bytes(alpha, "<f8"))


def following_to_bytes(following: Following) -> bytes:
    """Return bytes that are equal for equal contents."""
    held, test = [tokens for tokens, _ in following.held], following.test
    blocks = [*test.blocks, *test.waiting]
    header = {
        **{name: getattr(following, name) for name in _COUNTS},
        "fresh": following.fresh,
        "labels": [label for _, label in following.held],
        "evidence": following.evidence.to_bytes().hex(),
        "waiting": len(test.waiting),
        "sums": list(test.sums),
    }
    return wire.pack(
        _FOLLOWING,
        header,
        pack_numbers(np.array([len(tokens) for tokens in held])),
        pack_numbers(np.concatenate([np.zeros(0, np.int64), *held])),
        wire.array_to_bytes([block.level for block in blocks], "<f8"),
        wire.array_to_bytes(
            np.concatenate([following.shares, *(block.shares for block in blocks)]), "<f8"
        ),
    )


def from_bytes(state: ParticleState, data: bytes) -> ParticleState:
    """Fill the state of a learner before the first document, and return it.

    Args:
        state: a new state (:func:`beam_topics.model.learners.particles.state.new_state`).
        data: the bytes of :func:`to_bytes`.

    Raises:
        DamagedDataError: the bytes have another form, belong to other settings, or contain values
            that no learner can have.
    """
    parted = 2 if parts_each(state.population) else 0
    magic = MAGIC_PARTS if parted else MAGIC
    count = _BLOBS + parted + (state.following is not None)
    header, blobs = wire.unpack(magic, data)
    weighed = state.settings.learns_topics or len(blobs) > count
    checks.equal("parts of a learner's state", len(blobs), count + weighed)
    parts, blobs = blobs[11 : 11 + parted], blobs[:11] + blobs[11 + parted :]
    words, evidence, characters, use = blobs[:4]
    _read_header(state, header)
    _read_evidence(state, evidence)
    _read_vocabulary(state, words, use)
    if characters and not state.settings.is_spelled:
        raise DamagedDataError(
            "the state has a distribution over strings, which a learner with these settings does"
            " not use"
        )
    state.characters = CharacterModel.from_bytes(characters) if characters else state.characters
    _read_particles(state, blobs[4:11])
    if parts:
        _read_parts(state, parts, blobs[11:14])
    else:
        _read_rows(state, blobs[11:14])
    _read_waiting(state, blobs[14])
    _check_seeds(state)
    _read_history(state, blobs[15])
    if state.following:
        sizes = state.settings.topic_count, len(state.vocabulary), state.documents
        following_from_bytes(blobs[16], state.following, *sizes)
        if state.following.changes:
            state.history.count_as_newest(state.documents - state.following.changed)
    if weighed:
        weights_from_bytes(blobs[-1], state)
    return state


def _read_header(state: ParticleState, header: dict[str, Any]) -> None:
    for name in ("sequence", "documents", "tokens", "scored"):
        setattr(
            state, name, checks.whole(f"{name} of a learner's state", checks.field(header, name))
        )
    if state.half_life:
        time = checks.field(header, "time")
        name = "time of a learner's state"
        state.time = None if time is None else checks.whole(name, time, -_LATEST, _LATEST)
    ess = _exact("ess of a learner's state", checks.field(header, "ess"))
    # Rounding can make it larger than the number of particles.
    state.resampler.ess[0] = checks.number(
        "ess of a learner's state", ess, 0.0, 2.0 * len(state.population.weight)
    )


def _exact(name: str, text: object) -> float:
    """Return a float that is stored in hexadecimal digits, which keep every bit."""
    try:
        return float.fromhex(text)  # type: ignore[arg-type]
    except (ValueError, TypeError, OverflowError):
        checks.refuse(name, repr(text), "a number in hexadecimal digits")


def _read_evidence(state: ParticleState, data: bytes) -> None:
    count = len(data) // _SCALED_BYTES
    checks.whole("figures of evidence", count, 1, state.settings.evidence_window + 2)
    # If the length is not a multiple, the last number is too short and Scaled refuses it.
    state.evidence, *recent = [
        Scaled.from_bytes(data[at : at + _SCALED_BYTES])
        for at in range(0, len(data), _SCALED_BYTES)
    ]
    state.recent.extend(recent)


def _read_vocabulary(state: ParticleState, words: bytes, use: bytes) -> None:
    settings, names = state.settings.vocabulary, wire.words_from_bytes(words)
    if not settings.is_open:
        if names != tuple(state.vocabulary.words):
            raise DamagedDataError(f"the state's {len(names)} words are not those of the settings")
    else:
        checks.whole("words of the vocabulary", len(names), 0, settings.size + 1)
        checks.distinct("words of the vocabulary", names)
        first = state.vocabulary.words
        if names[: len(first)] != tuple(first):
            raise DamagedDataError("the state's first words are not those of the seeds")
    always, limit = state.vocabulary.always, state.vocabulary.limit
    state.vocabulary = Vocabulary(names, limit, state.vocabulary.memory)
    state.vocabulary.always = always
    uses = wire.array_from_bytes(use, "<f8")
    checks.sized("uses of words", uses, len(names))
    checks.measures("uses of words", uses)
    state.vocabulary.use = uses.copy()


def _read_particles(state: ParticleState, blobs: list[bytes]) -> None:
    population, prior, topics, particles = (
        state.population,
        state.prior,
        state.settings.topic_count,
        len(state.population.weight),
    )
    concentration, weight, joint = (wire.array_from_bytes(blob, "<f8") for blob in blobs[:3])
    weight_exponent, joint_exponent, totals, topic_tables = (
        wire.array_from_bytes(blob, "<i8") for blob in blobs[3:]
    )
    if len(totals) != particles * topics or len(weight) != particles:
        raise DamagedDataError(
            f"the state is not of {particles} particles with {topics} topics, as the settings say"
        )
    population.concentration[:] = checks.shaped("concentrations", concentration, particles, 2)
    if state.settings.prior.learns_concentrations:
        checks.measures("concentrations", concentration, _SMALLEST, _LARGEST)
    elif not _are_given(state, population.concentration):
        raise DamagedDataError("the state's concentrations are not those of the settings")
    checks.measures("weights of particles", weight, 0.0, 1.0 + _ROUNDING)
    checks.sized("exponents of weights", weight_exponent, particles)
    # The smallest positive float is 2^-1074.
    checks.within("exponents of weights", weight_exponent, -1100, 2)
    whole = np.ldexp(weight, weight_exponent.astype(np.int32)).sum(keepdims=True)
    checks.measures("sum of the particles' weights", whole, 1.0 - _ROUNDING, 1.0 + _ROUNDING)
    checks.sized("joint probabilities", joint, particles)
    checks.measures("joint probabilities", joint, 0.5, np.nextafter(1.0, 0.0))
    checks.sized("exponents of joint probabilities", joint_exponent, particles)
    checks.within(
        "exponents of joint probabilities", joint_exponent, -checks.LARGEST, checks.LARGEST
    )
    population.weight[:], population.weight_exponent[:] = weight, weight_exponent
    population.joint[:], population.joint_exponent[:] = joint, joint_exponent
    for name, part, into, high in (
        ("tokens of a topic", totals, population.totals, checks.LARGEST),
        (
            "tables of a topic",
            topic_tables,
            population.topic_tables,
            1 if prior.tables == NONE else _MOST_TABLES,
        ),
    ):
        into[:, :topics] = checks.shaped(name, part, particles, topics)
        checks.within(name, part, 0, high)
    population.tables[:] = population.topic_tables.sum(axis=1)
    checks.within("tables of a particle", population.tables, 0, _MOST_TABLES)


def _are_given(state: ParticleState, concentration: FloatArray) -> bool:
    """Return whether a and a_0, which are not learned, are those with which learning can begin."""
    prior, size = state.settings.prior, state.settings.vocabulary.size
    a, a_0 = concentration.T
    least, most = prior.strength(size, 1), prior.strength(size, size)
    return bool((a >= least).all() and (a <= most).all() and (a_0 == state.prior.base_a).all())


def _check_seeds(state: ParticleState) -> None:
    """Refuse counts without the prior tokens of the seeds."""
    given, words = seed_counts(state.settings), words_of(state.settings.seeds)
    if not words or state.waiting is not None:
        return
    numbers = state.vocabulary.numbers(words).astype(np.int64)
    for particle in range(len(state.population.weight)):
        rows = word_rows(state.population, particle, numbers)
        if (rows[:, : given.shape[1]] < given).any():
            raise DamagedDataError("the state has fewer tokens of a seed than its prior tokens")


def _read_waiting(state: ParticleState, data: bytes) -> None:
    header, blobs = wire.unpack(WAITING, data, 2)
    lengths, tokens = map(unpack_numbers, blobs)
    if checks.field(header, "labels") is None:
        checks.sized("lengths of waiting documents", lengths, 0)
        state.waiting = None
        return
    # A complete batch has been learned.
    checks.whole("waiting documents", len(lengths), 0, state.initial.documents)
    checks.whole("tokens of waiting documents", int(lengths.sum()), 0, state.initial.tokens)
    if state.documents or state.population.totals.any():
        raise DamagedDataError(
            "the state has learned documents although its initial batch is incomplete"
        )
    state.waiting = _documents("documents", header, lengths, tokens, 0, len(state.vocabulary))


def _read_history(state: ParticleState, data: bytes) -> None:
    header, blobs = wire.unpack(HISTORY, data, _HISTORY_BLOBS)
    history = state.history
    lengths, tokens, arrival, newest, newest_position, kept, kept_position = map(
        unpack_numbers, blobs[:7]
    )
    documents = _documents("documents", header, lengths, tokens - 1, GONE, len(state.vocabulary))
    if state.waiting is not None:
        checks.sized("documents of the history before the initial batch is complete", lengths, 0)
    if not history.whole and (
        len(newest) > len(history.past.newest_slot) or len(kept) > len(history.past.kept_slot)
    ):
        raise DamagedDataError("the state's history is larger than the settings allow")
    seen = checks.whole("units seen", checks.field(header, "seen"))
    arrived = checks.whole("documents that arrived", checks.field(header, "arrived"))
    _check_units(state, lengths, (newest, newest_position - 1), (kept, kept_position - 1), seen)
    checks.sized("arrivals of documents", arrival, len(lengths))
    checks.within("arrivals of documents", arrival, 0, arrived)
    checks.ascending("arrivals of documents", arrival, strictly=True)
    slots = history.begin_all(documents).astype(np.int64)
    history.restore(
        slots,
        arrival=arrival,
        arrived=arrived,
        seen=seen,
        newest=(newest, newest_position - 1),
        kept=(kept, kept_position - 1),
    )
    _read_topics(state, slots, blobs[7:10])
    _check_history(state, slots)


def _check_units(
    state: ParticleState, lengths: LongArray, newest: Units, kept: Units, seen: int
) -> None:
    """Refuse units outside the documents, documents without a unit, and wrong numbers of units."""
    history = state.history
    for name, (documents, positions) in (
        ("newest units", newest),
        ("units of the reservoir", kept),
    ):
        checks.sized(f"positions of the {name}", positions, len(documents))
        checks.within(f"documents of the {name}", documents, 0, len(lengths))
        checks.ascending(f"documents of the {name}", documents)
        if history.tokens:
            checks.within(f"positions of the {name}", positions, 0, checks.LARGEST)
            checks.within(
                f"positions of the {name}, from the document's end",
                positions - lengths[documents],
                -checks.LARGEST,
                0,
            )
        else:
            checks.within(f"positions of the {name}", positions, -1, 0)
    held = np.zeros(len(lengths), bool)
    held[newest[0]], held[kept[0]] = True, True
    if not held.all():
        raise DamagedDataError("the state's history has a document that no unit holds")
    room = int(lengths.sum()) if history.tokens else len(lengths)
    checks.equal(
        "units of the reservoir",
        len(kept[0]),
        room if history.whole else min(seen, len(history.past.kept_slot)),
    )
    if history.whole:
        checks.equal("units seen", seen, room)
    elif seen and len(newest[0]) < len(history.past.newest_slot):
        raise DamagedDataError(
            "the state's reservoir has been offered units although the newest are not full"
        )


def _documents(
    name: str, header: dict[str, Any], lengths: LongArray, tokens: LongArray, low: int, words: int
) -> Documents:
    """Return documents of so many words, with the labels of a header."""
    labels = checks.field(header, "labels")
    if not checks.fits(labels, list[str | None]):
        checks.refuse(f"labels of {name}", repr(labels), "a list of texts and nulls")
    checks.sized(f"labels of {name}", labels, len(lengths))
    checks.within(f"tokens of {name}", tokens, low, words)
    checks.within(f"lengths of {name}", lengths, 0, len(tokens) + 1)
    checks.equal(f"tokens of all {name}", len(tokens), int(lengths.sum()))
    narrow, ends = tokens.astype(np.int32), np.cumsum(lengths).tolist()
    parts = (narrow[begin:end] for begin, end in pairwise([0, *ends]))
    return list(zip(parts, labels, strict=True))


def _read_topics(state: ParticleState, slots: LongArray, blobs: list[bytes]) -> None:
    history, table = state.history, state.population.topics
    lengths = history.pages.length[slots]
    pages = history.all_pages(slots)
    width = min(int(lengths.max(initial=0)), PAGE)
    packed = Packed.of(
        blobs, len(pages), len(state.population.weight), width, state.settings.topic_count
    )
    topics = unpacked(table, pages, len(history.pages.words), packed)
    state.population = state.population._replace(topics=topics)


def _check_history(state: ParticleState, slots: LongArray) -> None:
    """Refuse topics of the history that the counts of words do not contain (the third law)."""
    excess = word_in_excess(state.population, state.history.pages, slots, len(state.vocabulary))
    if excess >= 0:
        raise DamagedDataError(
            f"the state's history has more tokens of word number {excess} in a topic than were"
            " counted"
        )


def _read_rows(state: ParticleState, blobs: list[bytes]) -> None:
    """Read words in whole rows; the totals of topics are known."""
    population, prior, topics, count = (
        state.population,
        state.prior,
        state.settings.topic_count,
        len(state.vocabulary),
    )
    tp, width = len(prior.alpha), topics if prior.tables == NONE else row_length(prior)
    packed = Packed.of(blobs, count, len(population.weight), width, checks.LARGEST)
    _check_rows(state, packed)
    sums = packed.sums()
    if (sums[:, :topics] != population.totals[:, :topics]).any():
        raise DamagedDataError("the tokens of the state's topics are not the sums over its words")
    if (
        prior.tables != NONE
        and (sums[:, tp : tp + topics] != population.topic_tables[:, :topics]).any()
    ):
        raise DamagedDataError("the tables of the state's topics are not the sums over its words")
    _unpack_words(state, np.arange(count), packed)


def _read_parts(state: ParticleState, parts: list[bytes], blobs: list[bytes]) -> None:
    """Read words in parts: the number and the places of each word's parts, and the table."""
    population, prior = state.population, state.prior
    each, count, tp = parts_each(population), len(state.vocabulary), len(prior.alpha)
    filled, which = map(unpack_numbers, parts)
    checks.sized("numbers of parts of words", filled, count)
    checks.within("numbers of parts of words", filled, 0, tp // PART + 1)
    checks.sized("parts of words", which, int(filled.sum()))
    checks.within("parts of words", which, 0, tp // PART)
    logical = np.repeat(np.arange(count), filled) * each + which
    checks.ascending("parts of words", logical, strictly=True)
    width = population.words.rows.shape[1]
    packed = Packed.of(blobs, len(logical), len(population.weight), width, checks.LARGEST)
    _check_parts(state, which, packed)
    _unpack_words(state, logical, packed)


def _check_parts(state: ParticleState, which: LongArray, packed: Packed) -> None:
    """Refuse parts whose tables do not fit their counts, or whose sums are not the totals."""
    population, topics, prior = state.population, state.settings.topic_count, state.prior
    counts, tables = packed.contents[:, :PART], packed.contents[:, PART:]
    if prior.tables != NONE:
        _check_tables(prior, counts, tables)
    several = np.diff(packed.starts, append=len(packed.contents))
    topic = np.repeat(which, several)[:, None] * PART + np.arange(PART)
    filled: npt.NDArray[np.bool_] = np.any(counts, axis=1)
    if len(filled) and not np.logical_or.reduceat(filled, packed.starts).all():
        raise DamagedDataError("a part of a word of the state has no tokens")
    if counts[topic >= topics].any():
        raise DamagedDataError("a word of the state has counts outside the topics")
    owner = np.zeros((len(which), len(population.weight)), np.int64)
    owner[packed.differing] = packed.owner
    for particle in range(len(population.weight)):
        rows = packed.starts + owner[:, particle]
        # Sums of whole numbers that fit a total are exact in float64.
        for name, part, totals in (
            ("tokens", counts, population.totals),
            ("tables", tables, population.topic_tables),
        ):
            sums = np.zeros((len(prior.alpha) // PART, PART))
            np.add.at(sums, which, part[rows] if part.shape[1] else 0.0)
            if (sums.reshape(-1) != totals[particle]).any():
                raise DamagedDataError(
                    f"the {name} of the state's topics are not the sums over its words"
                )


def _unpack_words(state: ParticleState, logical: LongArray, packed: Packed) -> None:
    population = state.population
    empty = population.words
    if int(population.totals.max()) > populations.MAX_INT32:
        empty = empty._replace(rows=empty.rows.astype(np.int64))
    count = len(state.vocabulary) * max(1, parts_each(population))
    words = unpacked(empty, logical, count, packed)
    state.population = population._replace(words=words)


def _check_rows(state: ParticleState, packed: Packed) -> None:
    """Refuse rows of words whose tables do not fit their counts (the second law)."""
    prior, topics, contents = state.prior, state.settings.topic_count, packed.contents
    if prior.tables == NONE:
        return
    tp = len(prior.alpha)
    counts, tables, shared = (
        contents[:, :topics],
        contents[:, tp : tp + topics],
        contents[:, 2 * tp],
    )
    if (
        contents[:, topics:tp].any()
        or contents[:, tp + topics : 2 * tp].any()
        or contents[:, 2 * tp + 1 :].any()
    ):
        raise DamagedDataError("a word of the state has counts outside the topics")
    _check_tables(prior, counts, tables)
    if (tables.sum(axis=1, dtype=np.int64) != shared).any():
        raise DamagedDataError("the tables of a word of the state are not the sum over its topics")


def _check_tables(prior: Prior, counts: npt.NDArray[Any], tables: npt.NDArray[Any]) -> None:
    most = counts > 0 if prior.tables == MINIMAL else counts
    if ((tables > 0) != (counts > 0)).any() or (tables > most).any():
        raise DamagedDataError(
            "a word of the state has no tables for its tokens, or more tables than tokens"
        )


def weights_from_bytes(data: bytes, state: ParticleState) -> None:
    """Read the bytes of :func:`weights_to_bytes` into a state.

    Raises:
        DamagedDataError: the bytes are not of this form, or hold what no learner holds.
    """
    header, (alpha,) = wire.unpack(_WEIGHTS, data, 1)
    state.gamma = _exact("gamma of the weights", checks.field(header, "gamma"))
    checks.measures("gamma of the weights", np.array([state.gamma]), _SMALLEST, _LARGEST)
    values = wire.array_from_bytes(alpha, "<f8")
    checks.sized("Dirichlet parameters of topics", values, state.settings.topic_count)
    checks.measures("Dirichlet parameters of topics", values, _SMALLEST * LEAST, _LARGEST)
    state.prior = with_alpha(state.prior, values)


def following_from_bytes(
    data: bytes, following: Following, topics: int, words: int, learned: int
) -> None:
    """Read the bytes of :func:`following_to_bytes`.

    Args:
        data: the bytes.
        following: takes the contents; nothing is remembered in it yet.
        topics: T of the learner.
        words: words of the learner's vocabulary.
        learned: documents that the learner has learned.

    Raises:
        DamagedDataError: the bytes are not of this form, or hold what no learner holds.
    """
    header, (lengths, tokens, levels, shares) = wire.unpack(_FOLLOWING, data, 4)
    for name in _COUNTS:
        most = learned if name in ("changed", "documents", "began") else checks.LARGEST
        setattr(
            following,
            name,
            checks.whole(f"{name} of a stream", checks.field(header, name), 0, most + 1),
        )
    following.fresh = checks.field(header, "fresh") is True
    following.held = _documents(
        "documents that wait", header, unpack_numbers(lengths), unpack_numbers(tokens), 0, words
    )
    following.evidence = Scaled.from_hex(checks.field(header, "evidence"))
    of_shares = wire.array_from_bytes(shares, "<f8")
    of_blocks = wire.array_from_bytes(levels, "<f8")
    checks.measures("levels of blocks", of_blocks, -checks.HUGE)
    checks.measures("shares of topics", of_shares)
    begun = int(following.documents > 0)
    rows = checks.shaped("shares of topics", of_shares, len(of_blocks) + begun, topics)
    following.shares = rows[0].copy() if begun else np.zeros(0)
    blocks = [
        Block(float(level), row.copy()) for level, row in zip(of_blocks, rows[begun:], strict=True)
    ]
    _read_test(header, blocks, following.test)


def _read_test(header: dict[str, Any], blocks: list[Block], test: Cusum) -> None:
    """Read the state of a test over these blocks, the last of which wait."""
    waiting = checks.whole("blocks that wait", checks.field(header, "waiting"), 0, len(blocks) + 1)
    sums = checks.field(header, "sums")
    if not checks.fits(sums, list[float]):
        checks.refuse("sums of a stream", repr(sums), "a list of numbers")
    checks.sized("sums of a stream", sums, len(FIGURES))
    first, second = (checks.number("sums of a stream", one, 0, checks.HUGE) for one in sums)
    remembered = len(blocks) - waiting
    for count in (waiting, remembered):
        checks.whole("blocks of a stream", count, 0, REMEMBERED + 1)
    test.blocks, test.waiting = deque(blocks[:remembered]), blocks[remembered:]
    test.sums = first, second
