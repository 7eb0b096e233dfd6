import dataclasses
import threading
from pathlib import Path

import pytest
from made import manifest_of, random_snapshot

from beam_topics.model.errors import DamagedDataError, OptionError, StoreConflictError
from beam_topics.model.publishing.local_files import LocalBlobs
from beam_topics.model.publishing.manifest import CheckpointEntry
from beam_topics.model.publishing.store import Binding, ModelStore
from beam_topics.model.stored.wire import seal


@pytest.fixture
def store(tmp_path):
    return ModelStore(str(tmp_path / "store"))


def files(store):
    return {
        str(path.relative_to(store.root)): path.read_bytes()
        for path in Path(store.root).rglob("*")
        if path.is_file()
    }


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def entry_of(sequence, island, chain="c", key=""):
    return CheckpointEntry(key, island, sequence, f"{chain}{sequence}", sequence * 10, 0, "s")


class TestSnapshots:
    def test_written_twice_is_one_file_named_by_its_digest(self, store):
        digest = store.put_snapshot(random_snapshot(key="a/b"))
        before = files(store)
        assert store.put_snapshot(random_snapshot(key="a/b")) == digest
        assert files(store) == before
        assert set(before) == {".lock", f"a%2Fb/snapshots/{digest}"}
        assert store.get_candidate("a/b", digest).words == random_snapshot().words

    def test_one_flipped_byte_is_refused_by_name(self, store):
        digest = store.put_snapshot(random_snapshot())
        flip(Path(store.root, "_", "snapshots", f"{digest}"))
        with pytest.raises(
            DamagedDataError,
            match=f"_/snapshots/{digest} (is damaged|cannot be unpacked)",
        ):
            store.get_candidate("", digest)
        with pytest.raises(
            DamagedDataError,
            match=r"holds other bytes than its name says. Delete it, and run again",
        ):
            store.put_snapshot(random_snapshot())

    def test_missing(self, store):
        with pytest.raises(
            DamagedDataError, match=r"snapshots/0{64} is missing from the model store"
        ):
            store.get_candidate("", "0" * 64)


def checkpoint_path(store, entry):
    return Path(store.root, "_", "checkpoints", entry.file_name)


class TestCheckpoints:
    def test_come_back_in_order(self, store):
        written = [
            store.put_checkpoint(entry_of(n, i), b"%d %d" % (n, i))
            for n, i in [(20, 1), (3, 1), (20, 0), (3, 0)]
        ]
        found = store.checkpoints("")
        assert [(entry.sequence, entry.island) for entry in found] == [
            (3, 0),
            (3, 1),
            (20, 0),
            (20, 1),
        ]
        assert sorted(found, key=repr) == sorted(written, key=repr)
        assert store.get_checkpoint("", found[3].digest) == b"20 1"
        before = files(store)
        store.put_checkpoint(entry_of(20, 1), b"20 1")
        assert files(store) == before

    def test_damaged_state_and_entry(self, store):
        entry = store.put_checkpoint(entry_of(3, 0), b"state")
        path, name = checkpoint_path(store, entry), f"000000000003-0000-{entry.digest[:16]}"
        kept = path.read_bytes()
        assert (path.name, kept[:4]) == (name, b"BTP1")
        path.write_bytes(kept[:-1] + b"E")
        with pytest.raises(DamagedDataError, match=rf"{name} is damaged: its state of 5 bytes"):
            store.get_checkpoint("", entry.digest)
        assert store.checkpoints("") == [entry]
        path.write_bytes(kept.replace(b'"offered":0', b'"offered":1'))
        with pytest.raises(DamagedDataError, match=rf"{name} does not have the content"):
            store.checkpoints("")

    @pytest.mark.parametrize("size", [0, 3, 7, 8, 100, -6, -1])
    def test_truncated(self, store, size):
        entry = store.put_checkpoint(entry_of(3, 0), b"state")
        path = checkpoint_path(store, entry)
        path.write_bytes(path.read_bytes()[:size])
        with pytest.raises(DamagedDataError, match=rf"{path.name} is damaged: "):
            store.get_checkpoint("", entry.digest)
        if size >= 0:
            with pytest.raises(DamagedDataError, match=rf"{path.name} is damaged: "):
                store.checkpoints("")

    def test_a_point_is_chosen_without_reading_states(self, store, monkeypatch):
        entries = [store.put_checkpoint(entry_of(n, 0), bytes(1 << 20)) for n in (1, 2)]
        blobs = store.blobs
        monkeypatch.setattr(blobs, "read", lambda path, most: LocalBlobs.read(blobs, path, most))
        assert store.resume_point("", "latest", 1) == entries[1:]
        assert store.checkpoints("") == entries

    def test_resume_from_the_newest_that_all_islands_have(self, store):
        for n, i in [(1, 0), (1, 1), (2, 1), (2, 0), (3, 1)]:
            store.put_checkpoint(entry_of(n, i), b"%d %d" % (n, i))
        assert [
            (entry.sequence, entry.island) for entry in store.resume_point("", "latest", 2)
        ] == [(2, 0), (2, 1)]
        assert [entry.sequence for entry in store.resume_point("", "1", 2)] == [1, 1]

    @pytest.mark.parametrize("given", ["3", "7", "newest", "", "-1", "²"])
    def test_no_such_point(self, store, given):
        for n, i in [(1, 0), (1, 1), (2, 1), (2, 0), (3, 1)]:
            store.put_checkpoint(entry_of(n, i), b"")
        with pytest.raises(
            OptionError,
            match=(
                r"--resume_from: .*all 2 islands of key '' have a checkpoint with these settings"
                r" \(the newest: 1, 2\). Give one"
            ),
        ):
            store.resume_point("", given, 2)

    def test_nothing_to_resume(self, store):
        with pytest.raises(OptionError, match=r"'latest' was given.*\(the newest: none\)"):
            store.resume_point("", "latest", 1)

    def test_of_many_checkpoints_only_the_newest_are_read(self, store, monkeypatch):
        for n in range(1, 40):
            store.put_checkpoint(entry_of(n, 0), b"%d" % n)
        Path(store.root, "_", "checkpoints", "notes.json").write_text("of a user")
        read, blobs = [], store.blobs
        monkeypatch.setattr(
            blobs,
            "read",
            lambda path, most: read.append(path) or LocalBlobs.read(blobs, path, most),
        )
        assert store.resume_point("", "latest", 1)[0].sequence == 39
        assert store.resume_point("", "7", 1)[0].sequence == 7
        assert len(read) == 2

    def test_islands_of_different_histories_do_not_make_a_point(self, store):
        store.put_checkpoint(entry_of(1, 0, chain="a"), b"x")
        store.put_checkpoint(entry_of(1, 1, chain="b"), b"y")
        with pytest.raises(OptionError, match=r"the newest: none"):
            store.resume_point("", "latest", 2)

    def test_two_histories_are_not_chosen_between(self, store):
        for n, chain in [(1, "a"), (2, "a"), (2, "b")]:
            store.put_checkpoint(entry_of(n, 0, chain=chain), chain.encode())
        told = "two histories after minibatch 2, and neither was published. Start again without"
        with pytest.raises(StoreConflictError, match=told):
            store.resume_point("", "latest", 1)
        assert store.resume_point("", "1", 1)[0].chain == "a1"

    def test_the_history_that_was_published_is_chosen(self, store):
        for n, chain in [(1, "a"), (2, "a"), (2, "b")]:
            store.put_checkpoint(entry_of(n, 0, chain=chain), chain.encode())
        newest = dataclasses.replace(manifest_of(2), chain="b2")
        assert store.resume_point("", "latest", 1, newest=newest)[0].chain == "b2"
        for n, advice in [(1, "rollback .* --model_version=000000000001-"), (3, "=latest")]:
            at = "latest" if n == 1 else "2"
            with pytest.raises(StoreConflictError, match=advice):
                store.resume_point("", at, 1, newest=manifest_of(n))

    def test_checkpoints_of_other_settings_are_no_points(self, store):
        store.put_checkpoint(entry_of(1, 0), b"x")
        assert store.resume_point("", "latest", 1, ["s"])[0].sequence == 1
        with pytest.raises(OptionError, match=r"checkpoint with these settings .*newest: none"):
            store.resume_point("", "latest", 1, ["others"])


class TestManifests:
    def publish(self, store, *sequences, **others):
        parent = None
        for sequence in sequences:
            manifest = manifest_of(sequence, parent, **others)
            store.publish(manifest)
            parent = manifest.version
        return manifest

    def test_history(self, store):
        assert store.latest("") is None and store.manifests("") == []
        last = self.publish(store, 2, 5, 9)
        assert store.latest("") == store.manifest("") == store.manifest("", last.version) == last
        assert [manifest.sequence for manifest in store.manifests("")] == [2, 5, 9]

    def test_a_replay_changes_nothing(self, store):
        self.publish(store, 2, 5, 9)
        before = files(store)
        self.publish(store, 2, 5, 9)
        assert files(store) == before

    @pytest.mark.parametrize(
        "change", [{"snapshot": "ff" * 32}, {"log_evidence": -1.0}, {"parent": "other"}]
    )
    @pytest.mark.parametrize("sequence", [2, 9])
    def test_another_history_is_refused(self, store, change, sequence):
        self.publish(store, 2, 5, 9)
        before = files(store)
        other = dataclasses.replace(manifest_of(sequence), **change)
        told = (
            r"key '', is at version 000000000009-.* add --add_documents: .* same --publish_every,"
            r" and --resume_from=latest\."
        )
        with pytest.raises(StoreConflictError, match=told):
            store.publish(other)
        assert files(store) == before

    def test_an_abandoned_manifest_is_left_out(self, store):
        last = self.publish(store, 2)
        pointer = Path(store.root, "_", "LATEST")
        moved_back = pointer.read_bytes()
        store.publish(manifest_of(5, last.version))
        pointer.write_bytes(moved_back)
        assert [manifest.sequence for manifest in store.manifests("")] == [2]
        again = manifest_of(5, last.version, ess=1.0)
        store.publish(again)
        assert store.latest("") == again
        pointer.write_bytes(moved_back)
        store.publish(manifest_of(7, last.version))
        assert [manifest.sequence for manifest in store.manifests("")] == [2, 7]

    def test_what_lost_the_race_for_latest_is_no_part_of_the_history_though_its_file_is_there(
        self, store
    ):
        last = self.publish(store, 2)
        pointer = Path(store.root, "_", "LATEST")
        moved_back = pointer.read_bytes()
        loser = manifest_of(5, last.version, ess=1.0)
        store.publish(loser)
        pointer.write_bytes(moved_back)
        winner = manifest_of(5, last.version)
        store.publish(winner)
        store.publish(manifest_of(6, winner.version))
        with pytest.raises(
            StoreConflictError, match=f"another one, {loser.version}, which follows {last.version}"
        ):
            store.publish(loser)

    def test_a_version_whose_parent_is_not_the_newest_is_refused(self, store):
        first = self.publish(store, 2)
        store.publish(manifest_of(5, first.version))
        for parent, told in [(first.version, first.version), (None, "no version")]:
            with pytest.raises(
                StoreConflictError,
                match=f"another one, 000000000009-.*, which follows {told}. To learn what the",
            ):
                store.publish(manifest_of(9, parent))
        assert store.latest("").sequence == 5

    def test_history_begins_where_older_manifests_were_removed(self, store):
        self.publish(store, 2, 5, 9)
        Path(store.root, "_", "manifests", f"{manifest_of(2).version}.json").unlink()
        assert [manifest.sequence for manifest in store.manifests("")] == [5, 9]

    def test_unknown_version_lists_the_newest(self, store):
        last = self.publish(store, 2, 5)
        with pytest.raises(
            OptionError,
            match=(
                "--model_version: 'v9' was given; allowed is latest, or a version of key"
                f" ''.*{last.version}"
            ),
        ):
            store.manifest("", "v9")
        said = (
            r"--model_key: 'other' was given; allowed is a key with a model in .*, such as ''\."
            r" Give one of those with --model_key\."
        )
        with pytest.raises(OptionError, match=said):
            store.manifest("other")
        with pytest.raises(OptionError, match=r"was given"):
            store.manifest("", "../LATEST")

    def test_a_store_that_is_not_there_is_what_is_wrong(self, store):
        said = (
            rf"^--model_store: '{store.root}' was given; allowed is a folder with a published"
            r" model\. Correct the path, or train"
        )
        with pytest.raises(OptionError, match=said):
            store.manifest("")

    def test_damaged_files_are_named(self, store):
        last = self.publish(store, 2)
        path = Path(store.root, "_", "manifests", f"{last.version}.json")
        kept = path.read_bytes()
        flip(path)
        with pytest.raises(DamagedDataError, match=f"{last.version}.json is damaged"):
            store.latest("")
        with pytest.raises(
            DamagedDataError, match=f"{last.version}.json does not have the content"
        ):
            store.manifest("", last.version)
        path.write_bytes(kept)
        flip(Path(store.root, "_", "LATEST"))
        with pytest.raises(DamagedDataError, match=r"LATEST does not have the content"):
            store.latest("")

    def test_latest_only_moves_forward_between_threads(self, store):
        def run():
            parent = None
            for sequence in range(1, 20):
                manifest = manifest_of(sequence, parent)
                store.publish(manifest)
                parent = manifest.version

        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [manifest.sequence for manifest in store.manifests("")] == list(range(1, 20))

    def test_keys_do_not_mix(self, store):
        self.publish(store, 2, key="_")
        self.publish(store, 3, key="")
        self.publish(store, 4, key="ü/..")
        keys = store.keys()
        assert keys == ["", "_", "ü/.."]
        assert [store.latest(key).sequence for key in keys] == [3, 2, 4]


class TestSuperseding:
    """A runner restored a job to the state in which version 2 was its newest one."""

    @pytest.fixture
    def versions(self, store):
        """The versions that the job has published; it began with an empty store."""
        snapshot = store.put_snapshot(random_snapshot())
        made = [manifest_of(2, snapshot=snapshot)]
        for sequence in (5, 9):
            made.append(manifest_of(sequence, made[-1].version, snapshot=snapshot))
        for manifest in made:
            store.publish(manifest)
        return made

    @staticmethod
    def restored(store, sequence, parent, base=""):
        """Publish as the job does, with another version than before; what it superseded."""
        found = []
        other = manifest_of(sequence, parent.version if parent else None, ess=1.5)
        store.publish(other, base, lambda manifest, names: found.extend([manifest, *names]))
        return found

    @pytest.mark.parametrize("sequence", [4, 5, 9, 11])
    def test_its_own_versions_after_a_known_parent(self, store, versions, sequence):
        first, *abandoned = versions
        found = self.restored(store, sequence, first)
        assert found[1:] == [one.version for one in reversed(abandoned)]
        assert store.manifests("") == [first, found[0]]
        # It goes on from there, and an attempt that is repeated changes nothing.
        before = files(store)
        assert self.restored(store, sequence, first) == [] and files(store) == before
        store.publish(manifest_of(20, found[0].version))
        assert [one.sequence for one in store.manifests("")] == [2, sequence, 20]

    def test_a_version_that_it_comes_to_again_stays(self, store, versions):
        before = files(store)
        store.publish(versions[1], "", lambda *found: pytest.fail("superseded"))
        assert files(store) == before

    def test_without_a_version_in_its_state(self, store, versions):
        assert len(self.restored(store, 3, None)) == 4

    def test_a_run_that_no_runner_restores_supersedes_nothing(self, store, versions):
        with pytest.raises(StoreConflictError, match="is at version 000000000009"):
            store.publish(manifest_of(5, versions[0].version, ess=1.5))

    def test_what_somebody_else_made_is_a_conflict_and_the_advice_works(self, store, versions):
        newest = versions[-1]
        store.publish(manifest_of(12, newest.version), base=newest.version)
        with pytest.raises(StoreConflictError) as error:
            self.restored(store, 10, newest)
        told = (
            f"To give up the versions after {newest.version}, stop the job that made them, run"
            f" beam-topics versions rollback --model_store={store.root}"
            f" --model_version={newest.version}, and start this run again."
        )
        assert told in str(error.value)
        store.roll_back(store.manifest("", newest.version))
        self.restored(store, 10, newest)
        assert [one.sequence for one in store.manifests("")] == [2, 5, 9, 10]

    def test_what_was_there_before_it_began_is_a_conflict(self, store, versions):
        middle = versions[1]
        self.restored(store, 10, versions[-1], base=middle.version)
        with pytest.raises(StoreConflictError, match="000000000010-"):
            self.restored(store, 4, versions[0], base=middle.version)
        assert len(self.restored(store, 6, middle, base=middle.version)) == 3

    def test_a_version_that_a_person_chose_is_a_conflict(self, store, versions):
        store.roll_back(store.manifest("", versions[1].version))
        with pytest.raises(StoreConflictError, match="000000000005-"):
            self.restored(store, 4, versions[0])


def bound(store, settings, digest="d", key=""):
    """Bind a key by its first version."""
    store.bind(key, Binding(digest, settings))
    store.publish(manifest_of(2, key=key))


class TestBind:
    def test_the_same_settings(self, store):
        bound(store, {"learner": {"topics": 3, "words": ("a",)}})
        again = Binding("d", {"learner": {"topics": 3, "words": ["a"]}})
        store.bind("", again)
        store.check_settings("", again)

    def test_without_a_version_nothing_is_bound(self, store):
        store.bind("", Binding("d", {"a": 1}))
        store.check_settings("", Binding("e", {"a": 2}))
        store.bind("", Binding("e", {"a": 2}))
        line = seal({"digest": "e", "settings": {"a": 2}})
        assert files(store)["_/settings.json"] == line

    def test_other_fields_of_the_file_are_ignored_and_kept(self, store):
        bound(store, {"a": 1})
        path = Path(store.root, "_", "settings.json")
        path.write_bytes(data := seal({"digest": "d", "settings": {"a": 1}, "later": [2]}))
        store.bind("", Binding("d", {"a": 1}))
        assert path.read_bytes() == data
        for use in (store.bind, store.check_settings):
            with pytest.raises(StoreConflictError, match="a is 1 there and 2 here"):
                use("", Binding("d", {"a": 2}))

    def test_each_key_has_the_line_of_its_own_settings(self, store):
        for key, settings in (("a", {"x": 1}), ("b", {"x": 2}), ("c", {"x": 2})):
            store.bind(key, Binding("d", settings))
            line = seal({"digest": "d", "settings": settings})
            assert files(store)[f"{key}/settings.json"] == line

    def test_other_settings_are_named_with_both_values(self, store):
        settings = {"learner": {"topics": 3, "seed": 1, "old": 0}, "sequence": {"window": 5}}
        bound(store, settings)
        other = {"learner": {"topics": 4, "seed": 1}, "sequence": {"window": "5"}}
        with pytest.raises(StoreConflictError) as error:
            store.check_settings("", Binding("e", other))
        assert (
            "learner.old is 0 there and absent here; learner.topics is 3 there and 4 here;"
            " sequence.window is 5 there" in str(error.value)
        )
        assert "_/settings.json was written with other settings" in str(error.value)
        assert "Give the same settings, or use an empty model store." in str(error.value)

    def test_a_long_value_is_cut(self, store):
        bound(store, {"words": ["word"] * 1000})
        with pytest.raises(StoreConflictError) as error:
            store.check_settings("", Binding("e", {"words": ["word"] * 999}))
        assert len(str(error.value)) < 600

    def test_equal_settings_of_another_release(self, store):
        bound(store, {"a": 1})
        with pytest.raises(
            StoreConflictError,
            match=r"equal, but their digests are not .d there, e here: another release",
        ):
            store.check_settings("", Binding("e", {"a": 1}))

    def test_keys_are_bound_apart(self, store):
        bound(store, {"a": 1}, "d", "a")
        bound(store, {"a": 2}, "e", "b")


class TestStart:
    """What a run is told before it learns anything."""

    @pytest.fixture
    def used(self, store):
        first = manifest_of(2, snapshot=store.put_snapshot(random_snapshot()))
        first = dataclasses.replace(first, publish_every={"period": 14 * 86_400_000_000})
        store.publish(first)
        return store

    @pytest.mark.parametrize("every", [("windows", 14), ("period", 7 * 86_400_000_000)])
    def test_another_rhythm_of_versions_is_refused(self, used, every):
        told = (
            r"store/_ has versions up to 000000000002-\S+ that were published with"
            r" --publish_every=2w, and this run would make them again with --publish_every="
            r"(14windows|1w)\. Give the same --publish_every\. To learn what the input"
            r" holds beyond .* --add_documents, .* an empty model store\."
        )
        with pytest.raises(StoreConflictError, match=told):
            used.check_start(used.latest(""), 1, every)

    def test_the_same_is_allowed_and_another_one_after_the_newest_version(self, used):
        used.check_start(used.latest(""), 0, ("period", 14 * 86_400_000_000))
        used.check_start(used.latest(""), 2, ("windows", 1))

    def test_a_version_that_does_not_say_allows_any(self, store):
        store.publish(manifest_of(2))
        store.check_start(store.latest(""), 0, ("windows", 1))

    def test_a_store_of_an_older_release_is_refused_with_what_to_do(self, used):
        snapshot = Path(used.root, "_", "snapshots", used.latest("").snapshot)
        snapshot.write_bytes(b"BTz3" + snapshot.read_bytes()[4:])
        told = (
            r"has form 3, and this release reads form 4\. An older release wrote it: use that"
            r" release, or start with an empty model store\.$"
        )
        for use in (
            lambda: used.check_start(used.latest(""), 0, ("period", 14 * 86_400_000_000)),
            lambda: used.get_snapshot(used.latest("")),
        ):
            with pytest.raises(DamagedDataError, match=told):
                use()
