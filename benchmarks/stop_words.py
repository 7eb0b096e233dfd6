"""Lists of English stop words compared: ``python -m benchmarks stop_words``.

A particle filter of one particle learns 50 topics in one pass: every third training post of 20
Newsgroups without headers, and every fortieth abstract of arXiv. Others score it: every third test
post, and the abstracts half way between. A row has the words of a list, the share of tokens that it
leaves out, the NPMI of the first ten words of a topic in the training documents, the accuracy of a
linear SVM on the mixtures of the scoring documents, and the normalised mutual information of
their labels and their largest topics. ``none, max_df`` leaves out the words of more than a tenth
of the training documents in place of a list.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import stopwordsiso

from benchmarks.comparison import fold_in
from benchmarks.corpora import minibatches, records, stop_words
from model.compositions import compose
from model.evaluation.classification import svm_accuracy
from model.evaluation.coherence import coherence
from model.evaluation.nmi import main_topics, nmi
from model.learners import LEARNER, learner_for
from model.records import Document, TokenisedDocument
from model.snapshot import Snapshot
from model.words.tokeniser import Tokeniser, tokeniser_settings

TOPICS, FIRST, SEEDS, MOST = 50, 10, (1, 2), 0.1
Documents = list[tuple[str, list[str]]]


class Split(NamedTuple):
    """Labels and words of the documents that are learned, and of those that score."""

    train: Documents
    test: Documents


def newsgroups() -> Split:
    """Return the posts."""
    found: dict[str, list[tuple[str, str]]] = {"train": [], "test": []}
    for record in records("20news-bydate"):
        found[record["split"]].append((record["label"], record["text"].partition("\n\n")[2]))
    return Split(_cut(found["train"][::3]), _cut(found["test"][::3]))


def abstracts() -> Split:
    """Return the abstracts."""
    found = [(record["label"], record["text"]) for record in records("arxiv-cs-1994-2019")]
    return Split(_cut(found[::40]), _cut(found[20::40]))


def _cut(texts: list[tuple[str, str]]) -> Documents:
    cut = Tokeniser(tokeniser_settings(stop_words="none"))
    return [(label, cut.words(text)) for label, text in texts]


def lists(train: Documents) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the lists that are compared, by name."""
    from gensim.parsing.preprocessing import STOPWORDS
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    counts = Counter(word for _, words in train for word in set(words))
    common = frozenset(word for word, count in counts.items() if count > MOST * len(train))
    yield "none", frozenset()
    yield "none, max_df", common
    yield "scikit-learn", frozenset(ENGLISH_STOP_WORDS)
    yield "gensim", frozenset(STOPWORDS)
    yield "MALLET", stop_words()
    yield "stopwordsiso", frozenset(stopwordsiso.stopwords("en"))
    yield "MALLET, max_df", stop_words() | common


def _kept(documents: Documents, stop: frozenset[str]) -> list[TokenisedDocument]:
    return [
        TokenisedDocument.from_words(
            Document(str(number), number, "", label), [word for word in words if word not in stop]
        )
        for number, (label, words) in enumerate(documents)
    ]


def learned(documents: list[TokenisedDocument], seed: int) -> Snapshot:
    """Return the model after one pass."""
    settings = compose(LEARNER, {"topics": TOPICS, "particles": 1, "seed": seed})
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    for minibatch in minibatches([one for one in documents if one.words], 200):
        learner.step(state, minibatch)
    return learner.snapshot(state)


def scores(
    snapshot: Snapshot, train: list[TokenisedDocument], test: list[TokenisedDocument]
) -> dict[str, float]:
    """Return NPMI, accuracy and nMI of a model."""
    numbers = {word: number for number, word in enumerate(snapshot.words)}
    rows = np.arange(len(snapshot.words))
    weight = snapshot.rows(rows) + snapshot.prior.shares(rows)
    phi = (weight / snapshot.normalisers).T
    mixtures = []
    for document in test:
        known = [numbers.get(document.words[token], -1) for token in document.tokens]
        mixtures.append(fold_in(phi[:, [row for row in known if row >= 0]], snapshot.alpha))
    found, labels = np.array(mixtures), [document.label or "" for document in test]
    return {
        "npmi": float(coherence(snapshot.top_words(FIRST), train).npmi.mean()),
        "accuracy": svm_accuracy(found[::2], labels[::2], found[1::2], labels[1::2]),
        "nmi": nmi(labels, main_topics(found)),
    }


def compare_stop_words() -> None:
    """NPMI, accuracy and nMI with each list of stop words."""
    for corpus, split in (("20 Newsgroups", newsgroups()), ("arXiv", abstracts())):
        whole = sum(len(words) for _, words in split.train)
        for name, stop in lists(split.train):
            train, test = _kept(split.train, stop), _kept(split.test, stop)
            left = 1 - sum(len(one.tokens) for one in train) / whole
            for seed in SEEDS:
                row = {"corpus": corpus, "list": name, "words": len(stop), "left out": left}
                row |= {"seed": seed, **scores(learned(train, seed), train, test)}
                print(json.dumps(row), flush=True)
