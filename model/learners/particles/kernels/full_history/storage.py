"""Storage of a :class:`~model.learners.particles.kernels.full_history.tree.Tree`.

This module allocates trees, grows them, and builds them from given rows. Kernels take free rows and
nodes from stacks. There are always enough nodes; :func:`with_free_rows` makes rows before a kernel
runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from model.kernels.jit import kernel
from model.learners.particles.kernels.full_history.tree import (
    FREE_NODES,
    FREE_ROWS,
    NIL,
    Tree,
    bucket,
    insert,
    new_node,
    tree_inherit,
)

# Nodes for each particle: its own, an inactive one, and a new one before the old ones are pruned.
_NODES = 3


@kernel
def _rehash(tree: Any) -> None:
    """Insert all entries into empty buckets."""
    for entry in range(1, len(tree.key)):
        if tree.node[entry] != NIL:
            place = bucket(tree, tree.node[entry], tree.key[entry])
            tree.next_in_bucket[entry] = tree.buckets[place]
            tree.buckets[place] = entry


@kernel
def _insert_contents(tree: Any, keys: Any, owner: Any, starts: Any, contents: Any) -> None:
    """Insert each key's first content into node 0, and other contents into particles' nodes."""
    for n in range(len(keys)):
        tree.rows[insert(tree, 0, keys[n]), : contents.shape[1]] = contents[starts[n]]
        for p in range(len(tree.line)):
            if owner[n, p] != 0:
                tree.rows[insert(tree, tree.line[p], keys[n]), : contents.shape[1]] = contents[
                    starts[n] + owner[n, p]
                ]


@kernel
def _add_nodes(tree: Any) -> None:
    """Give a single particle node 0, and several particles children of an inactive node 0."""
    root = NIL
    if len(tree.line) > 1:
        root = 0
        tree.marks[FREE_NODES] -= 1
        tree.size[root] = 0
    for p in range(len(tree.line)):
        new_node(tree, root, p)


@kernel
def _add_roots(tree: Any) -> None:
    """Give each particle a node without a parent."""
    for p in range(len(tree.line)):
        new_node(tree, NIL, p)


def new_tree(particles: int, length: int, dtype: Any = np.int32) -> Tree:
    """Return a forest of particles that share nothing; all rows are zero."""
    tree = _empty_tree(particles, np.zeros((1, length), dtype))
    _add_roots(tree)
    return tree


def _empty_tree(particles: int, rows: npt.NDArray[Any]) -> Tree:
    """Return a tree with free rows and free nodes only."""
    nodes, count = _NODES * particles + 1, len(rows)
    return Tree(
        line=np.full(particles, NIL, np.int64),
        parent=np.full(nodes, NIL, np.int64),
        child=np.full(nodes, NIL, np.int64),
        sibling=np.full(nodes, NIL, np.int64),
        owner=np.full(nodes, NIL, np.int64),
        first=np.zeros(nodes, np.int64),
        size=np.full(nodes, NIL, np.int64),
        rows=rows,
        key=np.zeros(count, np.int64),
        node=np.full(count, NIL, np.int64),
        next_in_node=np.zeros(count, np.int64),
        next_in_bucket=np.zeros(count, np.int64),
        buckets=np.zeros(2, np.int64),
        free_rows=np.arange(count, dtype=np.int64)[::-1].copy(),
        free_nodes=np.arange(nodes, dtype=np.int64)[::-1].copy(),
        marks=np.array([count - 1, nodes], np.int64),
    )


def build_tree(
    empty: Tree,
    keys: npt.NDArray[np.int64],
    owner: npt.NDArray[np.int64],
    distinct: Any,
    contents: Any,
) -> Tree:
    """Return a tree from the distinct contents of its rows.

    Args:
        empty: gives the particles, the row length and the type.
        keys: int64[n], the logical rows.
        owner: int64[n, P], which content of each row a particle has.
        distinct: int64[n], how many contents each row has.
        contents: int[total, length], the contents, one row's after another's.
    """
    particles, length = len(empty.line), empty.rows.shape[1]
    tree = _empty_tree(particles, np.zeros((1, length), empty.rows.dtype))
    _add_nodes(tree)
    tree = with_free_rows(tree, len(keys) + int(np.count_nonzero(owner)))
    _insert_contents(tree, keys, owner, np.cumsum(distinct) - distinct, contents)
    return tree


def with_free_rows(tree: Tree, rows: int) -> Tree:
    """Return the tree with at least ``rows`` free rows; it grows by half or more."""
    free, have = int(tree.marks[FREE_ROWS]), len(tree.rows)
    if free >= rows:
        return tree
    more = max(rows - free, have // 2)
    longer = {
        name: np.concatenate([part, np.zeros((more, *part.shape[1:]), part.dtype)])
        for name, part in _of_rows(tree).items()
    }
    longer["node"][have:] = NIL
    longer["free_rows"][free : free + more] = np.arange(have + more - 1, have - 1, -1)
    tree.marks[FREE_ROWS] += more
    tree = tree._replace(**longer, buckets=np.zeros(1 << (have + more).bit_length(), np.int64))
    _rehash(tree)
    return tree


def _of_rows(tree: Tree) -> dict[str, npt.NDArray[Any]]:
    return {
        name: getattr(tree, name)
        for name in ("rows", "key", "node", "next_in_node", "next_in_bucket", "free_rows")
    }


def replicate_tree(tree: Tree, chosen: int, particles: int) -> Tree:
    """Return a tree of ``particles`` particles that all share what particle ``chosen`` has."""
    tree_inherit(tree, np.full(len(tree.line), chosen, np.int64))
    size = tree.node == tree.line[chosen]
    # The other particles have no entries left, so all entries belong to one node: the new root.
    bare = _empty_tree(particles, tree.rows)._replace(**_of_rows(tree), buckets=tree.buckets)
    bare.marks[FREE_ROWS] = tree.marks[FREE_ROWS]
    bare.node[size] = 0
    bare.buckets[:] = 0
    _rehash(bare)
    _add_nodes(bare)
    bare.first[0], bare.size[0] = tree.first[tree.line[chosen]], tree.size[tree.line[chosen]]
    return bare
