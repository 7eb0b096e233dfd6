"""A Gibbs state in the form that MALLET writes with ``--output-state``, gzipped.

The model keeps no documents. In their place there is one for each topic, with the tokens of this
topic. Counts by word and topic are those of the model, and ``#alpha`` is its prior. MALLET has one
``#beta`` for all words and topics; it is the mean pseudo-count of the model's prior.

A state has whole tokens. Learners with ``--prior=flat`` count whole tokens. Counts of others are
discounted or expected ones, and are rounded.

MALLET numbers words in the order in which they come, and refuses a state with other numbers. So it
reads this one where its instances are the texts of these documents.
"""

from __future__ import annotations

import gzip
import io

import numpy as np

from model.exports import Exported


def rounding(exported: Exported) -> tuple[float, int]:
    """Return the tokens of the model, and those of its state."""
    counts = exported.snapshot.counts
    return float(counts.sum()), int(np.round(counts).sum())


def to_mallet(exported: Exported) -> bytes:
    """Return the state."""
    snapshot = exported.snapshot
    offsets, rows, counts = snapshot.by_topic
    every = np.arange(len(snapshot.words))
    beta = float(np.mean(snapshot.prior.shares(every)))
    out = io.StringIO()
    out.write("#doc source pos typeindex type topic\n")
    out.write("#alpha : " + " ".join(repr(float(one)) for one in snapshot.alpha) + " \n")
    out.write(f"#beta : {beta!r}\n")
    numbers: dict[int, int] = {}
    for topic in range(snapshot.topic_count):
        at, place = slice(int(offsets[topic]), int(offsets[topic + 1])), 0
        for row, count in zip(rows[at].tolist(), counts[at].tolist(), strict=True):
            for _ in range(round(count)):
                number = numbers.setdefault(row, len(numbers))
                out.write(f"{topic} topic{topic} {place} {number} {snapshot.words[row]} {topic}\n")
                place += 1
    # Without a time, equal models give equal bytes.
    return gzip.compress(out.getvalue().encode(), mtime=0)
