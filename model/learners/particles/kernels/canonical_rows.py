"""Which rows of a shared table differ in content: the canonical form that checkpoints and digests
are made of.

What can be counted again is not kept: :func:`count_documents`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from model.kernels.jit import kernel
from model.learners.particles.kernels.particles import GONE, PAGE
from model.learners.particles.kernels.shared_rows import own_row, row_of


@kernel
def distinct_rows(table: Any, logical: Any, live: Any) -> Any:
    """For each logical row: who has which of its distinct contents, in the order of the first
    particle that has each.

    logical: int64[n]. live: int64[n], how many of a row's entries count. Returns (which: int64[n,
    P], the physical rows of the distinct contents one after the other: int64[total], how many each
    logical row has: int64[n]).
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
def _same(rows: Any, one: Any, other: Any, live: Any) -> Any:
    same = 0
    while same < live and rows[one, same] == rows[other, same]:
        same += 1
    return same == live


@kernel
def count_documents(population: Any, pages: Any, slots: Any) -> None:
    """Fill the documents' counts of every particle from the topics of their tokens; there must
    be room for a row of each.
    """
    documents, topics = population.documents, population.topics
    for p in range(len(population.weight)):
        for slot in slots:
            row = own_row(documents, p, slot, population.generation[p], 0, False)
            documents.rows[row, :] = 0
            page = pages.first[slot]
            for start in range(0, pages.length[slot], PAGE):
                place = row_of(topics, p, page)
                for k in range(min(PAGE, pages.length[slot] - start)):
                    if pages.words[page, k] != GONE:
                        documents.rows[row, topics.rows[place, k]] += 1
                page = pages.following[page]


@kernel
def add_rows(contents: Any, starts: Any, owner: Any, most: Any, sums: Any) -> None:
    """sums[p] += contents[starts[n] + owner[n, p]] for all n; no sum exceeds ``most``.

    contents: int[total, width], none negative. starts: int64[n]. owner: int[n, P]. sums: int64[P,
        width].
    """
    for n in range(len(starts)):
        for p in range(owner.shape[1]):
            row = starts[n] + np.int64(owner[n, p])
            for k in range(contents.shape[1]):
                sums[p, k] = min(sums[p, k] + np.int64(contents[row, k]), most)


@kernel
def word_in_excess(population: Any, pages: Any, slots: Any, count: Any) -> Any:
    """The first of ``count`` words of which some particle's history has more tokens in a topic
    than n_wt says; -1 where there is none.
    """
    rows, topics = population.words.rows, population.topics.rows
    begins, places = _tokens_by_word(pages, slots, count)
    held, seen, visit = np.empty(rows.shape[1], np.int64), np.zeros(rows.shape[1], np.int64), 0
    physical = np.empty(len(pages.words), np.int64)
    for p in range(len(population.weight)):
        for page in range(len(physical)):
            physical[page] = row_of(population.topics, p, page)
        for w in range(count):
            if begins[w] == begins[w + 1]:
                continue
            row, visit = np.int64(row_of(population.words, p, w)), visit + 1
            for k in range(begins[w], begins[w + 1]):
                topic = topics[physical[places[k] // PAGE], places[k] % PAGE]
                held[topic] = held[topic] + 1 if seen[topic] == visit else 1
                seen[topic] = visit
                if held[topic] > rows[row, topic]:
                    return w
    return -1


@kernel
def _tokens_by_word(pages: Any, slots: Any, count: Any) -> Any:
    """(begins, places): the tokens of word w are places[begins[w]:begins[w + 1]], each page *
    PAGE + column; int64[count + 1], int64[N].
    """
    begins, used = np.zeros(count + 2, np.int64), 0
    for filling in range(2):
        # Counted two places ahead: while places are filled in, the entry between moves from a
        # word's begin to its end.
        places = np.empty(used, np.int64)
        for slot in slots:
            page = pages.first[slot]
            for start in range(0, pages.length[slot], PAGE):
                for k in range(min(PAGE, pages.length[slot] - start)):
                    w = pages.words[page, k]
                    if w != GONE and filling:
                        places[begins[w + 1]] = page * PAGE + k
                        begins[w + 1] += 1
                    elif w != GONE:
                        begins[w + 2] += 1
                page = pages.following[page]
        if not filling:
            begins = np.cumsum(begins)
            used = begins[count + 1]
    return begins[: count + 1], places
