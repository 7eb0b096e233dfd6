"""Costs over the number of topics."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.scale.commands import BARE, Row, Tree, places
from benchmarks.scale.made_up import write
from benchmarks.scale.settings import TRAINING

WORDS = 50_000


def topics(tree: Tree, folder: Path, count: int) -> Iterator[Row]:
    """Learning with many topics, against the default number."""
    write(folder / "some.jsonl", count // 20)
    one = 0.0
    for number in (50, 1_000):
        others = [flag for flag in TRAINING if not flag.startswith("--topics")]
        given = places(folder, "some", f"models-{number}")
        took = tree.spent("train", *given, *others, f"--topics={number}")
        one = one or took.seconds
        yield Row(
            f"train by o-lda: {number:,} topics, {count // 20:,} documents",
            took.seconds,
            took.seconds / one,
            facts=f"{took.megabytes:,.0f} MB",
        )


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
                facts=f"{took.megabytes:,.0f} MB",
            )
