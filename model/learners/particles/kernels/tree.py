"""The directed tree of hash tables (Canini, Shi and Griffiths 2009, section 4): a past of any
length, shared by particles.

It stands for the same as :class:`model.learners.particles.kernels.copy_on_write.Table`, and kernels
take either: for each of P particles a logical array of rows. Each particle has a *node*, a hash
table of the rows that it does not have from its parent.

* To look a row up, go up the tree until a node has it (:func:`tree_row`); where none has, it is row
  0, all zeros.
* To write, put the row into the particle's own node; what it held before goes into those children's
  nodes that lack it (:func:`own_tree_row`), since they would see the new one.
* When particles descend from others (:func:`tree_inherit`), each gets a new node below its
  ancestor's. A node whose particle has died is inactive. Inactive leaves are deleted; an inactive
  node with one child is merged with it. So each inactive node has two children or more, there are
  fewer of them than of particles, and no path is longer than P nodes.

What a resampling costs does not depend on how long the past is: a merged pair keeps the larger
    node's rows where they are.

The nodes' hash tables are one array of buckets, by (node, key): each entry is in the chain of its
bucket and in the list of its node, and its number is that of its row. No entry is shared, so
whoever deletes it frees its row. A write may change the nodes of other particles, so there is no
second thread here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model.kernels.jit import inlined, kernel, page_kernel

FREE_ROWS, FREE_NODES = 0, 1
NOBODY = -1
_ODD, _OTHER = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_HIGH = np.uint64(32)


class Tree(NamedTuple):
    """See the module's docstring.

    Attributes:
        line: int64[P], the node of each particle. parent, child, sibling: int64[N], of nodes: the
        parent, the first child, the parent's next child; NOBODY where there is none. owner:
        int64[N], the particle of an active node, else NOBODY. first: int64[N], the first entry in a
        node's list, 0 at its end. held: int64[N], how many it has; NOBODY of a node that is free.
        rows: int32[R, L]. key, node: int64[R], whose row it is; node is NOBODY where free. in_node,
        in_bucket: int64[R], the next entry. buckets: int64[B], a power of two. free_rows: int64[R],
        free_nodes: int64[N], stacks, as high as marks: int64[2] says.
    """

    line: npt.NDArray[np.int64]
    parent: npt.NDArray[np.int64]
    child: npt.NDArray[np.int64]
    sibling: npt.NDArray[np.int64]
    owner: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    held: npt.NDArray[np.int64]
    rows: npt.NDArray[Any]
    key: npt.NDArray[np.int64]
    node: npt.NDArray[np.int64]
    in_node: npt.NDArray[np.int64]
    in_bucket: npt.NDArray[np.int64]
    buckets: npt.NDArray[np.int64]
    free_rows: npt.NDArray[np.int64]
    free_nodes: npt.NDArray[np.int64]
    marks: npt.NDArray[np.int64]


@inlined
def bucket(tree: Any, node: Any, key: Any) -> Any:
    """Where a key of a node is looked for."""
    mixed = (np.uint64(key) * _ODD) ^ (np.uint64(node) * _OTHER)
    return (mixed * _ODD >> _HIGH) & np.uint64(len(tree.buckets) - 1)


@page_kernel
def _find(tree: Any, node: Any, key: Any) -> Any:
    """A node's entry for a key, 0 if it has none."""
    entry = tree.buckets[bucket(tree, node, key)]
    while entry != 0 and (tree.key[entry] != key or tree.node[entry] != node):
        entry = tree.in_bucket[entry]
    return entry


@page_kernel
def _link(tree: Any, entry: Any, node: Any, key: Any) -> None:
    """An entry becomes the node's, for a key that it does not have."""
    place = bucket(tree, node, key)
    tree.key[entry], tree.node[entry] = key, node
    tree.in_bucket[entry] = tree.buckets[place]
    tree.buckets[place] = entry
    tree.in_node[entry] = tree.first[node]
    tree.first[node] = entry
    tree.held[node] += 1


@page_kernel
def _unlink(tree: Any, entry: Any) -> None:
    """Take an entry out of its bucket; its node's list is not looked after."""
    place = bucket(tree, tree.node[entry], tree.key[entry])
    before, at = np.int64(0), tree.buckets[place]
    while at != entry:
        before, at = at, tree.in_bucket[at]
    if before == 0:
        tree.buckets[place] = tree.in_bucket[entry]
    else:
        tree.in_bucket[before] = tree.in_bucket[entry]


@page_kernel
def _drop(tree: Any, entry: Any) -> None:
    _unlink(tree, entry)
    tree.node[entry] = NOBODY
    tree.free_rows[tree.marks[FREE_ROWS]] = entry
    tree.marks[FREE_ROWS] += 1


@page_kernel
def insert(tree: Any, node: Any, key: Any) -> Any:
    """A row for a key that the node does not have; what is in it is not told."""
    tree.marks[FREE_ROWS] -= 1
    entry = tree.free_rows[tree.marks[FREE_ROWS]]
    _link(tree, entry, node, key)
    return entry


@inlined
def _copy(rows: Any, source: Any, into: Any) -> None:
    for k in range(rows.shape[1]):
        rows[into, k] = rows[source, k]


@page_kernel
def tree_row(tree: Any, p: Any, i: Any) -> Any:
    """The physical row that holds p's row i, to read."""
    node = tree.line[p]
    while node != NOBODY:
        entry = _find(tree, node, i)
        if entry != 0:
            return entry
        node = tree.parent[node]
    return np.int64(0)


@page_kernel
def own_tree_row(tree: Any, p: Any, i: Any, copy: Any) -> Any:
    """The physical row of p's own for its row i: what it held is copied, or left as it happens
    to be when all will be written.
    """
    node, old = tree.line[p], tree_row(tree, p, i)
    child = tree.child[node]
    while child != NOBODY:
        if _find(tree, child, i) == 0:
            _copy(tree.rows, old, insert(tree, child, i))
        child = tree.sibling[child]
    if old != 0 and tree.node[old] == node:
        return old
    entry = insert(tree, node, i)
    if copy:
        _copy(tree.rows, old, entry)
    return entry


@page_kernel
def new_node(tree: Any, parent: Any, owner: Any) -> Any:
    """A particle gets an empty node, below ``parent`` if that is one."""
    tree.marks[FREE_NODES] -= 1
    node = tree.free_nodes[tree.marks[FREE_NODES]]
    tree.parent[node], tree.child[node], tree.sibling[node], tree.owner[node] = (
        parent,
        NOBODY,
        NOBODY,
        owner,
    )
    tree.first[node], tree.held[node] = 0, 0
    if parent != NOBODY:
        tree.sibling[node] = tree.child[parent]
        tree.child[parent] = node
    tree.line[owner] = node
    return node


@page_kernel
def _free_node(tree: Any, node: Any) -> None:
    tree.owner[node], tree.held[node] = NOBODY, NOBODY
    tree.free_nodes[tree.marks[FREE_NODES]] = node
    tree.marks[FREE_NODES] += 1


@page_kernel
def _replace_child(tree: Any, node: Any, other: Any) -> None:
    """In the list of the node's parent: another child takes its place, or nobody."""
    parent, then = tree.parent[node], tree.sibling[node]
    if other != NOBODY:
        tree.parent[other], tree.sibling[other] = parent, then
        then = other
    if parent == NOBODY:
        return
    if tree.child[parent] == node:
        tree.child[parent] = then
        return
    at = tree.child[parent]
    while tree.sibling[at] != node:
        at = tree.sibling[at]
    tree.sibling[at] = then


@page_kernel
def _delete(tree: Any, node: Any) -> None:
    """A leaf, with all that it holds."""
    entry = tree.first[node]
    while entry != 0:
        _drop(tree, entry)
        entry = tree.in_node[entry]
    _replace_child(tree, node, NOBODY)
    _free_node(tree, node)


@page_kernel
def _merge(tree: Any, node: Any) -> Any:
    """An inactive node and its only child become one, which holds what the child saw; the one
    that is left.
    """
    child = tree.child[node]
    kept, moved = (node, child) if tree.held[node] >= tree.held[child] else (child, node)
    entry = tree.first[moved]
    while entry != 0:
        then = tree.in_node[entry]
        there = _find(tree, kept, tree.key[entry])
        if there == 0:
            _unlink(tree, entry)
            _link(tree, entry, kept, tree.key[entry])
        else:
            if moved == child:
                _copy(tree.rows, entry, there)
            _drop(tree, entry)
        entry = then
    if kept == child:
        _replace_child(tree, node, child)
    else:
        owner, grandchild = tree.owner[child], tree.child[child]
        tree.child[node], tree.owner[node] = grandchild, owner
        while grandchild != NOBODY:
            tree.parent[grandchild] = node
            grandchild = tree.sibling[grandchild]
        if owner != NOBODY:
            tree.line[owner] = node
    _free_node(tree, moved)
    return kept


@page_kernel
def _prune(tree: Any, node: Any) -> None:
    """An inactive node, and above it those that it kept: deleted or merged, as far as that goes."""
    while node != NOBODY and tree.owner[node] == NOBODY:
        child = tree.child[node]
        if child == NOBODY:
            parent = tree.parent[node]
            _delete(tree, node)
            node = parent
        elif tree.sibling[child] == NOBODY:
            node = _merge(tree, node)
        else:
            return


@kernel
def tree_inherit(tree: Any, ancestors: Any) -> None:
    """Particle p becomes a child of ``ancestors[p]``; int64[P], and a particle that survives is
    its own ancestor.
    """
    died = np.full(len(ancestors), NOBODY, np.int64)
    for p in range(len(ancestors)):
        if ancestors[p] != p:
            died[p] = tree.line[p]
            tree.owner[died[p]] = NOBODY
    for p in range(len(ancestors)):
        if ancestors[p] != p:
            new_node(tree, tree.line[ancestors[p]], p)
    for p in range(len(ancestors)):
        # It may have gone already, together with another.
        if died[p] != NOBODY and tree.held[died[p]] != NOBODY:
            _prune(tree, died[p])
