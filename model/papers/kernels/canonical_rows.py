"""The canonical form of shared rows, from which checkpoints and digests are made.

The form lists the distinct contents of each logical row.
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.kernels.jit import kernel
from beam_topics.model.papers.kernels.copy_on_write import row_of
from beam_topics.model.papers.kernels.particles import PAGE


@kernel
def distinct_rows(table, logical, live):
    """Find the distinct contents of each logical row, in order of the first particle that has each.

    Args:
        table: the shared rows.
        logical: int64[n], the logical rows.
        live: int64[n], how many of a row's entries count.

    Returns:
        int64[n, P], the number of each particle's content; int64[total], the physical rows of the
        distinct contents, one logical row after another; int64[n], distinct contents of each row.
    """
    particles = len(table.line)
    which = np.zeros((len(logical), particles), np.int64)
    counts = np.zeros(len(logical), np.int64)
    rows = np.empty(max(16, 2 * len(logical)), np.int64)
    total = 0
    for n in range(len(logical)):
        first = total
        for p in range(particles):
            row = np.int64(row_of(table, p, logical[n]))
            found = -1
            for k in range(first, total):
                if rows[k] == row or _same(table.rows, rows[k], row, live[n]):
                    found = k
                    break
            if found < 0:
                if total == len(rows):
                    rows = np.concatenate((rows, np.empty(len(rows), np.int64)))
                rows[total] = row
                found = total
                total += 1
            which[n, p] = found - first
        counts[n] = total - first
    return which, rows[:total], counts


@kernel
def _same(rows, one, other, live):
    same = 0
    while same < live and rows[one, same] == rows[other, same]:
        same += 1
    return same == live


@kernel
def add_rows(contents, starts, owner, most, sums):
    """Add contents[starts[n] + owner[n, p]] to sums[p] for all n; no sum exceeds ``most``.

    Args:
        contents: int[total, width], not negative.
        starts: int64[n].
        owner: int[n, P].
        most: the upper bound of a sum.
        sums: int64[P, width].
    """
    for n in range(len(starts)):
        for p in range(owner.shape[1]):
            row = starts[n] + np.int64(owner[n, p])
            for k in range(contents.shape[1]):
                sums[p, k] = min(sums[p, k] + np.int64(contents[row, k]), most)


@kernel
def word_in_excess(particles, pages, slots, count):
    """Return the first word of which a particle's history has more tokens in a topic than n_wt.

    Args:
        particles: the particles.
        pages: the tokens of the history.
        slots: the documents of the history.
        count: the number of words.

    Returns:
        The word's number, -1 if there is none.
    """
    width, topics = particles.totals.shape[1], particles.topics.rows
    begins, places = tokens_by_word(pages, slots, count)
    held, seen, visit = np.empty(width, np.int64), np.zeros(width, np.int64), 0
    physical = np.empty(len(pages.words), np.int64)
    for p in range(len(particles.weight)):
        for page in range(len(physical)):
            physical[page] = row_of(particles.topics, p, page)
        for w in range(count):
            if begins[w] == begins[w + 1]:
                continue
            visit += 1
            row = row_of(particles.words, p, w)
            for k in range(begins[w], begins[w + 1]):
                topic = topics[physical[places[k] // PAGE], places[k] % PAGE]
                held[topic] = held[topic] + 1 if seen[topic] == visit else 1
                seen[topic] = visit
                if held[topic] > particles.words.rows[row, topic]:
                    return w
    return -1


@kernel
def tokens_by_word(pages, slots, count):
    """Return (begins, places), which list the tokens of each word.

    The tokens of word w are places[begins[w]:begins[w + 1]], each as page * PAGE + column;
    int64[count + 1], int64[N].
    """
    begins, used = np.zeros(count + 2, np.int64), 0
    for filling in range(2):
        # Counts are stored two entries ahead. While places are filled, begins[w + 1] moves from the
        # begin of word w to its end.
        places = np.empty(used, np.int64)
        for slot in slots:
            page = pages.first[slot]
            for start in range(0, pages.length[slot], PAGE):
                for k in range(min(PAGE, pages.length[slot] - start)):
                    w = pages.words[page, k]
                    if filling:
                        places[begins[w + 1]] = page * PAGE + k
                        begins[w + 1] += 1
                    else:
                        begins[w + 2] += 1
                page = pages.following[page]
        if not filling:
            begins = np.cumsum(begins)
            used = begins[count + 1]
    return begins[: count + 1], places
