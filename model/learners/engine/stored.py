"""The saved state of ``gibbs``: ``BTG1``, canonical bytes, checked before a kernel sees them.

What follows from other parts is not saved: n_t from n_wt, W from the words, D from the lengths.
Counts are sparse: for each word the number of topics that have it, these topics, and the counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.learners.engine.births_stored import load_nursery, nursery_to_bytes
from beam_topics.model.learners.engine.epoch import MOST_COUNT
from beam_topics.model.learners.engine.holding import GibbsState
from beam_topics.model.learners.engine.kernels.draw import NONE
from beam_topics.model.learners.engine.settings import Gibbs, StreamSchedule
from beam_topics.model.learners.engine.start import CHOOSING, LOOKS, emptied
from beam_topics.model.learners.engine.state import Array, State
from beam_topics.model.learners.engine.stream import SMALL, places_of
from beam_topics.model.learners.seeds import words_of
from beam_topics.model.learners.states import (
    load_facts,
    pack_counts,
    pack_numbers,
    settings_digest,
    unpack_counts,
    unpack_numbers,
    unpack_state,
)
from beam_topics.model.stored import checks, wire

MAGIC = b"BTG1"
_FACTS = ("sequence", "documents", "tokens", "scored")
_COUNTERS = ("epochs", "visits", "reseated", "owed")
_BLOBS = 12
# Bounds of what is drawn; beyond them a mass in float32 could vanish.
_LEAST_SHARE, _LEAST_A, _MOST = 1e-25, 1e-12, 1e15


def state_to_bytes(state: GibbsState) -> bytes:
    """Return the state in canonical form."""
    live, topics = state.live, state.live.topics
    size, counts = live.size, live.rows[: live.size, :topics]
    z = live.z[: live.tokens].astype(np.int64)
    header = {
        **{name: getattr(state, name) for name in _FACTS},
        **{name: getattr(live, name) for name in _COUNTERS},
        **{name: float(getattr(live, name)) for name in ("a", "a0")},
        "first": state.first,
        "log_evidence": state.log_evidence,
        "labels": state.labels,
        "settings": settings_digest(state.settings),
    }
    return wire.pack(
        MAGIC,
        header,
        wire.words_to_bytes(tuple(state.vocabulary.words)),
        wire.array_to_bytes(state.vocabulary.use, "<f8"),
        *pack_counts(counts),
        pack_numbers(live.tables[:size]),
        wire.array_to_bytes(live.base[:size], "<f8"),
        wire.array_to_bytes(live.alpha[:topics], "<f8"),
        pack_numbers(np.diff(live.offsets[: live.documents + 1])),
        pack_numbers(state.marks),
        pack_numbers(live.words[: live.tokens]),
        # 0 is none.
        pack_numbers(np.where(z == NONE, 0, z + 1)),
        *([nursery_to_bytes(state.nursery)] if state.nursery else []),
    )


def state_from_bytes(settings: Gibbs, key: str, data: bytes, threads: int) -> GibbsState:
    """Return the state that :func:`state_to_bytes` wrote.

    Raises:
        DamagedDataError: the bytes do not fit the settings.
    """
    header, blobs = unpack_state(MAGIC, data, settings, _BLOBS + bool(settings.births))
    state = GibbsState(settings, key, threads)
    _load_topics(state, header, len(wire.array_from_bytes(blobs[7], "<f8")))
    _load_words(state, blobs[0], wire.array_from_bytes(blobs[1], "<f8"))
    _load_counts(state.live, blobs[2:5])
    _check_seeds(state)
    _load_shared(state, header, blobs[5:8])
    _load_documents(state, *map(unpack_numbers, blobs[8:12]))
    _load_facts(state, header)
    if state.nursery:
        load_nursery(state.nursery, state.live, state.marks, state.documents, blobs[12])
    _check_choice(state)
    return state


def _load_topics(state: GibbsState, header: dict[str, Any], count: int) -> None:
    """Set T, and add the topics that came later."""
    settings, name = state.settings, "topics of a saved learner"
    least = 1 if settings.chooses_first else state.live.topics
    checks.whole(name, count, least, settings.topic_count + 1)
    state.first = checks.whole(f"first {name}", checks.field(header, "first"), 0, count + 1)
    if settings.chooses_first:
        state.live = emptied(state.live, count, settings.alpha_of(state.first or count))
    else:
        checks.equal(f"first {name}", state.first, settings.first_topics)
        state.live.add_topics(count - state.live.topics, state.alpha)
    if state.nursery:
        state.nursery.alpha = state.alpha


def _load_words(state: GibbsState, data: bytes, use: Array) -> None:
    words, vocabulary = wire.words_from_bytes(data), state.vocabulary
    wanted = state.settings.vocabulary
    checks.distinct("words of a saved learner", words)
    if wanted.is_open:
        checks.whole("words of a saved learner", len(words), 0, wanted.size + 1)
        first, more = words[: vocabulary.always], words[vocabulary.always :]
        if tuple(first) != words_of(state.settings.seeds):
            raise DamagedDataError("the state's first words are not those of the seeds")
        vocabulary.extend(more)
        state.live.add_words(len(more))
    else:
        checks.equal("words of a saved learner", words, tuple(vocabulary.words))
    checks.sized("uses of a saved learner's words", use, len(words))
    checks.measures("uses of a saved learner's words", use)
    vocabulary.use = use.copy()


def _load_counts(live: State, blobs: list[bytes]) -> None:
    """Set n_wt and n_t."""
    name, size, topics = "counts of a saved learner's words", live.size, live.topics
    live.rows[:size, :topics] = unpack_counts(name, blobs, size, topics, MOST_COUNT)
    live.totals = live.rows[:size].sum(axis=0, dtype=np.int64)


def _load_shared(state: GibbsState, header: dict[str, Any], blobs: list[bytes]) -> None:
    """Set tables, G, alpha and the concentrations."""
    live, size, name = state.live, state.live.size, "a saved learner"
    tables = unpack_numbers(blobs[0])
    base, alpha = (wire.array_from_bytes(blob, "<f8") for blob in blobs[1:])
    checks.sized(f"tables of {name}", tables, size)
    # Tables are drawn now and then, and tokens come between.
    checks.within(f"tables of {name}", tables, 0, checks.LARGEST // max(size, 1))
    checks.sized(f"base of {name}", base, size)
    checks.measures(f"base of {name}", base, _LEAST_SHARE, 1.0)
    checks.sized(f"alpha of {name}", alpha, live.topics)
    checks.equal(f"alpha of {name}", alpha.tolist(), [state.alpha] * len(alpha))
    live.tables[:size], live.base[:size], live.alpha[: live.topics] = tables, base, alpha
    a = checks.number(f"a of {name}", checks.field(header, "a"), 0.0, _MOST)
    least = 0.0 if not a else max(_LEAST_A, _LEAST_SHARE / float(base.min(initial=1.0)))
    live.a = checks.number(f"a of {name}", a, least, _MOST)
    live.a0 = checks.number(f"a0 of {name}", checks.field(header, "a0"), _LEAST_A, _MOST)


def _load_documents(
    state: GibbsState, lengths: Array, marks: Array, words: Array, topics: Array
) -> None:
    """Set the documents at hand, with the topics of their tokens."""
    live, name = state.live, "a saved learner's documents"
    schedule = state.settings.schedule
    if isinstance(schedule, StreamSchedule):
        births = state.settings.births
        more = births.window + births.delay + births.patience if births else 0
        more += CHOOSING if state.settings.chooses_first else 0
        checks.whole(name, len(lengths), 0, schedule.reservoir + more + 1)
    checks.within(f"lengths of {name}", lengths, 0, len(words) + 1)
    checks.equal(f"tokens of {name}", len(words), int(lengths.sum()))
    checks.within(f"words of {name}", words, 0, live.size)
    checks.sized(f"topics of {name}", topics, len(words))
    low, high = (0, 1) if state.is_archive else (1 - bool(state.nursery), live.topics + 1)
    checks.within(f"topics of {name}", topics, low, high)
    checks.sized(f"marks of {name}", marks, len(lengths))
    checks.within(f"marks of {name}", marks, 0, 2**62)
    if not state.is_archive:
        checks.ascending(f"marks of {name}", marks, strictly=True)
        _check_counted(state, words, topics - 1)
    live.add_documents(words, lengths)
    live.z[: live.tokens] = np.where(topics > 0, topics - 1, NONE)
    state.marks = marks
    if not state.is_archive:
        state.places = places_of(live, marks)


def _check_seeds(state: GibbsState) -> None:
    """Refuse counts without the prior tokens of the seeds."""
    words, tokens = state.prior
    if (state.live.rows[words, : tokens.shape[1]] < tokens).any():
        raise DamagedDataError("the state has fewer tokens of a seed than its prior tokens")


def _check_counted(state: GibbsState, words: Array, topics: Array) -> None:
    """Refuse documents with more tokens of a word in a topic than n_wt without prior tokens."""
    rows, (seeded, tokens) = state.live.rows.copy(), state.prior
    rows[seeded, : tokens.shape[1]] -= tokens.astype(np.int32)
    np.subtract.at(rows, (words[topics >= 0], topics[topics >= 0]), 1)
    checks.within("counts of a saved learner without its documents", rows, 0, MOST_COUNT + 1)


def _load_facts(state: GibbsState, header: dict[str, Any]) -> None:
    """Set how much came, labels, and the evidence."""
    name = "a saved learner"
    load_facts(state, header, _FACTS)
    load_facts(state.live, header, _COUNTERS)
    checks.whole(f"reseated of {name}", state.live.reseated, 0, state.live.visits + 1)
    schedule = state.settings.schedule
    revisits = isinstance(schedule, StreamSchedule) and schedule.moves > 0
    checks.whole(f"owed of {name}", state.live.owed, 0, SMALL if revisits else 1)
    # An epoch names draws by forty bits.
    checks.whole(f"epochs of {name}", state.live.epochs, 0, 2**40)
    most = state.documents + 1
    checks.whole(f"documents at hand of {name}", len(state.marks), 0, most)
    if not state.is_archive:
        checks.within(f"marks of {name}", state.marks, 0, state.documents)
    labels = checks.field(header, "labels")
    if not checks.fits(labels, list[str | None]):
        checks.refuse(f"labels of {name}", repr(labels), "a list of labels")
    checks.sized(f"labels of {name}", labels, len(state.marks))
    state.labels = labels
    evidence = checks.field(header, "log_evidence")
    state.log_evidence = checks.number(f"log evidence of {name}", evidence, -_MOST, 0.0)


def _check_choice(state: GibbsState) -> None:
    """Refuse a number of topics that was not chosen, and one that is to be chosen too late."""
    name, documents = "a saved learner", state.documents
    if state.is_choosing:
        checks.whole(f"documents of {name} that choose", documents, 0, CHOOSING)
        checks.equal(f"documents at hand of {name}", len(state.marks), documents)
    is_chosen = documents >= LOOKS[0] or not state.is_choosing
    checks.equal(f"first topics of {name}", state.first > 0, is_chosen)
