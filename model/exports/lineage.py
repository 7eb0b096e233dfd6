"""How topics go on, appear, split, merge and end over versions, as a graph in the DOT language.

A node is a topic of a version, with its first words. Between two versions that follow each other
there is an edge where the similarity of two topics is :data:`SIMILAR` or more
(:func:`model.publishing.alignment.similarity`). A topic without an edge to an earlier version is
born, one without an edge to a later version ends. Two edges from one topic are a split, two edges
to one are a merger. Topics have the ids of their versions, whatever the edges say. Groups and parts
are those of the catalogue; a part has the words of its topic in each version.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from model.publishing.alignment import similarity
from model.reporting.shown import Shown
from model.times import to_iso

# Topics that are at least so similar (0 to 1) are one topic.
SIMILAR = 0.5
_WORDS = 3

Similar = npt.NDArray[np.bool_]


def to_dot(versions: Sequence[Shown]) -> bytes:
    """Return the graph in UTF-8.

    Args:
        versions: two versions or more, the oldest first.
    """
    edges = [
        similarity(before.snapshot, after.snapshot) >= SIMILAR
        for before, after in zip(versions[:-1], versions[1:], strict=True)
    ]
    lines = ["digraph topics {", "  rankdir=LR;", '  node [shape=box, fontname="sans-serif"];']
    for at, shown in enumerate(versions):
        lines.append(f"  subgraph cluster_{at} {{")
        lines.append(f"    label={_quoted(to_iso(shown.manifest.event_time)[:10])};")
        for topic, words in enumerate(shown.snapshot.top_words(_WORDS)):
            id = shown.ids[topic]
            name = f"{id} {shown.given.get(id) or ' '.join(words)}"
            lines.append(f"    {_node(at, topic)} [{_look(edges, at, topic, name)}];")
        lines.append("  }")
    for at, similar in enumerate(edges):
        lines += _edges(at, similar)
    return "\n".join([*lines, "}", ""]).encode()


def _look(edges: Sequence[Similar], at: int, topic: int, name: str) -> str:
    found = [f"label={_quoted(name)}"]
    if at > 0 and not edges[at - 1][:, topic].any():
        found.append("color=darkgreen, penwidth=2, tooltip=born")
    elif at < len(edges) and not edges[at][topic].any():
        found.append("color=firebrick, style=dashed, tooltip=ends")
    return ", ".join(found)


def _edges(at: int, similar: Similar) -> Iterable[str]:
    splits, merges = similar.sum(axis=1) > 1, similar.sum(axis=0) > 1
    for before, after in zip(*np.nonzero(similar), strict=True):
        kinds = ["split"] * bool(splits[before]) + ["merge"] * bool(merges[after])
        look = f" [style=dashed, label={_quoted(' '.join(kinds))}]" if kinds else ""
        yield f"  {_node(at, before)} -> {_node(at + 1, after)}{look};"


def _node(at: int, topic: int) -> str:
    return f"v{at}_t{topic}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
