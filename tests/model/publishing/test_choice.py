import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made import CANDIDATE

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.learner_log.head import fingerprinter
from beam_topics.model.learners import Gibbs
from beam_topics.model.publishing.choice import Candidate, Rival, Standing, choose, is_better
from beam_topics.model.publishing.settings import PublishSettings
from beam_topics.model.scaled import Scaled

AT_ONCE = PublishSettings(margin=0, versions=1)
probabilities = st.one_of(
    st.just(Scaled.of(0.0)),
    st.builds(Scaled.of, st.floats(0.5, 0.999), st.integers(-3000, 3)),
    st.builds(Scaled.of, st.sampled_from([0.5, 0.75]), st.integers(-3, 1)),
)
CHOSEN = replace(
    CANDIDATE,
    particle=1,
    rivals=[{"number": 0, "versions": 2, "since": -7}],
    replaced={"number": 0, "versions": 3, "since": -9},
    topic_tokens=[2.5, 0.0],
    topic_documents=[3, 0],
)


def of(*exponents):
    """Probabilities with these exponents of two."""
    return [(Scaled.of(0.5, exponent),) for exponent in exponents]


def chosen(settings, rows, before=None):
    """(number, what was replaced) of versions at the times 1, 2, 3, ..."""
    found = []
    for time, row in enumerate(rows, 1):
        before = choose(before, of(*row), settings, time)
        found.append((before.number, before.replaced))
    return found


def test_the_first_version_comes_from_the_best():
    tie = Scaled.of(0.5, -10)
    assert choose(None, of(-9, -8, -8), PublishSettings(), 1) == Standing(1)
    figures = [(tie, Scaled.of(0.5, -3)), (tie, Scaled.of(0.75, -3)), (tie, Scaled.of(0.75, -3))]
    assert choose(None, figures, PublishSettings(), 1) == Standing(1)


def test_another_one_replaces_it_after_several_versions_in_a_row():
    settings = PublishSettings(margin=0.001, versions=3)
    rows = [(-9000, -9500), (-9100, -9090), (-9200, -9190), (-9300, -9290), (-9400, -9390)]
    assert chosen(settings, rows) == [
        (0, None),
        (0, None),
        (0, None),
        (1, Rival(0, 3, 2)),
        (1, None),
    ]


def test_a_version_in_between_begins_the_count_anew():
    settings = PublishSettings(margin=0.001, versions=2)
    rows = [(-9000, -9500), (-9100, -9000), (-9200, -9192), (-9300, -9200), (-9400, -9300)]
    assert chosen(settings, rows)[2:] == [(0, None), (0, None), (1, Rival(0, 2, 4))]


def test_of_several_that_are_better_for_long_enough_the_best_replaces_it():
    settings = PublishSettings(margin=0, versions=2)
    rows = [(-90, -99, -99, -99), (-90, -80, -85, -99), (-90, -81, -80, -70)]
    # The third is the best, and was better only once.
    assert chosen(settings, rows)[-1] == (2, Rival(0, 2, 2))
    standing = choose(Standing(0), of(-90, -80, -85, -99), settings, 5)
    assert standing == Standing(0, (Rival(1, 1, 5), Rival(2, 1, 5)))


def test_the_count_begins_anew_when_another_one_is_published():
    settings = PublishSettings(margin=0, versions=2)
    rows = [(-90, -99, -99), (-90, -80, -99), (-90, -80, -85), (-90, -80, -70), (-90, -80, -70)]
    assert [number for number, _ in chosen(settings, rows)] == [0, 0, 1, 1, 2]


def test_without_a_margin_the_best_is_published_at_once():
    rows = [(-90, -91), (-90, -89), (-80, -85), (-80, -80)]
    assert [number for number, _ in chosen(AT_ONCE, rows)] == [0, 1, 0, 0]


def log_loss(probability):
    """Its whole number of bits, rounded down: -e of m 2^e."""
    return -probability.exponent if probability.mantissa else math.inf


@given(probabilities, probabilities, st.sampled_from([0.0, 0.001, 0.01, 0.5]))
def test_better_is_larger_by_the_margin(other, published, margin):
    found = is_better(other, published, margin)
    assert found <= (published.order() < other.order())
    if not margin:
        assert found == (published.order() < other.order())
    elif published.mantissa and other.mantissa and published.exponent < 0:
        gain = log_loss(published) - log_loss(other)
        enough = gain >= Fraction(margin * log_loss(published))
        assert found == (enough and published.order() < other.order())
    assert not (found and is_better(published, other, margin))


@given(
    st.lists(st.tuples(*[st.integers(-60, -40)] * 3), min_size=1, max_size=20),
    st.sampled_from([0.0, 0.05]),
    st.integers(1, 4),
)
def test_what_replaces_was_better_in_each_of_the_versions_before(rows, margin, versions):
    settings = PublishSettings(margin, versions)
    found, now = chosen(settings, rows), None
    for time, (number, replaced) in enumerate(found, 1):
        if replaced is None:
            assert now in (None, number)
        else:
            assert replaced.number == now != number and replaced.versions >= versions
            assert replaced.since == time - replaced.versions + 1
            for row in rows[replaced.since - 1 : time]:
                (new,), (old,) = of(row[number], row[now])
                assert is_better(new, old, margin)
        now = number


def test_what_was_published_is_one_of_them():
    with pytest.raises(DamagedDataError, match="number of what is published: found 2"):
        choose(Standing(2), of(-1, -2), AT_ONCE, 1)


def test_round_trip():
    assert Candidate.from_bytes(CANDIDATE.to_bytes()) == CANDIDATE


def test_a_candidate_of_another_release_is_refused():
    with pytest.raises(DamagedDataError, match="a record 'BTk' has form 0, and"):
        Candidate.from_bytes(b"BTk0" + CANDIDATE.to_bytes()[4:])


def test_a_candidate_says_how_its_particle_was_chosen():
    assert Candidate.from_bytes(CHOSEN.to_bytes()) == CHOSEN
    assert CHOSEN.standing() == Standing(1, (Rival(0, 2, -7),), Rival(0, 3, -9))
    assert CANDIDATE.standing() == Standing(0)


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("particle", -1, "particle of a candidate: found -1"),
        ("rivals", [{"number": 0, "versions": 0, "since": 1}], "versions in field rivals of a"),
        ("rivals", [{"number": 0, "versions": 1, "since": 1}] * 2, "numbers in field rivals of a"),
        ("rivals", [{"number": 0, "versions": 1}], "has no field 'since'"),
        ("replaced", {"number": -1, "versions": 1, "since": 1}, "number in field replaced of a"),
        ("topic_tokens", [-1.0], "topic_tokens of a candidate: found -1"),
        ("topic_documents", [-1], "topic_documents of a candidate: found -1"),
    ],
)
def test_values_that_no_candidate_has_are_refused(field, value, told):
    with pytest.raises(DamagedDataError, match=told):
        Candidate.from_bytes(replace(CHOSEN, **{field: value}).to_bytes())


def test_fingerprints_differ_by_settings_island_and_chain():
    settings = Gibbs()
    found = {
        fingerprinter(settings, 0)(b"h"),
        fingerprinter(settings, 1)(b"h"),
        fingerprinter(settings, 0)(b"g"),
        fingerprinter(replace(settings, alpha=0.2), 0)(b"h"),
    }
    assert len(found) == 4 and fingerprinter(Gibbs(), 0)(b"h") in found
