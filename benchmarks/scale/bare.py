"""Work without commands: ``python benchmarks/scale/bare.py NAME ...`` prints its seconds.

:class:`~benchmarks.scale.commands.Tree` runs it with the packages of the tree that is measured, so
it imports names from modules that have them in each of the trees.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.documents.minibatch import Minibatch
from beam_topics.model.documents.sequencing import chain_start, sequence_documents
from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.inference.base import MaxEnt, PublishedModel, inference_for
from beam_topics.model.inference.classifier import ClassifierStore
from beam_topics.model.inference.features import numbered
from beam_topics.model.inference.serving import BATCH
from beam_topics.model.learners import LEARNER, learner_for
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.reading.files import ReadSettings, read_file
from beam_topics.model.settings.compositions import compose
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.model.words.tokeniser import Tokeniser

_MONTH = 30 * 86_400_000_000


def maxent(folder: str, name: str) -> list[float]:
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
        began, count, batch = time.process_time(), 0, []
        for document in read(folder, name):
            batch.append(document)
            if len(batch) == BATCH:
                method.infer(prepared, numbered(published.snapshot, tokeniser.block(batch)))
                count, batch = count + BATCH, []
        best = min(best, (time.process_time() - began) / count)
    return [best]


def learner(folder: str, name: str, skipped: str) -> list[float]:
    """Seconds a document of parsing, tokenising and, after the first documents, learning."""
    cleaned, sequence = TokeniserSettings(), SequenceSettings(window=_MONTH)
    tokeniser, began = Tokeniser(cleaned), time.process_time()
    documents = tokeniser.block(read(folder, name))
    reading = (time.process_time() - began) / len(documents)
    settings = compose(LEARNER, {"learner": "o-lda", "topics": 20})
    learner, seen, seconds = learner_for(settings), 0, 0.0
    state = learner.init(settings, "", 0)
    for link in sequence_documents(documents, sequence, chain_start("", cleaned, sequence)):
        minibatch, began = link.minibatch(), time.process_time()
        learner.step(state, minibatch)
        seconds += (time.process_time() - began) * (seen >= int(skipped))
        seen += len(minibatch)
    return [reading + seconds / (len(documents) - int(skipped))]


def read(folder: str, name: str) -> list[Document]:
    """Return the documents of a file."""
    with (Path(folder) / f"{name}.jsonl").open("rb") as stream:
        found = list(read_file(stream, f"{name}.jsonl", ReadSettings()))
    return [item for item in found if isinstance(item, Document)]


def topics(name: str, number: str, words: str, count: str) -> list[float]:
    """Learn documents of many words, make a snapshot and a checkpoint; the seconds of it all."""
    began = time.process_time()
    settings = compose(LEARNER, {"learner": name, "topics": int(number)})
    learner = learner_for(settings)
    state, generator = learner.init(settings, "", 0), np.random.default_rng(1)
    bounds = np.cumsum(1.0 / np.arange(1, int(words) + 1))
    for first in range(0, int(count), 50):
        drawn = np.searchsorted(bounds, generator.random((50, 100)) * bounds[-1])
        texts = [[f"w{word}" for word in row] for row in drawn.tolist()]
        documents = [Document(str(first + n), 0, "") for n in range(len(texts))]
        block, batch = Block.of_words(documents, texts), first // 50 + 1
        learner.step(state, Minibatch.of_block(block, batch, batch, True))
    learner.snapshot(state)
    learner.save(state)
    return [time.process_time() - began]


def version() -> list[float]:
    """Cost of a version of 30,000 words and 50 topics: one that was learned from abstracts.

    Returns:
        Seconds of encode, decode, align, changes, and of all from the model to LATEST. The last
        number is its bytes in relation to those of an Avro file.
    """
    # Here, so that they are not in the memory of the other works.
    from beam_topics.model.publishing.snapshots import snapshot_from_bytes, snapshot_to_file
    from beam_topics.model.publishing.succession import changes, match_topics
    from benchmarks.versions import avro, fresh, milliseconds, models, published

    *_, (before, after) = models()
    encode, file = milliseconds(lambda: snapshot_to_file(after))
    decode, _ = milliseconds(lambda: snapshot_from_bytes(file.data, "", file.digest))
    both = [
        fresh(lambda work, *two: work(*two), work, before, after)
        for work in (match_topics, changes)
    ]
    seconds = [one / 1000 for one in (encode, decode, *both, published(before, after)[0])]
    return [*seconds, len(file.data) / len(avro(after))]


def copies(source: str, target: str, keys: str, name: str) -> list[float]:
    """Publish the newest version of a store under many keys, which ``name`` gives by number."""
    store, others = ModelStore(source), ModelStore(target)
    manifest = store.manifest("")
    snapshot = store.get_snapshot(manifest)
    began = time.process_time()
    for number in range(int(keys)):
        copy = replace(snapshot, key=name.format(number))
        digest = others.put_snapshot(copy)
        others.publish(replace(manifest, key=copy.key, parent=None, snapshot=digest))
    return [time.process_time() - began]


WORKS: dict[str, Callable[..., list[float]]] = {
    "maxent": maxent,
    "learner": learner,
    "topics": topics,
    "version": version,
    "copies": copies,
}

if __name__ == "__main__":
    print(*WORKS[sys.argv[1]](*sys.argv[2:]))
