"""What births need, saved: ``BTGb``, a part of the state of ``gibbs``.

What follows from other parts is not saved, such as the counts of a candidate, which follow from
its documents and the topics of their tokens. The snapshots of pending candidates are after the
others, and before all documents.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from beam_topics.model.learners.engine.candidates import BLOCK, NEAR, STAKES, Candidate, Gain, Rise
from beam_topics.model.learners.engine.epoch import MOST_COUNT
from beam_topics.model.learners.engine.kernels.draw import NONE
from beam_topics.model.learners.engine.merges import PATIENCE
from beam_topics.model.learners.engine.nursery import FIGURES, Nursery, Pair
from beam_topics.model.learners.engine.proposals import KNOWN, TIMES
from beam_topics.model.learners.engine.snapshots import Past
from beam_topics.model.learners.engine.splits import EVERY
from beam_topics.model.learners.engine.state import Array, State
from beam_topics.model.learners.states import pack_numbers, unpack_counts, unpack_numbers
from beam_topics.model.stored import checks, wire

MAGIC = b"BTGb"
_NAME = "births of a saved learner"
_FIRST, _OF_PAST, _OF_CANDIDATE = 4, 4, 4
_MOST = 1e15


def nursery_to_bytes(nursery: Nursery) -> bytes:
    """Return it in canonical form."""
    pending = nursery.pending
    pasts = nursery.pasts + [candidate.past for candidate in pending]
    blobs = [pack_numbers(nursery.waiting), *map(pack_numbers, nursery.uses)]
    blobs.append(wire.array_to_bytes(nursery.endings.figures.ravel(), "<f8"))
    header: dict[str, Any] = {
        "sweeps": nursery.names.used,
        "due": nursery.due,
        "judged": nursery.judged,
        "changed": nursery.changed + 1,
        "levels": nursery.levels,
        "excesses": nursery.excesses,
        "ended": nursery.endings.ended,
        "twins": [[pair.x, pair.y, pair.judges, pair.gain.logs] for pair in nursery.twins],
        "apart": [[*pair, at] for pair, at in nursery.apart.items()],
        "look": nursery.look,
        "pasts": len(nursery.pasts),
        "candidate": [_figures(candidate) for candidate in pending] or None,
    }
    header["seen"] = [past.seen for past in pasts]
    header["topics"] = [past.topics for past in pasts]
    header["a"] = [float(past.a) for past in pasts]
    for past in pasts:
        blobs += past.packed
    for one in pending:
        blobs += map(pack_numbers, (one.documents, one.topics, one.near.ravel(), one.controls))
    return wire.pack(MAGIC, header, *blobs)


def _figures(pending: Candidate) -> dict[str, Any]:
    return {
        "count": pending.count,
        "used": pending.used,
        "judges": pending.judges,
        "tokens": pending.tokens,
        "gained": pending.gained,
        "gain": pending.gain.logs,
        "odd": pending.odd,
        "rises": [[r.log, r.now, r.today, r.then, r.past] for r in pending.rises],
    }


def load_nursery(nursery: Nursery, live: State, marks: Array, seen: int, data: bytes) -> None:
    """Set what :func:`nursery_to_bytes` wrote.

    Args:
        nursery: a new one.
        live: the model.
        marks: of the documents at hand.
        seen: documents that have come.
        data: the bytes.

    Raises:
        DamagedDataError: the bytes do not fit the rest of the state.
    """
    header, blobs = wire.unpack(MAGIC, data)
    checks.whole(f"parts of {_NAME}", len(blobs), _FIRST, 2**20)
    _load_facts(nursery, header, seen)
    _load_endings(nursery, header, live.topics, blobs[3])
    _load_twins(nursery, header, live.topics, seen)
    _load_waiting(nursery, unpack_numbers(blobs[0]), live, marks)
    nursery.uses = np.array([_words(blob, live.size) for blob in blobs[1:3]])
    pasts = checks.whole(
        f"pasts of {_NAME}", checks.field(header, "pasts"), 0, nursery.law.pasts + 1
    )
    candidates = checks.field(header, "candidate")
    candidates = [] if candidates is None else candidates
    if not isinstance(candidates, list):
        checks.refuse(f"candidates of {_NAME}", repr(candidates), "null or a list")
    snapshots = pasts + len(candidates)
    wanted = _FIRST + _OF_PAST * snapshots + _OF_CANDIDATE * len(candidates)
    checks.equal(f"parts of {_NAME}", len(blobs), wanted)
    found = []
    for k in range(snapshots):
        first = _FIRST + _OF_PAST * k
        found.append(_load_past(header, k, live, seen, blobs[first : first + _OF_PAST]))
    nursery.pasts = found[:pasts]
    for k, figures in enumerate(candidates):
        first = _FIRST + _OF_PAST * snapshots + _OF_CANDIDATE * k
        parts = blobs[first : first + _OF_CANDIDATE]
        nursery.pending.append(_load_candidate(found[pasts + k], figures, live, marks, parts))


def _load_facts(nursery: Nursery, header: dict[str, Any], seen: int) -> None:
    def whole(name: str, most: int) -> int:
        return checks.whole(f"{name} of {_NAME}", checks.field(header, name), 0, most)

    nursery.names.used = whole("sweeps", 2**40)
    nursery.due = whole("due", seen + nursery.law.every + 1)
    nursery.judged = whole("judged", seen + 1)
    nursery.look = whole("look", 2 * seen + EVERY)
    nursery.changed = whole("changed", seen + 2) - 1
    for name, most in (("levels", 2 * KNOWN + 1), ("excesses", TIMES)):
        values = checks.field(header, name)
        if not checks.fits(values, list[float]) or len(values) > most:
            checks.refuse(f"{name} of {_NAME}", repr(values), f"at most {most} numbers")
        setattr(
            nursery, name, [checks.number(f"{name} of {_NAME}", v, -_MOST, _MOST) for v in values]
        )


def _load_endings(nursery: Nursery, header: dict[str, Any], topics: int, blob: bytes) -> None:
    name, figures = f"ended topics of {_NAME}", wire.array_from_bytes(blob, "<f8")
    checks.sized(name, figures, FIGURES * nursery.most)
    checks.measures(name, figures, 0.0, _MOST)
    figures = figures.reshape(FIGURES, nursery.most).copy()
    if figures[:, topics:].any() or (figures[[0, 2]] > figures[[1, 3]]).any():
        checks.refuse(name, "others", "documents of topics, and no more than all documents")
    ended = checks.field(header, "ended")
    if not checks.fits(ended, list[int]):
        checks.refuse(name, repr(ended), "topics")
    checks.distinct(name, [str(topic) for topic in ended])
    nursery.endings.ended = [checks.whole(name, topic, 0, topics) for topic in ended]
    nursery.endings.figures = figures


def _load_twins(nursery: Nursery, header: dict[str, Any], topics: int, seen: int) -> None:
    name = f"twins of {_NAME}"
    twins, apart = checks.field(header, "twins"), checks.field(header, "apart")
    for values, length in ((twins, 4), (apart, 3)):
        if not isinstance(values, list) or len(values) > topics**2:
            checks.refuse(name, repr(values), "pairs of topics")
        for value in values:
            if not isinstance(value, list) or len(value) != length:
                checks.refuse(name, repr(value), f"{length} values")
            checks.whole(name, value[0], 0, checks.whole(name, value[1], 0, topics))
    for x, y, judges, logs in twins:
        gain = _gain({"gain": logs})
        nursery.twins.append(Pair(x, y, gain, checks.whole(name, judges, 0, PATIENCE)))
    nursery.apart = {(x, y): checks.whole(name, at, 0, seen + 1) for x, y, at in apart}


def _all_at_hand(what: str, found: Array, marks: Array) -> None:
    if not np.isin(found, marks).all():
        checks.refuse(f"{what} of {_NAME}", "others", "documents at hand")


def _load_waiting(nursery: Nursery, found: Array, live: State, marks: Array) -> None:
    """Set the documents that wait; their tokens have no topics, and all others do."""
    name = f"waiting documents of {_NAME}"
    checks.ascending(name, found, strictly=True)
    _all_at_hand("waiting documents", found, marks)
    waits = np.repeat(np.isin(marks, found), np.diff(live.offsets[: live.documents + 1]))
    if ((live.z[: live.tokens] == NONE) != waits).any():
        checks.refuse(name, "topics", "none, and others have topics")
    nursery.waiting = found


def _words(blob: bytes, size: int) -> Array:
    found = unpack_numbers(blob)
    checks.whole(f"words of {_NAME}", len(found), 0, size + 1)
    checks.within(f"words of {_NAME}", found, 0, checks.LARGEST // max(size, 1))
    return np.pad(found, (0, size - len(found)))


def _load_past(header: dict[str, Any], k: int, live: State, seen: int, blobs: list[bytes]) -> Past:
    name, values = f"snapshots of {_NAME}", []
    for what, kind in (("seen", list[int]), ("topics", list[int]), ("a", list[float])):
        value = checks.field(header, what)
        if not checks.fits(value, kind) or len(value) <= k:
            checks.refuse(name, repr(value), "a value for each")
        values.append(value[k])
    when = checks.whole(name, values[0], 0, seen + 1)
    width, a = checks.whole(name, values[1], 1, live.topics + 1), values[2]
    checks.number(name, a, 1e-12, _MOST)
    base = wire.array_from_bytes(blobs[3], "<f8").copy()
    checks.whole(name, len(base), 0, live.size + 1)
    checks.measures(name, base, 1e-25, 1.0)
    return Past(when, unpack_counts(name, blobs[:3], len(base), width, MOST_COUNT), base, a)


def _load_candidate(
    past: Past, figures: object, live: State, marks: Array, blobs: list[bytes]
) -> Candidate:
    name = f"candidate of {_NAME}"
    if not isinstance(figures, dict):
        checks.refuse(name, repr(figures), "figures")
    documents, topics, near, controls = map(unpack_numbers, blobs)
    checks.distinct(name, [str(d) for d in documents.tolist()])
    _all_at_hand("candidate", documents, marks)
    count = checks.whole(name, checks.field(figures, "count"), 1, NONE)
    found = Candidate(past, documents, topics.astype(np.int32), near, count, controls)
    for what, most in (("used", len(controls)), ("judges", 2**53), ("tokens", 2**53)):
        setattr(found, what, checks.whole(name, checks.field(figures, what), 0, most + 1))
    _all_at_hand("controls", controls[found.used :], marks)
    gained = checks.number(name, checks.field(figures, "gained"), -_MOST, _MOST)
    found.gained, found.gain, found.rises = gained, _gain(figures), _rises(figures, count)
    found.odd = _odd(figures, count)
    at = np.searchsorted(marks, documents)
    checks.sized(name, topics, live.tokens_of(at))
    checks.within(name, topics, 0, found.width + count)
    wide = min(NEAR, found.width)
    checks.sized(name, near, len(documents) * wide)
    checks.within(name, near, 0, found.width)
    found.near = near.reshape(-1, wide).astype(np.int64)
    found.count_words(live, found.texts(live, marks))
    return found


def _gain(figures: dict[str, Any]) -> Gain:
    logs = checks.field(figures, "gain")
    if not checks.fits(logs, list[float]) or len(logs) != len(STAKES):
        checks.refuse(f"gain of {_NAME}", repr(logs), "a number for each stake")
    return Gain([checks.number(f"gain of {_NAME}", log, -_MOST, _MOST) for log in logs])


def _odd(figures: dict[str, Any], count: int) -> list[list[bool]]:
    """Return what the last documents hold, which are fewer than a block."""
    found, name = checks.field(figures, "odd"), f"last documents of {_NAME}"
    if not checks.fits(found, list[list[bool]]) or len(found) >= BLOCK:
        checks.refuse(name, repr(found), f"fewer than {BLOCK}")
    for row in found:
        checks.sized(name, row, count + 1)
    rows: list[list[bool]] = found
    return rows


def _rises(figures: dict[str, Any], count: int) -> list[Rise]:
    name, values, found = f"rises of {_NAME}", checks.field(figures, "rises"), []
    if not isinstance(values, list) or len(values) != count + 1:
        checks.refuse(name, repr(values), f"{count + 1} of them")
    for value in values:
        if not isinstance(value, list) or len(value) != 5:
            checks.refuse(name, repr(value), "five numbers")
        log = checks.number(name, value[0], -_MOST, _MOST)
        past = checks.whole(name, value[4], 0, 2**53)
        checks.equal(name, value[2], BLOCK * past)
        now = checks.whole(name, value[1], 0, value[2] + 1)
        found.append(Rise(log, now, value[2], checks.whole(name, value[3], 0, past + 1), past))
    return found
