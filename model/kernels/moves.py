"""Rejuvenation: draw topics of the past again, each from its conditional probability given all others (Canini et al. 2009, eq. 3).

Notation as in :mod:`model.kernels.particles`. A move never writes the token out of the counts: only q of its old topic is corrected, and
nothing is written (nor copied, if it is shared) unless the topic changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.kernels.draw import draw_discounted, draw_without
from model.kernels.jit import kernel, page_inlined
from model.kernels.particles import GONE, PAGE, TILE, base_of, name_draws, new_desk, normalise, recount, start_gain, tables_of, times
from model.kernels.seating import closes, opens, seat, worth
from model.kernels.tables import own_row, row_of, still


@kernel
def move_units(
    cloud: Any, prior: Any, pages: Any, draws: Any, slots: Any, positions: Any, index: Any, first: Any, last: Any, thread: Any
) -> None:
    """Particles first..last-1 draw topics again, unit by unit (eq. 3): whole documents, or one token where its position is not -1.

    ``index`` names the first draw; each unit takes as many as the tokens it redraws. The joint takes the ratio of the
    new topic's and the old one's probability.
    """
    desk = new_desk(len(prior.alpha))
    for low in range(first, last, TILE):
        high, number = min(low + TILE, last), index
        for unit in range(len(slots)):
            slot = slots[unit]
            begin = max(positions[unit], 0)
            end = pages.length[slot] if positions[unit] < 0 else begin + 1
            _take(cloud, desk, slot, low, high)
            start_gain(desk, cloud, prior, low, high)
            page = pages.first[slot]
            for start in range(0, end, PAGE):
                if start + PAGE > begin:
                    here, there = max(begin - start, 0), min(end - start, PAGE)
                    name_draws(desk, cloud, prior, draws, number, there - here, low, high)
                    number += there - here
                    _move_page(cloud, prior, pages, desk, page, here, there, low, high, thread)
                page = pages.following[page]
            _put_back(cloud, desk, slot, low, high, thread)
        for p in range(low, high):
            normalise(cloud.joint, cloud.joint_exponent, p)


@page_inlined
def _take(cloud: Any, desk: Any, slot: Any, low: Any, high: Any) -> None:
    """A document's counts onto the desk."""
    for p in range(low, high):
        row = row_of(cloud.documents, p, slot)
        desk.moved[p - low] = 0
        for t in range(desk.counts.shape[1]):
            desk.counts[p - low, t] = cloud.documents.rows[row, t]


@page_inlined
def _put_back(cloud: Any, desk: Any, slot: Any, low: Any, high: Any, thread: Any) -> None:
    """And back, where a token moved."""
    for p in range(low, high):
        if desk.moved[p - low]:
            row = own_row(cloud.documents, p, slot, cloud.generation[p], thread, False)
            for t in range(desk.counts.shape[1]):
                cloud.documents.rows[row, t] = desk.counts[p - low, t]


@page_inlined
def _move_page(cloud: Any, prior: Any, pages: Any, desk: Any, page: Any, here: Any, there: Any, low: Any, high: Any, thread: Any) -> None:
    """The tokens here..there-1 of a page."""
    words, topics, discount = cloud.words, cloud.topics, prior.discount
    for p in range(low, high):
        desk.place[p - low] = row_of(topics, p, page)
    for k in range(here, there):
        w = pages.words[page, k]
        for p in range(low, high if w != GONE else low):
            i, a = p - low, cloud.concentration[p, 0]
            desk.place[i] = still(topics, desk.place[i], p, page)
            u, old = desk.uniforms[i, k - here], np.int64(topics.rows[desk.place[i], k])
            row = words.rows[row_of(words, p, w)]
            n, tables = row[old] - 1, tables_of(prior, row, old)
            closed = closes(prior, n + 1, tables, desk.seats[i, 2 * (k - here)])
            base = base_of(cloud, prior, p, row, w, closed)
            tables -= closed
            back = (a + discount * (cloud.kinds[p, old] - closed)) * base
            gain = (prior.alpha[old] + (desk.counts[i, old] - 1)) / (a + (cloud.totals[p, old] - 1))
            q = gain * ((n - discount * tables) + back)
            if discount > 0.0:
                t, _ = draw_discounted(desk.scratch, desk.gain[i], row, discount, desk.strength[i], base, old, q, u)
            else:
                t, _ = draw_without(desk.scratch, desk.gain[i], row, a * base, old, q, u)
            was = gain * worth(prior, n, tables, back, closed)
            if t != old:
                gain, n, tables, back = desk.gain[i, t], row[t], tables_of(prior, row, t), desk.strength[i, t] * base
            opened = opens(prior, n, tables, back, desk.seats[i, 2 * (k - here) + 1])
            if t != old or opened != closed:
                times(cloud.joint, cloud.joint_exponent, p, gain * worth(prior, n, tables, back, opened) / was)
                mine = words.rows[own_row(words, p, w, cloud.generation[p], thread, True)]
                seat(mine, len(prior.alpha), old, -1, closed)
                seat(mine, len(prior.alpha), t, 1, opened)
                recount(cloud, prior, desk, p, i, old, -1, closed)
                recount(cloud, prior, desk, p, i, t, 1, opened)
            if t != old:
                desk.place[i] = own_row(topics, p, page, cloud.generation[p], thread, True)
                topics.rows[desk.place[i], k] = t
                desk.moved[i] += 1
