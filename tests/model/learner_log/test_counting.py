"""What came between candidates is counted; tests/model/test_stream.py compares it with the twin."""

from dataclasses import replace

import pytest
from fake_learner import FAILURES, fake_settings
from streams import documents, learn_options, links_of

from beam_topics.model.documents.pending import ListBag
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.learner_log.head import LearnerHead
from beam_topics.model.learner_log.live import LiveLearners
from beam_topics.model.learner_log.log import Session
from beam_topics.model.stored import wire

LINKS = links_of(documents(60))


def doubles(*values):
    return wire.array_to_bytes(values, "<f8")


@pytest.fixture(autouse=True)
def no_failures():
    FAILURES.at, FAILURES.steps = [], 0


def learned(store):
    """The candidates."""
    options = learn_options(store, fake_settings(), publish_every=("windows", 2))
    session, offered = Session(options, "", 0, LiveLearners()), []
    head, _ = session.first()
    for link in LINKS:
        out = session.handle(head, [link], ListBag(), ListBag())
        head, offered = out.head, offered + out.candidates
    return offered


def test_the_counts_of_candidates_add_up_to_what_came(tmp_path):
    offers, before = learned(tmp_path), (0, 0)
    assert len(offers) > 3
    for offer in offers:
        assert sum(offer.topic_tokens) == offer.tokens - before[1]
        assert 0 < sum(offer.topic_documents) <= offer.documents - before[0]
        before = offer.documents, offer.tokens


def test_candidates_have_the_times_of_documents_and_not_of_windows(tmp_path):
    for offer in learned(tmp_path):
        batches = (link.minibatch() for link in LINKS if link.sequence <= offer.sequence)
        times = [time for batch in batches for time in batch.timestamps.tolist()]
        assert offer.times == (min(times), max(times))
        assert offer.times[1] < offer.event_time


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
