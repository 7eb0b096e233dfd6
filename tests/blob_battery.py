"""What every kind of :class:`beam_topics.model.publishing.blobs.Blobs` promises.

Test modules subclass :class:`Battery`. Their ``root`` is an empty store.
"""

import os
import queue
import threading
from multiprocessing import get_context

import pytest
from made import manifest_of

from beam_topics.model.errors import StoreConflictError
from beam_topics.model.publishing.local_files import blobs_at
from beam_topics.model.publishing.store import ModelStore

DEADLINE = 120
LARGE = os.urandom(1 << 20) * 9


class Battery:
    """The contract."""

    def test_create_writes_once_and_never_over_other_bytes(self, root):
        blobs = blobs_at(root)
        assert blobs.create("k/file", b"one")
        assert blobs.create("k/file", b"one")
        assert not blobs.create("k/file", b"two")
        assert blobs.read("k/file") == b"one"

    @pytest.mark.parametrize("data", [b"", b"\r\n--\0\xff", LARGE], ids=["empty", "bytes", "large"])
    def test_what_is_written_is_read(self, root, data):
        blobs = blobs_at(root)
        assert blobs.create("file", data)
        assert blobs.create("file", data)
        assert not blobs.create("file", data + b"1")
        assert blobs.read("file") == data
        assert [blobs.read("file", most) for most in (3, 5000)] == [data[:3], data[:5000]]

    def test_the_start_of_a_missing_file(self, root):
        with pytest.raises(FileNotFoundError):
            blobs_at(root).read("none", 10)

    def test_missing(self, root):
        blobs = blobs_at(root)
        assert not blobs.exists("k/file")
        assert blobs.list("k") == blobs.list("") == []
        with pytest.raises(FileNotFoundError, match="file"):
            blobs.read("k/file")

    def test_a_folder_is_no_file(self, root):
        blobs = blobs_at(root)
        blobs.create("a/b/c", b"")
        assert [blobs.exists(path) for path in ("a", "a/b", "a/b/c", "a/b/c/d")] == [
            False,
            False,
            True,
            False,
        ]

    def test_list_marks_folders_and_hides_hidden_files(self, root):
        blobs = blobs_at(root)
        for path in ("b", "a/x", "a/y/z", "ab/x", "a/.hidden"):
            blobs.create(path, b"")
        assert blobs.list("") == ["a/", "ab/", "b"]
        assert blobs.list("a") == ["x", "y/"]

    def test_list_of_many(self, root):
        blobs = blobs_at(root)
        names = [f"{number:03}" for number in range(40)]
        for name in names:
            blobs.create(f"k/{name}", b"")
        assert blobs.list("k") == names

    @pytest.mark.parametrize("name", ["%2E%2E/a", "a b", "ü", "a#b?c=d&e", "a+b", "%"])
    def test_names_are_taken_as_they_are(self, root, name):
        blobs = blobs_at(root)
        blobs.create(f"k/{name}", b"x")
        assert blobs.read(f"k/{name}") == b"x"
        assert blobs.list("k") == [name.partition("/")[0] + "/" * ("/" in name)]

    def test_a_pointer_changes_only_from_what_was_expected(self, root):
        blobs = blobs_at(root)
        assert not blobs.replace_pointer("p", b"", b"0")
        assert blobs.replace_pointer("p", None, b"1")
        assert not blobs.replace_pointer("p", None, b"2")
        assert not blobs.replace_pointer("p", b"0", b"2")
        assert blobs.replace_pointer("p", b"1", b"2")
        assert blobs.read("p") == b"2"

    def test_a_pointer_loses_no_step_between_threads(self, root):
        blobs = blobs_at(root)
        blobs.replace_pointer("p", None, b"0")

        def climb():
            for _ in range(10):
                while True:
                    old = blobs.read("p")
                    if blobs.replace_pointer("p", old, str(int(old) + 1).encode()):
                        break

        threads = [threading.Thread(target=climb) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE)
        assert blobs.read("p") == b"40"

    def test_what_was_used_since_is_not_removed(self, root):
        blobs = blobs_at(root)
        assert not blobs.touch("k/file")
        for name, data in (("file", b"1"), ("other", b"123")):
            blobs.create(f"k/{name}", data)
        blobs.create("k/deeper/file", b"1")
        seen = blobs.stamps("k")
        assert {name: stamp.size for name, stamp in seen.items()} == {"file": 1, "other": 3}
        assert blobs.stamps("none") == {}
        assert blobs.touch("k/file")
        now = blobs.stamps("k")
        assert now["file"] != seen["file"] and now["other"] == seen["other"]
        assert now["file"].time >= seen["file"].time
        assert not blobs.remove("k/file", seen["file"])
        assert blobs.read("k/file") == b"1"
        assert blobs.remove("k/file", now["file"]) and not blobs.exists("k/file")
        assert blobs.remove("k/file", now["file"])
        assert blobs.create("k/file", b"2")
        assert not blobs.remove("k/file", now["file"])

    def test_a_pointer_that_moves_has_another_stamp(self, root):
        blobs = blobs_at(root)
        blobs.replace_pointer("k/p", None, b"1")
        seen = blobs.stamps("k")["p"]
        blobs.replace_pointer("k/p", b"1", b"2")
        assert not blobs.remove("k/p", seen)

    def test_two_processes_race_for_latest(self, root, rounds):
        """One writer wins each time, and a reader sees whole versions only, never an older one."""
        context = get_context("spawn")
        barrier, results = context.Barrier(2), context.Queue()
        racers = [
            context.Process(target=race, args=(root, name, rounds, barrier, results), daemon=True)
            for name in "ab"
        ]
        for racer in racers:
            racer.start()
        seen = _watch(root, racers)
        outcomes = sorted(_taken(results) for _ in range(2 * rounds))
        for racer in racers:
            racer.join(DEADLINE)
        for number in range(rounds):
            assert sorted(won for at, _, won in outcomes if at == number) == [False, True], number
        winners = [name for _, name, won in outcomes if won]
        history = ModelStore(root).manifests("")
        assert [manifest.snapshot[:1] for manifest in history] == winners
        assert [manifest.sequence for manifest in history] == list(range(1, rounds + 1))
        assert seen == sorted(seen)
        # Who wins how often is a matter of luck, and in two hundred rounds nobody wins all.
        assert rounds < 200 or set(winners) == {"a", "b"}


def race(root, name, rounds, barrier, results):
    """One publisher: in each round it would follow the newest version with one of its own."""
    store = ModelStore(root)
    for number in range(rounds):
        barrier.wait(DEADLINE)
        newest = store.latest("")
        barrier.wait(DEADLINE)
        try:
            store.publish(manifest_of(number + 1, newest and newest.version, snapshot=name * 64))
            won = True
        except StoreConflictError:
            won = False
        results.put((number, name, won))


def _watch(root, racers):
    """The sequences that a reader sees while they race."""
    store, seen = ModelStore(root), []
    while any(racer.is_alive() for racer in racers) and (not seen or len(seen) < 100_000):
        newest = store.latest("")
        seen.append(newest.sequence if newest else 0)
        if all(racer.exitcode == 0 for racer in racers):
            break
        racers[0].join(0.002)
    return seen


def _taken(results):
    try:
        return results.get(timeout=DEADLINE)
    except queue.Empty:
        raise AssertionError("a racer died") from None
