"""The cost of a version: ``python -m benchmarks versions``.

A model of T = 50 topics at 7,000 and at 30,000 words, as a learner has it after that many words of
the abstracts, and the same model after 200 more abstracts. ``avro`` is a file with a record for
each word, without compression, as versions had it before they had columns.
"""

from __future__ import annotations

import base64
import io
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import fastavro
import numpy as np

from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.learner_log.options import LearnOptions
from beam_topics.model.learners import LEARNER, Gibbs, learner_for
from beam_topics.model.publishing.choice import Candidate
from beam_topics.model.publishing.publication import Publisher, PublishHead
from beam_topics.model.publishing.snapshot import Held, Snapshot, TopicWordPrior
from beam_topics.model.publishing.snapshots import (
    MAGIC,
    Facts,
    SnapshotFile,
    snapshot_from_bytes,
    snapshot_to_file,
)
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.publishing.succession import changes, match_topics
from beam_topics.model.scaled import Scaled
from beam_topics.model.settings.compositions import compose
from beam_topics.model.stored import wire
from beam_topics.model.stored.wire import unpack_columns
from beam_topics.model.words.tokeniser import tokeniser_settings
from benchmarks.corpora import minibatches
from benchmarks.newcomers import abstracts

SIZES = (7_000, 30_000)
READ = ((30_000, 50), (50_000, 1_000))
ROUNDS = 7
FIELDS = (("word", "string"), ("base", "double"), ("topics", "int"), ("counts", "double"))


def versions() -> None:
    """Time what a version costs, in milliseconds of the processor, and its bytes."""
    columns = ("words", "entries", "avro ms", "bytes", "encode", "decode", "align", "changes")
    print("  ".join(f"{name:>8}" for name in (*columns, "publish", "wall", "bytes", "share")))
    for before, after in models():
        record, size = milliseconds(lambda after=after: len(avro(after)))
        encode, file = milliseconds(lambda after=after: snapshot_to_file(after))
        decode, _ = milliseconds(lambda file=file: snapshot_from_bytes(file.data, "", file.digest))
        found: list[float] = [encode, decode]
        for work in (match_topics, changes):
            found.append(fresh(lambda work, *two: work(*two), work, before, after))
        figures = [len(after.words), len(after.counts), record, size, *found]
        figures += [*published(before, after), len(file.data), len(file.data) / size]
        print("  ".join(f"{one:8.2f}" if one % 1 else f"{one:8.0f}" for one in figures), flush=True)
    readers()


def readers() -> None:
    """Print what a reader of three topics costs, in milliseconds of the processor, by its parts."""
    columns = ("words", "topics", "bytes", "unpack", "digest", "whole", "first 10", "three")
    print("  ".join(f"{name:>8}" for name in columns))
    for words, topics in READ:
        file = snapshot_to_file(made_up(words, topics))
        cells = "  ".join(f"{one:8.2f}" for one in read_times(file))
        print(f"{words:8}  {topics:8}  {len(file.data):8}  {cells}", flush=True)


def read_times(file: SnapshotFile) -> tuple[float, ...]:
    """Return the milliseconds of the parts of a reader.

    These are: to unpack, the digest, to read all, to read all without a digest and find the first
    words of all topics, and to find the entries of three topics in what was read.
    """
    header, packed = wire.unpack(MAGIC, file.data)
    lengths = Facts(**header).lengths()
    unpack, contents = milliseconds(lambda: unpack_columns("", packed, lengths))
    pieces = [content.pieces for content in contents]
    digest, _ = milliseconds(lambda: wire.digest_of_pieces(pieces))
    whole, read = milliseconds(lambda: snapshot_from_bytes(file.data, "", file.digest))
    first, _ = milliseconds(lambda: snapshot_from_bytes(file.data).top_words(10))
    three, _ = milliseconds(lambda: [np.flatnonzero(read.topics == z) for z in range(3)])
    return unpack, digest, whole, first, three


def made_up(words: int, topics: int) -> Snapshot:
    """Return a model whose words follow Zipf's law; each is in a few topics."""
    generator = np.random.default_rng(1)
    chosen = generator.zipf(1.3, words * 200) % words
    places = (chosen * 7919 + generator.zipf(1.5, len(chosen))) % topics
    counts = np.bincount(chosen * topics + places, minlength=words * topics)
    return Snapshot.from_dense(
        counts.reshape(words, topics).astype(np.float64),
        key="",
        sequence=1,
        event_time=0,
        fingerprint="",
        alpha=np.full(topics, 0.1),
        prior=TopicWordPrior.flat(0.1 * words, words, words, topics),
        words=tuple(f"word{number}" for number in range(words)),
    )


def models() -> Iterator[tuple[Snapshot, Snapshot]]:
    """Yield for each size a model of so many words, and the same 200 abstracts later."""
    settings = compose(LEARNER, {"topics": 50, "learner": "o-lda", "seed": 1})
    learner, sizes = learner_for(settings), list(SIZES)
    state, before = learner.init(settings, "", 0), None
    for minibatch in minibatches(abstracts(1), 200):
        words = learner.step(state, minibatch).words
        if before is not None:
            yield before, learner.snapshot(state)
            before = None
            if not sizes:
                return
        elif words >= sizes[0]:
            sizes.pop(0)
            before = learner.snapshot(state)


def milliseconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the least time of several rounds, and the result."""
    least = np.inf
    for _ in range(ROUNDS):
        start = time.process_time()
        result = work()
        least = min(least, time.process_time() - start)
    return 1000 * float(least), result


def fresh(call: Callable[..., Any], work: Any, before: Snapshot, after: Snapshot) -> float:
    """Return the time of work over a held model and one that was just read."""
    call(work, before, after)
    least, file = np.inf, snapshot_to_file(after)
    for _ in range(ROUNDS):
        read = snapshot_from_bytes(file.data)
        start = time.process_time()
        call(work, before, read)
        least = min(least, time.process_time() - start)
    return 1000 * float(least)


def published(before: Snapshot, after: Snapshot) -> tuple[float, float]:
    """Return processor and wall-clock milliseconds of a version, from the model to LATEST."""
    least = [np.inf, np.inf]
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as root:
            store, held = ModelStore(root), Held()
            options = LearnOptions(Gibbs(), tokeniser_settings(), SequenceSettings(), root)
            publisher = Publisher(options, "", store, held=held)
            head = PublishHead()
            # The second version has a parent that was compared with its own, as later ones have.
            for sequence in (1, 2):
                candidate = offered(store, before, sequence, sequence - 1)
                head, _ = publisher.handle(head, candidate, _NoBag())
            start = time.process_time(), time.perf_counter()
            publisher.handle(head, offered(store, after, 3, 2), _NoBag())
            ended = time.process_time(), time.perf_counter()
            least = [min(pair) for pair in zip(least, np.subtract(ended, start), strict=True)]
    return 1000 * float(least[0]), 1000 * float(least[1])


def offered(store: ModelStore, model: Snapshot, sequence: int, previous: int) -> Candidate:
    """Write a model and return the candidate that refers to it."""
    one = Scaled.of(0.5).to_bytes().hex()
    return Candidate(
        key="",
        island=0,
        sequence=sequence,
        previous=previous,
        event_time=sequence,
        at=sequence,
        snapshot=store.put_snapshot(model),
        chain="",
        fingerprint="",
        witness="",
        evidence=one,
        posterior=one,
        documents=sequence,
        tokens=sequence,
        words=len(model.words),
        log_evidence=-1.0,
        ess=1.0,
        in_sample_nmi=None,
        prequential_perplexity=None,
        particle=0,
        rivals=[],
        replaced=None,
        topic_tokens=[1.0] * model.topic_count,
        topic_documents=[0] * model.topic_count,
        events=[],
        base="",
    )


class _NoBag:
    """The bag of a publisher of one island, where no candidate waits."""

    def add(self, data: bytes) -> None:
        """Keep nothing."""

    def clear(self) -> None:
        """Keep nothing."""

    def read(self) -> list[bytes]:
        """Return nothing."""
        return []


def avro(snapshot: Snapshot) -> bytes:
    """Return a file with a record for each word, and read it again."""
    kinds = [
        kind if name in ("word", "base") else {"type": "array", "items": kind}
        for name, kind in FIELDS
    ]
    schema = {
        "type": "record",
        "name": "Word",
        "fields": [
            {"name": name, "type": kind} for (name, _), kind in zip(FIELDS, kinds, strict=True)
        ],
    }
    topics, counts = snapshot.topics.tolist(), snapshot.counts.tolist()
    parts = zip(snapshot.offsets[:-1].tolist(), snapshot.offsets[1:].tolist(), strict=True)
    rows = [
        {"word": word, "base": base, "topics": topics[a:b], "counts": counts[a:b]}
        for word, base, (a, b) in zip(
            snapshot.words, snapshot.prior.base.tolist(), parts, strict=True
        )
    ]
    out = io.BytesIO()
    characters = snapshot.prior.characters
    spelling = base64.b64encode(characters.to_bytes()).decode() if characters else ""
    fastavro.writer(out, fastavro.parse_schema(schema), rows, metadata={"characters": spelling})
    list(fastavro.reader(io.BytesIO(out.getvalue())))
    return out.getvalue()
