"""Revive dormant topics (:mod:`model.learners.particles.dormant`) in a challenger.

After a told change a further challenger takes the newest documents out and makes room like the
first one. Then the dormant topics that explain most of the newest documents take up to half of the
empty topics. A dormant topic is worth

    sum over w of f_w p_w / (p_w + f_w / f)

with f_w the tokens of w in the newest documents, f their sum, and p_w the topic's share of w: the
number of tokens that are its own where the alternative is what is usual in the newest documents.

Let c_w be the counts of the chosen topics. As many tokens of w that no document at hand holds leave
their topics, each with the same probability, if there are so many. Then each revived topic gets its
tokens, which are seated at tables as new tokens are. So tokens that were absorbed move back, and
tokens that were forgotten are learned again. The joint probability stays as it is, as when a topic
is absorbed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from model.kernels.random import RESTART
from model.learners.particles.copying import own_rows
from model.learners.particles.dormant import Dormant
from model.learners.particles.history import History
from model.learners.particles.history_settings import NOTHING
from model.learners.particles.kernels import copy_on_write
from model.learners.particles.kernels.canonical_rows import tokens_by_word
from model.learners.particles.kernels.forgetting import forget_tokens
from model.learners.particles.kernels.particles import PAGE, Population
from model.learners.particles.kernels.restarting import put_back
from model.learners.particles.state import ParticleState, draws
from model.records import IntArray, LongArray

# Draws of challengers are named by their numbers 0, 1 and 2; those of topics come after them.
_LEAVING, _FIRST_TOPIC = 3, 4
# The part of the empty topics that may be revived, as a divisor.
_SHARE = 2


def revive(
    state: ParticleState, population: Population, topics: Sequence[Dormant], restarted: IntArray
) -> list[int]:
    """Let dormant topics take empty topics of a challenger.

    Args:
        state: the learner's state.
        population: the challenger, without the newest documents; changed.
        topics: the dormant topics.
        restarted: the slots of the newest documents.

    Returns:
        The indices of the dormant topics that are revived.
    """
    empty = np.flatnonzero(population.totals[0, : state.settings.topics] == 0)
    chosen = most_useful(topics, newest_words(state, restarted), len(empty) // _SHARE)
    # All leave before any joins, so that none leaves a revived topic.
    _leave(state, _named(population, _LEAVING), [topics[index] for index in chosen], restarted)
    for index, topic in zip(chosen, empty.tolist(), strict=False):
        _join(state, _named(population, _FIRST_TOPIC + topic), topics[index], topic)
    return chosen


def newest_words(state: ParticleState, restarted: IntArray) -> LongArray:
    """Return int64[W], the tokens of each word in documents."""
    tokens = [np.zeros(0, np.int32)] + [state.history.words_of(int(slot)) for slot in restarted]
    joined = np.concatenate(tokens)
    return np.bincount(joined[joined >= 0], minlength=len(state.vocabulary))


def most_useful(topics: Sequence[Dormant], newest: LongArray, room: int) -> list[int]:
    """Return the indices of the topics that explain most of the newest documents.

    Args:
        topics: the dormant topics.
        newest: int64[W], the tokens of the newest documents.
        room: how many there may be.
    """
    total, worth = max(1, int(newest.sum())), []
    for topic in topics:
        found = newest[topic.words]
        share = topic.counts / max(1, int(topic.counts.sum()))
        worth.append(float((found * (share / (share + found / total))).sum()))
    order = sorted(range(len(topics)), key=lambda index: (-worth[index], index))
    return [index for index in order if worth[index] > 0.0][:room]


def _named(population: Population, name: int) -> Population:
    """Return the same population, whose further draws have another name."""
    return population._replace(identity=np.full(1, name))


def _leave(
    state: ParticleState, population: Population, topics: Sequence[Dormant], restarted: IntArray
) -> None:
    """Let tokens of the topics' words leave, of those that no document at hand holds."""
    slots = np.setdiff1d(state.history.slots(), restarted)
    begins, places = tokens_by_word(state.history.pages, slots, len(state.vocabulary))
    others = np.zeros(len(state.vocabulary), np.int64)
    for topic in topics:
        others[topic.words] += topic.counts
    none, source = np.zeros(0, np.int64), draws(state, RESTART)
    forget_tokens(population, state.prior, begins, places, none, others, source, 0, 1, 0)


def _join(state: ParticleState, population: Population, topic: Dormant, number: int) -> None:
    """Let the topic's tokens join topic ``number``, as the tokens of one more document would."""
    history = History(NOTHING)
    slots = history.begin_all([(np.repeat(topic.words, topic.counts), None)])
    count = len(history.pages.words)
    generation = int(population.generation[0])
    alone = population._replace(
        documents=_zeros(len(history.labels), population.totals.shape[1], generation),
        topics=_zeros(count, PAGE, generation),
        joint=population.joint.copy(),
        joint_exponent=population.joint_exponent.copy(),
    )
    put_back(alone, state.prior, history.pages, slots, np.array([number]), draws(state, RESTART))


def _zeros(count: int, width: int, generation: int) -> copy_on_write.Table:
    """Return ``count`` zero rows of one particle."""
    return own_rows(copy_on_write.new_table(1, count, width, 1), 0, count, generation)
