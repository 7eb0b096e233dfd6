"""Rejuvenation: draw topics of the past again, each from its conditional probability given all others (Canini et al. 2009, eq. 3).

Notation as in :mod:`model.kernels.particles`. A move never writes the token out of the counts: only q of its old topic is corrected, and
nothing is written (nor copied, if it is shared) unless the topic changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.kernels.desk import TILE, name_draws, new_desk, put_counts_back, recount, start_gain, take_counts
from model.kernels.draw import draw_discounted, draw_without
from model.kernels.jit import kernel, page_inlined
from model.kernels.particles import GONE, PAGE, base_of, normalise, page_at, tables_of, times
from model.kernels.seating import closes, opens, seat, worth
from model.kernels.tables import ask_for, own_row, row_of, still


@kernel
def move_units(
    cloud: Any, prior: Any, pages: Any, draws: Any, slots: Any, positions: Any, index: Any, first: Any, last: Any, thread: Any
) -> None:
    """Particles first..last-1 draw topics again, unit by unit (eq. 3): whole documents, or one token where its position is not -1.

    ``index`` names the first draw; each unit takes as many as the tokens it redraws. The joint takes the ratio of the
    new topic's and the old one's probability.
    """
    desk = new_desk(len(prior.alpha), TILE)
    for low in range(first, last, TILE):
        high, number, named, used = min(low + TILE, last), index, 0, 0
        for unit in range(len(slots)):
            slot = slots[unit]
            begin = max(positions[unit], 0)
            end = pages.length[slot] if positions[unit] < 0 else begin + 1
            if unit + 1 < len(slots):
                _ask_for_unit(cloud, pages, slots[unit + 1], max(positions[unit + 1], 0), low, high)
            take_counts(cloud, desk, slot, True, low, high)
            start_gain(desk, cloud, prior, low, high)
            page = page_at(pages, slot, begin)
            for start in range(begin // PAGE * PAGE, end, PAGE):
                here, there = max(begin - start, 0), min(end - start, PAGE)
                if used == named:
                    # A page's, or those of single tokens that follow each other.
                    named, used = there - here if positions[unit] < 0 else _single(positions, unit), 0
                    name_draws(desk, cloud, prior, draws, number, named, low, high)
                _move_page(cloud, prior, pages, desk, page, here, there, used, low, high, thread)
                number, used = number + (there - here), used + (there - here)
                page = pages.following[page]
            put_counts_back(cloud, desk, slot, low, high, thread)
        for p in range(low, high):
            normalise(cloud.joint, cloud.joint_exponent, p)


@page_inlined
def _ask_for_unit(cloud: Any, pages: Any, slot: Any, position: Any, low: Any, high: Any) -> None:
    """The rows of the unit that comes next are seldom in a cache; they arrive while this one's topics are drawn."""
    page = page_at(pages, slot, position)
    for p in range(low, high if pages.length[slot] else low):
        ask_for(cloud.documents, p, slot)
        ask_for(cloud.topics, p, page)
        if pages.words[page, position % PAGE] != GONE:
            ask_for(cloud.words, p, pages.words[page, position % PAGE])


@page_inlined
def _single(positions: Any, unit: Any) -> Any:
    """How many units from this one on are single tokens, as far as a desk has room for their draws."""
    count = 0
    while count < PAGE and unit + count < len(positions) and positions[unit + count] >= 0:
        count += 1
    return count


@page_inlined
def _move_page(
    cloud: Any, prior: Any, pages: Any, desk: Any, page: Any, here: Any, there: Any, used: Any, low: Any, high: Any, thread: Any
) -> None:
    """The tokens here..there-1 of a page, whose draws are on the desk from ``used`` on."""
    words, topics, discount = cloud.words, cloud.topics, prior.discount
    for p in range(low, high):
        desk.place[p - low] = row_of(topics, p, page)
    for k in range(here, there):
        place = used + (k - here)
        w = pages.words[page, k]
        for p in range(low, high if w != GONE else low):
            desk.row[p - low] = ask_for(words, p, w)
        for p in range(low, high if w != GONE else low):
            i, a = p - low, cloud.concentration[p, 0]
            desk.place[i] = still(topics, desk.place[i], p, page)
            u, old = desk.uniforms[i, place], np.int64(topics.rows[desk.place[i], k])
            row = words.rows[still(words, desk.row[i], p, w)]
            n, tables = row[old] - 1, tables_of(prior, row, old)
            closed = closes(prior, n + 1, tables, desk.seats[i, 2 * place])
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
            opened = opens(prior, n, tables, back, desk.seats[i, 2 * place + 1])
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
