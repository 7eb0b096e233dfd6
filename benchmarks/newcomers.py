"""New words in 26 years of arXiv abstracts, in one pass: ``python -m benchmarks.newcomers --help``.

The stream is all abstracts in the order of time, every word kept. For each bound on the vocabulary:
the accuracy of a linear SVM that is asked for the category of every fourth abstract (mixtures by
Gibbs3 with the last model), the size of the state over the stream, and for words that did not exist
in the first years, which topic has them in the end, and how far up.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.evaluation.held_out import svm_accuracy
from beam_topics.model.learners import LEARNER, LearnerSettings, learner_for
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.settings.compositions import compose
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.model.words.tokeniser import Tokeniser
from benchmarks.corpora import minibatches, records
from benchmarks.vocabulary import mixtures

WORDS = ("blockchain", "lstm", "word2vec", "gan", "bert")


def abstracts(every: int) -> Block:
    """All abstracts, or each so manieth, in the order of time."""
    cut = Tokeniser(TokeniserSettings(word_forms=("digits", "marks", "numbers")))
    found = sorted(
        records("arxiv-cs-1994-2019"), key=lambda record: (record["timestamp"], record["id"])
    )
    return cut.block([Document(r["id"], 0, r["text"], r["label"]) for r in found[::every]])


def place(snapshot: Snapshot, word: str) -> dict[str, Any]:
    """Return the topic that uses a word most, the word's rank in it, and its first words."""
    if word not in snapshot.numbers:
        return {"word": word, "known": False}
    row = snapshot.rows(np.array([snapshot.numbers[word]]))[0]
    topic = int(np.argmax(row / snapshot.normalisers))
    ahead = snapshot.counts[snapshot.topics == topic] > row[topic]
    return {
        "word": word,
        "share": row[topic] / row.sum(),
        "rank": int(ahead.sum()) + 1,
        "topic": snapshot.top_words(8)[topic],
    }


def run(documents: Block, settings: LearnerSettings) -> dict[str, Any]:
    """One pass with these settings."""
    learner = learner_for(settings)
    state, sizes, words, start = learner.init(settings, "", 0), [], [], time.thread_time()
    for number, minibatch in enumerate(minibatches(documents, 200)):
        info = learner.step(state, minibatch)
        if number % 20 == 19:
            sizes.append(learner.nbytes(state) / 1e6)
            words.append(info.words)
    seconds, snapshot = time.thread_time() - start, learner.snapshot(state)
    theta, labels = mixtures(snapshot, documents, "gibbs3"), np.array(documents.labels)
    test = np.arange(len(documents)) % 4 == 3
    return {
        "max_words": settings.vocabulary.size,
        "accuracy": svm_accuracy(theta[~test], labels[~test], theta[test], labels[test]),
        "seconds": round(seconds),
        "megabytes": [round(size, 1) for size in sizes[:: max(1, len(sizes) // 8)]],
        "words": words[:: max(1, len(words) // 8)],
        "checkpoint": len(learner.save(state)),
        "newcomers": [place(snapshot, word) for word in WORDS],
    }


def main() -> None:
    """Learn with each size of the vocabulary, and print where new words are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--max_words", nargs="+", type=int, default=[50_000, 1_000_000])
    parser.add_argument("--every", type=int, default=1, help="take one in so many abstracts")
    parser.add_argument("--settings", default="{}", help="settings of the learner as JSON")
    arguments = parser.parse_args()
    documents = abstracts(arguments.every)
    for bound in arguments.max_words:
        settings = {
            "topics": 50,
            "max_words": bound,
            **json.loads(arguments.settings),
        }
        print(json.dumps(run(documents, compose(LEARNER, settings))), flush=True)


if __name__ == "__main__":
    main()
