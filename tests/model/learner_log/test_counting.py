"""What came between candidates is counted; tests/model/test_stream.py compares it with the twin."""

from dataclasses import replace

import pytest
from fake_learner import FAILURES, fake_settings
from learner_options import made
from streams import documents, learn_options, links_of

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.documents.pending import ListBag
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.learner_log.head import LearnerHead, LiveLearners
from beam_topics.model.learner_log.log import Session
from beam_topics.model.stored import wire

LINKS = links_of(documents(60))


def doubles(*values):
    return wire.array_to_bytes(values, "<f8")


@pytest.fixture(autouse=True)
def no_failures():
    FAILURES.at, FAILURES.steps = [], 0


def learned(store, settings=None, links=LINKS):
    """The candidates."""
    options = learn_options(store, settings or fake_settings(), publish_every=("windows", 2))
    session, offered = Session(options, "", 0, LiveLearners()), []
    head, _ = session.first()
    for link in links:
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


@pytest.mark.parametrize(
    "options",
    [
        {"learner": "gibbs"},
        {"learner": "gibbs", "schedule": "archive"},
        {"learner": "gibbs", "duplicates": "count_once"},
        {"learner": "incremental-gibbs"},
        {"learner": "fixvoc-vb", "vocabulary": "growing"},
    ],
    ids=lambda options: "-".join(options.values()),
)
def test_candidates_count_the_documents_of_words_that_may_be_new(tmp_path, options):
    """``w2`` comes to four documents, ``once`` six times to one, and ``old`` to all."""
    texts = [
        ["old", f"a{n % 7}", f"b{n}", *["w2"] * (2 * (n in (24, 26, 27, 29)))] for n in range(40)
    ]
    texts[25] += ["once"] * 6
    blocks = [
        Block.of_words([Document(f"d{n}", n * 2_500_000, "", None, "")], [words])
        for n, words in enumerate(texts)
    ]
    offers = learned(tmp_path, made(topics=2, **options), links_of(blocks))
    found = [offer.word_documents for offer in offers]
    if options["learner"] == "fixvoc-vb":
        assert found == [None] * len(offers)
        return
    assert found[0] is None and all(one is not None and "once" not in one for one in found[1:])
    assert [one["w2"] for one in found[1:] if "w2" in one] == [4]
    assert "old" not in found[-1]


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
