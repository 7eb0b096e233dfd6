import itertools
from dataclasses import replace
from math import exp

import numpy as np
import pytest
from fake_learner import fake_settings, score
from streams import TOKENISER, WORDS, documents, learn_options, links_of

from beam_topics.model import __version__
from beam_topics.model.documents.pending import ListBag
from beam_topics.model.errors import DivergedError, StoreConflictError
from beam_topics.model.learner_log.head import LiveLearners
from beam_topics.model.learner_log.log import Session
from beam_topics.model.publishing import publication, succession
from beam_topics.model.publishing.publication import Publisher, PublishHead
from beam_topics.model.publishing.settings import PublishSettings
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.scaled import Scaled

LINKS = links_of(documents(40))
# Each minibatch is a window, so versions may be one minibatch apart.
WINDOWS = links_of(documents(20, span=2000))


def candidates_of(store, islands, links=LINKS, **others):
    """Each island's candidates, learned for real (by the fake learner)."""
    options = learn_options(
        store, fake_settings(islands=islands), **{"publish_every": ("windows", 2), **others}
    )
    found = []
    for island in range(islands):
        session = Session(options, "", island, LiveLearners())
        head, offered = session.first()
        for link in links:
            out = session.handle(head, [link], ListBag(), ListBag())
            head = out.head
            offered += out.candidates
        found.append(offered)
    return found


# The best island is published whatever was published before.
AT_ONCE = PublishSettings(margin=0, versions=1)


class Receiver:
    """A publisher with its state."""

    def __init__(self, store, islands, publishing=AT_ONCE):
        options = learn_options(store, fake_settings(islands=islands), publishing=publishing)
        self.publisher = Publisher(options, "", ModelStore(str(store)))
        self.head, self.bag, self.versions = PublishHead(), ListBag(), []

    def send(self, *candidates):
        for candidate in candidates:
            self.head, made = self.publisher.handle(
                PublishHead.from_bytes(self.head.to_bytes()), candidate, self.bag
            )
            self.versions += made
        return self


def as_json(receiver):
    return [(at, manifest.to_json()) for at, manifest in receiver.versions]


def test_a_version_for_each_sequence_that_all_islands_offer(tmp_path):
    first, second = candidates_of(tmp_path, 2)
    receiver = Receiver(tmp_path, 2).send(*first)
    assert receiver.versions == [] and receiver.head.waiting == len(first)
    receiver.send(*second)
    assert [manifest.sequence for _, manifest in receiver.versions] == [
        candidate.sequence for candidate in first
    ]
    assert receiver.head.waiting == 0 and receiver.bag.elements == []


def test_a_candidate_of_this_process_is_not_read_again(tmp_path, monkeypatch):
    (offers,) = candidates_of(tmp_path, 1)
    reads, read = [], ModelStore.get_candidate
    monkeypatch.setattr(
        ModelStore, "get_candidate", lambda *given: reads.append(given[2]) or read(*given)
    )
    versions = as_json(Receiver(tmp_path, 1).send(*offers))
    assert versions and not reads
    # It is not held any longer, and what is read comes to the same.
    assert as_json(Receiver(tmp_path, 1).send(*offers)) == versions
    assert reads


def test_the_order_of_arrival_changes_nothing(tmp_path):
    first, second = (offers[:3] for offers in candidates_of(tmp_path, 2))
    want = as_json(Receiver(tmp_path, 2).send(*first, *second))
    for number, order in enumerate(itertools.permutations(first + second)):
        if number % 60 == 0:
            assert sorted(as_json(Receiver(tmp_path, 2).send(*order))) == sorted(want)
    assert as_json(Receiver(tmp_path, 2).send(*(first + second)[::-1])) == want


def test_a_version_travels_at_the_time_of_its_candidate(tmp_path):
    (offers,) = candidates_of(tmp_path, 1)
    late = [replace(offer, at=offer.event_time + 5) for offer in offers]
    versions = Receiver(tmp_path, 1).send(*late).versions
    assert [at - manifest.event_time for at, manifest in versions] == [5] * len(offers)


def test_another_island_is_published_after_several_versions_in_a_row(tmp_path):
    first, second = candidates_of(tmp_path, 2, WINDOWS, publish_every=("windows", 1))
    low, high = (Scaled.of(0.5, exponent).to_bytes().hex() for exponent in (-5000, -4900))
    settings = PublishSettings(margin=0.01, versions=2)
    first = [replace(c, evidence=low if n else high) for n, c in enumerate(first[:4])]
    second = [replace(c, evidence=high if n else low) for n, c in enumerate(second[:4])]
    receiver = Receiver(tmp_path, 2, settings).send(*first, *second)
    manifests = [manifest for _, manifest in receiver.versions]
    assert [manifest.island for manifest in manifests] == [0, 0, 1, 1]
    since = manifests[1].event_time
    assert [manifest.rivals for manifest in manifests] == [
        [],
        [{"number": 1, "versions": 1, "since": since}],
        [],
        [],
    ]
    assert [manifest.replaced for manifest in manifests] == [
        None,
        None,
        {"island": 0, "particle": manifests[1].particle, "versions": 2, "since": since},
        None,
    ]
    # The state of the choice is in the manifests: a new job comes to the same.
    again = Receiver(tmp_path, 2, settings).send(*first[1:], *second[1:])
    assert as_json(again) == as_json(receiver)


def test_repeats_change_nothing(tmp_path):
    (offers,) = candidates_of(tmp_path, 1)
    twice = Receiver(tmp_path, 1).send(*[c for c in offers for _ in range(2)], *offers)
    assert as_json(twice) == as_json(Receiver(tmp_path, 1).send(*offers))
    first, second = candidates_of(tmp_path / "two", 2)
    receiver = Receiver(tmp_path / "two", 2).send(first[0], first[0], first[0])
    assert receiver.versions == []
    receiver.send(second[0], second[0], first[0])
    assert len(receiver.versions) == 1 and receiver.head.waiting == 0
    assert receiver.bag.elements == []


def test_versions_one_minibatch_apart_are_all_made_whatever_the_order_of_arrival(tmp_path):
    first, second = (
        offers[:3] for offers in candidates_of(tmp_path, 2, WINDOWS, publish_every=("windows", 1))
    )
    # No token came with the second minibatch.
    assert [candidate.sequence for candidate in first] == [1, 3, 4]
    for order in itertools.islice(itertools.permutations(first + second), 0, None, 7):
        receiver = Receiver(tmp_path, 2).send(*order)
        assert [manifest.sequence for _, manifest in receiver.versions] == [1, 3, 4]
        assert receiver.head.waiting == 0 and receiver.bag.elements == []


LOW, HIGH = Scaled.of(1.5, 3).to_bytes().hex(), Scaled.of(1.1, 4).to_bytes().hex()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize(
    ("figures", "winner"),
    [
        (((LOW, HIGH), (HIGH, LOW)), 1),
        (((HIGH, LOW), (LOW, HIGH)), 0),
        (((LOW, LOW), (LOW, HIGH)), 1),
        (((LOW, HIGH), (LOW, LOW)), 0),
        (((LOW, LOW), (LOW, LOW)), 0),
    ],
)
def test_the_best_island_is_published(tmp_path, figures, winner, order):
    offered = [offers[0] for offers in candidates_of(tmp_path, 2)]
    offers = [
        replace(c, evidence=evidence, posterior=posterior)
        for c, (evidence, posterior) in zip(offered, figures, strict=True)
    ]
    ((_, manifest),) = Receiver(tmp_path, 2).send(*(offers[island] for island in order)).versions
    assert manifest.island == winner
    assert (manifest.snapshot, manifest.fingerprint) == (
        offers[winner].snapshot,
        offers[winner].fingerprint,
    )
    assert manifest.posterior == Scaled.from_bytes(bytes.fromhex(offers[winner].posterior)).log()


def test_the_manifest_says_what_and_from_what(tmp_path):
    (offers,) = candidates_of(tmp_path, 1)
    manifests = [manifest for _, manifest in Receiver(tmp_path, 1).send(*offers).versions]
    last, best = manifests[-1], offers[-1]
    assert last.parent == manifests[-2].version and manifests[0].parent is None
    assert (last.fingerprint, last.chain, last.documents, last.tokens) == (
        best.fingerprint,
        best.chain,
        best.documents,
        best.tokens,
    )
    assert last.release == __version__ and last.settings["learner"]["topics"] == 3
    loss, scored = np.sum(
        [score(link.minibatch()) for link in LINKS[manifests[-2].sequence : last.sequence]], axis=0
    )
    assert (
        last.prequential_perplexity == pytest.approx(exp(loss / 1000 / scored))
        and last.in_sample_nmi is None
    )
    assert ModelStore(str(tmp_path)).latest("") == last


def test_topics_keep_their_numbers_when_another_island_wins(tmp_path):
    first, second = candidates_of(tmp_path, 2)
    better = Scaled.of(1.0, 10_000).to_bytes().hex()
    receiver = Receiver(tmp_path, 2)
    receiver.send(replace(first[-2], previous=0, evidence=better), replace(second[-2], previous=0))
    receiver.send(first[-1], replace(second[-1], evidence=better))
    (_, before), (_, after) = receiver.versions
    assert (before.island, after.island) == (0, 1)
    # The fake learner's islands and chains number their topics with a shift of one each.
    shift = (after.island + after.particle - before.island - before.particle) % 3
    assert shift and after.topic_order == [(topic + shift) % 3 for topic in range(3)]
    assert after.topic_tokens == [second[-1].topic_tokens[topic] for topic in after.topic_order]
    assert sum(after.topic_tokens) == after.tokens - before.tokens > 0
    store = ModelStore(str(tmp_path))
    old, new = store.get_snapshot(before), store.get_snapshot(after)
    assert new.tokeniser == TOKENISER
    for word in WORDS:
        topics = [int(s.topics[s.offsets[s.numbers[word]]]) for s in (old, new)]
        assert topics[0] == topics[1]
    # The prior strengths of the fake learner's topics differ, and follow their topics.
    assert len(set(new.prior.strength)) == 3
    assert (
        new.prior.strength.tolist() == old.prior.strength.tolist()
        and new.alpha.tolist() == old.alpha.tolist()
    )


def test_the_manifest_says_which_words_are_new(tmp_path, monkeypatch):
    new = {"topic": 1, "words": ["w"], "came": [9.0], "had": [0.0]}
    monkeypatch.setattr(succession, "new_words", lambda before, after, documents: [new])
    (offers,) = candidates_of(tmp_path, 1)
    first, *others = [one for _, one in Receiver(tmp_path, 1).send(*offers).versions]
    assert first.new_words == [] and others
    assert all(manifest.new_words == [new] for manifest in others)


def test_islands_that_disagree_are_refused(tmp_path):
    first, second = (offers[0] for offers in candidates_of(tmp_path, 2))
    with pytest.raises(DivergedError, match="islands offer different histories"):
        Receiver(tmp_path, 2).send(first, replace(second, chain="00" * 32))
    with pytest.raises(DivergedError, match="island 0: two candidates after minibatch"):
        Receiver(tmp_path, 2).send(first, replace(first, chain="00" * 32))


def test_a_new_job_goes_on_from_what_was_published(tmp_path):
    (offers,) = candidates_of(tmp_path, 1)
    before = Receiver(tmp_path, 1).send(*offers[:2])
    # The first candidate of the new job is one that was published already, or the next.
    for at in (1, 2):
        after = Receiver(tmp_path, 1).send(*offers[at:])
        manifests = [manifest for _, manifest in after.versions]
        assert [manifest.sequence for manifest in manifests] == [
            candidate.sequence for candidate in offers
        ]
        assert manifests[:2] == [manifest for _, manifest in before.versions]


def test_a_job_of_another_release_goes_on_from_what_was_published(tmp_path, monkeypatch):
    (offers,) = candidates_of(tmp_path, 1)
    before = Receiver(tmp_path, 1).send(*offers[:2])
    monkeypatch.setattr(publication, "__version__", "9.9")
    after = Receiver(tmp_path, 1).send(*offers[1:])
    manifests = [manifest for _, manifest in after.versions]
    assert manifests[:2] == [manifest for _, manifest in before.versions]
    assert [manifest.release for manifest in manifests] == [__version__] * 2 + ["9.9"] * (
        len(offers) - 2
    )
    assert ModelStore(str(tmp_path)).manifests("") == manifests


def test_what_was_offered_and_never_published_is_awaited(tmp_path):
    (offers,) = candidates_of(tmp_path, 1)
    receiver = Receiver(tmp_path, 1).send(offers[2], offers[1])
    assert receiver.versions == [] and receiver.head.waiting == 2
    receiver.send(offers[0])
    assert [manifest.sequence for _, manifest in receiver.versions] == [
        candidate.sequence for candidate in offers[:3]
    ]


def test_a_new_job_waits_for_a_version_that_the_store_does_not_have(tmp_path):
    (offers,) = candidates_of(tmp_path, 1)
    Receiver(tmp_path, 1).send(*offers[:2])
    # The candidate follows the third version. The store has the first and the second.
    after = Receiver(tmp_path, 1).send(offers[3])
    assert after.versions == [] and after.head == PublishHead(waiting=1)
    after.send(offers[2])
    assert [manifest.sequence for _, manifest in after.versions] == [
        candidate.sequence for candidate in offers[:4]
    ]


def test_another_history_in_the_store_is_refused(tmp_path):
    (offers,) = candidates_of(tmp_path / "one", 1)
    (others,) = candidates_of(tmp_path / "two", 1, links_of(documents(39)))
    Receiver(tmp_path / "one", 1).send(*offers)
    with pytest.raises(StoreConflictError, match="--resume_from"):
        Receiver(tmp_path / "one", 1).send(replace(offers[0], chain=others[-1].chain))


def test_head_round_trip():
    head = PublishHead(12, "000000000012-abc", 3)
    assert PublishHead.from_bytes(head.to_bytes()) == head
