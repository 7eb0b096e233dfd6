"""The law of an epoch against enumeration; threads; the schedule of an archive."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import combinations, product
from math import lgamma

import numpy as np
import pytest
from alarm import agrees_in_means
from engine_digest import digest

from beam_topics.model.errors import LimitError
from beam_topics.model.kernels.threads import each
from beam_topics.model.learners.engine import epoch as law
from beam_topics.model.learners.engine.archive import Schedule, archive, hashed_order, steps
from beam_topics.model.learners.engine.epoch import MOST_COUNT, epoch, ranges_of
from beam_topics.model.learners.engine.kernels.draw import NONE
from beam_topics.model.learners.engine.state import State

# A tiny model: three documents of three words, two topics.
TINY = ([0, 0, 1, 2], [1, 1, 2], [0, 2, 2])
ALPHA, STRENGTH, BASE_STRENGTH = 0.5, 2.0, 3.0
PAIRS = list(combinations(range(10), 2))


def example(documents=300, words=1100, topics=6, seed=1, **settings):
    """A state with documents of random words, of which no token has a topic."""
    g = np.random.default_rng(seed)
    state = State(topics, seed, **settings)
    state.add_words(words)
    lengths = g.integers(0, 40, documents)
    mixed = g.zipf(1.3, lengths.sum()) * 7 + 13 * np.repeat(np.arange(documents) % 5, lengths)
    state.add_documents(mixed % words, lengths)
    return state


def counted(state):
    """n_wt from z."""
    rows = np.zeros((state.size, state.rows.shape[1]), np.int64)
    z, words = state.z[: state.tokens], state.words[: state.tokens]
    np.add.at(rows, (words[z != NONE], z[z != NONE]), 1)
    return rows


@cache
def stirling(n, m):
    """Unsigned Stirling numbers of the first kind."""
    if n == 0 or m == 0:
        return float(n == m)
    return stirling(n - 1, m - 1) + (n - 1) * stirling(n - 1, m)


def probability(z):
    """P(z, words) but for a constant; G and the tables are summed out."""
    word, document = np.concatenate(TINY), np.repeat(range(3), [len(part) for part in TINY])
    found, polynomials = 1.0, []
    for t in (0, 1):
        held = np.array(z) == t
        for d in range(3):
            found *= np.exp(lgamma(ALPHA + held[document == d].sum()) - lgamma(ALPHA))
        found *= np.exp(lgamma(STRENGTH) - lgamma(STRENGTH + held.sum()))
        for w in range(3):
            n = int(held[word == w].sum())
            polynomials.append([stirling(n, m) * STRENGTH**m for m in range(n + 1)])
    words = [np.convolve(polynomials[w], polynomials[3 + w]) for w in range(3)]
    share, total = BASE_STRENGTH / 3, 0.0
    for tables in product(*map(range, map(len, words))):
        term = np.prod([words[w][m] for w, m in enumerate(tables)])
        logs = sum(lgamma(share + m) - lgamma(share) for m in tables)
        total += term * np.exp(logs - lgamma(BASE_STRENGTH + sum(tables)))
    return found * total


@cache
def together():
    """P(z_i = z_j) of all pairs of tokens, by enumeration."""
    states = list(product((0, 1), repeat=10))
    weights = np.array([probability(z) for z in states])
    equal = np.array([[z[i] == z[j] for i, j in PAIRS] for z in states])
    return weights @ equal / weights.sum()


def visited(chains, epochs, shards=1, seed=0):
    """The share of epochs in which tokens have one topic; a row for each chain."""
    found = np.zeros((chains, len(PAIRS)))
    one, other = np.array(PAIRS).T
    for c in range(chains):
        state = State(2, seed + c, a=STRENGTH, a0=BASE_STRENGTH, learns_strengths=False)
        state.add_words(3)
        order = state.add_documents(np.concatenate(TINY), np.array([4, 3, 3]))
        state.alpha[:2] = ALPHA
        for e in range(epochs + 20):
            epoch(state, order, 1 if e == 0 else shards)
            if e >= 20:
                found[c] += state.z[one] == state.z[other]
    return found / epochs


def draw_mean(state, ranges, names, pool):
    """Set G to its mean, which is no Gibbs step."""
    state.base[: state.size] = state.base_mean()


def test_one_sequence_is_near_the_posterior():
    assert np.abs(visited(6, 250).mean(axis=0) - together()).max() < 0.07


@pytest.mark.statistical
def test_one_sequence_has_the_posterior():
    assert agrees_in_means(visited(60, 1500), together())


@pytest.mark.statistical
@pytest.mark.parametrize("bug", ["mean of G", "stale shards"])
def test_another_law_is_rejected(bug, monkeypatch):
    if bug == "mean of G":
        monkeypatch.setattr(law, "draw_shared", draw_mean)
    chains = visited(24, 500, 16) if bug == "stale shards" else visited(60, 1500)
    assert not agrees_in_means(chains, together())


def test_counts_are_those_of_the_topics():
    state = example()
    for documents, shards in ((np.arange(200), 1), (np.arange(100, 300), 16), (np.arange(300), 3)):
        epoch(state, documents, shards)
        assert (state.rows[: state.size] == counted(state)).all()
        assert (state.totals == counted(state).sum(axis=0)).all()
    assert state.visits == sum(state.offsets[[200, 300, 300]]) - state.offsets[100]
    assert (state.tables[: state.size] <= state.rows[: state.size].sum(axis=1)).all()
    assert state.base[: state.size].sum() == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_threads_change_no_bit(threads):
    schedule = Schedule(50, 2, 2, 1, 3)
    one = archive(example(), schedule)
    with ThreadPoolExecutor(threads) as pool:
        assert digest(archive(example(), schedule, pool)) == digest(one)


def test_shards_and_order_are_part_of_the_law():
    digests = set()
    for shards, order in ((1, 1), (4, 1), (16, 1), (16, -1)):
        state = example()
        for _ in range(2):
            epoch(state, np.arange(300)[::order], shards)
        digests.add(digest(state))
    assert len(digests) == 4


def test_what_is_frozen_stays():
    state = example(learns_strengths=False, a=50.0)
    epoch(state, np.arange(300), reseats=False)
    assert (state.base == 1 / 1100).all()
    epoch(state, np.arange(300))
    assert (state.a, state.a0) == (50.0, 1000.0)
    assert (state.alpha[:6] == 0.1).all()
    assert (state.alpha[6:] == 0.0).all()


def test_a_first_pass_returns_the_evidence():
    state = example(words=40)
    first = epoch(state, np.arange(300), 1)
    assert -np.log(40) * state.tokens * 1.1 < first < -np.log(40) * state.tokens * 0.5
    assert epoch(state, np.arange(300), 1) == 0.0


def test_a_model_without_words_or_documents_has_epochs():
    state = State(3)
    assert epoch(state, np.arange(0)) == 0.0
    state.add_words(2)
    state.add_documents(np.arange(0), np.array([0, 0]))
    epoch(state, np.arange(2))
    assert state.epochs == 2


@pytest.mark.parametrize(
    ("documents", "shards", "message"),
    [
        ([0, 300], 16, r"are not in \[0, 300\)"),
        ([-1, 3], 16, r"are not in \[0, 300\)"),
        ([7, 3, 7], 16, "a document is twice"),
        ([7], 0, "shards: 0"),
    ],
)
def test_wrong_epochs_are_refused(documents, shards, message):
    state = example()
    before = digest(state)
    with pytest.raises(ValueError, match=message):
        epoch(state, np.array(documents), shards)
    assert digest(state) == before


def test_a_count_that_may_exceed_32_bits_is_refused_before_it_does():
    state = example(documents=10, words=30)
    tokens, chosen = state.tokens, np.arange(10)
    # A topic may have more tokens than a word has in it.
    state.add_prior_tokens(np.arange(3), np.full((3, 1), MOST_COUNT - tokens))
    epoch(state, chosen)
    assert (state.rows >= 0).all() and state.totals[0] > MOST_COUNT
    more = MOST_COUNT - tokens + 1 - int(state.rows.max())
    state.add_prior_tokens(state.rows[:, 0].argmax(keepdims=True), np.array([[max(more, 0)]]))
    before = digest(state)
    with pytest.raises(LimitError, match="Begin a new model with another --model_store"):
        epoch(state, chosen)
    assert digest(state) == before


def test_ranges_cover_all_words_once():
    for words in (0, 1, 499, 1000, 1501, 40_000):
        ranges = ranges_of(words)
        assert [w for r in ranges for w in range(*r)] == list(range(words))
        assert len(ranges) <= 32


def test_each_keeps_the_order():
    with ThreadPoolExecutor(3) as pool:
        assert each(pool, lambda k: k * k, 5) == each(None, lambda k: k * k, 5) == [0, 1, 4, 9, 16]


def test_levels_double_and_cost_the_same():
    order = np.arange(1000)[::-1]
    found = list(steps(order, Schedule(100, 3, 2, 2, 4)))
    sizes = [(step.stage, len(step.documents), step.shards) for step in found]
    assert sizes == [
        *[("start", 100, 1)] * 3,
        ("level", 100, None),
        *[("level", 200, None)] * 5,
        ("level", 200, None),
        *[("level", 400, None)] * 3,
        ("level", 400, None),
        *[("level", 800, None)] * 2,
        ("level", 200, None),
        *[("sweep", 1000, None)] * 2,
        *[("last", 250, None)] * 8,
    ]
    assert sorted(np.concatenate([step.documents for step in found[-4:]])) == sorted(order)


def test_an_archive_of_fewer_documents_than_parts_is_learned():
    stages = []
    state = archive(example(documents=3), watch=lambda step, _: stages.append(step.stage))
    assert stages.count("last") == 5 * 3
    assert (state.z[: state.tokens] != NONE).all()


def test_an_archive_finds_the_topics():
    state, g = State(2, 1), np.random.default_rng(2)
    state.add_words(20)
    parts = [g.integers(0, 10, 30) + 10 * (d % 2) for d in range(200)]
    state.add_documents(np.concatenate(parts), np.full(200, 30))
    archive(state, Schedule(20, 20, 3, 1, 4))
    halves = state.phi()[:, :10].sum(axis=1)
    assert halves.min() < 0.02
    assert halves.max() > 0.98


def test_the_order_is_a_permutation_that_the_seed_names():
    order = hashed_order(example())
    assert sorted(order) == list(range(300))
    assert order.tolist() == hashed_order(example()).tolist()
    other = example()
    other.seed = 2
    assert order.tolist() != hashed_order(other).tolist()


def test_an_archive_begins_with_nothing():
    with pytest.raises(ValueError, match="has learned"):
        archive(archive(example(), Schedule(50, 1, 0, 0)))


@pytest.mark.parametrize("changes", [{"start": 0}, {"parts": 0}, {"sweeps": -1}])
def test_wrong_schedules_are_refused(changes):
    with pytest.raises(ValueError, match="1 or more"):
        Schedule(**changes)


def streamed(pool):
    """A state after minibatches with new words, each followed by visits of the past."""
    state, g = State(5, 4), np.random.default_rng(6)
    for minibatch in range(6):
        state.add_words(700 - 100 * minibatch)
        lengths = g.integers(0, 30, 40)
        new = state.add_documents(g.integers(0, state.size, lengths.sum()), lengths)
        epoch(state, new, 1 if minibatch == 0 else None, pool, reseats=False)
        past = g.choice(state.documents, 30, replace=False)
        epoch(state, np.sort(past), None, pool)
        assert (state.rows[: state.size] == counted(state)).all()
        assert (state.base[: state.size] > 0).all()
    return state


def test_a_stream_grows_alike_in_any_number_of_threads():
    with ThreadPoolExecutor(3) as pool:
        assert digest(streamed(None)) == digest(streamed(pool))
