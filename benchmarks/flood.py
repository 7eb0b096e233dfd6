"""A flood of near copies, learned and counted once: ``python -m benchmarks flood``.

Three groups of 20 Newsgroups in the order of their dates (T = 3), and all twenty (T = 50). A flood
adds near copies of one post, four for each other document, evenly over the last three quarters of
the stream. A copy has a tenth of the post's tokens replaced by other words of the corpus. The
figures are the nMI of the test documents, the topics that copies have, and the processor time of
the pass, as a ratio to the pass without flood that keeps all documents.

``BENCHMARK_TRIPLES=3`` takes only some triples, ``BENCHMARK_GROUPS=0`` leaves all twenty out.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from benchmarks.drift import TRIPLES, Pass
from benchmarks.drift_streams import posts
from model.compositions import compose
from model.evaluation.held_out import EvaluationSettings, clusters
from model.evaluation.nmi import nmi
from model.learners import LEARNER
from model.records import Document, TokenisedDocument

COPIES_EACH = 4
CHANGED = 0.1
_SHORTEST = 60

Documents = Sequence[TokenisedDocument]


def flooded(documents: Documents, seed: int) -> list[TokenisedDocument]:
    """Return the documents with near copies of one of them among the last three quarters."""
    generator = np.random.default_rng(seed)
    quarter = len(documents) // 4
    source = next(d for d in documents[quarter:] if len(d.tokens) >= _SHORTEST)
    words = [word for document in documents for word in document.words]
    result = list(documents[:quarter])
    wanted = COPIES_EACH * len(documents) / (len(documents) - quarter)
    made = 0
    for place, document in enumerate(documents[quarter:], 1):
        result.append(document)
        while made < round(place * wanted):
            result.append(near_copy(source, words, made, generator))
            made += 1
    return result


def near_copy(
    source: TokenisedDocument, words: Sequence[str], number: int, generator: np.random.Generator
) -> TokenisedDocument:
    """Return a copy of a document, a tenth of whose tokens are other words."""
    text = [source.words[token] for token in source.tokens.tolist()]
    for at in np.flatnonzero(generator.random(len(text)) < CHANGED).tolist():
        text[at] = words[int(generator.integers(len(words)))]
    return TokenisedDocument.from_words(
        Document(f"copy {number}", source.timestamp, "", source.label), text
    )


def run(groups: tuple[str, ...], topics: int) -> None:
    """Print the figures of one set of groups."""
    train, test = posts(groups, "train"), posts(groups, "test")
    flood, first = flooded(train, 1), 0.0
    print(f"{len(train)} posts, T = {topics}; with the flood {len(flood)}")
    for name, stream in (("no flood", train), ("flood", flood)):
        for duplicates in ("keep", "count_once"):
            chosen = {"topics": topics, "duplicates": duplicates}
            learning = Pass(compose(LEARNER, {"seed": 1}, chosen))
            snapshot = learning.learn(stream)
            learned = learning.learner.summary(learning.state).documents
            labels = [document.label for document in test]
            found = nmi(labels, clusters(snapshot, test, EvaluationSettings(seed=1)))
            copies = [replace(d, id=str(n)) for n, d in enumerate(flood) if d.id[:5] == "copy "]
            held = len(set(clusters(snapshot, copies[:200], EvaluationSettings(seed=1))))
            first = first or learning.seconds
            print(
                f"{name:9} {duplicates:10}  nMI {found:.3f}  learned {learned:6,}"
                f"  topics of the copies {held}  {learning.seconds:6.1f} s"
                f"  {learning.seconds / first:.2f} x",
                flush=True,
            )


def flood() -> None:
    """NMI with a flood of near copies, kept and counted once."""
    for groups in list(TRIPLES.values())[: int(os.environ.get("BENCHMARK_TRIPLES", "10"))]:
        run(groups, 3)
    if os.environ.get("BENCHMARK_GROUPS", "1") != "0":
        run((), 50)
