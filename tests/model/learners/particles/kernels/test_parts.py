"""Parts of words against arrays of whole rows."""

import numpy as np
import pytest

from beam_topics.model.learners.particles.kernels import parts
from beam_topics.model.learners.particles.kernels.copy_on_write import (
    BLOCKS_EACH,
    new_table,
    reserve,
    with_rows,
)

TP, WORDS = 520, 6


def table_of(length, seed=0):
    """A table of one particle, int64[words, 2 Tp] in it, and the free rows that are left."""
    generator = np.random.default_rng(seed)
    logical = WORDS * parts.parts_of.py_func(TP)
    table = with_rows(new_table(1, 1, length, 1), logical)
    table = reserve(table, 4000, BLOCKS_EACH * 4000)
    counts = np.zeros((WORDS, 2 * TP), np.int64)
    for _ in range(600):
        w, t, opens = *generator.integers((WORDS - 1, TP)).tolist(), bool(generator.integers(2))
        opens = opens and length > parts.PART
        step = -1 if counts[w, t] and generator.integers(3) == 0 else 1
        if step < 0:
            opens = counts[w, TP + t] == counts[w, t] if length > parts.PART else False
        elif length > parts.PART and not counts[w, t]:
            opens = True
        parts.count_in_part(table, 0, w, TP, t, step, opens, 1, 0)
        counts[w, t] += step
        counts[w, TP + t] += step * opens
    return table, counts


def gathered(table, order, spoil=lambda row: None):
    buffer, found = parts.row_buffer(table, TP), []
    for w in order:
        parts.gather(table, 0, w, TP, buffer)
        found.append(buffer.copy())
        spoil(buffer)
    return found


ORDER = [0, 3, 5, 1, 1, 4, 2, 0, 5]


@pytest.mark.parametrize("length", [parts.PART, 2 * parts.PART])
def test_a_buffer_has_the_whole_row_of_each_word(length):
    table, counts = table_of(length)
    for w, row in zip(ORDER, gathered(table, ORDER), strict=True):
        assert row[:TP].tolist() == counts[w, :TP].tolist()
        if length > parts.PART:
            assert row[TP : 2 * TP].tolist() == counts[w, TP:].tolist()
            assert row[2 * TP] == counts[w, TP:].sum()


def test_what_is_written_to_a_buffer_must_be_noted():
    """The planted bug: a topic is written, and the next word has it."""
    table, counts = table_of(2 * parts.PART)

    def write(row):
        row[511] += 1

    def note(row):
        parts.note_part(row, 511, TP)
        row[511] += 1

    def right(spoil):
        rows = gathered(table, [5, 5, 4], spoil)
        return [row[:TP].tolist() for row in rows] == [counts[w, :TP].tolist() for w in (5, 5, 4)]

    assert right(note)
    assert not right(write)


def test_scattered_rows_come_back_and_empty_parts_go():
    table, counts = table_of(2 * parts.PART)
    new = np.random.default_rng(1).integers(0, 2, TP) * (np.arange(TP) // 40 % 2)
    row = np.concatenate([new, new, np.zeros(parts.PART, np.int64)]).astype(np.int32)
    parts.scatter(table, 0, 2, TP, row, 1, 0)
    counts[2] = np.tile(new, 2)
    assert gathered(table, [2])[0][: 2 * TP].tolist() == counts[2].tolist()
    filled = parts.filled_parts(table, 0, WORDS * parts.parts_of.py_func(TP))
    each = parts.parts_of.py_func(TP)
    expected = [
        w * each + c
        for w in range(WORDS)
        for c in range(TP // parts.PART)
        if counts[w, c * parts.PART : (c + 1) * parts.PART].any()
    ]
    assert filled.tolist() == expected
    used = np.unique(table.blocks[table.blocks[table.lines[table.line[0]]]])
    # A row for each part, and row 0.
    assert len(used) == len(expected) + 1


@pytest.mark.parametrize("length", [parts.PART, 2 * parts.PART])
def test_cells_are_the_counts_that_are_not_zero(length):
    table, counts = table_of(length)
    cells = parts.cells_in_parts(table, 0, WORDS, TP)
    words, topics = np.nonzero(counts[:, :TP])
    assert cells[:, 0].tolist() == words.tolist()
    assert cells[:, 1].tolist() == topics.tolist()
    assert cells[:, 2].tolist() == counts[words, topics].tolist()
    assert cells[:, 3].tolist() == counts[words, TP + topics].tolist()
    for w, t in ((0, 3), (4, 519), (5, 0)):
        assert parts.tokens_in.py_func(table, 0, w, TP, t) == counts[w, t]
