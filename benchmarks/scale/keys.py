"""Costs over keys: learning, inference, and the files of a key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.scale.commands import Row, Tree, labelled, places
from benchmarks.scale.made_up import Made, copy_models, write
from benchmarks.scale.settings import PUBLISHING, TRAINING


def infer_keys(tree: Tree, folder: Path, count: int) -> Iterator[Row]:
    """Inference with the models of many keys, against one key."""
    write(folder / "some.jsonl", 500)
    tree.spent("train", *places(folder, "some"), *TRAINING)
    one = 0.0
    for keys in (1, 50, 5_000):
        write(folder / f"{keys}.jsonl", count, Made(keys=keys))
        copy_models(folder / "models", folder / f"models-{keys}", keys)
        flags = labelled(folder, str(keys), f"models-{keys}")
        took = tree.spent("infer", *flags, "--key_field=customer")
        one = one or took.seconds
        yield Row(
            f"infer by gibbs3: {keys:,} keys, {count:,} documents",
            took.seconds,
            took.seconds / one,
            "2 x one key" if keys > 1 else "",
            f"{took.megabytes:,.0f} MB",
        )


def train_keys(tree: Tree, folder: Path, count: int) -> Iterator[Row]:
    """Learning with many keys, against one key."""
    for keys in (1, 10, 1_000, 5_000):
        write(folder / f"{keys}.jsonl", count // 5, Made(keys=keys))
    yield from over_keys(tree, folder, "o-lda", TRAINING, (1, 10, 1_000, 5_000))


def train_keys_default(tree: Tree, folder: Path, count: int) -> Iterator[Row]:
    """Learn with many keys by the settings that users have, against one key."""
    for keys in (1, 1_000):
        write(folder / f"{keys}.jsonl", count // 5, Made(keys=keys))
    yield from over_keys(tree, folder, "default learner", PUBLISHING, (1, 1_000))


def over_keys(
    tree: Tree, folder: Path, learner: str, flags: Sequence[str], numbers: Sequence[int]
) -> Iterator[Row]:
    """Train with the documents of so many keys, against those of the first number."""
    one = 0.0
    for keys in numbers:
        models = f"models-{keys}"
        given = places(folder, str(keys), models)
        took = tree.spent("train", *given, "--key_field=customer", *flags)
        one = one or took.seconds
        files = sum(path.is_file() for path in (folder / models).rglob("*"))
        yield Row(
            f"train by {learner}: {keys:,} keys",
            took.seconds,
            took.seconds / one,
            "2 x one key" if keys > 1 else "",
            f"{took.megabytes:,.0f} MB, {files:,} files",
        )


def stored(tree: Tree, folder: Path, count: int) -> Iterator[Row]:
    """Count the files and the bytes of a key and period."""
    write(folder / "some.jsonl", count, Made(keys=10))
    others = [flag for flag in TRAINING if not flag.startswith("--publish_every")]
    given = [*places(folder, "some"), *others, "--publish_every=30d", "--key_field=customer"]
    took = tree.spent("train", *given)
    versions = sum(1 for _ in (folder / "models").glob("*/manifests/*"))
    for kind in ("checkpoints", "snapshots", "manifests"):
        sizes = [path.stat().st_size for path in (folder / "models").glob(f"*/{kind}/*")]
        facts = f"{len(sizes) / versions:.2f} files, {sum(sizes) / versions / 1000:,.1f} kB"
        name = f"{kind}, for each of {versions} versions of 10 keys"
        yield Row(name, took.seconds, len(sizes) / versions, "1 (3 in all)", facts)
