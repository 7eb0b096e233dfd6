"""Match the topics of two versions of a model, so that a topic keeps its place.

When another particle is published, its topics may have other numbers. :func:`align_topics` matches
the topics of two snapshots one to one (the Hungarian method) so that the sum of their similarities
is as large as possible. The similarity of two topics is the Bhattacharyya coefficient of their word
frequencies, sum over w of sqrt(p(w) q(w)). It is 1 for equal topics and 0 for topics without a
common word. Words that only one snapshot knows add nothing.

Ids of topics, none of which is used twice, and the births and deaths that they tell.

A version has T places for topics: the columns of its counts, and the proportions of its mixtures.
Topics are matched from version to version (:mod:`model.publishing.alignment`), so a topic keeps its
place. A place can get another topic, for example when a challenger replaces topics or when a topic
has lost all its tokens. The topic that had it has died then, and the new one is born. It has an id
of its own:

    id = place + T * (number of topics that had the place before)

So ids are 0 to T - 1 until a topic dies, no id is used twice, and ``id % T`` is the place.

>>> turn = turned_over([0, 1, 5], np.array([0.9, 0.1, 0.8]), before=[7, 7, 7], after=[9, 9, 0])
>>> turn.ids, turn.born, turn.died
([0, 4, 8], [4], [1, 5])

The topic of a place is another one if its similarity to the one that the parent has there is below
:data:`SAME`. On a stream of three unrelated domains the similarity of topics that continue is .29
or more from the second version on (after 700 documents; .46 and more later), and that of the 25
topics which a challenger replaced is .28 or less, of 23 of them .24 or less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from model.records import FloatArray
from model.snapshot import Snapshot
from model.word_list import WordList

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# The smallest similarity of a topic and the same topic in the parent.
SAME = 0.25


@dataclass(frozen=True)
class Turnover:
    """The ids of a version, and what differs from its parent.

    Attributes:
        ids: The id of each place.
        born: The ids of topics that the parent does not have, in the order of places.
        died: The ids of topics of the parent that the version does not have.
    """

    ids: list[int]
    born: list[int]
    died: list[int]


def turned_over(
    ids: Sequence[int], similarity: FloatArray, before: npt.ArrayLike, after: npt.ArrayLike
) -> Turnover:
    """Return the ids of a version.

    Args:
        ids: The ids of its parent.
        similarity: float64[T], of the topics of each place in the parent and in the version.
        before: The tokens of each topic of the parent; a place without tokens has no topic.
        after: Those of the version.
    """
    had, has = np.asarray(before) > 0, np.asarray(after) > 0
    ended = had & (~has | (similarity < SAME))
    now = [topic + len(ids) * bool(end) for topic, end in zip(ids, ended, strict=True)]
    places = range(len(ids))
    born = [now[z] for z in places if has[z] and (ended[z] or not had[z])]
    return Turnover(now, born, [ids[z] for z in places if ended[z]])


def stored_ids(ids: Sequence[int]) -> list[int]:
    """Return ids as a manifest has them: [] if the id of each place is its number."""
    return [] if list(ids) == list(range(len(ids))) else list(ids)


def place_of(topic: int, ids: Sequence[int]) -> int | None:
    """Return the place of a topic among the ids of a version; None if it is not there."""
    place = topic % len(ids)
    return place if ids[place] == topic else None


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
