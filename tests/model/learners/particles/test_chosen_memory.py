"""``--half_life=auto``: islands whose half-lives are in learned tokens."""

from dataclasses import replace

import numpy as np
import pytest
from corpora import minibatches_of, topical
from learner_battery import LAWS
from learner_variants import settings_of, small

from beam_topics.model.compositions import compose
from beam_topics.model.learners import LEARNER, learner_for
from beam_topics.model.learners.particles import settings as particle_settings
from beam_topics.model.learners.particles.settings import AUTO, MEMORIES, memory_text

NONE, LONG, SHORT = range(3)


@pytest.fixture
def short_memories(monkeypatch):
    """Half-lives that a small corpus is longer than."""
    monkeypatch.setattr(particle_settings, "MEMORIES", (0, 40, 10))


def states(settings, island, stream):
    learner = learner_for(settings)
    state = learner.init(settings, "", island)
    for minibatch in stream:
        learner.step(state, minibatch)
        yield state


def test_one_option_makes_three_islands_with_a_particle_each():
    settings = compose(LEARNER, {"half_life": AUTO})
    assert (settings.islands, settings.island_particles) == (3, 1)
    assert compose(LEARNER, {"half_life": AUTO, "islands": 3, "particles": 3}) == settings
    assert compose(LEARNER, {"half_life": AUTO, "particles": 6}).island_particles == 2
    assert compose(LEARNER, {"half_life": (5,)}).islands == 1


def test_half_lives_grow_with_the_number_of_topics():
    for topics in (3, 50):
        settings = compose(LEARNER, {"half_life": AUTO, "topics": topics})
        assert [settings.half_life_of(n) for n in range(3)] == [n * topics for n in MEMORIES]
    assert MEMORIES[NONE] == 0 and MEMORIES[LONG] > MEMORIES[SHORT] > 0


def test_a_memory_is_told_in_words():
    chosen = compose(LEARNER, {"half_life": AUTO, "topics": 5}).to_json(brief=True)
    assert memory_text(chosen, SHORT) == "half-life of 15,000 learned tokens"
    given = {"half_life": [0, 60_000_000]}
    assert [memory_text(given, n) for n in (0, 1)] == ["nothing is forgotten", "half-life of 1min"]
    assert memory_text(compose(LEARNER, {}).to_json(), 0) == ""


@pytest.mark.usefixtures("short_memories")
def test_each_island_keeps_what_its_half_life_says():
    settings = small(half_life=AUTO, particles=3, resampling="never", prior="hierarchical")
    stream, alive = minibatches_of(topical(400), 10), []
    for island in (NONE, LONG, SHORT):
        *_, state = states(settings, island, stream)
        alive.append(int(state.population.totals[0].sum()))
    assert alive[NONE] == state.tokens
    # Of the n tokens of the minibatch that is k before the last, n 2^(-k n / h) are expected.
    each = len(stream[-1].tokens)
    for island in (LONG, SHORT):
        half_life = settings.half_life_of(island)
        expected = each / (1 - 2 ** (-each / half_life))
        assert alive[island] == pytest.approx(expected, abs=4 * np.sqrt(expected))


@pytest.mark.usefixtures("short_memories")
@pytest.mark.parametrize("island", [NONE, LONG, SHORT])
def test_event_time_does_not_count(island):
    settings, stream = settings_of("half-life, chosen"), minibatches_of(topical(120), 10)
    late = [replace(one, window_end=one.window_end * 10**6 + 10**12) for one in stream]
    learner = learner_for(settings)
    (*_, first), (*_, second) = (states(settings, island, some) for some in (stream, late))
    assert learner.save(first) == learner.save(second)
    assert (first.time is None) == (island == NONE)


@pytest.mark.usefixtures("short_memories")
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_a_law_where_tokens_are_forgotten(law):
    # Another seed, because the battery keeps what settings come to without the short memories.
    law(replace(settings_of("half-life, chosen"), seed=7))
