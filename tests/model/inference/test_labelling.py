import itertools
import json

import pytest
from streams import document

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.pending import ListBag, Mirror
from beam_topics.model.inference.labelling import (
    TICK,
    LabelHead,
    Labeller,
    Reference,
    choose_version,
)

MS = 1000


class Shard:
    """A labeller with its state; a new process before every call if ``forgetful``."""

    def __init__(self, before="prior", label_with="window", forgetful=False):
        self.labeller, self.forgetful = Labeller(before, label_with), forgetful
        self.head, self.mirror, self.bag, self.waiting = LabelHead(), Mirror(), ListBag(), ListBag()
        self.found, self.letters = {}, []

    def _take(self, labels):
        for data, version in labels.labelled:
            (name,) = Block.from_bytes(data).ids
            assert name not in self.found
            self.found[name] = version
        self.letters += labels.dead_letters
        self.head = LabelHead.from_bytes(labels.head.to_bytes())
        if self.forgetful:
            self.mirror = Mirror()

    def document(self, name, end):
        data = document(name, 0).to_bytes()
        self._take(
            self.labeller.documents(
                self.head, self.mirror, self.bag, self.waiting, end=end * MS, block=data
            )
        )

    def reference(self, time, version, sequence=None):
        self._take(
            self.labeller.reference(
                self.head, self.waiting, Reference(time * MS, sequence or time + 1000, version)
            )
        )

    def run(self, until):
        """Fire as a runner does: at each time that was asked for, in order."""
        while (wake := self.head.wake()) is not None and wake <= until * MS + TICK:
            self._take(self.labeller.fire(self.head, self.mirror, self.bag, self.waiting, wake))

    def end(self):
        self.run(10**9)
        self._take(self.labeller.end(self.head, self.waiting))


@pytest.mark.parametrize("forgetful", [False, True])
def test_the_newest_version_strictly_before_the_window_end(forgetful):
    shard = Shard(forgetful=forgetful)
    for end in (10, 20, 30, 40):
        shard.document(f"d{end}", end)
    shard.reference(10, "v10")
    shard.reference(30, "v30")
    shard.run(100)
    assert shard.found == {"d10": "", "d20": "v10", "d30": "v10", "d40": "v30"}


def test_the_order_of_arrival_changes_nothing():
    events = [("d", 10), ("d", 25), ("d", 40), ("r", 10), ("r", 20), ("r", 30)]
    results = set()
    for order in itertools.permutations(events):
        shard = Shard("wait")
        for kind, time in order:
            if kind == "d":
                shard.document(f"d{time}", time)
            else:
                shard.reference(time, f"v{time}")
        shard.end()
        results.add(json.dumps(shard.found, sort_keys=True))
    assert results == {json.dumps({"d10": "v10", "d25": "v20", "d40": "v30"})}


def test_nothing_is_decided_before_its_time():
    shard = Shard()
    shard.document("a", 20)
    shard._take(shard.labeller.fire(shard.head, shard.mirror, shard.bag, shard.waiting, 20 * MS))
    assert shard.found == {}
    shard.reference(19, "v19")
    shard.run(20)
    assert shard.found == {"a": "v19"}


def test_before_the_first_model_the_prior_or_a_dead_letter():
    prior, dead = Shard("prior"), Shard("dead_letter")
    for shard in (prior, dead):
        shard.document("a", 10)
        shard.document("b", 30)
        shard.reference(10, "v10")
        shard.end()
    assert prior.found == {"a": "", "b": "v10"} and prior.letters == []
    assert dead.found == {"b": "v10"} and [letter.reason for letter in dead.letters] == ["no_model"]
    assert "'a'" in dead.letters[0].detail


@pytest.mark.parametrize("forgetful", [False, True])
def test_waiting_for_the_first_model(forgetful):
    shard = Shard("wait", forgetful=forgetful)
    shard.document("a", 10)
    shard.document("b", 20)
    shard.run(25)
    assert shard.found == {} and shard.head.waiting == 2
    # The second version comes first; all that is earlier is here only when its time has passed.
    shard.reference(40, "v40")
    shard.reference(30, "v30")
    assert shard.found == {}
    shard.run(30)
    assert shard.found == {"a": "v30", "b": "v30"} and shard.head.waiting == 0


def test_waiting_documents_do_not_take_a_version_before_it_is_known_to_be_the_first():
    shard = Shard("wait")
    shard.document("a", 10)
    shard.reference(40, "v40")
    shard.document("b", 20)
    shard.run(25)
    assert shard.found == {} and shard.head.waiting == 2
    shard.reference(30, "v30")
    shard.run(100)
    assert shard.found == {"a": "v30", "b": "v30"}


def test_waiting_in_vain_ends_as_a_dead_letter():
    shard = Shard("wait")
    shard.document("a", 10)
    shard.end()
    assert shard.found == {} and len(shard.letters) == 1 and shard.waiting.elements == []
    assert shard.head.waiting == 0 and shard.head.wake() is None
    shard.end()
    assert len(shard.letters) == 1


def test_latest_labels_at_once():
    shard = Shard("wait", "latest")
    shard.document("a", 10)
    assert shard.found == {}
    shard.reference(30, "v30")
    assert shard.found == {"a": "v30"}
    shard.document("b", 5)
    shard.reference(20, "v20")
    shard.document("c", 5)
    assert shard.found == {"a": "v30", "b": "v30", "c": "v30"}
    prior = Shard("prior", "latest")
    prior.document("a", 10)
    assert prior.found == {"a": ""}


def test_old_references_are_forgotten_and_late_documents_get_the_oldest_left():
    shard = Shard()
    for time in range(10, 100, 10):
        shard.reference(time, f"v{time}")
        shard.document(f"d{time}", time + 5)
        shard.run(time + 5)
    assert len(shard.head.references) <= 2
    shard.document("late", 15)
    shard.run(200)
    assert shard.found["late"] == "v90"


def test_the_newest_version_is_kept_for_windows_without_a_new_one():
    shard = Shard()
    shard.reference(10, "v10")
    shard.reference(20, "v20")
    for end in (15, 30, 40, 50):
        shard.document(f"d{end}", end)
        shard.run(end)
    assert shard.found == {"d15": "v10", "d30": "v20", "d40": "v20", "d50": "v20"}


@pytest.mark.parametrize("forgetful", [False, True])
def test_a_document_of_a_window_that_has_passed_is_labelled_too(forgetful):
    shard = Shard(forgetful=forgetful)
    shard.reference(10, "v10")
    shard.document("in time", 20)
    shard.document("waits", 50)
    shard.run(30)
    shard.document("late", 15)
    shard.run(40)
    assert shard.found == {"in time": "v10", "late": "v10"}
    shard.run(50)
    assert shard.found["waits"] == "v10"


def test_choice_without_any_reference():
    assert choose_version(LabelHead(), 5) is None
    head = LabelHead((Reference(5, 1, "v"),))
    assert choose_version(head, 5) is None and choose_version(head, 6) == "v"


def test_an_empty_version_list_never_wakes():
    assert LabelHead().wake() is None
