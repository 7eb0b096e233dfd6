"""Costs over the number of topics."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.scale.commands import BARE, Row, Tree, against_first, places
from benchmarks.scale.made_up import write
from benchmarks.scale.settings import CHEAP, PUBLISHING

WORDS = 50_000


def topics(tree: Tree, folder: Path, count: int) -> Iterator[Row]:
    """Learning with many topics, against the default number."""
    documents = count // 20
    write(folder / "some.jsonl", documents)

    def row(number: int) -> Row:
        given = places(folder, "some", f"models-{number}")
        took = tree.spent("train", *given, *CHEAP, *PUBLISHING, f"--topics={number}")
        name = f"train by o-lda: {number:,} topics, {documents:,} documents"
        return Row(name, took.seconds, facts=took.memory)

    yield from against_first(map(row, (50, 1_000)))


def many_topics(tree: Tree, folder: Path, count: int) -> Iterator[Row]:
    """Learning with 5,000 topics, until 50,000 words are known."""
    for learner, documents in (("o-lda", count), ("particle-filter", count // 5)):
        for number in (50, 5_000):
            # A process of its own has its own peak of memory.
            given = ("topics", learner, str(number), str(WORDS), str(documents))
            took = tree.cost(sys.executable, str(BARE), *given)
            yield Row(
                f"{learner}: {number:,} topics, {documents:,} documents of {WORDS:,} words",
                took.seconds,
                wanted="1 GB" if number == 5_000 else "",
                facts=took.memory,
            )
