"""Learn a topic model with another package, as its user would: read, split, learn, write.

``python -m benchmarks.other_models gensim documents.jsonl model.npz --topics=50 --seed=1`` reads
the ``text`` of each line and splits it at white space. ``gensim`` is its online LDA (Hoffman et al.
2010), one pass with its default settings. ``tomotopy`` is its batch LDA by collapsed Gibbs
sampling, 200 iterations on one thread. Both learn alpha where the package offers it. The file holds
``words``, ``phi`` (float64[T, W], P(w | z)) and ``alpha`` (float64[T]).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

SWEEPS = 200


def texts(path: str) -> Iterator[list[str]]:
    """Yield the words of each document."""
    with Path(path).open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)["text"].split()


def gensim(path: str, topics: int, seed: int) -> dict[str, object]:
    """Learn by online variational Bayes."""
    from gensim.corpora import Dictionary
    from gensim.models import LdaModel

    documents = list(texts(path))
    dictionary = Dictionary(documents)
    bags = [dictionary.doc2bow(words) for words in documents]
    model = LdaModel(
        bags, topics, dictionary, alpha="auto", eta="auto", random_state=seed, dtype=np.float64
    )
    words = [dictionary[number] for number in range(len(dictionary))]
    return {"words": words, "phi": model.get_topics(), "alpha": model.alpha}


def tomotopy(path: str, topics: int, seed: int) -> dict[str, object]:
    """Learn by collapsed Gibbs sampling."""
    from tomotopy import LDAModel, ParallelScheme

    model = LDAModel(k=topics, seed=seed)
    for words in filter(None, texts(path)):
        model.add_doc(words)
    model.train(SWEEPS, workers=1, parallel=ParallelScheme.DEFAULT)
    phi = [model.get_topic_word_dist(topic) for topic in range(topics)]
    return {"words": list(model.used_vocabs), "phi": np.array(phi, float), "alpha": model.alpha}


PACKAGES: dict[str, Callable[[str, int, int], dict[str, object]]] = {
    "gensim": gensim,
    "tomotopy": tomotopy,
}


def main() -> None:
    """Learn and write a model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", choices=list(PACKAGES))
    parser.add_argument("documents")
    parser.add_argument("model")
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    found = PACKAGES[given.package](given.documents, given.topics, given.seed)
    np.savez(given.model, **{name: np.asarray(value) for name, value in found.items()})


if __name__ == "__main__":
    main()
