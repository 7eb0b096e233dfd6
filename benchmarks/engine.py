"""The engine beside tomotopy: seconds of learning and quality of topics, as JSON lines.

    python -m benchmarks.engine --corpora arx8 news

``arxiv`` are abstracts of arXiv in the order of time, ``arx8`` every eighth of those that are
learned, and ``news`` posts of 20 Newsgroups. A twentieth of the documents, chosen by a hash, is
held out. Words have at least two letters, are no stop words, and at least three of the learned
documents have them. Seconds are those of learning alone: reading is the same for all.

Perplexity: a held document's theta is fitted to its tokens at even places by 60 steps of EM, and
its tokens at odd places are scored. Accuracy: a linear SVM on the root of theta, learned from the
first 70 % of labelled documents and tested on the others. NPMI: ten words of each topic.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from beam_topics.model.documents.block import Block
from beam_topics.model.evaluation.coherence import coherence
from beam_topics.model.kernels.random import stream_key
from beam_topics.model.learners.engine.archive import Schedule, archive
from beam_topics.model.learners.engine.state import ALPHA, State
from benchmarks.corpora import (
    abstracts,
    block_of,
    frequent,
    known_tokens,
    may_words,
    part,
    records,
    shuffled,
    stop_words,
    texts_of,
    vocabulary,
    with_these,
    with_words,
)

LEAST, HELD, EM_STEPS, LABELLED, TOP_WORDS = 3, 20, 60, 4000, 10


class Corpus(NamedTuple):
    """Documents of known words.

    Attributes:
        name: how the corpus is called.
        words: the vocabulary, sorted.
        learned: the documents to learn.
        held: the documents that no learner sees.
    """

    name: str
    words: tuple[str, ...]
    learned: Block
    held: Block


def corpus(name: str) -> Corpus:
    """Read a corpus, and hold out a part of it."""
    documents = posts() if name == "news" else abstracts(1)
    held = np.array([stream_key(0, one)[0] % HELD == 0 for one in documents.ids])
    learned = part(documents.take(np.flatnonzero(~held)), every=8 if name == "arx8" else 1)
    learned = with_words(frequent(learned, LEAST))
    words = vocabulary(learned)
    others = with_these(documents.take(np.flatnonzero(held)), frozenset(words))
    return Corpus(name, words, learned, with_words(others))


def posts() -> Block:
    """Return the posts of 20 Newsgroups, shuffled, because they are sorted by label."""
    stop = stop_words()

    def words(text: str) -> list[str]:
        return [word for word in may_words(text, stop) if len(word) > 1]

    return shuffled(block_of(records("20news-bydate"), words), 1)


def engine(found: Corpus, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the engine's figures with one thread, then what two threads take."""
    schedule, digest = Schedule(sweeps=options.sweeps, last=options.last), ""
    learn(found, options, Schedule(start_sweeps=1, sweeps=0, last=0), 1)  # compiles
    for threads in (1, 2):
        state, seconds, wall, marks = learn(found, options, schedule, threads)
        line = {"learner": "engine", "threads": threads, "seconds": seconds, "wall": wall}
        learned = hashlib.sha256(state.z[: state.tokens]).hexdigest()
        line |= {"visits": state.visits / state.tokens, "a": state.a, "digest": learned}
        line |= {"tables": int(state.tables[: state.size].sum()), "stages": marks}
        if threads == 1:
            digest = line["digest"]
            line |= scores(found, state.phi())
        elif line["digest"] != digest:
            raise SystemExit("Two threads learned something else than one.")
        yield line


def learn(
    found: Corpus, options: argparse.Namespace, schedule: Schedule, threads: int
) -> tuple[State, float, float, dict[str, float]]:
    """Learn the corpus; (state, processor seconds, wall seconds, seconds after each stage)."""
    state, marks = State(options.topics, options.seed), dict[str, float]()
    state.add_words(len(found.words))
    words = np.concatenate(known_tokens(found.learned, found.words)).astype(np.int32)
    state.add_documents(words, found.learned.lengths)
    before = time.process_time(), time.perf_counter()

    def watch(step: Any, _: State) -> None:
        marks[step.stage] = round(time.process_time() - before[0], 2)

    with ThreadPoolExecutor(threads) as pool:
        archive(state, schedule, pool if threads > 1 else None, watch)
    seconds, wall = time.process_time() - before[0], time.perf_counter() - before[1]
    return state, seconds, wall, marks


def tomotopy(found: Corpus, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield tomotopy's figures after each number of sweeps, one thread."""
    import tomotopy as package

    model = package.LDAModel(k=options.topics, alpha=ALPHA, eta=0.01, seed=options.seed)
    for text in texts_of(found.learned):
        model.add_doc(text)
    numbers = {word: number for number, word in enumerate(found.words)}
    seconds, wall, done = 0.0, 0.0, 0
    for sweeps in options.tomotopy:
        before = time.process_time(), time.perf_counter()
        model.train(sweeps - done, workers=1)
        seconds += time.process_time() - before[0]
        wall += time.perf_counter() - before[1]
        done, phi = sweeps, np.zeros((options.topics, len(found.words)))
        place = [numbers[word] for word in model.used_vocabs]
        for t in range(options.topics):
            phi[t, place] = model.get_topic_word_dist(t)
        line = {"learner": "tomotopy", "threads": 1, "seconds": seconds, "wall": wall}
        yield line | {"visits": sweeps} | scores(found, phi)


def scores(found: Corpus, phi: Any) -> dict[str, float | None]:
    """Return perplexity, accuracy and NPMI."""
    log, count = 0.0, 0
    for tokens in known_tokens(found.held, found.words)[:LABELLED]:
        columns = phi[:, tokens]
        theta = fitted(columns[:, ::2])
        log += np.log(theta @ columns[:, 1::2]).sum()
        count += columns[:, 1::2].shape[1]
    first = [[found.words[w] for w in np.argsort(-row, kind="stable")[:TOP_WORDS]] for row in phi]
    return {
        "perplexity": float(np.exp(-log / count)),
        "accuracy": accuracy(found, phi),
        "npmi": float(coherence(first, found.learned).npmi.mean()),
    }


def fitted(columns: Any) -> Any:
    """Return theta of a document; columns: float64[T, n], P(w_i | t) of its tokens."""
    theta = np.full(len(columns), 1.0 / len(columns))
    for _ in range(EM_STEPS):
        theta = ALPHA + theta * (columns @ (1.0 / (theta @ columns)))
        theta /= theta.sum()
    return theta


def accuracy(found: Corpus, phi: Any) -> float | None:
    """Return the accuracy of a linear SVM on held documents, and learned ones if these are few."""
    if importlib.util.find_spec("sklearn") is None:
        return None
    from sklearn.svm import LinearSVC

    more = max(LABELLED - len(found.held), 0)
    documents = found.held
    if more:
        others = part(found.learned, every=len(found.learned) // more)
        documents = Block.joined([documents, others])
    theta = np.sqrt([fitted(phi[:, one]) for one in known_tokens(documents, found.words)])
    labels = np.array(documents.labels)
    # Held documents of a stream are in the order of time; learned ones are spread over both parts.
    order = np.argsort(np.arange(len(labels)) % 10 >= 7, kind="stable") if more else slice(None)
    theta, labels, cut = theta[order], labels[order], len(labels) * 7 // 10
    model = LinearSVC(random_state=0).fit(theta[:cut], labels[:cut])
    return float(model.score(theta[cut:], labels[cut:]))


def main() -> None:
    """Print a JSON line for each corpus, learner and setting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpora", nargs="+", default=["arx8", "news"])
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sweeps", type=int, default=15)
    parser.add_argument("--last", type=int, default=5)
    parser.add_argument("--tomotopy", type=int, nargs="*", default=[100, 200])
    options = parser.parse_args()
    learners: list[Callable[..., Iterator[dict[str, Any]]]] = [engine]
    if importlib.util.find_spec("tomotopy") is None:
        print("tomotopy is left out: it is not installed")
    elif options.tomotopy:
        learners.append(tomotopy)
    for name in options.corpora:
        try:
            found = corpus(name)
        except (SystemExit, OSError) as reason:
            print(f"{name} is left out: {reason}")
            continue
        for learner in learners:
            for line in learner(found, options):
                print(json.dumps({"corpus": name, "words": len(found.words)} | line), flush=True)


if __name__ == "__main__":
    main()
