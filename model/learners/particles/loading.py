"""Read the bytes that :mod:`model.learners.particles.saving` writes.

The bytes may come from anywhere. Kernels do not test indices, and they subtract counts from counts,
so everything is checked before a kernel runs (:mod:`model.checks`): each number against its bounds,
and the parts against each other. Sizes are compared with what the settings allow before memory is
allocated. Three laws hold for each particle:

* n_t is the sum of n_wt over the words, and k_t that of t_wt;
* 1 <= t_wt <= n_wt where n_wt > 0, and t_wt = 0 elsewhere;
* the history has at most n_wt tokens of w in t.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from model import checks, wire
from model.errors import DamagedDataError
from model.learners.particles.following_file import following_from_bytes
from model.learners.particles.history import Units
from model.learners.particles.kernels.canonical_rows import word_in_excess
from model.learners.particles.kernels.full_history.tree import Tree
from model.learners.particles.kernels.particles import GONE, PAGE
from model.learners.particles.kernels.table_counts import NONE
from model.learners.particles.packing import Packed, unpack_numbers, unpack_table, unpack_tree
from model.learners.particles.planting import seed_counts
from model.learners.particles.priors import word_rows
from model.learners.particles.saving import (
    HISTORY,
    MAGIC,
    MAGIC_PARTS,
    WAITING,
)
from model.learners.particles.seeds import words_of
from model.learners.particles.state import ParticleState
from model.learners.particles.weight_file import weights_from_bytes
from model.learners.particles.word_file import words_from_bytes
from model.records import FloatArray, IntArray, LongArray
from model.scaled import Scaled
from model.words.character_model import CharacterModel
from model.words.vocabulary import Vocabulary

_BLOBS, _HISTORY_BLOBS = 16, 10
_SCALED_BYTES = 16
# The draw of a concentration takes a step for each table.
_MOST_TABLES = 2**28
# Bounds of a learned concentration. Beyond them the products of a draw leave the range of a float.
_LEAST_CONCENTRATION, _MOST_CONCENTRATION = 2.0**-100, 2.0**100
# Event times are 64-bit numbers.
_LATEST = 2**63
_ROUNDING = 1e-6


def from_bytes(state: ParticleState, data: bytes) -> ParticleState:
    """Fill the state of a learner before the first document, and return it.

    Args:
        state: a new state (:func:`model.learners.particles.state.new_state`).
        data: the bytes of :func:`model.learners.particles.saving.to_bytes`.

    Raises:
        DamagedDataError: the bytes have another form, belong to other settings, or contain values
            that no learner can have.
    """
    parted = 2 if data.startswith(MAGIC_PARTS) else 0
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
    words_from_bytes(state, parts, blobs[11:14])
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
    try:
        ess = float.fromhex(checks.field(header, "ess"))
    except (ValueError, TypeError, OverflowError):
        checks.refuse(
            "ess of a learner's state", repr(header["ess"]), "a number in hexadecimal digits"
        )
    # Rounding can make it larger than the number of particles.
    state.resampler.ess[0] = checks.number(
        "ess of a learner's state", ess, 0.0, 2.0 * len(state.population.weight)
    )


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
        checks.measures("concentrations", concentration, _LEAST_CONCENTRATION, _MOST_CONCENTRATION)
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
    labels, (lengths, tokens) = checks.field(header, "labels"), map(unpack_numbers, blobs)
    if labels is None:
        checks.sized("lengths of waiting documents", lengths, 0)
        state.waiting = None
        return
    _check_labels(labels, lengths)
    # A complete batch has been learned.
    checks.whole("waiting documents", len(lengths), 0, state.initial.documents)
    checks.whole("tokens of waiting documents", int(lengths.sum()), 0, state.initial.tokens)
    if state.documents or state.population.totals.any():
        raise DamagedDataError(
            "the state has learned documents although its initial batch is incomplete"
        )
    state.waiting = list(
        zip(_split_documents(lengths, tokens, 0, len(state.vocabulary)), labels, strict=True)
    )


def _read_history(state: ParticleState, data: bytes) -> None:
    header, blobs = wire.unpack(HISTORY, data, _HISTORY_BLOBS)
    history, labels = state.history, checks.field(header, "labels")
    lengths, tokens, arrival, newest, newest_position, kept, kept_position = map(
        unpack_numbers, blobs[:7]
    )
    _check_labels(labels, lengths)
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
    documents = _split_documents(lengths, tokens - 1, GONE, len(state.vocabulary))
    slots = history.begin_all(list(zip(documents, labels, strict=True))).astype(np.int64)
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


def _check_labels(labels: object, lengths: LongArray) -> None:
    if not checks.fits(labels, list[str | None]):
        checks.refuse("labels of documents", repr(labels), "a list of texts and nulls")
    assert isinstance(labels, list)
    checks.sized("labels of documents", labels, len(lengths))


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


def _split_documents(lengths: LongArray, tokens: LongArray, low: int, words: int) -> list[IntArray]:
    checks.within("tokens of documents", tokens, low, words)
    checks.within("lengths of documents", lengths, 0, len(tokens) + 1)
    checks.equal("tokens of all documents", len(tokens), int(lengths.sum()))
    narrow, ends = tokens.astype(np.int32), np.cumsum(lengths).tolist()
    return [narrow[begin:end] for begin, end in pairwise([0, *ends])]


def _read_topics(state: ParticleState, slots: LongArray, blobs: list[bytes]) -> None:
    history, table = state.history, state.population.topics
    lengths = history.pages.length[slots]
    pages = history.all_pages(slots)
    width = min(int(lengths.max(initial=0)), PAGE)
    packed = Packed.of(
        blobs, len(pages), len(state.population.weight), width, state.settings.topic_count
    )
    topics = (
        unpack_tree(table, pages, packed)
        if isinstance(table, Tree)
        else unpack_table(table, pages, len(history.pages.words), packed)
    )
    state.population = state.population._replace(topics=topics)


def _check_history(state: ParticleState, slots: LongArray) -> None:
    """Refuse topics of the history that the counts of words do not contain (the third law)."""
    excess = word_in_excess(state.population, state.history.pages, slots, len(state.vocabulary))
    if excess >= 0:
        raise DamagedDataError(
            f"the state's history has more tokens of word number {excess} in a topic than were"
            " counted"
        )
