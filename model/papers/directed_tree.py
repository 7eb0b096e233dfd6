"""The directed tree of hash tables (Canini, Shi and Griffiths 2009, section 4): ``--history=tree``.

It shares a past of any length between particles. It has the same meaning as
:class:`beam_topics.model.papers.kernels.copy_on_write.Table`, a logical array of rows
for each of P particles, and kernels accept either: they are compiled for it when it is first used.
Each particle has a *node*: a hash table of the rows that it does not have from its parent.

* :func:`tree_row` finds a row: it goes up the tree until a node has the row. If none has, it is row
  0, which is zero.
* :func:`own_tree_row` writes a row in the particle's own node. The children that lack the row first
  get the old one, since they would otherwise see the new one.
* :func:`tree_inherit` resamples: each new particle gets a node below its ancestor's. The node of a
  particle that died is inactive. An inactive leaf is deleted, and an inactive node with one child
  is merged with it. So each inactive node has two children or more, there are fewer inactive nodes
  than particles, and no path is longer than P nodes.

The cost of a resampling does not depend on the length of the past: a merge keeps the rows of the
larger node where they are.

The hash tables of all nodes are one array of buckets by (node, key). Each entry is in the chain of
its bucket and in the list of its node, and its number is that of its row. No two nodes share an
entry, so an entry that is deleted frees its row. A write may change the nodes of other particles,
so only one thread may use a tree.

Kernels take free rows and nodes from stacks. There are always enough nodes; :func:`with_free_rows`
makes rows before a kernel runs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from beam_topics.model.kernels.jit import inlined, kernel, page_inlined, page_kernel
from beam_topics.model.papers import packing
from beam_topics.model.papers.kernels import shared_rows

FREE_ROWS, FREE_NODES = 0, 1
# A write may copy the old row to each child, and there are fewer than two nodes for each particle.
_ROWS_EACH = 3
NIL = -1
_ODD, _OTHER = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_HIGH = np.uint64(32)


class Tree(NamedTuple):
    """The arrays of the tree.

    Attributes:
        line: int64[P], the node of each particle.
        parent: int64[N], by node; NIL where there is none.
        child: int64[N], the first child.
        sibling: int64[N], the parent's next child.
        owner: int64[N], the particle of an active node, else NIL.
        first: int64[N], the first entry in a node's list; 0 ends the list.
        size: int64[N], the number of a node's entries; NIL for a free node.
        rows: int32[R, L].
        key: int64[R], the logical row of an entry.
        node: int64[R], the node of an entry; NIL where free.
        next_in_node: int64[R], the next entry in the node's list.
        next_in_bucket: int64[R], the next entry in the bucket's chain.
        buckets: int64[B], the first entry of each chain; B is a power of two.
        free_rows: int64[R], a stack.
        free_nodes: int64[N], a stack.
        marks: int64[2], the heights of the two stacks.
    """

    line: npt.NDArray[np.int64]
    parent: npt.NDArray[np.int64]
    child: npt.NDArray[np.int64]
    sibling: npt.NDArray[np.int64]
    owner: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    size: npt.NDArray[np.int64]
    rows: npt.NDArray[Any]
    key: npt.NDArray[np.int64]
    node: npt.NDArray[np.int64]
    next_in_node: npt.NDArray[np.int64]
    next_in_bucket: npt.NDArray[np.int64]
    buckets: npt.NDArray[np.int64]
    free_rows: npt.NDArray[np.int64]
    free_nodes: npt.NDArray[np.int64]
    marks: npt.NDArray[np.int64]


@inlined
def bucket(tree, node, key):
    """Return the bucket of a key of a node."""
    mixed = (np.uint64(key) * _ODD) ^ (np.uint64(node) * _OTHER)
    return (mixed * _ODD >> _HIGH) & np.uint64(len(tree.buckets) - 1)


@page_kernel
def _find(tree, node, key):
    """Return a node's entry for a key, 0 if it has none."""
    entry = tree.buckets[bucket(tree, node, key)]
    while entry != 0 and (tree.key[entry] != key or tree.node[entry] != node):
        entry = tree.next_in_bucket[entry]
    return entry


@page_kernel
def _link(tree, entry, node, key):
    """Give an entry to a node, for a key that the node does not have."""
    place = bucket(tree, node, key)
    tree.key[entry], tree.node[entry] = key, node
    tree.next_in_bucket[entry] = tree.buckets[place]
    tree.buckets[place] = entry
    tree.next_in_node[entry] = tree.first[node]
    tree.first[node] = entry
    tree.size[node] += 1


@page_kernel
def _unlink(tree, entry):
    """Take an entry out of its bucket. The list of its node is not changed."""
    place = bucket(tree, tree.node[entry], tree.key[entry])
    before, at = np.int64(0), tree.buckets[place]
    while at != entry:
        before, at = at, tree.next_in_bucket[at]
    if before == 0:
        tree.buckets[place] = tree.next_in_bucket[entry]
    else:
        tree.next_in_bucket[before] = tree.next_in_bucket[entry]


@page_kernel
def _free_entry(tree, entry):
    """Take an entry out of its bucket and free its row."""
    _unlink(tree, entry)
    tree.node[entry] = NIL
    tree.free_rows[tree.marks[FREE_ROWS]] = entry
    tree.marks[FREE_ROWS] += 1


@page_kernel
def insert(tree, node, key):
    """Return a row for a key that the node does not have; its contents are undefined."""
    tree.marks[FREE_ROWS] -= 1
    entry = tree.free_rows[tree.marks[FREE_ROWS]]
    _link(tree, entry, node, key)
    return entry


@inlined
def _copy(rows, source, into):
    for k in range(rows.shape[1]):
        rows[into, k] = rows[source, k]


@page_kernel
def tree_row(tree, p, i):
    """Return the physical row that holds p's row i, for reading."""
    node = tree.line[p]
    while node != NIL:
        entry = _find(tree, node, i)
        if entry != 0:
            return entry
        node = tree.parent[node]
    return np.int64(0)


@page_kernel
def own_tree_row(tree, p, i, copy):
    """Return a physical row that p alone uses for its row i, for writing.

    ``copy`` says whether it gets the old contents. Without it the contents are undefined, and the
    caller writes all of them.
    """
    node, old = tree.line[p], tree_row(tree, p, i)
    child = tree.child[node]
    while child != NIL:
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
def new_node(tree, parent, owner):
    """Give particle ``owner`` an empty node below ``parent``, or a root where ``parent`` is NIL."""
    tree.marks[FREE_NODES] -= 1
    node = tree.free_nodes[tree.marks[FREE_NODES]]
    tree.parent[node], tree.child[node], tree.sibling[node], tree.owner[node] = (
        parent,
        NIL,
        NIL,
        owner,
    )
    tree.first[node], tree.size[node] = 0, 0
    if parent != NIL:
        tree.sibling[node] = tree.child[parent]
        tree.child[parent] = node
    tree.line[owner] = node
    return node


@page_kernel
def _free_node(tree, node):
    """Push a node on the stack of free nodes."""
    tree.owner[node], tree.size[node] = NIL, NIL
    tree.free_nodes[tree.marks[FREE_NODES]] = node
    tree.marks[FREE_NODES] += 1


@page_kernel
def _replace_child(tree, node, other):
    """Replace a node by another in the list of its parent, or remove it where ``other`` is NIL."""
    parent, then = tree.parent[node], tree.sibling[node]
    if other != NIL:
        tree.parent[other], tree.sibling[other] = parent, then
        then = other
    if parent == NIL:
        return
    if tree.child[parent] == node:
        tree.child[parent] = then
        return
    at = tree.child[parent]
    while tree.sibling[at] != node:
        at = tree.sibling[at]
    tree.sibling[at] = then


@page_kernel
def _delete_leaf(tree, node):
    """Delete a leaf with its entries."""
    entry = tree.first[node]
    while entry != 0:
        _free_entry(tree, entry)
        entry = tree.next_in_node[entry]
    _replace_child(tree, node, NIL)
    _free_node(tree, node)


@page_kernel
def _merge(tree, node):
    """Merge an inactive node with its only child, and return the node that is kept.

    It holds what the child saw.
    """
    child = tree.child[node]
    kept, moved = (node, child) if tree.size[node] >= tree.size[child] else (child, node)
    entry = tree.first[moved]
    while entry != 0:
        then = tree.next_in_node[entry]
        there = _find(tree, kept, tree.key[entry])
        if there == 0:
            _unlink(tree, entry)
            _link(tree, entry, kept, tree.key[entry])
        else:
            if moved == child:
                _copy(tree.rows, entry, there)
            _free_entry(tree, entry)
        entry = then
    if kept == child:
        _replace_child(tree, node, child)
    else:
        owner, grandchild = tree.owner[child], tree.child[child]
        tree.child[node], tree.owner[node] = grandchild, owner
        while grandchild != NIL:
            tree.parent[grandchild] = node
            grandchild = tree.sibling[grandchild]
        if owner != NIL:
            tree.line[owner] = node
    _free_node(tree, moved)
    return kept


@page_kernel
def _prune(tree, node):
    """Delete or merge an inactive node, then the inactive nodes above it, as far as possible."""
    while node != NIL and tree.owner[node] == NIL:
        child = tree.child[node]
        if child == NIL:
            parent = tree.parent[node]
            _delete_leaf(tree, node)
            node = parent
        elif tree.sibling[child] == NIL:
            node = _merge(tree, node)
        else:
            return


@kernel
def tree_inherit(tree, ancestors):
    """Make particle p a child of ``ancestors[p]``; int64[P], a survivor is its own ancestor."""
    died = np.full(len(ancestors), NIL, np.int64)
    for p in range(len(ancestors)):
        if ancestors[p] != p:
            died[p] = tree.line[p]
            tree.owner[died[p]] = NIL
    for p in range(len(ancestors)):
        if ancestors[p] != p:
            new_node(tree, tree.line[ancestors[p]], p)
    for p in range(len(ancestors)):
        # An earlier _prune may have deleted it.
        if died[p] != NIL and tree.size[died[p]] != NIL:
            _prune(tree, died[p])


# Nodes for each particle: its own, an inactive one, and a new one before the old ones are pruned.
_NODES = 3


@kernel
def _rehash(tree):
    """Insert all entries into empty buckets."""
    for entry in range(1, len(tree.key)):
        if tree.node[entry] != NIL:
            place = bucket(tree, tree.node[entry], tree.key[entry])
            tree.next_in_bucket[entry] = tree.buckets[place]
            tree.buckets[place] = entry


@kernel
def _insert_contents(tree, keys, owner, starts, contents):
    """Insert each key's first content into node 0, and other contents into particles' nodes."""
    for n in range(len(keys)):
        tree.rows[insert(tree, 0, keys[n]), : contents.shape[1]] = contents[starts[n]]
        for p in range(len(tree.line)):
            if owner[n, p] != 0:
                tree.rows[insert(tree, tree.line[p], keys[n]), : contents.shape[1]] = contents[
                    starts[n] + owner[n, p]
                ]


@kernel
def _add_nodes(tree):
    """Give a single particle node 0, and several particles children of an inactive node 0."""
    root = NIL
    if len(tree.line) > 1:
        root = 0
        tree.marks[FREE_NODES] -= 1
        tree.size[root] = 0
    for p in range(len(tree.line)):
        new_node(tree, root, p)


@kernel
def _add_roots(tree):
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


@shared_rows.with_capacity.register
def _with_capacity(tree: Tree, logical: int, count: int) -> Tree:
    return with_free_rows(tree, _ROWS_EACH * count)


@shared_rows.replicate.register
def _replicate(tree: Tree, chosen: int, particles: int) -> Tree:
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


@packing.unpacked.register
def _unpacked(
    empty: Tree, logical: npt.NDArray[np.int64], count: int, packed: packing.Packed
) -> Tree:
    if not len(logical):
        return empty
    owner = np.zeros((len(logical), len(empty.line)), np.int64)
    owner[packed.differing] = packed.owner
    distinct = np.diff(packed.starts, append=len(packed.contents))
    return build_tree(empty, logical, owner, distinct, packed.contents.astype(empty.rows.dtype))


@page_inlined
def _own_row(tree, p, i, generation, copy):
    return own_tree_row(tree, p, i, copy)


@kernel
def _has_capacity(tree, count):
    return tree.marks[FREE_ROWS] >= _ROWS_EACH * count


for operation, of_tree in (
    (shared_rows.ROW_OF, tree_row),
    (shared_rows.OWN_ROW, _own_row),
    (shared_rows.INHERIT, tree_inherit),
    (shared_rows.HAS_CAPACITY, _has_capacity),
):
    operation.kinds[Tree] = of_tree
