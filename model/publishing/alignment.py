"""Match the topics of two versions of a model, so that a topic keeps its place.

When another particle is published, its topics may have other numbers. :func:`align_topics` matches
the topics of two snapshots one to one (the Hungarian method) so that the sum of their similarities
is as large as possible. The similarity of two topics is the Bhattacharyya coefficient of their word
frequencies, sum over w of sqrt(p(w) q(w)). It is 1 for equal topics and 0 for topics without a
common word. Words that only one snapshot knows add nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from model.records import FloatArray
from model.snapshot import Snapshot
from model.word_list import WordList

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Added to the similarity of equal places. It decides only between equally good matchings, for
# example of topics without words, which then keep their places.
_PREFER_OWN_PLACE = 1e-9


def align_topics(previous: Snapshot, new: Snapshot) -> list[int]:
    """Return the order that gives the topics of ``new`` the places of those of ``previous``.

    Topic ``order[i]`` of ``new`` takes place ``i``.

    Raises:
        ValueError: The snapshots have different numbers of topics.
    """
    return match_topics(previous, new)[0]


def match_topics(previous: Snapshot, new: Snapshot) -> tuple[list[int], FloatArray]:
    """Return the order of :func:`align_topics`, and how similar the topics of each place are.

    Returns:
        The order, and float64[T], the similarity of topic i of ``previous`` and topic ``order[i]``
        of ``new``, from 0 to 1.

    Raises:
        ValueError: The snapshots have different numbers of topics.
    """
    # Imported here: only a program that publishes needs it.
    from scipy.optimize import linear_sum_assignment

    if previous.topic_count != new.topic_count:
        raise ValueError(
            f"{previous.topic_count} topics cannot be matched one to one with {new.topic_count}"
        )
    similar = similarity(previous, new)
    gains = similar + _PREFER_OWN_PLACE * np.eye(new.topic_count)
    places, order = linear_sum_assignment(gains, maximize=True)
    return [int(topic) for topic in order], similar[places, order]


def reorder(snapshot: Snapshot, order: Sequence[int]) -> Snapshot:
    """Return the same model with its topic ``order[i]`` as topic ``i``."""
    ids = np.empty(len(order), np.int32)
    ids[list(order)] = np.arange(len(order), dtype=np.int32)
    by_word = np.repeat(np.arange(len(snapshot.words)), np.diff(snapshot.offsets))
    topics = ids[snapshot.topics]
    ascending = np.argsort(by_word * len(order) + topics)
    prior = replace(snapshot.prior, strength=snapshot.prior.strength[list(order)])
    return replace(
        snapshot,
        alpha=snapshot.alpha[list(order)],
        prior=prior,
        topics=topics[ascending],
        counts=snapshot.counts[ascending],
    )


def similarity(previous: Snapshot, new: Snapshot) -> FloatArray:
    """Return the similarities, float64[T, T]: rows are previous topics, columns new ones."""
    known = len(previous.words)
    before = _root_frequencies(previous, known)
    if _begins_with(new.words, previous.words):
        # A learner appends new words, so the rows of the words that both know are the same.
        after = _root_frequencies(new, known)
    else:
        after = _root_frequencies(new, len(new.words))
        rows = previous.known_rows(new.words)
        before, after = before[rows[rows >= 0]], after[rows >= 0]
    return np.asarray((before.T @ after).todense(), np.float64)


def _begins_with(words: Sequence[str], first: Sequence[str]) -> bool:
    if isinstance(words, WordList):
        return words.begins_with(first)
    return words[: len(first)] == first


def _root_frequencies(snapshot: Snapshot, words: int) -> csr_array:
    """Return sparse [words, T], for the first words: the square root of n_wz / n_z."""
    from scipy.sparse import csr_array

    end = snapshot.offsets[words]
    topics = snapshot.topics[:end]
    values = np.sqrt(snapshot.counts[:end] / snapshot.totals[topics])
    return csr_array(
        (values, topics, snapshot.offsets[: words + 1]), shape=(words, snapshot.topic_count)
    )
