"""Whether seeded words stay first in their topics: ``python -m benchmarks seeds``.

A particle filter of one particle learns 50 topics in one pass, five times with other seeds of its
draws: every third training post of 20 Newsgroups without headers (prepared as May et al. 2014), and
every sixth paper of NIPS 0-12. The words of each seed are written here beforehand. ``kept`` is the
share of the words that are among the first ten of their topic at the end. ``without`` is the share
of the seeds whose words are all among the first ten of one topic where nothing is seeded.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np

from beam_topics.model.documents.block import Block
from beam_topics.model.learners import LEARNER, learner_for
from beam_topics.model.settings.compositions import compose
from benchmarks.corpora import block_of, letters_of, minibatches, part, records, stop_words
from benchmarks.names import without_headers

TOPICS, FIRST, SEEDS = 50, 10, range(1, 6)
STRENGTHS = (100, 1000)
NEWSGROUPS = {
    "space": ("space", "nasa", "orbit", "launch"),
    "hockey": ("hockey", "team", "season"),
    "guns": ("gun", "weapons", "firearms"),
    "encryption": ("key", "encryption", "chip"),
    "medicine": ("disease", "medical", "patients"),
}
NIPS = {
    "speech": ("speech", "recognition", "speaker"),
    "reinforcement": ("reinforcement", "policy", "reward"),
    "vision": ("image", "visual", "motion"),
    "neurons": ("spike", "neuron", "firing"),
    "mixtures": ("mixture", "gaussian", "likelihood"),
}


def nips() -> Block:
    """Return the papers, without stop words and words of one or two letters."""
    stop = stop_words()

    def words(text: str) -> list[str]:
        return [word for word in letters_of(text) if len(word) > 2 and word not in stop]

    return block_of(records("nips-00-12"), words)


def first_words(
    documents: Block, seeds: Mapping[str, Sequence[str]], **given: int
) -> list[list[str]]:
    """Return the first words of each topic after one pass."""
    lines = tuple(f"{name}: {' '.join(words)}" for name, words in seeds.items())
    options = {"topics": TOPICS, **given, **({"seeds": lines} if lines else {})}
    settings = compose(LEARNER, options)
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    for minibatch in minibatches(documents, 200):
        learner.step(state, minibatch)
    return [list(words) for words in learner.snapshot(state).top_words(FIRST)]


def kept(words: Sequence[Sequence[str]], seeds: Mapping[str, Sequence[str]]) -> float:
    """Return the share of the seeded words that are among the first ten of their topic."""
    found = [word in words[topic] for topic, some in enumerate(seeds.values()) for word in some]
    return float(np.mean(found))


def seeds() -> None:
    """Share of the seeded words that are among the first ten of their topic after a pass."""
    posts, splits = without_headers()
    train = posts.take(np.flatnonzero(splits == "train")[::3])
    corpora = (("20 Newsgroups", train, NEWSGROUPS), ("NIPS", part(nips(), every=6), NIPS))
    for corpus, documents, given in corpora:
        for seed in SEEDS:
            plain = first_words(documents, {}, seed=seed)
            together = [any(set(some) <= set(one) for one in plain) for some in given.values()]
            row = {"corpus": corpus, "seed": seed, "without": float(np.mean(together))}
            for strength in STRENGTHS:
                found = first_words(documents, given, seed=seed, seed_strength=strength)
                row[f"kept at {strength}"] = kept(found, given)
            print(json.dumps(row), flush=True)
