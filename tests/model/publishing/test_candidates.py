from dataclasses import replace

import pytest
from made import CANDIDATE

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.learner_log.head import fingerprinter
from beam_topics.model.learners import Gibbs
from beam_topics.model.publishing.candidates import Candidate
from beam_topics.model.publishing.choice import Rival, Standing


def test_round_trip():
    assert Candidate.from_bytes(CANDIDATE.to_bytes()) == CANDIDATE


def test_a_candidate_of_another_release_is_refused():
    with pytest.raises(DamagedDataError, match="a record 'BTk' has form 0, and"):
        Candidate.from_bytes(b"BTk0" + CANDIDATE.to_bytes()[4:])


CHOSEN = replace(
    CANDIDATE,
    particle=1,
    rivals=[{"number": 0, "versions": 2, "since": -7}],
    replaced={"number": 0, "versions": 3, "since": -9},
    topic_tokens=[2.5, 0.0],
    topic_documents=[3, 0],
)


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
