"""Phrases on and off, on three corpora: ``python -m benchmarks phrases``.

A particle filter of one particle learns 50 topics in one pass over documents in the order of their
dates: every third training post of 20 Newsgroups without headers, every fortieth abstract of arXiv,
and every second paper of NIPS, labelled with its volume. The other documents score it, with the
phrases of the model. A row has the processor seconds of the learner, the phrases, the share of
tokens of the scoring documents that are phrases, the normalised mutual information of labels and
largest topics, the accuracy of a linear SVM on the mixtures, and NPMI of the first ten words of a
topic in the scoring documents: of all first words with phrases joined, and of the first ten single
words in the texts as they are, which is the same measure for both.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from beam_topics.model.compositions import compose
from beam_topics.model.evaluation.agreement import main_topics, nmi
from beam_topics.model.evaluation.classification import svm_accuracy
from beam_topics.model.evaluation.coherence import coherence
from beam_topics.model.learners import LEARNER, learner_for
from beam_topics.model.records import Document, TokenisedDocument
from beam_topics.model.snapshot import Snapshot
from beam_topics.model.words.phrases import JOINER
from beam_topics.model.words.tokeniser import Tokeniser, tokeniser_settings
from benchmarks.comparison import fold_in
from benchmarks.corpora import minibatches, records, stop_words

TOPICS, FIRST, SEEDS = 50, 10, (1, 2)


class Split(NamedTuple):
    """The documents that are learned, and those that score."""

    train: list[TokenisedDocument]
    test: list[TokenisedDocument]


def corpora() -> Iterator[tuple[str, Split]]:
    """Yield the corpora, by name."""
    posts = list(records("20news-bydate"))
    texts = [
        [(one["label"], one["text"].partition("\n\n")[2]) for one in posts if one["split"] == part]
        for part in ("train", "test")
    ]
    yield "20 Newsgroups", Split(_cut(texts[0][::3]), _cut(texts[1][::3]))
    abstracts = [(one["label"], one["text"]) for one in records("arxiv-cs-1994-2019")]
    yield "arXiv", Split(_cut(abstracts[::40]), _cut(abstracts[20::40]))
    papers = [(one["label"], one["text"]) for one in records("nips-00-12")]
    yield "NIPS", Split(_cut(papers[::2]), _cut(papers[1::4]))


def _cut(texts: list[tuple[str, str]]) -> list[TokenisedDocument]:
    """Return the documents without the words of MALLET's list."""
    tokeniser, stop = Tokeniser(tokeniser_settings(stop_words="none")), stop_words()
    return [
        TokenisedDocument.from_words(
            Document(str(number), number, "", label),
            [word for word in tokeniser.words(text) if word not in stop],
        )
        for number, (label, text) in enumerate(texts)
    ]


def learned(documents: list[TokenisedDocument], phrases: str, seed: int) -> tuple[Snapshot, float]:
    """Return the model after one pass, and the processor seconds that it took."""
    settings = compose(LEARNER, {"topics": TOPICS, "seed": seed, "phrases": phrases})
    learner, start = learner_for(settings), time.process_time()
    state = learner.init(settings, "", 0)
    for minibatch in minibatches([one for one in documents if one.words], 200):
        learner.step(state, minibatch)
    return learner.snapshot(state), time.process_time() - start


def scores(snapshot: Snapshot, plain: list[TokenisedDocument]) -> dict[str, float]:
    """Return the measures of a model on documents as they are."""
    joined = list(snapshot.joined(plain))
    rows = np.arange(len(snapshot.words))
    weight = snapshot.rows(rows) + snapshot.prior.shares(rows)
    phi = (weight / snapshot.normalisers).T
    mixtures = []
    for document in joined:
        known = snapshot.rows_of(document.words)[document.tokens]
        mixtures.append(fold_in(phi[:, known[known >= 0]], snapshot.alpha))
    found, labels = np.array(mixtures), [document.label or "" for document in plain]
    ranked = snapshot.top_words(10 * FIRST)
    single = [[word for word in words if JOINER not in word][:FIRST] for words in ranked]
    tokens = [np.array([JOINER in word for word in one.words])[one.tokens] for one in joined]
    return {
        "joined": float(np.concatenate(tokens).mean()),
        "nmi": nmi(labels, main_topics(found)),
        "accuracy": svm_accuracy(found[::2], labels[::2], found[1::2], labels[1::2]),
        "npmi": float(coherence(snapshot.top_words(FIRST), joined).npmi.mean()),
        "npmi_single": float(coherence(single, plain).npmi.mean()),
    }


def compare_phrases() -> None:
    """NMI, accuracy, NPMI and time with phrases and without."""
    for corpus, split in corpora():
        for seed in SEEDS:
            for phrases in ("none", "learned"):
                snapshot, seconds = learned(split.train, phrases, seed)
                known = sum(JOINER in word for word in snapshot.words)
                row = {"corpus": corpus, "phrases": phrases, "seed": seed, "seconds": seconds}
                row |= {"known": known, **scores(snapshot, split.test)}
                print(json.dumps(row), flush=True)
