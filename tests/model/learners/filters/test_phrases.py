"""Phrases that are learned: by which test, from when on, within which bounds, and their state."""

import math
from dataclasses import replace

import numpy as np
import pytest
from corpora import document_of, minibatches_of
from hypothesis import given
from hypothesis import strategies as st
from learner_options import made
from scipy.stats import binom

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.inference.features import numbered
from beam_topics.model.learners import learner_for
from beam_topics.model.learners.filters import phrases as phrases_module
from beam_topics.model.learners.filters.phrases import FALSE_ALARM, LearnedPhrases, is_phrase
from beam_topics.model.publishing import snapshots

# ``york_times`` is one before ``new_york_times`` is known.
ALL = ["los_angeles", "new_york", "new_york_times", "york_times"]


def settings_of(**others):
    common = {"topics": 3, "learner": "o-lda", "phrases": "learned", "phrase_documents": 5}
    return made({**common, **others})


def texts(count, seed=1, first=0):
    """Texts of chance words with pairs that belong together, and a triple."""
    generator = np.random.default_rng(seed)
    found = []
    for d in range(count):
        words = [f"w{n}" for n in generator.integers(60, size=30)]
        for place in (20, 10, 0):
            words[place:place] = (["los", "angeles"], ["new", "york", "times"])[place // 10 % 2]
        found.append(document_of(words, first + d, "ab"[d % 2]))
    return found


def learned(documents, size=20, reload=False, **others):
    settings = settings_of(**others)
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    for minibatch in minibatches_of(documents, size):
        learner.step(state, minibatch)
        if reload:
            state = learner.load(settings, "", 0, learner.save(state))
    return learner, state


def tail(rule, expected, tokens):
    """The probability that chance makes a phrase: of the least count that the rule takes."""
    both = next(n for n in range(1, tokens) if rule(n, expected))
    return binom.sf(both - 1, tokens, expected / tokens)


@pytest.mark.parametrize("expected", [1e-3, 0.02, 0.3, 1.0, 4.0, 25.0, 300.0])
def test_chance_makes_a_phrase_with_at_most_the_stated_probability(expected):
    tokens = 100_000

    def rule(both, expected):
        return is_phrase(both, expected, tokens, 1e-9)

    assert tail(rule, expected, tokens) <= FALSE_ALARM


@pytest.mark.parametrize("expected", [1.0, 25.0])
def test_that_test_rejects_a_bound_without_its_second_term(expected):
    def bug(both, expected):
        return both > expected and both * math.log(both / expected) >= -math.log(FALSE_ALARM)

    assert tail(bug, expected, 100_000) > FALSE_ALARM


@given(st.integers(1, 500), st.floats(1e-3, 400), st.floats(0.05, 0.95))
def test_the_rule_is_that_of_the_docstring(both, expected, npmi):
    tokens = 20_000
    deviance = both * math.log(both / expected) - (both - expected)
    found = math.log(both / expected) / math.log(tokens / both)
    edges = deviance + math.log(FALSE_ALARM), found - npmi
    if min(map(abs, edges)) > 1e-9:
        wanted = both > expected and all(edge > 0 for edge in edges)
        assert is_phrase(both, expected, tokens, npmi) == wanted


def test_chance_neighbours_are_no_phrases_and_planted_ones_are():
    _, state = learned(texts(200))
    assert list(state.filters[0].phrases) == ALL


def test_phrases_are_joined_from_the_minibatch_after():
    settings = settings_of()
    memory = LearnedPhrases.new(settings)
    first, second, third = minibatches_of(texts(60), 20)
    assert memory.take(first) is first
    assert list(memory.phrases) == ["los_angeles", "new_york", "york_times"]
    joined = memory.take(second)
    assert {word for word in joined.words if "_" in word} == {"los_angeles", "new_york"}
    assert "new_york_times" in memory.phrases
    assert "new_york_times" in memory.take(third).words


def test_a_pair_counts_once_in_a_document():
    memory = LearnedPhrases.new(settings_of())
    (minibatch,) = minibatches_of([document_of(["new", "york", "x"] * 9, d) for d in range(4)], 4)
    memory.take(minibatch)
    assert memory.pairs.least(("new", "york")) == 4
    assert memory.words.least("new") == 36
    assert list(memory.phrases) == []


def test_the_least_used_phrases_leave_beyond_the_most(monkeypatch):
    monkeypatch.setattr(phrases_module, "MOST_PHRASES", 1)
    _, state = learned(texts(300))
    (left,) = state.filters[0].phrases
    uses = state.filters[0].words.least
    assert uses(left) == max(map(uses, ALL))


def test_counts_are_bounded_and_halved(monkeypatch):
    monkeypatch.setattr(phrases_module, "HORIZON", 4000)
    monkeypatch.setattr(phrases_module, "MOST_PAIRS", 100)
    _, state = learned(texts(400))
    memory = state.filters[0]
    assert len(memory.pairs.counts) <= 200
    assert len(memory.words.counts) <= 200
    assert 2000 <= memory.tokens < 4000
    assert {"los_angeles", "new_york"} <= set(memory.phrases)


def test_a_version_joins_what_it_knows():
    learner, state = learned(texts(200))
    snapshot = learner.snapshot(state)
    assert snapshot.joins_phrases
    assert {"los_angeles", "new_york", "new_york_times"} <= set(snapshot.phrases) <= set(ALL)
    stored = snapshots.snapshot_to_file(snapshot)
    again = snapshots.snapshot_from_bytes(stored.data)
    assert again.joins_phrases
    assert snapshots.snapshot_to_file(again).data == stored.data
    plain = document_of(["los", "angeles", "los"])
    joined = document_of(["los_angeles", "los"])
    one, other = (numbered(again, document).counts for document in (plain, joined))
    assert one.rows.tolist() == other.rows.tolist()
    assert [again.words[row] for row in one.rows] == ["los_angeles", "los"]


def test_without_phrases_a_version_joins_nothing():
    settings = made({"topics": 3, "learner": "o-lda"})
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    learner.step(state, minibatches_of(texts(40), 40)[0])
    assert learner.snapshot(state).phrases is None


@pytest.mark.parametrize("others", [{}, {"max_df": 0.4}])
def test_a_restored_state_gives_the_same_bits(monkeypatch, others):
    monkeypatch.setattr(phrases_module, "MOST_PAIRS", 100)
    documents = texts(120)
    (learner, one), (_, other) = (learned(documents, 20, again, **others) for again in (0, 1))
    assert learner.save(one) == learner.save(other)


def test_the_order_within_a_minibatch_does_not_change_the_phrases():
    documents = texts(100)
    one, other = LearnedPhrases.new(settings_of()), LearnedPhrases.new(settings_of())
    for minibatch in minibatches_of(documents, 20):
        one.take(minibatch)
    reordered = [d for at in range(0, 100, 20) for d in reversed(documents[at : at + 20])]
    for minibatch in minibatches_of(reordered, 20):
        other.take(minibatch)
    assert one.to_bytes() == other.to_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: replace(m, tokens=-1), "tokens of phrases: found -1"),
        (lambda m: replace(m, tokens=2**40), "tokens of phrases: found"),
        (lambda m: replace(m.pairs, short=-1), "pairs_short of phrases: found -1"),
        (lambda m: m.pairs.counts.update({("a", "b"): 0}), "pairs of phrases"),
        (lambda m: m.words.counts.update({"a": -1}), "words of phrases"),
        (
            lambda m: m.words.counts.update((f"x{n}", 1) for n in range(300)),
            "number of words of phrases",
        ),
        (lambda m: m.phrases._phrases.add("single"), "phrases of a state"),
    ],
)
def test_a_hostile_state_is_refused(monkeypatch, change, message):
    monkeypatch.setattr(phrases_module, "MOST_PAIRS", 100)
    _, state = learned(texts(40))
    memory = state.filters[0]
    made = change(memory)
    if isinstance(made, LearnedPhrases):
        memory = made
    elif made is not None:
        memory = replace(memory, pairs=made)
    with pytest.raises(DamagedDataError) as error:
        LearnedPhrases.from_bytes(settings_of(), memory.to_bytes())
    assert message in str(error.value)
