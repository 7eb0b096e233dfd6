"""The directed tree against one array for each particle, and the invariants of its shape."""

import numpy as np
import pytest

from beam_topics.model.papers import directed_tree
from beam_topics.model.papers.directed_tree import (
    NIL,
    build_tree,
    new_tree,
    with_free_rows,
)
from beam_topics.model.papers.kernels import shared_rows as tables

LENGTH = 3


class Both:
    """A tree, and the arrays that it represents."""

    def __init__(self, particles, keys, seed):
        self.tree = new_tree(particles, LENGTH)
        self.plain = np.zeros((particles, keys, LENGTH), np.int32)
        self.generator = np.random.default_rng(seed)
        self.deepest = 0

    def write(self):
        particles, keys, _ = self.plain.shape
        p, i = int(self.generator.integers(particles)), int(self.generator.integers(keys))
        copy = bool(self.generator.random() < 0.5)
        self.tree = with_free_rows(self.tree, 3 * particles)
        row = tables.own_row(self.tree, p, i, 0, copy)
        place = slice(1, 2) if copy else slice(None)
        self.tree.rows[row, place] = self.plain[p, i, place] = self.generator.integers(1, 1000)

    def resample(self):
        particles = len(self.plain)
        counts = self.generator.multinomial(
            particles, self.generator.dirichlet(np.full(particles, 0.3))
        )
        ancestors = np.full(particles, NIL)
        ancestors[counts > 0] = np.flatnonzero(counts)
        ancestors[counts == 0] = np.repeat(np.arange(particles), np.maximum(counts - 1, 0))
        tables.inherit(self.tree, ancestors)
        self.plain = self.plain[ancestors]

    def seen(self):
        keys = range(self.plain.shape[1])
        return np.array(
            [
                [self.tree.rows[directed_tree.tree_row(self.tree, p, i)] for i in keys]
                for p in range(len(self.plain))
            ]
        )

    def check(self):
        assert self.seen().tolist() == self.plain.tolist()
        self.check_shape()

    def check_shape(self):
        forest = self.tree
        nodes = {node for node in range(len(forest.size)) if forest.size[node] != NIL}
        assert (
            len(nodes)
            == len(forest.size) - forest.marks[directed_tree.FREE_NODES]
            <= 2 * len(self.plain)
        )
        assert {
            int(forest.owner[node]): node for node in nodes if forest.owner[node] != NIL
        } == dict(enumerate(forest.line.tolist()))
        children = {
            node: [other for other in nodes if forest.parent[other] == node] for node in nodes
        }
        for node in nodes:
            listed, at = [], int(forest.child[node])
            while at != NIL:
                listed.append(at)
                at = int(forest.sibling[at])
            assert sorted(listed) == sorted(children[node])
            assert forest.owner[node] != NIL or len(listed) >= 2
            size, entry = 0, int(forest.first[node])
            while entry:
                assert forest.node[entry] == node
                size, entry = size + 1, int(forest.next_in_node[entry])
            assert size == forest.size[node] == np.count_nonzero(forest.node == node)
        assert (
            forest.marks[directed_tree.FREE_ROWS] + sum(forest.size[node] for node in nodes)
            == len(forest.rows) - 1
        )
        for leaf in forest.line:
            depth, node = 0, int(leaf)
            while node != NIL:
                depth, node = depth + 1, int(forest.parent[node])
            self.deepest = max(self.deepest, depth)
        assert self.deepest <= len(self.plain)


@pytest.mark.parametrize(
    ("particles", "keys", "seed", "steps"),
    [
        (1, 5, 1, 1500),
        (2, 9, 2, 1500),
        (3, 20, 3, 1500),
        (8, 30, 4, 600),
        (20, 60, 5, 400),
        pytest.param(20, 60, 5, 1500, marks=pytest.mark.slow),
    ],
)
def test_thousands_of_random_operations(particles, keys, seed, steps):
    both = Both(particles, keys, seed)
    for step in range(steps):
        if both.generator.random() < 0.2:
            both.resample()
        else:
            both.write()
        if step % 25 == 0:
            both.check()
    both.check()
    assert both.deepest >= min(particles, 3)


def test_what_a_child_sees_survives_a_write_of_its_parent():
    both = Both(2, 1, 0)
    both.tree = with_free_rows(both.tree, 20)
    both.tree.rows[tables.own_row(both.tree, 0, 0, 0, True)] = 7
    tables.inherit(both.tree, np.array([0, 0]))
    assert tables.row_of.py_func(both.tree, 1, 0) == tables.row_of.py_func(both.tree, 0, 0)
    both.tree.rows[tables.own_row(both.tree, 0, 0, 0, True)] = 8
    assert both.seen().tolist() == [[[8] * LENGTH], [[7] * LENGTH]]


def test_a_past_that_all_share_is_held_once():
    both = Both(50, 400, 0)
    both.tree = with_free_rows(both.tree, 2000)
    for i in range(400):
        both.tree.rows[tables.own_row(both.tree, 3, i, 0, False)] = i
    tables.inherit(both.tree, np.full(50, 3))
    assert np.count_nonzero(both.tree.node != NIL) == 400
    tables.inherit(both.tree, np.full(50, 9))
    # The long node stays where it is: it is the particle's now.
    assert np.count_nonzero(both.tree.node != NIL) == 400
    assert both.tree.size[both.tree.line[9]] == 400


@pytest.mark.parametrize("particles", [1, 4])
def test_spread(particles):
    both = Both(5, 12, 7)
    for _ in range(100):
        both.write()
    both.tree, both.plain = tables.replicate(both.tree, 2, particles), both.plain[[2] * particles]
    both.check()
    for _ in range(300):
        both.write()
        both.resample()
    both.check()


@pytest.mark.parametrize("particles", [1, 4])
def test_planted(particles):
    generator = np.random.default_rng(3)
    both = Both(particles, 30, 7)
    keys, contents = np.array([2, 3, 17]), generator.integers(1, 99, (7, LENGTH))
    distinct = np.array([1, 1, 1]) if particles == 1 else np.array([1, 4, 2])
    owner = np.array([generator.integers(0, n, particles) for n in distinct])
    both.tree = build_tree(both.tree, keys, owner, distinct, contents)
    starts = np.cumsum(distinct) - distinct
    for n, key in enumerate(keys):
        both.plain[:, key] = contents[starts[n] + owner[n]]
    both.check()
    for _ in range(100):
        both.write()
        both.resample()
    both.check()
