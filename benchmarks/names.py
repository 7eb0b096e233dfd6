"""How well names tell a topic's documents from others: ``python -m benchmarks names``.

The default learner learns 50 topics from the training posts of 20 Newsgroups in one pass, in the
order of time. Mixtures of all posts are inferred. The own documents of a topic are
those in which it has the largest share. For a name, ``own`` is the share of own documents that hold
a word of the name, and ``others`` is the share of all other documents that hold none. Both are
means over the topics, and means weighted by the number of own documents. ``repeated`` is the number
of words that are in the names of five topics or more. The documents at hand are the training posts.
The test posts are counted, too.

Posts are prepared in two ways: whole, as the pipelines read them, and as May et al. (2014) do,
without headers and with a longer list of stop words. Every fifth abstract of arXiv is prepared like
the latter; three of four are at hand.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

import numpy as np

from beam_topics.model.documents.block import Block
from beam_topics.model.learners import LEARNER, learner_for
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.reporting.names import (
    Counted,
    Expected,
    counted_words,
    names_by_documents,
    words_of,
)
from beam_topics.model.reporting.relevance import word_statistics
from beam_topics.model.settings.compositions import compose
from benchmarks.corpora import block_of, may_words, minibatches, records, stop_words, texts_of
from benchmarks.vocabulary import Splits, mixtures, newsgroups

TOPICS = 50
_FIRST, _MANY = 3, 5


def learned(documents: Block) -> Snapshot:
    """Return the model after one pass."""
    settings = compose(LEARNER, {"topics": TOPICS})
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    for minibatch in minibatches(documents, 200):
        learner.step(state, minibatch)
    return learner.snapshot(state)


def without_headers() -> tuple[Block, Splits]:
    """Return all posts as May et al. prepare them, in date order, and the part of each."""
    stop = stop_words()
    found = sorted(records("20news-bydate"), key=lambda record: (record["timestamp"], record["id"]))
    documents = block_of(found, lambda text: may_words(text, stop))
    kept = np.flatnonzero(documents.lengths)
    return documents.take(kept), np.array([record["split"] for record in found])[kept]


def abstracts() -> tuple[Block, Splits]:
    """Return every fifth abstract in date order, and the part of each."""
    stop = stop_words()
    found = sorted(
        records("arxiv-cs-1994-2019"), key=lambda record: (record["timestamp"], record["id"])
    )[::5]
    documents = block_of(found, lambda text: may_words(text, stop))
    return documents, np.where(np.arange(len(documents)) % 4, "train", "test")


def shares_of(counted: Counted, topic: int, rows: Sequence[int]) -> tuple[float, float, int]:
    """Return the shares of own documents with some of the words, and of others without, and own."""
    own, held = counted.topics == topic, np.zeros(len(counted.topics), bool)
    for row in rows:
        held[counted.holding.get(row, np.zeros(0, np.int64))] = True
    count = int(own.sum())
    inside = float(held[own].mean()) if count else float("nan")
    outside = 1 - float(held[~own].mean()) if count < len(own) else float("nan")
    return inside, outside, count


def told_apart(counted: Counted, words: Sequence[Sequence[str]], snapshot: Snapshot) -> list[float]:
    """Return own and others, as means over topics and as means over documents."""
    rows = [[snapshot.numbers[word] for word in some] for some in words]
    shares = [shares_of(counted, topic, some) for topic, some in enumerate(rows)]
    own, others, sizes = np.array([one for one in shares if one[2]]).T
    weighted = (np.average(own, weights=sizes), np.average(others, weights=sizes))
    return [round(float(value), 3) for value in (own.mean(), others.mean(), *weighted)]


def names() -> None:
    """Share of own documents that names cover, and of others that they do not."""
    corpora = {
        "whole posts": newsgroups,
        "without headers": without_headers,
        "arXiv abstracts": abstracts,
    }
    for prepared, read in corpora.items():
        documents, splits = read()
        train = documents.take(np.flatnonzero(splits == "train"))
        snapshot = learned(train)
        largest = np.argmax(mixtures(snapshot, documents, "variational"), axis=1).tolist()
        given = list(zip(largest, texts_of(documents), strict=True))
        parts = {
            part: [
                one
                for one, split in zip(given, splits, strict=True)
                if (split == "train") == is_train
            ]
            for part, is_train in (("at hand", True), ("test", False))
        }
        length = float(np.mean(train.lengths))
        statistics = word_statistics(snapshot)
        counted = counted_words(parts["at hand"], snapshot.numbers)
        kinds = {
            "first three words": snapshot.top_words(_FIRST),
            "by the model": words_of(snapshot, statistics, Expected(snapshot, length)),
            "by documents": words_of(snapshot, statistics, counted),
        }
        for part, some in parts.items():
            counted = counted_words(some, snapshot.numbers)
            for kind, words in kinds.items():
                found = told_apart(counted, words, snapshot)
                row = dict(
                    zip(("own", "others", "own_weighted", "others_weighted"), found, strict=True)
                )
                held = Counter(word for some in words for word in set(some))
                row["repeated"] = sum(count >= _MANY for count in held.values())
                print(json.dumps({"posts": prepared, "documents": part, "names": kind, **row}))
        print("; ".join(names_by_documents(snapshot, parts["at hand"])[:12]), flush=True)
