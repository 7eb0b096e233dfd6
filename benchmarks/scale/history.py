"""Costs over time: windows, versions, and what expires."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.scale.commands import Row, Tree, against_first, places, sizes_of
from benchmarks.scale.made_up import Made, write
from benchmarks.scale.settings import LEARNING

_SECONDS = 10


def windows(tree: Tree, folder: Path, count: int) -> Iterator[Row]:
    """Learn one archive with 10 to 100,000 windows.

    A minibatch ends where its window ends, so 100,000 windows mean 100,000 minibatches in place of
    500.
    """
    documents = 5 * count
    write(folder / "long.jsonl", documents, Made(seconds=_SECONDS))

    def row(number: int) -> Row:
        flags = f"--window={documents * _SECONDS // number}s", f"--publish_every={documents}s"
        took = tree.spent("train", *places(folder, "long", f"models-{number}"), *LEARNING, *flags)
        name = f"{number:,} windows of {documents:,} documents"
        return Row(name, took.seconds, facts=took.memory)

    yield from against_first(map(row, (10, documents // 100, documents)), "2 x ten windows")


def version(tree: Tree, folder: Path, count: int) -> Iterator[Row]:
    """Measure a version of 30,000 words and 50 topics, learned from abstracts of arXiv."""
    *parts, seconds, share = tree.bare("version")
    named = zip(("encode", "decode", "align", "changes"), parts, strict=True)
    facts = ", ".join(f"{name} {1000 * part:.1f} ms" for name, part in named)
    yield Row("encode, decode, align and changes", sum(parts), wanted=".03 s", facts=facts)
    yield Row("a version, from the model to LATEST", seconds, share, ".03 s; .4 of Avro's bytes")


def expiry(tree: Tree, folder: Path, count: int) -> Iterator[Row]:
    """Files and bytes of a store that keeps all, and of one that keeps a week."""
    write(folder / "some.jsonl", count)
    flags = (*LEARNING, "--window=6h", "--publish_every=6h")
    all_bytes = 0
    for name, rules in (("all versions", "all"), ("a week", "7d")):
        given = places(folder, "some", f"models-{rules}")
        # What was written within the time of grace stays, and a day is its default.
        keep = f"--keep=versions:{rules},checkpoints:3,grace:1s"
        took = tree.spent("train", *given, *flags, keep)
        sizes = sizes_of((folder / f"models-{rules}").rglob("*"))
        all_bytes = all_bytes or sum(sizes)
        facts = f"{len(sizes):,} files, {sum(sizes) / 1e6:,.1f} MB"
        yield Row(f"kept: {name}", took.seconds, sum(sizes) / all_bytes, "", facts)
