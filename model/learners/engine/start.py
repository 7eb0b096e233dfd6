"""How many topics a stream begins with.

Few documents say little about the number of topics, and a model of too many topics predicts worse
than one of too few: of three subjects it makes fifty fragments. So a stream begins in three steps.

1. Until 10 documents have come, the model has T topics, or one with ``--topics=auto``.
2. The first 10, 16, 26, 42, ... and 300 documents choose a model (:func:`first_model`): a subject
   that begins between two choices waits for the next. For each K of 1, 2, 3, 4, 6, 8, ... up to T,
   a chain learns a random two thirds of them in 40 sweeps, S = 1; fewer than 300 compare every
   second K from a third of the last choice on. The others judge: g_d(K) is the probability of the
   tokens of document d at odd places, given those at even places. K is *good* if it is within s
   standard errors of the best K',

       sum over d of [g_d(K') - g_d(K)] <= s (sd of these differences) sqrt(number of d).

   ``auto`` takes the smallest good K with s = 1/4. A number T takes the largest, because T topics
   are wanted: with s = 1/4 and, where 300 make the final choice, with s = 2.
3. A chain has fragments, so topics *dissolve* (:func:`dissolve`), the smallest first, if all of the
   documents together then stay within 1/4 standard error. A topic that documents have learned
   serves them better than others do, so a topic of a subject of its own stays. The model goes on
   from the chain (:func:`begin_anew`), and learns the documents as if they were its first
   minibatch. This renumbers the topics.

Later documents get the rest of T topics, or with ``auto`` more topics, where no topic explains
them (:mod:`beam_topics.model.learners.engine.splits`). With seeds or without births, the model has
T topics from the start.
"""

from __future__ import annotations

import math
from concurrent.futures import Executor

import numpy as np

from beam_topics.model.kernels.threads import each
from beam_topics.model.learners.engine.epoch import epoch
from beam_topics.model.learners.engine.kernels.draw import NONE
from beam_topics.model.learners.engine.settings import Gibbs
from beam_topics.model.learners.engine.snapshots import Held, Texts, phi_of, texts_of
from beam_topics.model.learners.engine.state import Array, State
from beam_topics.model.learners.engine.stream import places_of

# Numbers of topics that are compared.
NUMBERS = (1, 2, 3, 4, 6, 8, 12, 17, 25, 35, 50, 70)
# Documents that choose, and those that make the final choice.
LOOKS = (10, 16, 26, 42, 68, 110, 180, 300)
CHOOSING = LOOKS[-1]
# One document in this many, drawn whatever the order is, is a judge; the sweeps of a chain; how far
# fewer topics are compared.
JUDGES, SWEEPS, FEWER = 3, 40, 3
# Documents that make tables be drawn a sweep later: once in a sweep of fewer, in two, in three, ...
RESEAT = 100
# Standard errors below the best that count as none, and those that suffice to settle for fewer
# topics than a given number.
CLOSE, SURE = 0.25, 2.0


def numbers_up_to(most: int) -> list[int]:
    """Return the numbers of topics that are compared, up to ``most``."""
    return [k for k in NUMBERS if k < most] + ([most] if most <= NUMBERS[-1] else [])


def first_model(
    live: State, chosen: int, documents: int, settings: Gibbs, pool: Executor | None
) -> State:
    """Return the model that the first documents choose.

    Args:
        live: the model; it may hold later documents, too.
        chosen: the topics of the last choice; 0 before the first one.
        documents: how many choose, one of :data:`LOOKS`.
        settings: the settings.
        pool: threads for the chains.
    """
    drawn = np.argsort(places_of(live, np.arange(documents)))
    judges, learned = np.sort(drawn[: documents // JUDGES]), np.sort(drawn[documents // JUDGES :])
    if not len(live.places(learned)[0]):
        # No word can choose.
        return live
    is_last = documents == CHOOSING
    numbers, errors = numbers_up_to(settings.most_first)[::-1], CLOSE
    if not is_last:
        # Far fewer topics than the last choice are no longer likely, and many cost most.
        numbers = [k for k in numbers[::2] if k >= chosen / FEWER]
    if settings.learns_topics:
        numbers = numbers[::-1]
    elif is_last:
        errors = SURE
    texts = texts_of(live, judges)

    def judged(i: int) -> tuple[State, Array]:
        chain = chain_of(live, settings, numbers[i], learned)
        return chain, completion(chain, texts)

    chains, found = zip(*each(pool, judged, len(numbers)), strict=True)
    chain = chains[first_good(np.array(found), errors)]
    dissolve(chain, texts_of(live, np.arange(documents)))
    return begin_anew(live, chain, learned, settings)


def first_good(found: Array, most: float = CLOSE) -> int:
    """Return the first row within ``most`` standard errors of the best.

    Args:
        found: float64[n, D], for each number of topics ln P of each judging document.
        most: standard errors.
    """
    losses = found[int(np.argmax(found.sum(axis=1)))] - found
    errors = losses.std(axis=1) * math.sqrt(found.shape[1])
    return int(np.argmax(losses.sum(axis=1) <= most * errors))


def chain_of(live: State, settings: Gibbs, topics: int, learned: Array) -> State:
    """Return a model of K topics that has learned some documents."""
    chain = emptied(live, topics, settings.alpha_of(topics))
    chain.name = f"{live.name}\0{topics} topics"
    chain.add_documents(*tokens_of(live, learned))
    sweep(chain, SWEEPS)
    return chain


def sweep(chain: State, sweeps: int) -> None:
    """Visit all documents some times, S = 1."""
    every = 1 + chain.documents // RESEAT
    for number in range(sweeps):
        epoch(chain, np.arange(chain.documents), 1, reseats=number % every == 0)


def phi_in_use(chain: State, texts: Texts) -> tuple[Array, Array]:
    """Return the topics that have tokens, int64[K], and their phi, float32[V, K]."""
    topics = np.flatnonzero(chain.totals[: chain.topics])
    counts, base = chain.rows[texts.ids[:, None], topics], chain.base_mean(texts.ids)
    return topics, phi_of(counts, chain.totals[topics], base, chain.a)


def completion(chain: State, texts: Texts) -> Array:
    """Return ln P(tokens at odd places | those at even places) of the judges, float64[D]."""
    topics, phi = phi_in_use(chain, texts)
    return Held.of(float(chain.alpha[topics[0]]), phi).completion(texts)


def dissolve(chain: State, texts: Texts) -> None:
    """Let topics go that the judges do not need, the smallest first; others take their tokens."""
    topics, phi = phi_in_use(chain, texts)
    alpha, stays = float(chain.alpha[topics[0]]), np.ones(len(topics), np.bool_)
    best = Held.of(alpha, phi).completion(texts)
    for place in np.argsort(chain.totals[topics], kind="stable").tolist():
        stays[place] = False
        if not stays.any():
            stays[place] = True
            break
        found = Held.of(alpha, phi[:, stays]).completion(texts)
        stays[place] = bool(first_good(np.array([found, best])))
    gone = topics[~stays]
    theirs = np.flatnonzero(np.isin(chain.z[: chain.tokens], gone))
    chain.recount(theirs, np.full(len(theirs), NONE, np.uint16))
    chain.alpha[gone] = 0.0
    sweep(chain, SWEEPS // 4)


def begin_anew(live: State, chain: State, learned: Array, settings: Gibbs) -> State:
    """Return a model of the words and documents of another one that begins as a chain ended.

    Args:
        live: the other model.
        chain: has learned some documents.
        learned: int64[n], these.
        settings: the settings.
    """
    topics = np.flatnonzero(chain.totals[: chain.topics])
    found = emptied(live, len(topics), settings.alpha_of(len(topics)))
    found.add_documents(*tokens_of(live, np.arange(live.documents)))
    z = np.searchsorted(topics, chain.z[: chain.tokens]).astype(np.uint16)
    found.recount(live.places(learned)[0], z)
    found.a, found.a0 = chain.a, chain.a0
    found.tables, found.base = chain.tables.copy(), chain.base.copy()
    # These name draws.
    found.epochs, found.visits, found.reseated = live.epochs, live.visits, live.visits
    return found


def emptied(live: State, topics: int, alpha: float) -> State:
    """Return a model of K topics over the words of another one, without documents."""
    found = State(topics, live.seed, live.name, unseen=live.unseen)
    found.alpha[:topics] = alpha
    found.add_words(live.size)
    return found


def tokens_of(live: State, chosen: Array) -> tuple[Array, Array]:
    """Return the words of documents, int32[N], and their lengths, int64[n]."""
    places, offsets = live.places(chosen)
    return live.words[places], np.diff(offsets)
