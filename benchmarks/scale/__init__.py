"""What the product costs around its kernels: ``python -m benchmarks scale``.

Each row measures one direction of growth in whole commands. It prints seconds of the processor,
which hardly depend on what else runs on the machine, a ratio, and what is wanted of it. The input
is synthetic, but for the rows ``beside`` and ``version``: its words follow Zipf's law, and where
there are keys, these do too. Seconds of commands contain their start, unless the row says
otherwise.

``BENCHMARK_ROWS=start,infer_keys`` measures some rows, and ``BENCHMARK_DOCUMENTS=2000`` makes the
input smaller. ``BENCHMARK_TREES=../before:.`` measures each row in several checkouts in turn, and
compares the last with the first. The lines are a table in Markdown.

A group of rows is a generator of :class:`~benchmarks.scale.commands.Row`, registered in
:data:`GROUPS`.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.runners import ROOT
from benchmarks.scale.beside import beside
from benchmarks.scale.commands import Row, Tree
from benchmarks.scale.documents import infer_document, long, short, start, whole
from benchmarks.scale.history import expiry, version, windows
from benchmarks.scale.keys import infer_keys, stored, train_keys, train_keys_default
from benchmarks.scale.topics import many_topics, topics

DOCUMENTS = 20_000

# A group that measures another direction is added here.
GROUPS: dict[str, Callable[[Tree, Path, int], Iterator[Row]]] = {
    "windows": windows,
    "version": version,
    "train_keys": train_keys,
    "train_keys_default": train_keys_default,
    "infer_keys": infer_keys,
    "topics": topics,
    "many_topics": many_topics,
    "long": long,
    "stored": stored,
    "expiry": expiry,
    "infer_document": infer_document,
    "whole": whole,
    "start": start,
    "short": short,
    "beside": beside,
}


def scale() -> None:
    """Print the rows of the table of costs.

    Raises:
        SystemExit: a group of rows is not known, or a command fails.
    """
    count = int(os.environ.get("BENCHMARK_DOCUMENTS", DOCUMENTS))
    chosen = os.environ.get("BENCHMARK_ROWS", ",".join(GROUPS)).split(",")
    if unknown := sorted(set(chosen) - set(GROUPS)):
        raise SystemExit(f"BENCHMARK_ROWS={','.join(unknown)}: use some of {', '.join(GROUPS)}.")
    named = os.environ.get("BENCHMARK_TREES", str(ROOT)).split(":")
    trees = [Tree(Path(name).resolve()) for name in named]
    for tree in trees:
        # Otherwise the first row compiles the kernels of a fresh clone.
        tree.cost(sys.executable, "-m", "beam_topics.model.warm")
    seconds = [f"s, tree {number}" for number in range(1, len(trees) + 1)]
    change = ["change"] if len(trees) > 1 else []
    titles = ["row", *seconds, *change, "ratio", "wanted", "facts"]
    print(line(titles), line(["---"] * len(titles)), sep="\n", flush=True)
    for name in chosen:
        with ExitStack() as folders:
            groups = [
                GROUPS[name](
                    tree, Path(folders.enter_context(tempfile.TemporaryDirectory())), count
                )
                for tree in trees
            ]
            # One row of each tree after the other, so that both see the same machine.
            for rows in zip(*groups, strict=True):
                print(line(cells(rows)), flush=True)


def cells(rows: Sequence[Row]) -> list[str]:
    """Return what is printed of a row that was measured in each tree."""
    last = rows[-1]
    change = [f"{last.seconds / rows[0].seconds:.2f} x"] if len(rows) > 1 else []
    ratios = ", ".join(f"{row.ratio:.2f} x" for row in rows if row.ratio is not None)
    facts = "; ".join(row.facts for row in rows if row.facts)
    return [last.name, *(f"{row.seconds:.4g}" for row in rows), *change, ratios, last.wanted, facts]


def line(given: Sequence[str]) -> str:
    """Return a line of a table in Markdown."""
    return f"| {' | '.join(given)} |"
