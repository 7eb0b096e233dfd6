"""Lists of English stop words compared: ``python -m benchmarks stop_words``.

A particle filter of one particle learns 50 topics in one pass over documents of five corpora, and
other documents score it. A row has the words of a list and the share of tokens that it leaves out;
the accuracy of a linear SVM on the mixtures of the scoring documents, and the normalised mutual
information of their labels and their largest topics, where documents have labels; the NPMI of the
first ten words of a topic in the training documents; the topics that are judged mixed
(:mod:`beam_topics.model.evaluation.coherence`); and the perplexity of the words that no list leaves
out, each given the words before it in a document at even places. ``max_df`` is the option of the
learner.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.evaluation.coherence import coherence, judge
from beam_topics.model.evaluation.held_out import main_topics, nmi, svm_accuracy
from beam_topics.model.learners import LEARNER, learner_for
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.settings.compositions import compose
from beam_topics.model.words import stop_lists
from beam_topics.model.words.tokeniser import Tokeniser, tokeniser_settings
from benchmarks.comparison import fold_in, log_probability
from benchmarks.corpora import known_tokens, minibatches, records, stop_words, with_words

TOPICS, FIRST, SEEDS = 30, 10, (1, 2)
# The words of a long paper, and of a short text, that are taken.
PAPER, SHORT = 300, 12
# A word is scored if as many training documents have it.
LEAST = 3
Documents = list[tuple[str, list[str]]]


class Split(NamedTuple):
    """Labels and words of the documents that are learned, and of those that score."""

    train: Documents
    test: Documents


def newsgroups() -> Split:
    """Return every fifth post, without headers."""
    found: dict[str, list[tuple[str, str]]] = {"train": [], "test": []}
    for record in records("20news-bydate"):
        found[record["split"]].append((record["label"], record["text"].partition("\n\n")[2]))
    return Split(_cut(found["train"][::5]), _cut(found["test"][::5]))


def _sample(name: str, every: int, words: int | None = None, labelled: bool = True) -> Split:
    """Return one of ``every`` documents to learn, and those half way between to score."""
    found = [
        (record["label"] if labelled else "", " ".join(record["text"].split()[:words]))
        for record in records(name)
    ]
    return Split(_cut(found[::every]), _cut(found[every // 2 :: every]))


CORPORA = {
    "20 Newsgroups": newsgroups,
    "arXiv": lambda: _sample("arxiv-cs-1994-2019", 60),
    "short": lambda: _sample("arxiv-cs-1994-2019", 20, SHORT),
    "de-news": lambda: _sample("de-news-en-stemmed", 8, None, False),
    "NIPS": lambda: _sample("nips-00-12", 3, PAPER, False),
}


def _cut(texts: list[tuple[str, str]]) -> Documents:
    cut = Tokeniser(tokeniser_settings(stop_words="none"))
    return [(label, cut.words(text)) for label, text in texts]


def lists() -> Iterator[tuple[str, frozenset[str], float]]:
    """Yield the lists that are compared: name, words, and ``max_df``."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    functions = stop_lists.stop_words_of("en", stop_lists.FUNCTIONS)
    yield "none", frozenset(), 1.0
    yield "none, max_df 0.1", frozenset(), 0.1
    yield "scikit-learn", frozenset(ENGLISH_STOP_WORDS), 1.0
    yield "MALLET", stop_words(), 1.0
    yield "stopwordsiso", stop_lists.stop_words_of("en", stop_lists.LIBRARY), 1.0
    yield "functions", functions, 1.0
    for share in (0.3, 0.1):
        yield f"functions, max_df {share:g}", functions, share


def _kept(documents: Documents, stop: frozenset[str]) -> Block:
    return Block.of_words(
        [Document(str(number), 0, "", label) for number, (label, _) in enumerate(documents)],
        ([word for word in words if word not in stop] for _, words in documents),
    )


def scored_words(train: Documents) -> frozenset[str]:
    """Return the words that are scored: no list leaves them out, and not too few documents."""
    counts = Counter(word for _, words in train for word in set(words))
    out = frozenset[str]().union(*(stop for _, stop, _ in lists()))
    most = 0.09 * len(train)
    return frozenset(w for w, count in counts.items() if LEAST <= count <= most and w not in out)


def learned(documents: Block, seed: int, max_df: float) -> Snapshot:
    """Return the model after one pass."""
    given = {"topics": TOPICS, "seed": seed, "max_df": max_df}
    settings = compose(LEARNER, given)
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    for minibatch in minibatches(with_words(documents), 200):
        learner.step(state, minibatch)
    return learner.snapshot(state)


def scores(
    snapshot: Snapshot,
    train: Block,
    test: Block,
    scored: frozenset[str],
) -> dict[str, Any]:
    """Return accuracy, nMI, NPMI, mixed topics and perplexity of a model."""
    rows = np.arange(len(snapshot.words))
    phi = ((snapshot.rows(rows) + snapshot.prior.shares(rows)) / snapshot.normalisers).T
    texts, labels = known_tokens(test, snapshot.words), test.labels
    found = np.array([fold_in(phi[:, tokens], snapshot.alpha) for tokens in texts])
    kept = [row for row in rows if snapshot.words[row] in scored]
    same = phi[:, kept] / phi[:, kept].sum(axis=1, keepdims=True)
    texts = known_tokens(test, [snapshot.words[row] for row in kept])
    parts = [same[:, tokens] for tokens in texts]
    logs = sum(log_probability(part, snapshot.alpha) for part in parts)
    labelled = len(set(labels)) > 1
    return {
        "accuracy": svm_accuracy(found[::2], labels[::2], found[1::2], labels[1::2])
        if labelled
        else None,
        "nmi": nmi(labels, main_topics(found)) if labelled else None,
        "npmi": float(coherence(snapshot.top_words(FIRST), train).npmi.mean()),
        "mixed": sum(one.mixed for one in judge(snapshot, train)),
        "perplexity": float(np.exp(-logs / sum(part[:, 1::2].shape[1] for part in parts))),
        "scored": len(kept),
    }


def compare_stop_words() -> None:
    """Accuracy, nMI, NPMI, mixed topics and perplexity with each list of stop words."""
    for seed, (corpus, read) in product(SEEDS, CORPORA.items()):
        split = read()
        scored, whole = scored_words(split.train), sum(len(words) for _, words in split.train)
        for name, stop, max_df in lists():
            train, test = _kept(split.train, stop), _kept(split.test, stop)
            left = 1 - len(train.tokens) / whole
            row: dict[str, Any] = {"corpus": corpus, "list": name, "words": len(stop)}
            found = scores(learned(train, seed, max_df), train, test, scored)
            print(json.dumps({**row, "left out": left, "seed": seed, **found}), flush=True)
