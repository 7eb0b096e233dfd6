"""A digest of an engine's state, by which tests compare what was learned."""

import hashlib
import struct

import numpy as np


def digest(state):
    """Return a digest of all that later draws depend on, in 64 hexadecimal digits."""
    numbers = (state.topics, state.size, state.documents, state.shards, state.epochs, state.owed)
    since = state.visits - state.reseated
    found = hashlib.sha256(
        struct.pack(
            "<10q2d?",
            *numbers,
            *state.key,
            since,
            state.unseen,
            state.a,
            state.a0,
            state.learns_strengths,
        )
    )
    parts = [
        (state.words, state.tokens, "<i4"),
        (state.z, state.tokens, "<u2"),
        (state.offsets, state.documents + 1, "<i8"),
        (state.rows, state.size, "<i4"),
        (state.tables, state.size, "<i8"),
        (state.base, state.size, "<f8"),
        (state.totals, len(state.totals), "<i8"),
        (state.alpha, len(state.alpha), "<f8"),
    ]
    for array, used, form in parts:
        found.update(np.ascontiguousarray(array[:used], form).tobytes())
    return found.hexdigest()
