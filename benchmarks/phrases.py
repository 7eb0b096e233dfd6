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
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from beam_topics.model.documents.block import Block
from beam_topics.model.evaluation.coherence import coherence
from beam_topics.model.evaluation.held_out import main_topics, nmi, svm_accuracy
from beam_topics.model.inference.features import numbered
from beam_topics.model.learners import LEARNER, learner_for
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.settings.compositions import compose
from beam_topics.model.words.phrases import JOINER
from beam_topics.model.words.tokeniser import Tokeniser, tokeniser_settings
from benchmarks.comparison import fold_in
from benchmarks.corpora import block_of, minibatches, records, stop_words, with_words

TOPICS, FIRST, SEEDS = 50, 10, (1, 2)


class Split(NamedTuple):
    """The documents that are learned, and those that score."""

    train: Block
    test: Block


def corpora() -> Iterator[tuple[str, Split]]:
    """Yield the corpora, by name."""
    posts = [{**one, "text": one["text"].partition("\n\n")[2]} for one in records("20news-bydate")]
    sides = ([one for one in posts if one["split"] == side] for side in ("train", "test"))
    yield "20 Newsgroups", Split(*(_cut(side[::3]) for side in sides))
    abstracts = list(records("arxiv-cs-1994-2019"))
    yield "arXiv", Split(_cut(abstracts[::40]), _cut(abstracts[20::40]))
    papers = list(records("nips-00-12"))
    yield "NIPS", Split(_cut(papers[::2]), _cut(papers[1::4]))


def _cut(found: Sequence[Mapping[str, Any]]) -> Block:
    """Return records without the words of MALLET's list."""
    tokeniser, stop = Tokeniser(tokeniser_settings(stop_words="none")), stop_words()
    return block_of(found, lambda text: [w for w in tokeniser.words(text) if w not in stop])


def learned(documents: Block, phrases: str, seed: int) -> tuple[Snapshot, float]:
    """Return the model after one pass, and the processor seconds that it took."""
    settings = compose(LEARNER, {"topics": TOPICS, "seed": seed, "phrases": phrases})
    learner, start = learner_for(settings), time.process_time()
    state = learner.init(settings, "", 0)
    for minibatch in minibatches(with_words(documents), 200):
        learner.step(state, minibatch)
    return learner.snapshot(state), time.process_time() - start


def scores(snapshot: Snapshot, plain: Block) -> dict[str, float]:
    """Return the measures of a model on documents as they are."""
    found = numbered(snapshot, plain)
    joined, (known, offsets) = found.block, found.known_tokens()
    rows = np.arange(len(snapshot.words))
    weight = snapshot.rows(rows) + snapshot.prior.shares(rows)
    phi = (weight / snapshot.normalisers).T
    texts, labels = np.split(known, offsets[1:-1]), plain.labels
    mixtures = np.array([fold_in(phi[:, one], snapshot.alpha) for one in texts])
    ranked = snapshot.top_words(10 * FIRST)
    single = [[word for word in words if JOINER not in word][:FIRST] for words in ranked]
    is_phrase = np.array([JOINER in word for word in joined.words])
    return {
        "joined": float(is_phrase[joined.tokens].mean()),
        "nmi": nmi(labels, main_topics(mixtures)),
        "accuracy": svm_accuracy(mixtures[::2], labels[::2], mixtures[1::2], labels[1::2]),
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
