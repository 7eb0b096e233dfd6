"""Room for a :class:`model.learners.particles.kernels.tree.Tree`: making one, letting it grow, and
building one from what particles hold.

Kernels take free rows and nodes from stacks. There are always nodes enough, and before a kernel
runs :func:`with_free_rows` makes rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from model.kernels.jit import kernel
from model.learners.particles.kernels.tree import (
    FREE_NODES,
    FREE_ROWS,
    NOBODY,
    Tree,
    bucket,
    insert,
    new_node,
    tree_inherit,
)

# Nodes for each particle: its own, as many inactive ones, and a new one before the old ones are
# pruned.
_NODES = 3


@kernel
def _hash_again(tree: Any) -> None:
    """All entries into buckets that are empty."""
    for entry in range(1, len(tree.key)):
        if tree.node[entry] != NOBODY:
            place = bucket(tree, tree.node[entry], tree.key[entry])
            tree.in_bucket[entry] = tree.buckets[place]
            tree.buckets[place] = entry


@kernel
def _plant(tree: Any, keys: Any, owner: Any, starts: Any, contents: Any) -> None:
    """Node 0 gets the first content of each key, and each particle's node what it has instead."""
    for n in range(len(keys)):
        tree.rows[insert(tree, 0, keys[n]), : contents.shape[1]] = contents[starts[n]]
        for p in range(len(tree.line)):
            if owner[n, p] != 0:
                tree.rows[insert(tree, tree.line[p], keys[n]), : contents.shape[1]] = contents[
                    starts[n] + owner[n, p]
                ]


@kernel
def _populate(tree: Any) -> None:
    """Each particle gets a node: the only one node 0, several one below node 0, which is
    nobody's.
    """
    root = NOBODY
    if len(tree.line) > 1:
        root = 0
        tree.marks[FREE_NODES] -= 1
        tree.held[root] = 0
    for p in range(len(tree.line)):
        new_node(tree, root, p)


@kernel
def _scatter(tree: Any) -> None:
    """Each particle gets a node without a parent."""
    for p in range(len(tree.line)):
        new_node(tree, NOBODY, p)


def new_tree(particles: int, length: int, dtype: Any = np.int32) -> Tree:
    """A forest of particles that have nothing in common: all rows are zero."""
    tree = _bare(particles, np.zeros((1, length), dtype))
    _scatter(tree)
    return tree


def _bare(particles: int, rows: npt.NDArray[Any]) -> Tree:
    """Rows of nobody, and no nodes but free ones."""
    nodes, count = _NODES * particles + 1, len(rows)
    return Tree(
        line=np.full(particles, NOBODY, np.int64),
        parent=np.full(nodes, NOBODY, np.int64),
        child=np.full(nodes, NOBODY, np.int64),
        sibling=np.full(nodes, NOBODY, np.int64),
        owner=np.full(nodes, NOBODY, np.int64),
        first=np.zeros(nodes, np.int64),
        held=np.full(nodes, NOBODY, np.int64),
        rows=rows,
        key=np.zeros(count, np.int64),
        node=np.full(count, NOBODY, np.int64),
        in_node=np.zeros(count, np.int64),
        in_bucket=np.zeros(count, np.int64),
        buckets=np.zeros(2, np.int64),
        free_rows=np.arange(count, dtype=np.int64)[::-1].copy(),
        free_nodes=np.arange(nodes, dtype=np.int64)[::-1].copy(),
        marks=np.array([count - 1, nodes], np.int64),
    )


def planted(
    empty: Tree,
    keys: npt.NDArray[np.int64],
    owner: npt.NDArray[np.int64],
    distinct: Any,
    contents: Any,
) -> Tree:
    """A tree in which ``keys[n]`` has distinct[n] contents, one after the other in ``contents``;
    particle p has number ``owner[n, p]``.
    """
    particles, length = len(empty.line), empty.rows.shape[1]
    tree = _bare(particles, np.zeros((1, length), empty.rows.dtype))
    _populate(tree)
    tree = with_free_rows(tree, len(keys) + int(np.count_nonzero(owner)))
    _plant(tree, keys, owner, np.cumsum(distinct) - distinct, contents)
    return tree


def with_free_rows(tree: Tree, rows: int) -> Tree:
    """The tree with so many free rows at least; it grows by half or more."""
    free, have = int(tree.marks[FREE_ROWS]), len(tree.rows)
    if free >= rows:
        return tree
    more = max(rows - free, have // 2)
    longer = {
        name: np.concatenate([part, np.zeros((more, *part.shape[1:]), part.dtype)])
        for name, part in _of_rows(tree).items()
    }
    longer["node"][have:] = NOBODY
    longer["free_rows"][free : free + more] = np.arange(have + more - 1, have - 1, -1)
    tree.marks[FREE_ROWS] += more
    tree = tree._replace(**longer, buckets=np.zeros(1 << (have + more).bit_length(), np.int64))
    _hash_again(tree)
    return tree


def _of_rows(tree: Tree) -> dict[str, npt.NDArray[Any]]:
    return {
        name: getattr(tree, name)
        for name in ("rows", "key", "node", "in_node", "in_bucket", "free_rows")
    }


def spread_tree(tree: Tree, chosen: int, particles: int) -> Tree:
    """A tree of so many particles that all share what one of the tree's has."""
    tree_inherit(tree, np.full(len(tree.line), chosen, np.int64))
    held = tree.node == tree.line[chosen]
    # Of the other particles nothing is left, so all entries are of one node, which becomes the
    # root.
    bare = _bare(particles, tree.rows)._replace(**_of_rows(tree), buckets=tree.buckets)
    bare.marks[FREE_ROWS] = tree.marks[FREE_ROWS]
    bare.node[held] = 0
    bare.buckets[:] = 0
    _hash_again(bare)
    _populate(bare)
    bare.first[0], bare.held[0] = tree.first[tree.line[chosen]], tree.held[tree.line[chosen]]
    return bare
