"""Costs over keys: learning, inference, and the files of a key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.scale.commands import Row, Tree, against_first, labelled, places, sizes_of
from benchmarks.scale.made_up import CUSTOMER, Made, write
from benchmarks.scale.settings import LEARNING, PUBLISHING, TRAINING

_FLAGS = {"o-lda": TRAINING, "default learner": PUBLISHING}
_WANTED = "2 x one key"


def infer_keys(tree: Tree, folder: Path, count: int) -> Iterator[Row]:
    """Inference with the models of many keys, against one key."""
    write(folder / "some.jsonl", 500)
    tree.spent("train", *places(folder, "some"), *TRAINING)

    def row(keys: int) -> Row:
        write(folder / f"{keys}.jsonl", count, Made(keys=keys))
        tree.bare("copies", folder / "models", folder / f"models-{keys}", keys, CUSTOMER)
        flags = labelled(folder, str(keys), f"models-{keys}")
        took = tree.spent("infer", *flags, "--key_field=customer")
        name = f"infer by gibbs3: {keys:,} keys, {count:,} documents"
        return Row(name, took.seconds, facts=took.memory)

    yield from against_first(map(row, (1, 50, 5_000)), _WANTED)


def train_keys(tree: Tree, folder: Path, count: int) -> Iterator[Row]:
    """Learning with many keys, against one key."""
    yield from over_keys(tree, folder, count // 5, "o-lda", (1, 10, 1_000, 5_000))


def train_keys_default(tree: Tree, folder: Path, count: int) -> Iterator[Row]:
    """Learn with many keys by the settings that users have, against one key."""
    yield from over_keys(tree, folder, count // 5, "default learner", (1, 1_000))


def over_keys(
    tree: Tree, folder: Path, documents: int, learner: str, numbers: Sequence[int]
) -> Iterator[Row]:
    """Train with the documents of so many keys, against those of the first number."""

    def row(keys: int) -> Row:
        write(folder / f"{keys}.jsonl", documents, Made(keys=keys))
        models = f"models-{keys}"
        given = places(folder, str(keys), models)
        took = tree.spent("train", *given, "--key_field=customer", *_FLAGS[learner])
        files = len(sizes_of((folder / models).rglob("*")))
        name = f"train by {learner}: {keys:,} keys, {documents:,} documents"
        return Row(name, took.seconds, facts=f"{took.memory}, {files:,} files")

    yield from against_first(map(row, numbers), _WANTED)


def stored(tree: Tree, folder: Path, count: int) -> Iterator[Row]:
    """Count the files and the bytes of a key and period."""
    write(folder / "some.jsonl", count, Made(keys=10))
    flags = (*LEARNING, "--window=30d", "--publish_every=30d", "--key_field=customer")
    took = tree.spent("train", *places(folder, "some"), *flags)
    versions = sum(1 for _ in (folder / "models").glob("*/manifests/*"))
    for kind in ("checkpoints", "snapshots", "manifests"):
        sizes = sizes_of((folder / "models").glob(f"*/{kind}/*"))
        facts = f"{len(sizes) / versions:.2f} files, {sum(sizes) / versions / 1000:,.1f} kB"
        name = f"{kind}, for each of {versions} versions of 10 keys"
        yield Row(name, took.seconds, len(sizes) / versions, "1 (3 in all)", facts)
