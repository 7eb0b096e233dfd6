"""All figures of one model version on documents that it has not learned, as a flat dictionary.

The nMI follows May, Clemmer and Van Durme (2014): topics are fixed at P(w | z), and the test
documents get a first pass and five Gibbs sweeps. The cluster of a document is its most frequent
topic, the lower one of two that are equal. As the topics are fixed, documents do not influence each
other, so their order, which May shuffled, has no effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from beam_topics.model.documents.block import Block, bounds_of
from beam_topics.model.evaluation.agreement import main_topics, nmi
from beam_topics.model.evaluation.kernels import held_out
from beam_topics.model.evaluation.perplexity import Score, first_moment, left_to_right, word_table
from beam_topics.model.evaluation.settings import EvaluationSettings
from beam_topics.model.inference.settings import RETRAIN_BELOW
from beam_topics.model.kernels import random
from beam_topics.model.snapshot import Snapshot

Figures = dict[str, float | int | bool | None]


def evaluate(
    snapshot: Snapshot,
    documents: Block,
    settings: EvaluationSettings | None = None,
) -> Figures:
    """Return the figures of one snapshot.

    Returns:
        ``documents``, ``tokens``; ``labelled_documents``, ``nmi`` (None without labels);
        ``coverage``, the share of the distinct words that the model knows, and ``retrain`` where
        that is too little; ``scored_tokens``, ``left_out_tokens`` and ``first_moment_perplexity``;
        ``checked_tokens``, ``left_to_right_perplexity`` and ``first_moment_of_checked``, the last
        two of the same tokens. A perplexity is None where no token was scored.
    """
    documents, settings = snapshot.joined(documents), settings or EvaluationSettings()
    alone = documents.documents()
    scored = sum((first_moment(snapshot, document) for document in alone), Score())
    with_label = labelled(documents)
    known = coverage(snapshot, documents)
    return {
        "documents": len(documents),
        "tokens": len(documents.tokens),
        "labelled_documents": len(with_label),
        "nmi": nmi(list(with_label.labels), clusters(snapshot, with_label, settings))
        if len(with_label)
        else None,
        "coverage": known,
        "retrain": known is not None and known < RETRAIN_BELOW,
        "scored_tokens": scored.tokens,
        "left_out_tokens": scored.left_out,
        "first_moment_perplexity": scored.perplexity,
        **_check_left_to_right(snapshot, documents, settings),
    }


def labelled(documents: Block) -> Block:
    """Return the documents that have a label."""
    return documents.take([row for row, one in enumerate(documents.labels) if one is not None])


def clusters(snapshot: Snapshot, documents: Block, settings: EvaluationSettings) -> list[int]:
    """Return the most frequent topic of each document; -1 where no word is known."""
    counts = [_topic_counts(snapshot, one, settings) for one in documents.documents()]
    return main_topics(np.array(counts).reshape(len(counts), snapshot.topic_count))


def coverage(snapshot: Snapshot, documents: Block) -> float | None:
    """Return the share of the distinct words that the model knows; None without words."""
    words = documents.words
    return sum(snapshot.row_of(word) >= 0 for word in words) / len(words) if words else None


def _topic_counts(
    snapshot: Snapshot, document: Block, settings: EvaluationSettings
) -> Sequence[int]:
    phi, tokens = word_table(snapshot, document, unseen=False)
    key0, key1 = random.stream_key(settings.seed, f"{document.key}\0{document.ids[0]}")
    counts: Sequence[int] = held_out.sample_fixed(
        tokens, phi, snapshot.alpha, settings.sweeps, key0, key1
    )
    return counts


def _check_left_to_right(
    snapshot: Snapshot, documents: Block, settings: EvaluationSettings
) -> Figures:
    slow, fast = Score(), Score()
    many = settings.check_documents if len(documents) else 0
    checked = documents.take(np.unique(np.linspace(0, len(documents) - 1, many).astype(int)))
    for one in checked.documents():
        tokens = one.tokens[: settings.check_tokens]
        document = replace(one, tokens=tokens, offsets=bounds_of([len(tokens)]))
        slow += left_to_right(snapshot, document, settings.particles, settings.seed)
        fast += first_moment(snapshot, document)
    return {
        "checked_tokens": slow.tokens,
        "left_to_right_perplexity": slow.perplexity,
        "first_moment_of_checked": fast.perplexity,
    }
