"""Speed of the variational learners, gensim's online LDA and river's LDA.

Each makes one pass over de-news with K = 50 in one thread. gensim and river (``pip install gensim
river``) take turns with ours in one run. The fastest of several repetitions counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.minibatch import Minibatch
from beam_topics.model.learners import LEARNER, LearnerSettings, learner_for
from beam_topics.model.settings.compositions import compose
from benchmarks.corpora import minibatches, part, texts_of
from benchmarks.speed import seconds
from benchmarks.vocabulary import TOPICS, de_news

REPETITIONS = 3
CHUNK = 256
# River takes a second for some hundred tokens; a stretch of the stream is enough.
RIVER_DOCUMENTS = 60

_COMMON: dict[str, Any] = {
    "topics": TOPICS,
    "alpha": 1 / TOPICS,
    "beta": 1 / TOPICS,
    "max_words": 20_000,
}
OURS: dict[str, dict[str, Any]] = {
    "infvoc, 15 sweeps": {"learner": "infvoc", "truncation": 4000, "stick_concentration": 2000.0},
    "fixvoc-hybrid, 15 sweeps": {"learner": "fixvoc-hybrid"},
    "fixvoc-vb, 50 iterations": {"learner": "fixvoc-vb"},
}


def _gensim(documents: Block) -> Callable[[], object]:
    from gensim.corpora import Dictionary
    from gensim.models import LdaModel

    texts = texts_of(documents)
    words = Dictionary(texts)
    counts = [words.doc2bow(text) for text in texts]
    return lambda: LdaModel(counts, TOPICS, words, chunksize=CHUNK, eval_every=None, random_state=1)


def _river(documents: Block) -> Callable[[], object]:
    from collections import Counter

    from river.preprocessing import LDA

    counts = list(map(Counter, texts_of(documents)))

    def run() -> None:
        lda = LDA(n_components=TOPICS, number_of_documents=len(documents), seed=1)
        for count in counts:
            lda.learn_transform_one(count)

    return run


def _learn(settings: LearnerSettings, batches: Iterable[Minibatch]) -> float:
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    return seconds(lambda: [learner.step(state, minibatch) for minibatch in batches])


def variational() -> None:
    """Compare infvoc, fixvoc and gibbs with gensim and river: tokens a second."""
    documents = de_news()
    tokens = len(documents.tokens)
    some = part(documents, last=RIVER_DOCUMENTS)
    batches = list(minibatches(documents, CHUNK))
    plain = {"topics": TOPICS, "max_words": 20_000}
    ours = {
        **{name: compose(LEARNER, others, _COMMON) for name, others in OURS.items()},
        "gibbs, no visits": compose(LEARNER, {**plain, "moves": 0}),
        "gibbs": compose(LEARNER, plain),
    }
    gensim, river = _gensim(documents), _river(some)
    found: dict[str, list[float]] = {}
    for settings in ours.values():
        _learn(settings, batches[:2])
    for _ in range(REPETITIONS):
        found.setdefault("gensim, chunk 256", []).append(tokens / seconds(gensim))
        found.setdefault("river", []).append(len(some.tokens) / seconds(river))
        for name, settings in ours.items():
            found.setdefault(name, []).append(tokens / _learn(settings, batches))
    rival = max(found["gensim, chunk 256"])
    for name, rates in found.items():
        print(f"{name:42} {max(rates) / 1e3:8.1f} k tokens/s {max(rates) / rival:7.2f} x gensim")
