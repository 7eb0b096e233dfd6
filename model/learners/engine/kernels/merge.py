"""Add the changes of all shards to the counts, for a range of words.

    n_wt += sum over shards of (the shard's copy of n_wt - n_wt)

These are integers, so neither the order of shards nor the split of words into ranges changes a bit.
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.kernels.jit import kernel


@kernel
def merge(first, last, rows, slots, pools):
    """Add the changes of the words first..last-1, and forget the copies.

    Args:
        first: the first word.
        last: the word behind the last one.
        rows: int32[W, T8], n_wt, changed.
        slots: int32[S, W], the place of each shard's copy; -1 afterwards.
        pools: int32[S, W, T8], the copies.
    """
    change = np.zeros(rows.shape[1], np.int32)
    for w in range(first, last):
        touched = False
        for s in range(slots.shape[0]):
            place = slots[s, w]
            if place >= 0:
                slots[s, w], touched = -1, True
                for t in range(len(change)):
                    change[t] += pools[s, place, t] - rows[w, t]
        if touched:
            for t in range(len(change)):
                rows[w, t] += change[t]
                change[t] = 0
