"""What came between candidates is counted; tests/model/test_stream.py compares it with the twin."""

from dataclasses import replace

import pytest
from fake_learner import FAILURES, fake_settings
from streams import documents, learn_options, links_of

from model import wire
from model.errors import DamagedDataError
from model.learner_log.head import _NUMBERS, LearnerHead, _seal
from model.learner_log.live import LiveLearners
from model.learner_log.log import Session
from model.pending import ListBag
from model.publishing.candidates import Candidate

LINKS = links_of(documents(60))


def doubles(*values):
    return wire.array_to_bytes(values, "<f8")


@pytest.fixture(autouse=True)
def no_failures():
    FAILURES.at, FAILURES.steps = [], 0


def learned(store, change=None, at=None, links=LINKS):
    """The candidates; after minibatch ``at`` the head is ``change(head)``."""
    options = learn_options(store, fake_settings(), publish_every=("windows", 2))
    session, offered = Session(options, "", 0, LiveLearners()), []
    head, _ = session.first()
    for link in links:
        out = session.handle(head, [link], ListBag(), ListBag())
        head, offered = out.head, offered + out.candidates
        if link.sequence == at:
            head = change(head)
    return offered


def without_counts(head):
    """As a release wrote it that did not count."""
    names = [name for name in _NUMBERS if name != "counted"]
    header = wire.canonical_json({name: getattr(head, name) for name in names}).encode()
    blobs = [head.chain, head.fingerprint, head.witness, b""]
    for data in head.candidates:
        found = wire.unpack(Candidate.MAGIC, data, 0)[0]
        new = ("particle", "rivals", "replaced", "topic_tokens", "topic_documents")
        kept = {name: value for name, value in found.items() if name not in new}
        blobs.append(wire.pack(Candidate.MAGIC, kept))
    return LearnerHead.from_bytes(
        wire.pack_encoded(head.MAGIC, header, *blobs, _seal(header, blobs))
    )


def test_the_counts_of_candidates_add_up_to_what_came(tmp_path):
    offers, before = learned(tmp_path), (0, 0)
    assert len(offers) > 3
    for offer in offers:
        assert sum(offer.topic_tokens) == offer.tokens - before[1]
        assert 0 < sum(offer.topic_documents) <= offer.documents - before[0]
        before = offer.documents, offer.tokens


def test_a_head_without_counts_in_the_middle_leaves_one_candidate_without_counts(tmp_path):
    whole = learned(tmp_path / "whole")
    at = whole[1].sequence + 1
    assert at < whole[2].sequence
    offers = learned(tmp_path / "older", without_counts, at)
    assert [offer.topic_tokens is None for offer in offers] == [
        number == 2 for number in range(len(whole))
    ]
    # Another particle may be offered, because the rivals of the one before are not known.
    assert [sorted(c.topic_tokens) for c in offers[3:]] == [
        sorted(c.topic_tokens) for c in whole[3:]
    ]


def test_a_head_without_counts_at_a_candidate_goes_on_counting(tmp_path):
    whole = learned(tmp_path / "whole")
    offers = learned(tmp_path / "older", without_counts, whole[1].sequence)
    assert [sorted(c.topic_tokens) for c in offers] == [sorted(c.topic_tokens) for c in whole]
    assert [sum(c.topic_documents) for c in offers] == [sum(c.topic_documents) for c in whole]


def test_counts_of_a_head_are_checked(tmp_path):
    session = Session(learn_options(tmp_path, fake_settings()), "", 0, LiveLearners())
    head, _ = session.first()
    assert LearnerHead.from_bytes(
        replace(head, counted=3, arrived=doubles(1.0, 0.5)).to_bytes()
    ) == (replace(head, counted=3, arrived=doubles(1.0, 0.5)))
    for field, value, told in (
        ("counted", -1, "counted of a learner's head: found -1"),
        ("arrived", doubles(1.0, -0.5), "arrived of a learner's head: found -0.5"),
    ):
        with pytest.raises(DamagedDataError, match=told):
            LearnerHead.from_bytes(replace(head, **{field: value}).to_bytes())
    wrong = replace(head, counted=0, arrived=doubles(*[1.0] * 5))
    with pytest.raises(DamagedDataError, match="arrived of a learner's head: found 5 values"):
        session.handle(wrong, LINKS[:1], ListBag(), ListBag())
