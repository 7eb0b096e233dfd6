"""Rejuvenation: draw topics of the past again, each from its conditional probability given all others (Canini et al. 2009, eq. 3).

Notation as in :mod:`model.kernels.particles`. A move never writes the token out of the counts: only q of its old topic is corrected, and
nothing is written (nor copied, if it is shared) unless the topic changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.kernels.draw import draw_discounted, draw_without, new_scratch
from model.kernels.jit import kernel, page_kernel
from model.kernels.particles import PAGE, normalise, start_gain, times
from model.kernels.random import fill_uniforms
from model.kernels.sharing import own, own_row, row_of


@kernel
def move_units(
    cloud: Any, prior: Any, pages: Any, draws: Any, slots: Any, positions: Any, index: Any, first: Any, last: Any, thread: Any
) -> None:
    """Particles first..last-1 draw topics again, unit by unit (eq. 3): whole documents, or one token where its position is not -1.

    ``index`` names the first draw; each unit takes as many as the tokens it redraws. The joint takes the ratio of the
    new topic's and the old one's probability.
    """
    tp = len(prior.alpha)
    scratch, gain, strength, uniforms = new_scratch(tp), np.empty(tp), np.empty(tp), np.empty(PAGE)
    counts = np.empty(tp, np.int64)
    words, topics, documents, following, tokens = cloud.words, cloud.topics, cloud.documents, pages.following, pages.words
    length, first_page, alpha, base = pages.length, pages.first, prior.alpha, prior.base
    blocks, rows, block_owner, owner = words.blocks, words.rows, words.block_owner, words.row_owner
    free_blocks, free_rows, cursors = words.free_blocks, words.free_rows, words.cursors
    joint, joint_exponent = cloud.joint, cloud.joint_exponent
    for p in range(first, last):
        generation, directory, number = cloud.generation[p], words.directory[p], index
        totals, kinds, inverse = cloud.totals[p], cloud.kinds[p], cloud.inverse[p]
        lines = documents.directory[p]
        for unit in range(len(slots)):
            slot = slots[unit]
            begin = max(positions[unit], 0)
            end = length[slot] if positions[unit] < 0 else begin + 1
            row = row_of(lines, documents.blocks, slot)
            for t in range(tp):
                counts[t] = documents.rows[row, t]
            start_gain(alpha, inverse, kinds, prior.a, prior.discount, counts, gain, strength)
            moved = 0
            page = first_page[slot]
            for start in range(0, end, PAGE):
                if start + PAGE > begin:
                    here, there = max(begin - start, 0), min(end - start, PAGE)
                    fill_uniforms(uniforms, there - here, number, draws.key0, draws.key1, cloud.identity[p], draws.sequence, draws.purpose)
                    number += there - here
                    moved += _move_page(
                        blocks,
                        rows,
                        block_owner,
                        owner,
                        free_blocks,
                        free_rows,
                        cursors,
                        directory,
                        topics,
                        topics.rows,
                        row_of(topics.directory[p], topics.blocks, page),
                        totals,
                        kinds,
                        inverse,
                        joint,
                        joint_exponent,
                        alpha,
                        base,
                        prior.a,
                        prior.discount,
                        generation,
                        p,
                        page,
                        tokens[page],
                        here,
                        there,
                        uniforms,
                        counts,
                        gain,
                        strength,
                        scratch,
                        thread,
                    )
                page = following[page]
            if moved:
                row = own_row(documents, p, slot, generation, thread, False)
                for t in range(tp):
                    documents.rows[row, t] = counts[t]
        normalise(joint, joint_exponent, p)


@page_kernel
def _move_page(
    blocks: Any,
    rows: Any,
    block_owner: Any,
    owner: Any,
    free_blocks: Any,
    free_rows: Any,
    cursors: Any,
    directory: Any,
    topics: Any,
    topic_rows: Any,
    place: Any,
    totals: Any,
    kinds: Any,
    inverse: Any,
    joint: Any,
    joint_exponent: Any,
    alpha: Any,
    base: Any,
    a: Any,
    discount: Any,
    generation: Any,
    p: Any,
    page: Any,
    tokens: Any,
    here: Any,
    there: Any,
    uniforms: Any,
    counts: Any,
    gain: Any,
    strength: Any,
    scratch: Any,
    thread: Any,
) -> Any:
    """Draw the topics of tokens here..there-1 of a page again, each given all others; how many changed."""
    moved = 0
    for k in range(here, there):
        w, old = tokens[k], np.int64(topic_rows[place, k])
        row = row_of(directory, blocks, w)
        n = rows[row, old] - 1
        gain_old = (alpha[old] + (counts[old] - 1)) * (1.0 / (a + (totals[old] - 1)))
        if discount > 0.0:
            off, kinds_old = (discount, kinds[old]) if n > 0 else (0.0, kinds[old] - 1)
            q_old = gain_old * ((n - off) + (a + discount * kinds_old) * base[w])
            t, _ = draw_discounted(scratch, gain, rows[row], discount, strength, base[w], old, q_old, uniforms[k - here])
        else:
            q_old = gain_old * (n + a * base[w])
            t, _ = draw_without(scratch, gain, rows[row], a * base[w], old, q_old, uniforms[k - here])
        if t != old:
            times(joint, joint_exponent, p, scratch[t] / q_old)
            if owner[row] != generation:
                row = own(directory, blocks, rows, block_owner, owner, free_blocks, free_rows, cursors, w, generation, thread, True)
            kinds[old] -= np.int64(n == 0)
            kinds[t] += np.int64(rows[row, t] == 0)
            rows[row, old] -= 1
            rows[row, t] += 1
            if moved == 0:
                place = own_row(topics, p, page, generation, thread, True)
            topic_rows[place, k] = t
            moved += 1
            for changed, step in ((old, -1), (t, 1)):
                totals[changed] += step
                counts[changed] += step
                inverse[changed] = 1.0 / (a + totals[changed])
                gain[changed] = (alpha[changed] + counts[changed]) * inverse[changed]
                strength[changed] = a + discount * kinds[changed]
    return moved
