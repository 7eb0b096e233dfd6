"""The none share of documents and of nonsense: ``python -m benchmarks nonsense``.

A particle filter of one particle learns 50 topics from every third training post of 20 Newsgroups
in one pass, prepared as for the benchmark ``names``. Documents are every twelfth test post.
Nonsense has the same lengths: words drawn by their frequency in the model, words of the vocabulary
drawn evenly, and tokens drawn from all these test posts. ``none`` is the share of the documents
whose none share is above one half.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.inference.features import numbered
from beam_topics.model.inference.serving import NoneShares, base_probabilities
from beam_topics.model.publishing.snapshot import Snapshot
from benchmarks.corpora import texts_of
from benchmarks.names import learned, without_headers
from benchmarks.vocabulary import newsgroups

SEED = 1


def nonsense_of(
    snapshot: Snapshot, posts: Sequence[Sequence[str]]
) -> dict[str, list[Sequence[str]]]:
    """Return the posts and three kinds of nonsense of the same lengths, as known words."""
    draws = np.random.default_rng(SEED)
    base, pool = base_probabilities(snapshot), [word for post in posts for word in post]
    base = base / base.sum()
    lengths = [len(post) for post in posts]
    kinds: dict[str, list[Sequence[str]]] = {"posts": list(posts)}
    rows = {
        "by frequency": [draws.choice(len(base), n, p=base) for n in lengths],
        "evenly": [draws.integers(0, len(base), n) for n in lengths],
    }
    for name, some in rows.items():
        kinds[name] = [[snapshot.words[row] for row in one.tolist()] for one in some]
    places = [draws.integers(0, len(pool), n).tolist() for n in lengths]
    kinds["mixed tokens of posts"] = [[pool[at] for at in one] for one in places]
    return kinds


def nonsense() -> None:
    """Share of documents, and of three kinds of nonsense, that no topic explains."""
    for prepared, read in (("whole posts", newsgroups), ("without headers", without_headers)):
        documents, splits = read()
        train, test = (np.flatnonzero(splits == side) for side in ("train", "test"))
        snapshot = learned(documents.take(train[::3]))
        posts = texts_of(documents.take(test[::12]))
        known = [[word for word in post if word in snapshot.numbers] for post in posts]
        shares = NoneShares(snapshot)
        for kind, texts in nonsense_of(snapshot, known).items():
            made = Block.of_words([Document(str(n), 0, "") for n in range(len(texts))], texts)
            none = shares.of(numbered(snapshot, made)) > 0.5
            row = {"posts": prepared, "documents": kind, "none": round(float(none.mean()), 3)}
            print(json.dumps(row), flush=True)
