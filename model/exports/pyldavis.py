"""What ``pyLDAvis.prepare`` takes, as one JSON object of its arguments.

    pyLDAvis.save_html(pyLDAvis.prepare(**json.load(open("model.json"))), "model.html")

The model keeps no documents. In their place there is one document for each topic, which is about
this topic alone and as long as the tokens of the topic. The shares of topics and the frequencies of
words are then those of the model. Words without a count, and the probability of unseen words, are
left out. Topics keep their order; pyLDAvis numbers them from 1.
"""

from __future__ import annotations

import json

import numpy as np

from model.exports import Exported


def to_pyldavis(exported: Exported) -> bytes:
    """Return the arguments as JSON in UTF-8."""
    snapshot = exported.snapshot
    every = np.arange(len(snapshot.words))
    counts = snapshot.rows(every)
    kept = np.flatnonzero(counts.sum(axis=1))
    phi = (counts + snapshot.prior.shares(every))[kept].T
    phi /= phi.sum(axis=1, keepdims=True)
    return json.dumps(
        {
            "topic_term_dists": phi.tolist(),
            "doc_topic_dists": np.eye(snapshot.topic_count).tolist(),
            "doc_lengths": snapshot.totals.tolist(),
            "vocab": [snapshot.words[row] for row in kept.tolist()],
            "term_frequency": counts[kept].sum(axis=1).tolist(),
            "sort_topics": False,
        },
        ensure_ascii=False,
        allow_nan=False,
    ).encode()
