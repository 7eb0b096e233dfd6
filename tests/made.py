"""Small snapshots and manifests for tests."""

import hashlib

import numpy as np

from beam_topics.model.publishing.choice import Candidate
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.publishing.snapshot import Snapshot, TopicWordPrior
from beam_topics.model.scaled import Scaled
from beam_topics.model.words.settings import TokeniserSettings


def snapshot_of(counts, words=None, alpha=0.5, beta=0.1, key="", sequence=3, prior=None, **others):
    counts = np.asarray(counts, np.float64)
    return Snapshot.from_dense(
        counts,
        key=key,
        sequence=sequence,
        event_time=5_000_000,
        fingerprint="f0",
        alpha=np.full(counts.shape[1], alpha)
        if np.isscalar(alpha)
        else np.asarray(alpha, np.float64),
        prior=prior or TopicWordPrior.flat(beta * len(counts), len(counts), *counts.shape),
        words=words or tuple(f"w{w}" for w in range(len(counts))),
        tokeniser=TokeniserSettings(stop_words="none"),
        **others,
    )


def random_snapshot(seed=0, words=30, topics=5, **others):
    generator = np.random.default_rng(seed)
    counts = np.where(
        generator.random((words, topics)) < 0.4,
        generator.integers(1, 20, (words, topics)) * 0.5,
        0.0,
    )
    prior = TopicWordPrior(generator.uniform(1, 5, topics), generator.dirichlet(np.ones(words)))
    return snapshot_of(counts, prior=prior, **others)


def manifest_of(sequence, parent=None, **others):
    values = {
        "key": "",
        "sequence": sequence,
        "event_time": sequence * 1_000_000,
        "parent": parent,
        "snapshot": hashlib.sha256(str(sequence).encode()).hexdigest(),
        "island": 0,
        "islands": 2,
        "fingerprint": "f",
        "chain": "c",
        "settings": {"learner": {"topics": 3, "words": ["a", "b"]}},
        "topic_order": [],
        "documents": 10,
        "tokens": 100,
        "words": 20,
        "log_evidence": -123.456,
        "prequential_perplexity": 98.7,
        "posterior": -200.25,
        "ess": 3.5,
        "in_sample_nmi": None,
        "release": "0.1.0",
    }

    return Manifest(**{**values, **others})


CANDIDATE = Candidate(
    key="日本",
    island=2,
    sequence=7,
    previous=4,
    event_time=-5,
    at=-5,
    snapshot="ab",
    chain="cd",
    fingerprint="ef",
    witness="01",
    evidence=Scaled.of(0.75, -3000).to_bytes().hex(),
    posterior=Scaled.of(0.5, -9000).to_bytes().hex(),
    documents=10,
    tokens=100,
    words=20,
    log_evidence=-700.25,
    ess=1.5,
    in_sample_nmi=None,
    prequential_perplexity=1096.633,
    particle=0,
    rivals=[],
    replaced=None,
    topic_tokens=[60.0, 40.0],
    topic_documents=[6, 4],
    events=[],
    base="",
)
