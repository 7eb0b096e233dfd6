"""What the product costs around its kernels: ``python -m benchmarks scale``.

Each row measures one direction of growth in whole commands. It prints seconds of the processor,
which hardly depend on what else runs on the machine, a ratio, and what is wanted of it. The input
is synthetic: its words follow Zipf's law, and where there are keys, these do too. Seconds of
commands contain their start, unless the row says otherwise.

``BENCHMARK_ROWS=start,infer_keys`` measures some rows, ``BENCHMARK_DOCUMENTS=2000`` makes the input
smaller. A row is a generator of :class:`Row`, registered in :data:`ROWS`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.runners import ROOT
from model.compositions import compose
from model.inference import MaxEnt, PublishedModel, inference_for
from model.inference.classifier_store import ClassifierStore
from model.inference.serving import BATCH
from model.learners import LEARNER, learner_for
from model.publishing.store import ModelStore
from model.reading.files import ReadSettings, read_file
from model.records import Document, FloatArray, Minibatch, TokenisedDocument
from model.sequencing import chain_start, sequence_documents
from model.settings import SequenceSettings, TokeniserSettings
from model.words.tokeniser import Tokeniser

DOCUMENTS = 20_000
_WORDS, _SHORT, _VOCABULARY, _SECONDS = 100, 25, 8_000, 600
_MANY_WORDS = 50_000
_MONTH = 30 * 86_400_000_000
# The time of the first document. Smaller numbers look like years.
_BEGIN = 1_000_000_000
_PUBLISHING = ("--window=30d", "--publish_every=3650d")
_TRAINING = ("--learner=o-lda", "--concentrations=fixed", "--topics=20", *_PUBLISHING)


class Row(NamedTuple):
    """A measurement.

    Attributes:
        name: What was measured.
        seconds: Processor seconds.
        ratio: In relation to what the row says, or None.
        wanted: What the ratio, or the seconds, should be at most; "" where nothing is asked.
        facts: Other figures.
    """

    name: str
    seconds: float
    ratio: float | None = None
    wanted: str = ""
    facts: str = ""


class Command(NamedTuple):
    """What a command cost: processor seconds, and the most memory in megabytes."""

    seconds: float
    megabytes: float


def scale() -> None:
    """Print the rows of the table of costs."""
    count = int(os.environ.get("BENCHMARK_DOCUMENTS", DOCUMENTS))
    chosen = os.environ.get("BENCHMARK_ROWS", ",".join(ROWS)).split(",")
    for name in chosen:
        with tempfile.TemporaryDirectory() as folder:
            for row in ROWS[name](Path(folder), count):
                ratio = "" if row.ratio is None else f"{row.ratio:6.2f} x"
                wanted = f"wanted {row.wanted}" if row.wanted else ""
                print(
                    f"{row.name:44} {row.seconds:9.4g} s {ratio:9} {wanted:22} {row.facts}",
                    flush=True,
                )


def start(folder: Path, count: int) -> Iterator[Row]:
    """Commands that have almost nothing to do."""
    write(folder / "few.jsonl", 20)
    write(folder / "some.jsonl", 200)
    learn(folder, "some")
    yield Row("start: train --help", least("train", "--help"), wanted=".3 s")
    yield Row("start: show", least("show", f"--model_store={folder}/models"), wanted=".6 s")
    for name, method in (("infer", "gibbs3"), ("infer by maxent", "maxent")):
        if method == "maxent":
            fit(folder, "some")
        flags = (*labelled(folder, "few"), f"--method={method}")
        yield Row(f"start: {name}, 20 documents", least("infer", *flags), wanted="2 s")
    took = spent("train", *places(folder, "some", "others"), *_TRAINING)
    yield Row("start: train by o-lda, 200 documents", took.seconds)


def infer_keys(folder: Path, count: int) -> Iterator[Row]:
    """Inference with the models of many keys, against one key."""
    write(folder / "some.jsonl", 500)
    learn(folder, "some")
    one = 0.0
    for keys in (1, 50, 5_000):
        write(folder / f"{keys}.jsonl", count, keys)
        copy_models(folder / "models", folder / f"models-{keys}", keys)
        took = infer(folder, str(keys), "--key_field=customer", models=f"models-{keys}")
        one = one or took.seconds
        yield Row(
            f"infer by gibbs3: {keys:,} keys, {count:,} documents",
            took.seconds,
            took.seconds / one,
            "2 x one key" if keys > 1 else "",
            f"{took.megabytes:,.0f} MB",
        )


def infer_document(folder: Path, count: int) -> Iterator[Row]:
    """Measure a document in ``infer --method=maxent`` against parse, tokenise and the method."""
    write(folder / "some.jsonl", 500)
    learn(folder, "some")
    fit(folder, "some")
    write(folder / "few.jsonl", count // 10)
    write(folder / "many.jsonl", count)
    few, many = (
        least("infer", *labelled(folder, name), "--method=maxent") for name in ("few", "many")
    )
    whole, bare = (many - few) / (count - count // 10), bare_maxent(folder, "many")
    yield Row("maxent: parse, tokenise and method, a document", bare)
    yield Row("maxent: infer without its start, a document", whole, whole / bare, "2 x")


def train_keys(folder: Path, count: int) -> Iterator[Row]:
    """Learning with many keys, against one key."""
    yield from over_keys(folder, count // 5, "o-lda", _TRAINING, (1, 10, 1_000, 5_000))


def train_keys_default(folder: Path, count: int) -> Iterator[Row]:
    """Learn with many keys by the settings that users have, against one key."""
    yield from over_keys(folder, count // 5, "default learner", _PUBLISHING, (1, 1_000))


def over_keys(
    folder: Path, documents: int, learner: str, flags: Sequence[str], numbers: Sequence[int]
) -> Iterator[Row]:
    """Train with the documents of so many keys, against those of the first number."""
    one = 0.0
    for keys in numbers:
        write(folder / f"{keys}.jsonl", documents, keys)
        stored = f"models-{keys}"
        took = spent("train", *places(folder, str(keys), stored), "--key_field=customer", *flags)
        one = one or took.seconds
        files = sum(path.is_file() for path in (folder / stored).rglob("*"))
        yield Row(
            f"train by {learner}: {keys:,} keys, {documents:,} documents",
            took.seconds,
            took.seconds / one,
            "2 x one key" if keys > 1 else "",
            f"{took.megabytes:,.0f} MB, {files:,} files",
        )


def topics(folder: Path, count: int) -> Iterator[Row]:
    """Learning with many topics, against the default number."""
    write(folder / "some.jsonl", count // 20)
    one = 0.0
    for number in (50, 1_000):
        others = [flag for flag in _TRAINING if not flag.startswith("--topics")]
        given = places(folder, "some", f"models-{number}")
        took = spent("train", *given, *others, f"--topics={number}")
        one = one or took.seconds
        yield Row(
            f"train by o-lda: {number:,} topics, {count // 20:,} documents",
            took.seconds,
            took.seconds / one,
            facts=f"{took.megabytes:,.0f} MB",
        )


def many_topics(folder: Path, count: int) -> Iterator[Row]:
    """Learning with 5,000 topics, until 50,000 words are known."""
    for number in (50, 5_000):
        # A process of its own has its own peak of memory.
        code = f"from benchmarks.scale import learn_topics; learn_topics({number}, {count})"
        took = cost(sys.executable, "-c", code)
        name = f"o-lda: {number:,} topics, {_MANY_WORDS:,} words, {count:,} documents"
        yield Row(name, took.seconds, wanted="1 GB", facts=f"{took.megabytes:,.0f} MB")


def learn_topics(topics: int, count: int) -> None:
    """Learn documents of many words, and make a snapshot and a checkpoint."""
    settings = compose(LEARNER, {"learner": "o-lda", "topics": topics, "initial": "none"})
    learner = learner_for(settings)
    state, generator = learner.init(settings, "", 0), np.random.default_rng(1)
    bounds = np.cumsum(1.0 / np.arange(1, _MANY_WORDS + 1))
    for first in range(0, count, 50):
        drawn = np.searchsorted(bounds, generator.random((50, _WORDS)) * bounds[-1])
        documents = [
            TokenisedDocument.from_words(
                Document(str(first + n), first + n, "", None), [f"w{word}" for word in row]
            )
            for n, row in enumerate(drawn.tolist())
        ]
        number = first // 50 + 1
        learner.step(state, Minibatch.from_documents("", number, number, True, documents))
    learner.snapshot(state)
    learner.save(state)


def whole(folder: Path, count: int) -> Iterator[Row]:
    """Measure a document in ``train --learner=o-lda`` against reading and learning alone."""
    write(folder / "few.jsonl", count // 10)
    write(folder / "many.jsonl", count)
    few, many = (
        spent("train", *places(folder, name, f"models-{name}"), *_TRAINING).seconds
        for name in ("few", "many")
    )
    rest, bare = (many - few) / (count - count // 10), bare_learner(folder, "many", count // 10)
    yield Row("o-lda: parse, tokenise and learn, a document", bare)
    yield Row("o-lda: train without its start, a document", rest, rest / bare, "1.67 x")


def stored(folder: Path, count: int) -> Iterator[Row]:
    """Count the files and the bytes of a key and period."""
    write(folder / "some.jsonl", count, 10)
    others = [flag for flag in _TRAINING if not flag.startswith("--publish_every")]
    given = [*places(folder, "some"), *others, "--publish_every=30d", "--key_field=customer"]
    took = spent("train", *given)
    versions = sum(1 for _ in (folder / "models").glob("*/manifests/*"))
    for kind in ("checkpoints", "snapshots", "manifests"):
        sizes = [path.stat().st_size for path in (folder / "models").glob(f"*/{kind}/*")]
        facts = f"{len(sizes) / versions:.2f} files, {sum(sizes) / versions / 1000:,.1f} kB"
        yield Row(f"{kind}: {versions} versions of 10 keys", took.seconds, facts=facts)


def short(folder: Path, count: int) -> Iterator[Row]:
    """Whole commands over short documents at T = 50, against tomotopy's batch of 200 sweeps."""
    write(folder / "short.jsonl", count // 2, words=_SHORT)
    theirs = cost(sys.executable, "-c", TOMOTOPY, f"{folder}/short.jsonl").seconds
    yield Row(f"tomotopy, batch: {count // 2:,} documents of {_SHORT} words", theirs)
    for learner in ("particle-filter", "o-lda"):
        flags = (*_PUBLISHING, f"--learner={learner}")
        ours = spent("train", *places(folder, "short", f"models-{learner}"), *flags)
        facts = f"{ours.megabytes:,.0f} MB"
        yield Row(f"train by {learner}", ours.seconds, ours.seconds / theirs, "1 x", facts)


# A row that measures another direction is added here.
ROWS: dict[str, Callable[[Path, int], Iterator[Row]]] = {
    "start": start,
    "infer_keys": infer_keys,
    "infer_document": infer_document,
    "train_keys": train_keys,
    "train_keys_default": train_keys_default,
    "topics": topics,
    "many_topics": many_topics,
    "whole": whole,
    "stored": stored,
    "short": short,
}


# Runs a command as its only child, so that the children's usage is that of the command.
CHILD = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
if done.returncode:
    sys.exit(done.stderr.decode())
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""

# A newcomer's script for tomotopy, of the extra "bench".
TOMOTOPY = """
import json, re, sys, tomotopy
model = tomotopy.LDAModel(k=50, seed=1)
for line in open(sys.argv[1], encoding="utf-8"):
    model.add_doc(re.findall("[a-z]+", json.loads(line)["text"].lower()))
model.train(200, workers=1, parallel=tomotopy.ParallelScheme.NONE)
"""


def spent(program: str, *flags: str) -> Command:
    """Run a program as a user would, and return what it cost."""
    return cost(sys.executable, "-m", f"pipelines.{program}", *flags)


def cost(*given: str) -> Command:
    """Run a command, and return what it cost.

    An installation has byte code, so the commands may write it, whatever the environment says.
    """
    command = [sys.executable, "-c", CHILD, *given]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(f"{' '.join(given[1:3])} failed:\n{done.stderr}")
    return Command(*map(float, done.stdout.split()))


def places(folder: Path, name: str, models: str = "models") -> list[str]:
    """Return the flags that name input, store and dead letters."""
    return [
        f"--input={folder}/{name}.jsonl",
        f"--model_store={folder}/{models}",
        f"--dead_letters={folder}/dead",
    ]


def learn(folder: Path, name: str) -> None:
    """Publish one version of one model."""
    spent("train", *places(folder, name), *_TRAINING)


def fit(folder: Path, name: str) -> None:
    """Fit a classifier to this version."""
    spent("fit_classifier", *places(folder, name), "--fit_iterations=20")


def least(program: str, *flags: str) -> float:
    """Return the least seconds of three runs; the first may compile byte code."""
    return min(spent(program, *flags).seconds for _ in range(3))


def infer(folder: Path, name: str, *flags: str, models: str = "models") -> Command:
    """Label documents."""
    return spent("infer", *labelled(folder, name, models), *flags)


def labelled(folder: Path, name: str, models: str = "models") -> list[str]:
    """Return the flags of a program that labels documents."""
    given = places(folder, name, models)
    return [*given, f"--output={folder}/mixtures", "--coverage_window=365d"]


def bare_maxent(folder: Path, name: str) -> float:
    """Seconds a document of parsing, tokenising and the method, in batches, without anything."""
    store, classifiers = ModelStore(f"{folder}/models"), ClassifierStore(f"{folder}/models")
    manifest = store.manifest("")
    published = PublishedModel(
        store.get_snapshot(manifest),
        manifest.version,
        classifiers.get("", classifiers.find("", manifest.version, "maxent")),
    )
    method, tokeniser = inference_for(MaxEnt()), Tokeniser(manifest.tokeniser)
    prepared = method.prepare(MaxEnt(), published)
    best = float("inf")
    # The first round compiles.
    for _ in range(3):
        began, count = time.process_time(), 0
        with (folder / f"{name}.jsonl").open("rb") as stream:
            batch = []
            for item in read_file(stream, f"{name}.jsonl", ReadSettings()):
                assert isinstance(item, Document)
                batch.append(tokeniser.tokenise(item))
                if len(batch) == BATCH:
                    method.infer(prepared, batch)
                    count, batch = count + BATCH, []
        best = min(best, (time.process_time() - began) / count)
    return best


def bare_learner(folder: Path, name: str, skipped: int) -> float:
    """Seconds a document of parsing, tokenising and, after the first documents, learning."""
    cleaned, sequence = TokeniserSettings(), SequenceSettings(window=_MONTH)
    tokeniser = Tokeniser(cleaned)
    began = time.process_time()
    with (folder / f"{name}.jsonl").open("rb") as stream:
        read = list(read_file(stream, f"{name}.jsonl", ReadSettings()))
    documents = [tokeniser.tokenise(item) for item in read if isinstance(item, Document)]
    reading = (time.process_time() - began) / len(documents)
    start = chain_start("", cleaned, sequence)
    settings = compose(LEARNER, {"learner": "o-lda", "concentrations": "fixed", "topics": 20})
    learner, seen, seconds = learner_for(settings), 0, 0.0
    state = learner.init(settings, "", 0)
    for link in sequence_documents("", documents, sequence, start):
        minibatch, began = link.minibatch(), time.process_time()
        learner.step(state, minibatch)
        seconds += (time.process_time() - began) * (seen >= skipped)
        seen += len(minibatch)
    return reading + seconds / (len(documents) - skipped)


def copy_models(source: Path, target: Path, keys: int) -> None:
    """Publish the newest version of a store under many keys."""
    store, others = ModelStore(str(source)), ModelStore(str(target))
    manifest = store.manifest("")
    snapshot = store.get_snapshot(manifest)
    for number in range(keys):
        copy = replace(snapshot, key=_customer(number))
        others.publish(
            replace(manifest, key=copy.key, parent=None, snapshot=others.put_snapshot(copy))
        )


def write(path: Path, documents: int, keys: int = 1, words: int = _WORDS) -> None:
    """Write made-up documents in the order of time, with a customer each."""
    generator = np.random.default_rng(1)
    known, weights = made_up_words()
    customers = 1 / np.arange(1, keys + 1)
    owners = generator.choice(keys, documents, p=customers / customers.sum())
    with path.open("w", encoding="utf-8") as lines:
        for number in range(documents):
            chosen = generator.choice(_VOCABULARY, words, p=weights)
            record = {
                "id": str(number),
                "timestamp": _BEGIN + number * _SECONDS,
                "text": " ".join(known[word] for word in chosen.tolist()),
                "customer": _customer(int(owners[number])),
            }
            lines.write(json.dumps(record) + "\n")


def made_up_words() -> tuple[list[str], FloatArray]:
    """Return the words of the documents, and the probability of each by Zipf's law."""
    weights = 1 / np.arange(1, _VOCABULARY + 1)
    return [_word(number) for number in range(_VOCABULARY)], weights / weights.sum()


def _customer(number: int) -> str:
    return f"customer-{number:05}"


def _word(number: int) -> str:
    """Return a word of letters for a number."""
    letters = ""
    while number or not letters:
        number, letter = divmod(number, 26)
        letters += chr(ord("a") + letter)
    return f"w{letters}x"
