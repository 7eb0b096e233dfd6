from dataclasses import replace

import pytest

from model.errors import DamagedDataError
from model.learner_log.head import fingerprinter
from model.learners import ParticleFilter
from model.publishing.candidates import Candidate
from model.scaled import Scaled

CANDIDATE = Candidate(
    key="日本",
    island=2,
    sequence=7,
    previous=4,
    event_time=-5,
    at=-5,
    snapshot="ab",
    chain="cd",
    fingerprint="ef",
    witness="01",
    evidence=Scaled.of(0.75, -3000).to_bytes().hex(),
    posterior=Scaled.of(0.5, -9000).to_bytes().hex(),
    documents=10,
    tokens=100,
    words=20,
    log_evidence=-700.25,
    ess=1.5,
    in_sample_nmi=None,
    prequential_perplexity=1096.633,
)


def test_round_trip():
    assert Candidate.from_bytes(CANDIDATE.to_bytes()) == CANDIDATE


def test_a_candidate_of_another_release_is_refused():
    with pytest.raises(DamagedDataError, match="a record 'BTk' has form 0, and"):
        Candidate.from_bytes(b"BTk0" + CANDIDATE.to_bytes()[4:])


def test_rank_is_by_evidence_then_posterior_then_the_lowest_island():
    better = Scaled.of(0.75, -2999).to_bytes().hex()
    assert (
        replace(CANDIDATE, evidence=better, posterior=Scaled.of(0).to_bytes().hex()).rank()
        > CANDIDATE.rank()
    )
    assert replace(CANDIDATE, posterior=better, island=9).rank() > CANDIDATE.rank()
    assert replace(CANDIDATE, island=1).rank() > CANDIDATE.rank()


def test_fingerprints_differ_by_settings_island_and_chain():
    settings = ParticleFilter()
    found = {
        fingerprinter(settings, 0)(b"h"),
        fingerprinter(settings, 1)(b"h"),
        fingerprinter(settings, 0)(b"g"),
        fingerprinter(replace(settings, alpha=0.2), 0)(b"h"),
    }
    assert len(found) == 4 and fingerprinter(ParticleFilter(), 0)(b"h") in found
