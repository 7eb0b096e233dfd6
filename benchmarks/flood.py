"""Floods that are learned, and that are left out: ``python -m benchmarks flood``.

Three groups of 20 Newsgroups in the order of their dates (T = 3), and all twenty (T = 50). A flood
adds near copies of one post, four for each other document, evenly over the last three quarters of
the stream. A copy has a tenth of the post's tokens replaced by other words of the corpus. The flood
of an author adds as many documents that are no copies: each has as many tokens as the post, drawn
from the posts of one group. Every other post has a source of its own. The
figures are the nMI of the test documents, the topics that copies have, and the processor time of
the pass, as a ratio to the pass without flood that keeps all documents.

``BENCHMARK_TRIPLES=3`` takes only some triples, ``BENCHMARK_GROUPS=0`` leaves all twenty out, and
``BENCHMARK_ROWS="copies drop,no flood keep"`` takes only some rows. ``BENCHMARK_SEEDS=5`` makes
five runs of each row; the seed is that of the learner and of the flood.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from typing import Any

import numpy as np

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.evaluation.held_out import clusters, nmi
from beam_topics.model.learners import LEARNER, LearnerSettings, learner_for
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.settings.compositions import compose
from benchmarks.corpora import (
    SUBSETS,
    block_of,
    may_words,
    minibatches,
    records,
    stop_words,
    texts_of,
)

TRIPLES = {
    "hockey": ("rec.sport.hockey", "sci.med", "soc.religion.christian"),
    **SUBSETS,
    "autos": ("rec.autos", "sci.crypt", "talk.religion.misc"),
    "sale": ("misc.forsale", "sci.electronics", "talk.politics.guns"),
    "bikes": ("rec.motorcycles", "comp.sys.mac.hardware", "sci.med"),
    "pc": ("comp.sys.ibm.pc.hardware", "rec.sport.hockey", "talk.politics.mideast"),
    "x": ("comp.windows.x", "sci.space", "soc.religion.christian"),
    "graphics": ("comp.graphics", "rec.sport.baseball", "talk.politics.misc"),
}
MINIBATCH = 100
COPIES_EACH = 4
CHANGED = 0.1
_SHORTEST = 60
WANTED = [row for row in os.environ.get("BENCHMARK_ROWS", "").split(",") if row]

COPIES: dict[str, dict[str, Any]] = {
    name: {"duplicates": name} for name in ("keep", "count_once", "drop")
}
SHARE = {"share .1": {"max_source_share": 0.1}}
# Which options are tried with which stream.
TRIED = {"no flood": {**COPIES, **SHARE}, "copies": COPIES, "author": {"keep": {}, **SHARE}}


class Pass:
    """One pass of a learner over documents, and its processor time."""

    def __init__(self, settings: LearnerSettings) -> None:
        self.settings = settings
        self.learner: Any = learner_for(settings)
        self.state = self.learner.init(settings, "", 0)
        self.seconds, self.sequence = 0.0, 0

    def learn(self, documents: Block) -> Snapshot:
        """Learn documents and return the version after them."""
        begin = time.thread_time()
        for minibatch in minibatches(documents, MINIBATCH):
            self.sequence += 1
            # Event time counts documents.
            end = self.sequence * MINIBATCH
            minibatch = replace(minibatch, sequence=self.sequence, window_end=end)
            self.learner.step(self.state, minibatch)
        snapshot: Snapshot = self.learner.snapshot(self.state)
        self.seconds += time.thread_time() - begin
        return snapshot


@cache
def posts(groups: tuple[str, ...], split: str) -> Block:
    """Return the posts of these groups in the order of their dates.

    Args:
        groups: the groups; all where there are none.
        split: ``train``, ``test``, or empty for both.
    """
    stop = stop_words()
    wanted = (
        r
        for r in records("20news-bydate")
        if (not groups or r["label"] in groups) and (not split or r["split"] == split)
    )
    ordered = sorted(wanted, key=lambda record: (record["timestamp"], record["id"]))
    return block_of(ordered, lambda text: may_words(text, stop))


def flooded(documents: Block, seed: int, author: bool = False) -> Block:
    """Return the documents with a flood among the last three quarters.

    Args:
        documents: the documents.
        seed: of the flood.
        author: whether the flood is of one author, in place of near copies.
    """
    generator = np.random.default_rng(seed)
    quarter = len(documents) // 4
    alone = list(documents.documents())
    source = next(d for d in alone[quarter:] if len(d.tokens) >= _SHORTEST)
    words = [word for document in alone for word in document.words]
    made: Callable[[int], Block] = partial(near_copy, source, words, generator)
    if author:
        of_group = [row for row in range(quarter) if documents.labels[row] == source.labels[0]]
        pool = list(chain.from_iterable(texts_of(documents.take(of_group))))
        made = partial(of_author, source, pool, generator)
    result, number = alone[:quarter], 0
    wanted = COPIES_EACH * len(documents) / (len(documents) - quarter)
    for place, document in enumerate(alone[quarter:], 1):
        result.append(document)
        while number < round(place * wanted):
            result.append(made(number))
            number += 1
    return Block.joined(result)


def of_author(
    source: Block, pool: Sequence[str], generator: np.random.Generator, number: int
) -> Block:
    """Return a document with as many tokens as another one, drawn from a pool."""
    text = [pool[at] for at in generator.integers(len(pool), size=len(source.tokens)).tolist()]
    document = Document(f"copy {number}", 0, "", source.labels[0], source="author")
    return Block.of_words([document], [text])


def near_copy(
    source: Block, words: Sequence[str], generator: np.random.Generator, number: int
) -> Block:
    """Return a copy of a document, a tenth of whose tokens are other words."""
    text = source.words_of(0)
    for at in np.flatnonzero(generator.random(len(text)) < CHANGED).tolist():
        text[at] = words[int(generator.integers(len(words)))]
    return Block.of_words([Document(f"copy {number}", 0, "", source.labels[0])], [text])


def run(groups: tuple[str, ...], topics: int, seed: int) -> None:
    """Print the figures of one set of groups."""
    train, test = posts(groups, "train"), posts(groups, "test")
    train = replace(train, sources=train.ids)
    streams = {
        "no flood": train,
        "copies": flooded(train, seed),
        "author": flooded(train, seed, True),
    }
    first = 0.0
    print(f"Seed {seed}, {len(train)} posts, T = {topics}; with a flood {len(streams['copies'])}")
    for name, stream in streams.items():
        rows = [row for row, one in enumerate(stream.ids) if one.startswith("copy ")][:200]
        copies = replace(stream.take(rows), ids=tuple(map(str, rows)))
        for row, options in TRIED[name].items():
            if WANTED and f"{name} {row}" not in WANTED:
                continue
            learning = Pass(compose(LEARNER, {"seed": seed}, {"topics": topics, **options}))
            snapshot = learning.learn(stream)
            learned = learning.learner.summary(learning.state).documents
            found = nmi(test.labels, clusters(snapshot, test, seed))
            held = len(set(clusters(snapshot, copies, seed)))
            first = first or learning.seconds
            print(
                f"{name:9} {row:10}  nMI {found:.3f}  learned {learned:6,}"
                f"  topics of the flood {held}  {learning.seconds:6.1f} s"
                f"  {learning.seconds / first:.2f} x",
                flush=True,
            )


def flood() -> None:
    """NMI with floods, kept and left out."""
    for seed in range(1, 1 + int(os.environ.get("BENCHMARK_SEEDS", "1"))):
        for groups in list(TRIPLES.values())[: int(os.environ.get("BENCHMARK_TRIPLES", "10"))]:
            run(groups, 3, seed)
        if os.environ.get("BENCHMARK_GROUPS", "1") != "0":
            run((), 50, seed)
