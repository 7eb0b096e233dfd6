"""The engine's kernels against slow, readable twins with the same bits, and their laws."""

import numpy as np
import pytest
from alarm import agrees_in_counts
from twins import uniform

from beam_topics.model.kernels.jit import kernel
from beam_topics.model.kernels.random import EPOCH_TOPIC, SHARED_TABLES, TABLES
from beam_topics.model.kernels.special import ln
from beam_topics.model.learners.engine.kernels.draw import (
    NONE,
    Documents,
    Shard,
    Topics,
    _choose,
    draw,
    merge,
)
from beam_topics.model.learners.engine.kernels.figures import products
from beam_topics.model.learners.engine.kernels.tables import count_tables, draw_base, seat
from beam_topics.model.learners.engine.state import Workspace

F = np.float32
KEY, EPOCH = (123456789, 4000000000), 7


def chosen_topic(coef, row, share, u):
    """The topic of one draw, and the sum of all masses; float32 in the order of the kernel."""
    mass = [c * (F(n) + share) for c, n in zip(coef, row, strict=True)]
    lanes = []
    for k in range(8):
        total = F(0)
        for value in mass[k::8]:
            total += value
        lanes.append(total)
    prefix, total = [], F(0)
    for value in lanes:
        total += value
        prefix.append(total)
    x = F(u) * total
    lane = sum(x >= p for p in prefix[:7])
    x = x - prefix[lane - 1] if lane else x
    below, block = F(0), 0
    for value in mass[lane::8][:-1]:
        below += value
        block += bool(x >= below)
    t = lane + 8 * block
    while t and not mass[t]:
        t -= 1
    return t, total


def drawn_slowly(tokens, rows, totals, shares, alpha, a, chosen):
    """Draw z of documents, given as lists of [word, topic or None], which change."""
    rows, totals, fit = [list(row) for row in rows], list(totals), 0.0
    for d in chosen:
        for i, token in enumerate(tokens[d]):
            w, old = token
            if old is not None:
                rows[w][old] -= 1
                totals[old] -= 1
            token[1] = None
            held = [t for _, t in tokens[d]]
            coef = [
                (alpha[t] + F(held.count(t))) * (F(1) / F(totals[t] + a)) if alpha[t] else F(0)
                for t in range(len(alpha))
            ]
            u = uniform(i, KEY, d, EPOCH, EPOCH_TOPIC)
            token[1], total = chosen_topic(coef, rows[w], shares[w], u)
            if old is None:
                fit += ln(float(total) / (sum(map(float, alpha)) + i))
            rows[w][token[1]] += 1
            totals[token[1]] += 1
    return rows, totals, fit


def tables_slowly(n, c, thing, purpose, block, thins=True):
    """The tables of n tokens, and the next block; without thinning the law is wrong."""

    def pair_of(k):
        return [uniform(2 * k + half, KEY, thing, EPOCH, purpose) for half in (0, 1)]

    found, i = min(n, 1), 1
    for i in range(1, min(n, 9), 2):
        for j, u in enumerate(pair_of(block)):
            found += i + j < n and u * (c + i + j) < c
        block += 1
    i = 9
    while i < n:
        octave, bound, rare = min(2 * i, n), c + i, ln(i / (c + i))
        while i < octave:
            u, v = pair_of(block)
            block, gap = block + 1, ln(1.0 - u) / rare
            i = i + int(gap) if gap < octave - i else octave
            if i < octave:
                found += not thins or v * (c + i) < bound
                i += 1
    return found, block


class Example:
    """Documents of which a part has topics, their counts, and the parameters of an epoch."""

    def __init__(self, topics, words=9, documents=14, seed=1):
        g = np.random.default_rng(seed)
        width = -(-topics // 8) * 8
        self.lengths = g.integers(0, 12, documents)
        self.offsets = np.concatenate([[0], np.cumsum(self.lengths)])
        self.words = g.integers(0, words, self.offsets[-1]).astype(np.int32)
        self.z = g.integers(0, topics, len(self.words)).astype(np.uint16)
        self.z[g.random(len(self.words)) < 0.3] = NONE
        self.rows = np.zeros((words, width), np.int32)
        known = self.z != NONE
        np.add.at(self.rows, (self.words[known], self.z[known]), 1)
        self.totals = self.rows.sum(axis=0, dtype=np.int64)
        self.alpha = np.zeros(width, F)
        self.alpha[:topics] = g.random(topics) + 0.05
        self.a = 3.7
        self.shares = (self.a * g.dirichlet(np.ones(words))).astype(F)

    def tokens(self):
        """The documents as lists of [word, topic or None]."""
        topics = [None if t == NONE else int(t) for t in self.z]
        both = list(map(list, zip(self.words.tolist(), topics, strict=True)))
        return [both[b:e] for b, e in zip(self.offsets, self.offsets[1:], strict=False)]

    def draw(self, work, s, chosen):
        shard = Shard(work.slots[s], work.pools[s], work.totals[s])
        topics = Topics(self.rows, self.totals, self.shares, self.alpha, self.a)
        reach = Documents(self.words, self.offsets, self.z)
        return draw(reach, topics, shard, work.scratch(12), np.array(chosen), *KEY, EPOCH)


@pytest.mark.parametrize("topics", [1, 3, 8, 11, 40])
def test_shards_draw_and_merge_as_their_twins(topics):
    example, parts = Example(topics), ([3, 0, 9, 7], [1, 13, 2], [12])
    tokens, before = example.tokens(), example.rows.copy()
    arguments = (example.rows.copy(), example.totals.copy(), example.shares, example.alpha, 3.7)
    twins = [drawn_slowly(tokens, *arguments, part) for part in parts]
    work = Workspace(3, *before.shape)
    fits = [example.draw(work, s, part) for s, part in enumerate(parts)]
    assert (example.rows == before).all()
    assert fits == [fit for *_, fit in twins]
    assert work.totals.tolist() == [totals for _, totals, _ in twins]
    assert [t for document in tokens for _, t in document] == [
        None if t == NONE else t for t in example.z.tolist()
    ]
    for first, last in ((0, 4), (4, 9)):
        merge(first, last, example.rows, work.slots, work.pools)
    changes = sum(np.array(rows) - before for rows, *_ in twins)
    assert (example.rows == before + changes).all()
    assert (work.slots == -1).all()


@kernel
def choose(x, mass, lane):
    return _choose(x, mass, lane)


@pytest.mark.parametrize("x", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("topic", [0, 2, 15])
def test_rounding_at_the_upper_end_leads_to_a_topic_with_mass(x, topic):
    mass, lane = np.zeros(16, F), np.zeros(8, F)
    mass[topic] = F(1)
    lane[topic % 8 :] = F(1)
    assert choose(F(x), mass, lane) == topic


@pytest.mark.parametrize("c", [1e-9, 0.02, 1.3, 60.0])
def test_tables_are_those_of_the_twin(c):
    for n in (0, 1, 2, 7, 8, 9, 10, 18, 19, 300):
        found = count_tables(n, c, *KEY, 5, EPOCH, TABLES, 3)
        assert tuple(found) == tables_slowly(n, c, 5, TABLES, 3)


def distribution(n, c):
    """P(m tables of n tokens): a sum of independent trials."""
    found = np.ones(1)
    for i in range(n):
        found = np.convolve(found, [i / (c + i), c / (c + i)])
    return found


@pytest.mark.parametrize(("n", "c"), [(5, 0.7), (30, 0.05), (75, 4.0), (1000, 0.8)])
def test_tables_have_their_law(n, c):
    found = [count_tables(n, c, *KEY, w, EPOCH, TABLES, 0)[0] for w in range(20_000)]
    observed = np.bincount(found, minlength=n + 1)
    assert agrees_in_counts(observed, distribution(n, c))
    assert not agrees_in_counts(observed, distribution(n, 1.2 * c))


def test_tables_without_thinning_are_rejected():
    found = [
        [tables_slowly(36, 8.0, w, TABLES, 0, thins)[0] for w in range(1200)]
        for thins in (True, False)
    ]
    true, wrong = (np.bincount(one, minlength=37) for one in found)
    assert agrees_in_counts(true, distribution(36, 8.0))
    assert not agrees_in_counts(wrong, distribution(36, 8.0))


def test_ranges_of_words_are_seated_as_the_twin_says():
    rows = Example(11).rows * 9
    shares, tables = np.linspace(0.01, 2.0, 9), np.full(9, -1)
    of_topics, expected = np.zeros(16, np.int64), np.zeros((9, 16), np.int64)
    ranges = ((4, 9), (0, 4))
    opened = sum(seat(*r, rows, shares, 2.5, tables, of_topics, *KEY, EPOCH) for r in ranges)
    for w in range(9):
        block = 0
        for t in range(16):
            expected[w, t], block = tables_slowly(int(rows[w, t]), shares[w], w, TABLES, block)
    assert (tables == expected.sum(axis=1)).all()
    assert (of_topics == expected.sum(axis=0)).all()
    assert opened == sum(
        tables_slowly(int(m), 2.5, w, SHARED_TABLES, 0)[0] for w, m in enumerate(tables)
    )


def test_the_base_is_a_dirichlet_whatever_the_ranges():
    tables, drawn = np.array([0, 1, 4, 0]), np.empty((4000, 4))
    for e, base in enumerate(drawn):
        whole = draw_base(0, 4, tables, 0.5, base, *KEY, e)
        again = np.empty(4)
        halves = [draw_base(*r, tables, 0.5, again, *KEY, e) for r in ((0, 2), (2, 4))]
        assert (again == base).all()
        assert sum(halves) == pytest.approx(whole, rel=1e-12)
    shapes, shares = tables + 0.5, drawn / drawn.sum(axis=1, keepdims=True)
    mean = shapes / shapes.sum()
    deviation = np.sqrt(mean * (1 - mean) / (shapes.sum() + 1))
    assert np.abs(shares.mean(axis=0) - mean).max() < 0.01
    assert shares.std(axis=0) == pytest.approx(deviation, rel=0.05)


def test_products_of_topics_are_those_of_all_their_words():
    generator = np.random.default_rng(3)
    rows = generator.integers(5, size=(40, 8)) * generator.integers(2, size=(40, 8))
    base = 2.0 ** -generator.integers(1, 9, 40)
    chosen, found = np.array([1, 2, 6]), np.full((3, 3), -1.0)
    products(rows.astype(np.int32), base, chosen, found)
    expected = (rows / base[:, None]).T @ rows
    # Integers and powers of two have exact sums.
    assert (found == np.triu(expected[np.ix_(chosen, chosen)])).all()
