"""Visits of a document and a draw of the weights leave the joint distribution of both invariant.

The topics of 26 documents are held, and the topics of one more document of three tokens are free.
(z, A, gamma, pi) are drawn from their joint posterior distribution, which is enumerated over z and
summed on a fine grid of (A, gamma, pi). A visit of the free document by the kernel of the learner,
under the weights, and then a draw of the weights must not change their distribution. The planted
bugs visit under the weights of the other topic, and count all tables as those of pi.
"""

import itertools

import numpy as np
from alarm import agrees_between
from populations import KEY
from scipy.special import betaln, gammaln
from weighted_topics import COUNTS, ROWS, all_tables, grid, mixed, weight_in

from beam_topics.model.kernels.random import MOVE, TOPIC_WEIGHTS
from beam_topics.model.learners.particles import topic_weights
from beam_topics.model.learners.particles.history import WHOLE_DOCUMENT, History
from beam_topics.model.learners.particles.kernels.copy_on_write import own_row, row_of
from beam_topics.model.learners.particles.kernels.particles import Draws, Prior
from beam_topics.model.learners.particles.kernels.rejuvenation import move_units
from beam_topics.model.learners.particles.kernels.table_counts import NONE, closing_probabilities
from beam_topics.model.learners.particles.kernels.topic_weights import RATE
from beam_topics.model.learners.particles.population import new_population, with_capacity
from beam_topics.model.learners.particles.priors import with_alpha
from beam_topics.model.learners.particles.rejuvenation import Reservoir
from beam_topics.model.learners.particles.topic_weights import drawn_alpha

REPLICAS = 4000
TEXT, BASE, A = (0, 0, 1), np.array([0.6, 0.4]), 1.5
# Tokens of each word and topic in the documents that are held: their topics are those of ROWS.
HELD = np.array([[90, 5], [46, 9]])
PRIOR = Prior(np.zeros(8), 0.0, BASE, A, 0.0, 0.0, NONE, closing_probabilities(0.0, NONE))
TOPICS = list(itertools.product((0, 1), repeat=len(TEXT)))


def log_words(topics):
    """Return ln P(words of the free document | topics, everything held)."""
    counts, found = HELD.astype(float), 0.0
    for word, topic in zip(TEXT, topics, strict=True):
        found += np.log((counts[word, topic] + A * BASE[word]) / (counts[:, topic].sum() + A))
        counts[word, topic] += 1
    return found


def posterior_draws(generator):
    """Return draws of (topics, A, gamma, pi_1) from their joint posterior distribution."""
    (log_a, wide_a), (log_g, wide_g), (logit, wide_p) = (
        grid(-6, 9.5, 80),
        grid(-9, 9.5, 80),
        grid(-7, 14, 140),
    )
    a, g = np.exp(log_a)[:, None, None], np.exp(log_g)[None, :, None]
    p = (1 / (1 + np.exp(-logit)))[None, None, :]
    log = np.log(a) - RATE * a + np.log(g) - RATE * g - betaln(g / 2, g / 2)
    log = log + g / 2 * (np.log(p) + np.log1p(-p))

    def of_document(row):
        return (
            gammaln(a)
            - gammaln(a + sum(row))
            + sum(
                gammaln(a * weight + tokens) - gammaln(a * weight)
                for weight, tokens in zip(mixed(p), row, strict=True)
            )
        )

    log = log + sum(times * of_document(row) for row, times in ROWS.items())
    every = np.stack([log + of_document((z.count(0), z.count(1))) + log_words(z) for z in TOPICS])
    mass = np.exp(every - every.max()).ravel()
    cells = generator.choice(len(mass), REPLICAS, p=mass / mass.sum())
    places = np.unravel_index(cells, every.shape)
    jitter = generator.random((3, REPLICAS)) - 0.5
    return (
        [TOPICS[place] for place in places[0]],
        np.exp(log_a[places[1]] + wide_a * jitter[0]),
        np.exp(log_g[places[2]] + wide_g * jitter[1]),
        1 / (1 + np.exp(-logit[places[3]] - wide_p * jitter[2])),
    )


def visited(topics, alpha, number):
    """Return the topics after the kernel has visited the document."""
    prior, history = with_alpha(PRIOR, alpha), History(Reservoir(newest=5))
    slot = history.begin(np.array(TEXT, np.int32), None)
    population = with_capacity(
        new_population(prior, 1, 1),
        writers=1,
        units=20,
        longest=10,
        words=2,
        pages=len(history.pages.words),
        threads=1,
    )
    page = history.pages_of(slot)[0]
    population.topics.rows[own_row(population.topics, 0, page, 1, 0, False), : len(TEXT)] = topics
    for word in (0, 1):
        row = population.words.rows[own_row(population.words, 0, word, 1, 0, True)]
        row[:2] += HELD[word].astype(row.dtype)
        population.totals[0, :2] += HELD[word]
    for word, topic in zip(TEXT, topics, strict=True):
        population.words.rows[own_row(population.words, 0, word, 1, 0, True)][topic] += 1
        population.totals[0, topic] += 1
    where = np.array([slot], np.int32), np.array([WHOLE_DOCUMENT], np.int64)
    move_units(population, prior, history.pages, Draws(*KEY, number, MOVE), *where, 0, 0, 1, 0)
    row = row_of.py_func(population.topics, 0, page)
    return tuple(int(topic) for topic in population.topics.rows[row][: len(TEXT)])


def statistics(topics, whole, gamma, first):
    return [
        topics.count(1),
        int(topics[0] == topics[2]),
        whole / (1 + whole),
        gamma / (1 + gamma),
        first,
        abs(first - 0.5),
        topics.count(1) * first,
    ]


def is_invariant(exchanged=False):
    generator = np.random.default_rng(3)
    before = posterior_draws(generator)
    after = []
    for number, (topics, whole, gamma, first) in enumerate(
        zip(*posterior_draws(generator), strict=True)
    ):
        alpha = whole * np.array(mixed(first))
        moved = visited(topics, alpha[::-1] if exchanged else alpha, number)
        free = np.array([[moved.count(0), moved.count(1)]], np.int32)
        counts = np.concatenate([COUNTS, free])
        names = Draws(*KEY, number, TOPIC_WEIGHTS), 0, 0
        found, gamma_after, _ = drawn_alpha(counts, alpha, gamma, names)
        share = weight_in(found)
        after.append(statistics(moved, found.sum(), gamma_after, share))
    return agrees_between([statistics(*one) for one in zip(*before, strict=True)], after)


def test_topics_and_weights_keep_their_joint_distribution():
    assert is_invariant()


def test_visits_under_other_weights_are_found():
    assert not is_invariant(exchanged=True)


def test_weights_by_all_tables_are_found(monkeypatch):
    monkeypatch.setattr(topic_weights, "tables_of_weights", all_tables)
    assert not is_invariant()
