"""An expiry over a folder and a bucket: what it removes, kills, and races with a publisher."""

import os
import signal
import sys
import threading
from pathlib import Path

import pytest
from made import manifest_of, random_snapshot

from beam_topics.model.errors import DamagedDataError, OptionError
from beam_topics.model.publishing import expiry as expiry_module
from beam_topics.model.publishing import local_files as roots_module
from beam_topics.model.publishing.expiry import Expiry, pin, pinned, unpin
from beam_topics.model.publishing.local_files import blobs_at
from beam_topics.model.publishing.manifest import CheckpointEntry
from beam_topics.model.publishing.settings import DAY, Keep, Rule
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.stored.wire import seal

THREE_DAYS = Keep((Rule(0, 3 * DAY),), checkpoints=2, grace=0)
THINNED = Keep((Rule(0, DAY), Rule(4 * DAY, None)), grace=0)


def publish_day(store, day):
    """A version of a day, with a candidate that lost and a checkpoint of two islands."""
    newest = store.latest("")
    for island in range(2):
        entry = CheckpointEntry("", island, day, f"c{day}", day * DAY, day, "digest")
        store.put_checkpoint(entry, b"state %d %d" % (day, island))
    won, _ = (store.put_snapshot(random_snapshot(2 * day + n, sequence=day)) for n in range(2))
    parent = newest.version if newest else None
    return store.publish(manifest_of(day, parent, snapshot=won, event_time=day * DAY))


@pytest.fixture
def store(root):
    return ModelStore(root)


@pytest.fixture
def ten(store):
    """The versions of ten days."""
    return [publish_day(store, day) for day in range(1, 11)]


def days(manifests):
    return [manifest.sequence for manifest in manifests]


def with_models(store):
    return days(one for one in store.manifests("") if store.has_model(one))


def files(root, folder):
    return set(blobs_at(root).list(f"_/{folder}"))


def check(store):
    """All that a reader and a job that continues need is there."""
    newest = store.latest("")
    for one in store.manifests("")[-2:]:
        assert store.get_snapshot(one).sequence == one.sequence
    for version in pinned(blobs_at(store.root), ""):
        assert store.get_snapshot(store.manifest("", version)) is not None
    for entry in store.checkpoints(""):
        assert store.get_checkpoint("", entry.digest).startswith(b"state %d" % entry.sequence)
    assert store.resume_point("", "latest", 2)[0].sequence >= newest.sequence


def test_versions_beyond_the_age_go_with_all_that_belongs_to_them(store, root, ten):
    Expiry(root, THREE_DAYS).expire("")
    assert days(store.manifests("")) == with_models(store) == [7, 8, 9, 10]
    assert files(root, "manifests") == {f"{one.version}.json" for one in ten[6:]}
    assert files(root, "snapshots") == {one.snapshot for one in ten[6:]}
    assert {entry.sequence for entry in store.checkpoints("")} == {9, 10}
    assert len(files(root, "checkpoints")) == 4
    check(store)
    assert Expiry(root, THREE_DAYS).expire("") == 0


def test_versions_between_two_periods_lose_their_model_and_keep_their_figures(store, root, ten):
    Expiry(root, THINNED).expire("")
    assert days(store.manifests("")) == list(range(1, 11))
    assert with_models(store) == [3, 7, 9, 10]
    assert files(root, "snapshots") == {ten[day - 1].snapshot for day in (3, 7, 9, 10)}
    check(store)
    with pytest.raises(DamagedDataError, match=r"it has expired \(--keep, .*\), or was lost"):
        store.get_snapshot(ten[4])


def test_without_rules_for_versions_only_what_nothing_refers_to_goes(store, root, ten):
    Expiry(root, Keep(grace=0)).expire("")
    assert with_models(store) == list(range(1, 11))
    assert files(root, "snapshots") == {one.snapshot for one in ten}
    assert len(store.checkpoints("")) == 20


def test_nothing_goes_before_the_time_of_grace(store, root, ten):
    """All was written within the last day before LATEST moved."""
    assert Expiry(root, Keep((Rule(0, DAY),), checkpoints=1)).plan("") == []


def test_what_is_after_the_newest_version_stays(store, root, ten):
    waiting = store.put_snapshot(random_snapshot(99, sequence=12))
    entry = CheckpointEntry("", 0, 12, "c12", 12 * DAY, 11, "digest")
    store.put_checkpoint(entry, b"state 12 0")
    # LATEST moves after they were written.
    publish_day(store, 11)
    Expiry(root, Keep((Rule(0, DAY),), checkpoints=1, grace=0)).expire("")
    assert store.get_candidate("", waiting).sequence == 12
    assert {entry.sequence for entry in store.checkpoints("")} == {11, 12}


def test_checkpoints_stay_from_the_newest_that_latest_has_reached(store, root, ten):
    """A run that ended between its offers and their publication goes back to that one."""
    for point in (12, 14):
        for island in range(2):
            entry = CheckpointEntry("", island, point, "c", point * DAY, point, "digest")
            store.put_checkpoint(entry, b"state %d %d" % (point, island))
    Expiry(root, Keep(checkpoints=1, grace=0)).expire("")
    assert {entry.sequence for entry in store.checkpoints("")} == {10, 12, 14}


def test_classifiers_go_with_the_models_that_they_belong_to(store, root, ten):
    blobs = blobs_at(root)
    for number, version in ((3, ten[2].version), (10, ten[9].version)):
        digest = f"{number:064x}"
        for name in (digest, f"{digest}.json"):
            blobs.create(f"_/classifiers/{name}", b"weights")
        blobs.create(f"_/classifiers/{version}.latest", seal({"digest": digest}))
    publish_day(store, 11)
    Expiry(root, THREE_DAYS).expire("")
    left = f"{10:064x}"
    assert files(root, "classifiers") == {left, f"{left}.json", f"{ten[9].version}.latest"}


def test_a_pinned_version_stays_and_goes_once_it_is_unpinned(store, root, ten):
    blobs = blobs_at(root)
    for one in (ten[0], ten[4]):
        pin(blobs, one)
    Expiry(root, THREE_DAYS).expire("")
    assert files(root, "snapshots") == {ten[n].snapshot for n in (0, 4, 6, 7, 8, 9)}
    # LATEST does not lead there any more, but the version can be used and shown.
    assert days(store.manifests("")) == [7, 8, 9, 10]
    assert days(store.up_to(store.manifest("", ten[4].version))) == [5]
    unpin(blobs, "", ten[0].version)
    publish_day(store, 11)
    Expiry(root, THREE_DAYS).expire("")
    assert store.find("", ten[0].version) is None and not store.has_model(ten[0])
    assert store.has_model(ten[4])
    check(store)


def test_a_version_that_expired_cannot_be_pinned(store, root, ten):
    Expiry(root, THINNED).expire("")
    with pytest.raises(OptionError, match="this one has expired"):
        pin(blobs_at(root), ten[4])
    assert pinned(blobs_at(root), "") == set()


def test_a_version_that_lost_a_race_goes(store, root, ten):
    data = manifest_of(10, ten[8].version, ess=1.0, snapshot="ab" * 32)
    blobs_at(root).create(f"_/manifests/{data.version}.json", data.to_json())
    publish_day(store, 11)
    Expiry(root, Keep(grace=0)).expire("")
    assert store.find("", data.version) is None
    assert days(store.manifests("")) == list(range(1, 12))


def test_a_key_without_a_version_is_left_alone(store, root):
    entry = CheckpointEntry("", 0, 3, "c", 3, 0, "digest")
    store.put_checkpoint(entry, b"state")
    store.put_snapshot(random_snapshot(1))
    assert Expiry(root, THREE_DAYS).expire("") == 0


def test_what_was_used_after_it_was_listed_stays(store, root, ten):
    """A replay writes the candidate of a version again while an expiry is under way."""
    expiry = Expiry(root, THINNED)
    plan = expiry.plan("")
    assert store.put_snapshot(random_snapshot(10, sequence=5)) == ten[4].snapshot
    pin(blobs_at(root), ten[3])
    expiry.carry_out(plan)
    assert with_models(store) == [3, 4, 5, 7, 9, 10]


def test_a_chain_ends_once_though_a_manifest_was_used_meanwhile(store, root, ten):
    expiry = Expiry(root, THREE_DAYS)
    plan = expiry.plan("")
    blobs_at(root).touch(f"_/manifests/{ten[2].version}.json")
    expiry.carry_out(plan)
    assert days(store.manifests("")) == list(range(3, 11))
    check(store)


@pytest.mark.parametrize("keep", [THREE_DAYS, THINNED], ids=["an age", "thinned"])
def test_an_expiry_that_ends_after_any_file_leaves_a_store_that_works(store, root, keep, ten):
    expiry = Expiry(root, keep)
    for removal in expiry.plan(""):
        expiry.carry_out([removal])
        check(store)
        manifests = store.manifests("")
        assert days(manifests) == list(range(manifests[0].sequence, 11))
        # A version that the rules keep has its model at every moment.
        kept = [7, 8, 9, 10] if keep is THREE_DAYS else [3, 7, 9, 10]
        assert set(kept) <= set(with_models(store))
        # Where a publisher goes on in the middle, too.
    publish_day(store, 11)
    check(store)


def test_an_expiry_that_is_killed_at_any_line_can_be_repeated(tmp_path):
    root, line = str(tmp_path / "store"), 0
    store = ModelStore(root)
    for day in range(1, 7):
        publish_day(store, day)
    while killed_at(line, root):
        check(store)
        line += 61
    assert line > 500
    assert with_models(store) == [3, 4, 5, 6]
    check(store)


def killed_at(line, root):
    """Expire in a process that is killed at its n-th line; whether it came so far."""
    child = os.fork()
    if child == 0:
        left = line
        watched = {roots_module.__file__, expiry_module.__file__}

        def watch(frame, event, argument):
            nonlocal left
            if frame.f_code.co_filename in watched and event == "line":
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)
            return watch if frame.f_code.co_filename in watched else None

        sys.settrace(watch)
        try:
            Expiry(root, THREE_DAYS).expire("")
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


ROUNDS = [
    pytest.param(200, marks=pytest.mark.slow, id="200 times"),
    pytest.param(12, id="some times"),
]


@pytest.mark.parametrize("rounds", ROUNDS)
def test_an_expiry_races_with_a_publisher(tmp_path, rounds):
    """Each round both begin at once, and what the publisher refers to is there at the end."""
    root = str(tmp_path / "store")
    store, expiry, pins = ModelStore(root), Expiry(root, THREE_DAYS), []
    for day in range(1, 7):
        publish_day(store, day)
    for day in range(7, 7 + rounds):
        # What the publisher writes was there before: a candidate of a run that was cut off.
        store.put_snapshot(random_snapshot(2 * day, sequence=day))
        oldest, barrier, errors = store.manifests("")[1], threading.Barrier(3), []

        def run(work, barrier=barrier, errors=errors):
            barrier.wait()
            try:
                work()
            except OptionError:
                # The version that should be pinned had expired.
                pass
            except BaseException as error:
                errors.append(error)

        works = (
            lambda day=day: publish_day(store, day),
            lambda: expiry.expire(""),
            lambda oldest=oldest: pin(blobs_at(root), oldest),
        )
        racers = [threading.Thread(target=run, args=(work,)) for work in works]
        for racer in racers:
            racer.start()
        for racer in racers:
            racer.join(60)
        assert not errors, errors
        assert store.latest("").sequence == day
        check(store)
        pins = sorted(pinned(blobs_at(root), ""))
        for version in pins[:-2]:
            unpin(blobs_at(root), "", version)
    expiry.expire("")
    kept = files(root, "snapshots")
    assert len(kept) <= 4 + len(pins)
    assert Path(root, "_", "LATEST").exists()
