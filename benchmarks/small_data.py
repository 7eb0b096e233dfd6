"""Small, short and large data with the default settings: ``python -m benchmarks.small_data``.

    python -m benchmarks.small_data --cases toy posts --seeds 10
    python -m benchmarks.small_data --cases short abstracts --seeds 3 --set concentration=300

The cases:

* ``toy``: 600 documents of 12 tokens, each of one of S subjects whose vocabularies are disjoint.
  ``first`` is the version after 75 documents. nMI and purity are those of the largest topic of each
  document; ``used`` is the number of topics that hold 95 % of the tokens.
* ``posts``: n posts of 20 Newsgroups. ``short``: the first eight words of every eighth abstract
  of arXiv. ``abstracts``: these abstracts. ``news``: 20 Newsgroups, bydate. Other documents score,
  as in :mod:`benchmarks.comparison`.

A line is a case: the mean of the seeds and the worst seed.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from beam_topics.model.compositions import compose
from beam_topics.model.evaluation.agreement import nmi
from beam_topics.model.learners import LEARNER, learner_for
from beam_topics.model.records import Document, TokenisedDocument
from benchmarks.comparison import Corpus, Model, corpus, fold_in, model_of, scores
from benchmarks.corpora import letters_of, minibatches, records, stop_words

DOCUMENTS, LENGTH, FIRST, MINIBATCH = 600, 12, 75, 20
SUBJECTS, WORDS, TOPICS = (2, 3, 5, 10), (6, 12, 30), 50
TESTED = 2_000
# Where a small figure is the better one.
_LOW = ("perplexity", "mixed", "used")


class Case(NamedTuple):
    """Documents to learn, and what scores a model of them.

    Attributes:
        title: names the line.
        topics: T.
        learn: returns the documents of a seed.
        score: returns figures of a model.
    """

    title: str
    topics: int
    learn: Callable[[int], Sequence[TokenisedDocument]]
    score: Callable[[Model, Sequence[TokenisedDocument]], dict[str, Any]]


def toy(subjects: int, words: int, seed: int) -> list[TokenisedDocument]:
    """Return documents whose subject is their label, drawn evenly from the words of a subject."""
    draws = np.random.default_rng(seed)
    found = []
    for number in range(DOCUMENTS):
        subject = number % subjects
        tokens = [
            f"{'abcdefghij'[subject]}{_letters(n)}" for n in draws.integers(words, size=LENGTH)
        ]
        document = Document(str(number), number, "", str(subject))
        found.append(TokenisedDocument.from_words(document, tokens))
    return found


def _letters(number: int) -> str:
    return "klmnopqrstuvwxyz"[number % 16] * 2 + "aeiou"[number // 16 % 5]


def purity(model: Model, documents: Sequence[TokenisedDocument]) -> dict[str, Any]:
    """Return how well the largest topics of documents agree with their labels."""
    numbers = {word: number for number, word in enumerate(model.words)}
    mixtures, tokens = [], np.zeros(len(model.alpha))
    for document in documents:
        known = np.array([numbers.get(document.words[n], -1) for n in document.tokens])
        theta = fold_in(model.phi[:, known[known >= 0]], model.alpha)
        tokens += theta * (np.count_nonzero(known >= 0) + model.alpha.sum()) - model.alpha
        mixtures.append(theta)
    labels, largest = [str(d.label) for d in documents], np.argmax(mixtures, axis=1).tolist()
    pairs = Counter(zip(largest, labels, strict=True))
    best: dict[int, int] = {}
    for (topic, _), count in pairs.items():
        best[topic] = max(best.get(topic, 0), count)
    held = np.cumsum(np.sort(tokens)[::-1])
    return {
        "nMI": nmi(labels, largest),
        "purity": sum(best.values()) / len(documents),
        "used": int(np.searchsorted(held, 0.95 * held[-1]) + 1),
    }


@cache
def texts(name: str) -> Corpus:
    """Return the documents of a corpus; all of them are learned but those that score."""
    if name == "news":
        found = corpus("20news")
        return Corpus(found.train, found.test[:: -(-len(found.test) // TESTED)])
    most = 8 if name == "short" else None
    stop = stop_words()
    parts: dict[str, list[dict[str, str]]] = {"train": [], "test": []}
    for number, record in enumerate(records("arxiv-cs-1994-2019")):
        if number % 8 == 0 or number % 32 == 2:
            words = [word for word in letters_of(record["text"])[:most] if word not in stop]
            if words:
                part = parts["train" if number % 8 == 0 else "test"]
                part.append({**record, "text": " ".join(words)})
    return Corpus(**parts)


def sample(name: str, count: int, seed: int) -> Corpus:
    """Return ``count`` documents, chosen by the seed, in the order of time; 0 for all."""
    found = texts(name)
    if not count:
        return found
    chosen = np.random.default_rng(seed).permutation(len(found.train))[:count]
    return Corpus([found.train[n] for n in sorted(chosen)], found.test)


def tokenised(records: Sequence[dict[str, str]]) -> list[TokenisedDocument]:
    """Return records as a learner reads them."""
    return [
        TokenisedDocument.from_words(Document(one["id"], n, "", one["label"]), one["text"].split())
        for n, one in enumerate(records)
    ]


def learned(
    documents: Sequence[TokenisedDocument], size: int, given: dict[str, Any]
) -> tuple[Model, float]:
    """Return the model after some documents, and the seconds of the processor."""
    settings = compose(LEARNER, given)
    learner, started = learner_for(settings), time.process_time()
    state = learner.init(settings, "", 0)
    for minibatch in minibatches(list(documents), size):
        learner.step(state, minibatch)
    snapshot = learner.snapshot(state)
    return model_of(snapshot), time.process_time() - started


def toys(given: dict[str, Any], seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the figures of each toy."""
    for subjects in SUBJECTS:
        for words in WORDS:
            for topics in (TOPICS, subjects):
                documents = toy(subjects, words, seed)
                chosen = {"topics": topics, "seed": seed, **given}
                title = f"toy S={subjects} W={words} T={topics}"
                for kept, name in ((documents, title), (documents[:FIRST], f"{title} first")):
                    model, seconds = learned(kept, MINIBATCH, chosen)
                    yield name, {**purity(model, kept), "seconds": seconds}


def posts(given: dict[str, Any], seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the figures of a few posts."""
    for count in (300, 1_000, 3_000):
        for topics in (20, 30):
            yield _real(
                f"posts {count} T={topics}",
                sample("news", count, seed),
                50,
                {"topics": topics, "seed": seed, **given},
            )


def whole(name: str) -> Callable[[dict[str, Any], int], Iterator[tuple[str, dict[str, Any]]]]:
    """Return what yields the figures of a whole corpus."""

    def figures(given: dict[str, Any], seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
        yield _real(name, texts(name), 100, {"topics": TOPICS, "seed": seed, **given})

    return figures


def _real(
    title: str, found: Corpus, size: int, given: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    model, seconds = learned(tokenised(found.train), size, given)
    return title, {**scores(model, found), "seconds": seconds}


CASES = {
    "toy": toys,
    "posts": posts,
    **{name: whole(name) for name in ("short", "abstracts", "news")},
}


def shown(lines: list[dict[str, Any]]) -> str:
    """Return mean, standard error and worst of each figure."""
    cells = []
    for name in lines[0]:
        values = np.array([line[name] for line in lines if line[name] is not None], float)
        if name == "words" or not len(values):
            continue
        worst = values.max() if name in _LOW else values.min()
        error = values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else 0.0
        digits = 0 if name == "perplexity" else 1 if name in ("seconds", "mixed", "used") else 3
        cells.append(f"{name} {values.mean():.{digits}f} ± {error:.{digits}f} ({worst:.{digits}f})")
    return ", ".join(cells)


def main() -> None:
    """Print a line for each case."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--set", nargs="*", default=[], metavar="OPTION=VALUE")
    given = parser.parse_args()
    settings = {name: _value(text) for name, _, text in (one.partition("=") for one in given.set)}
    for name in given.cases:
        found: dict[str, list[dict[str, Any]]] = {}
        for seed in range(1, given.seeds + 1):
            for title, figures in CASES[name](settings, seed):
                found.setdefault(title, []).append(figures)
        for title, lines in found.items():
            print(f"{title}: {shown(lines)}", flush=True)


def _value(text: str) -> Any:
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text


if __name__ == "__main__":
    main()
