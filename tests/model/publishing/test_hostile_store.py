"""Files of a model store that somebody changed, with their digests made good."""

import os
from pathlib import Path

import pytest
from hostile import copied, latest_path, manifest_path, pointed, resealed, stored
from made import manifest_of

from beam_topics.model.errors import DamagedDataError, OptionError
from beam_topics.model.inference.classifier import ClassifierStore
from beam_topics.model.publishing.checkpoint_store import MAGIC
from beam_topics.model.publishing.local_files import LocalBlobs
from beam_topics.model.publishing.manifest import CheckpointEntry
from beam_topics.model.stored import wire
from beam_topics.model.stored.wire import seal

ZERO = "../../../../../../../../../../dev/zero"


@pytest.fixture
def made(tmp_path):
    return stored(tmp_path / "store")


@pytest.mark.parametrize(("source", "target"), [(2, 0), (0, 2), (2, 1), (1, 0)])
def test_a_manifest_under_the_name_of_another_is_refused(made, source, target):
    store, versions = made
    copied(store, versions[source], versions[target])
    with pytest.raises(
        DamagedDataError,
        match=rf"{versions[target]}.json holds version {versions[source]} of key ''; restore it",
    ):
        store.manifest("", versions[target])
    if target == 2:
        pointed(store, versions[2])
    with pytest.raises(DamagedDataError):
        store.manifests("")


def test_a_manifest_of_another_key_is_refused(made):
    store, versions = made
    resealed(manifest_path(store, versions[2]), key="other")
    with pytest.raises(
        DamagedDataError, match=rf"{versions[2]}.json holds version .* of key 'other'"
    ):
        store.manifest("", versions[2])


@pytest.mark.parametrize("parent", [2, 1])
def test_a_history_whose_sequences_do_not_fall_is_refused(made, parent):
    store, versions = made
    manifest = manifest_of(5, versions[parent])
    manifest_path(store, manifest.version).write_bytes(manifest.to_json())
    pointed(store, manifest.version)
    with pytest.raises(
        DamagedDataError,
        match=(
            "field parent of .*: found 00000000000.*, allowed is a version with a sequence below 5"
        ),
    ):
        store.manifests("")


@pytest.mark.parametrize(
    "version", [ZERO, "", "000000000009", "x" * 999, "٠" * 12 + "-0123456789abcdef"]
)
def test_a_pointer_to_what_is_no_version_is_refused(made, version):
    store, _ = made
    latest_path(store).write_bytes(seal({"version": version, "manifest": "0" * 64}))
    with pytest.raises(
        DamagedDataError, match=r"field version of .*LATEST: found .*allowed is a version"
    ):
        store.latest("")


@pytest.mark.parametrize(
    "values",
    [{}, {"version": 3, "manifest": "0" * 64}, {"version": "x"}, {"version": [], "manifest": {}}],
)
def test_a_pointer_of_another_form_is_refused(made, values):
    store, _ = made
    latest_path(store).write_bytes(seal(values))
    with pytest.raises(DamagedDataError, match="LATEST"):
        store.latest("")


@pytest.mark.parametrize("data", [b"[" * 100_000, b'{"a":' * 100_000, b"nul", b"\xff", b""])
def test_a_pointer_that_is_no_json_is_one_line(made, data):
    store, _ = made
    latest_path(store).write_bytes(data)
    with pytest.raises(DamagedDataError, match=r"^\S*LATEST does not have the content [^\n]*$"):
        store.latest("")


def test_a_digest_that_is_a_path_is_refused(made):
    store, _ = made
    for read in (store.get_candidate, store.get_checkpoint, ClassifierStore(store.root).get):
        with pytest.raises(
            DamagedDataError, match="found '../../.*allowed is 64 lowercase hexadecimal digits"
        ):
            read("", ZERO)
    with pytest.raises(DamagedDataError, match="allowed is a version"):
        ClassifierStore(store.root).newest("", ZERO)


def test_a_classifiers_pointer_that_is_a_path_is_refused(made):
    store, versions = made
    folder = Path(store.root, "_", "classifiers")
    folder.mkdir()
    for values in ({"digest": ZERO}, {"digest": 3}, {}):
        (folder / f"{versions[0]}.latest").write_bytes(seal(values))
        with pytest.raises(DamagedDataError, match="field digest of .*latest: found"):
            ClassifierStore(store.root).newest("", versions[0])


def resealed_entry(path, **changed):
    header, (state,) = wire.unpack(MAGIC, path.read_bytes(), 1)
    header.pop("sha256")
    path.write_bytes(wire.pack_encoded(MAGIC, seal(header | changed), state))


def test_an_entry_whose_digest_is_a_path_is_refused(made):
    store, _ = made
    entry = store.put_checkpoint(CheckpointEntry("", 0, 9, "c", 10, 0, "s"), b"state")
    path = Path(store.root, "_", "checkpoints", entry.file_name)
    kept = path.read_bytes()
    resealed_entry(path, digest=ZERO)
    with pytest.raises(DamagedDataError, match="field digest of .*-0000-.*: found '../../"):
        store.resume_point("", "latest", 1)
    path.write_bytes(kept)
    resealed_entry(path, sequence=8)
    with pytest.raises(
        DamagedDataError,
        match=r"000000000009-0000-.* holds the entry 000000000008-0000-.* of key ''",
    ):
        store.resume_point("", "latest", 1)


def test_a_deleted_pointer_is_told(made):
    store, versions = made
    latest_path(store).unlink()
    last = store.manifest("", versions[2])
    with pytest.raises(
        DamagedDataError,
        match=(
            rf"LATEST is missing although there is a version {versions[2]}; restore it from a copy"
        ),
    ):
        store.up_to(last)


def test_a_version_that_nothing_leads_to_is_told(made):
    store, versions = made
    loser = manifest_of(7, versions[1])
    manifest_path(store, loser.version).write_bytes(loser.to_json())
    with pytest.raises(
        OptionError,
        match=rf"--model_version: '{loser.version}' .* a version that .*LATEST leads to",
    ):
        store.up_to(store.manifest("", loser.version))
    assert [
        manifest.version for manifest in store.up_to(store.manifest("", versions[1]))
    ] == versions[:2]


class TestPaths:
    @pytest.fixture
    def blobs(self, tmp_path):
        (tmp_path / "secret").write_bytes(b"outside")
        blobs = LocalBlobs(str(tmp_path / "store"))
        blobs.create("a/file", b"within")
        return blobs

    @pytest.mark.parametrize("target", ["/dev/zero", "../../secret", "/etc/hostname"])
    def test_a_link_out_of_the_store_is_refused(self, blobs, target):
        Path(blobs.where("a/link")).symlink_to(target)
        with pytest.raises(
            DamagedDataError,
            match=r"a/link is a link out of the model store, to /.*; put a file there",
        ):
            blobs.read("a/link")

    def test_a_path_out_of_the_store_is_refused(self, blobs):
        with pytest.raises(DamagedDataError, match="out of the model store"):
            blobs.read("../secret")

    def test_a_path_that_climbs_out_of_the_store_is_refused(self, blobs, tmp_path):
        (tmp_path / "outside").write_bytes(b"secret")
        with pytest.raises(DamagedDataError, match="out of the model store"):
            blobs.read("../outside")

    def test_a_link_to_itself_is_refused(self, blobs):
        Path(blobs.where("a/link")).symlink_to("link")
        with pytest.raises((DamagedDataError, OptionError)):
            blobs.read("a/link")

    def test_a_pipe_and_a_folder_are_refused_without_waiting(self, blobs):
        os.mkfifo(blobs.where("a/pipe"))
        for name in ("a/pipe", "a"):
            with pytest.raises(
                DamagedDataError,
                match="is not a regular file; the model store holds files and folders only",
            ):
                blobs.read(name)

    def test_a_link_within_the_store_and_a_store_that_is_a_link_are_read(self, blobs, tmp_path):
        Path(blobs.where("a/link")).symlink_to("file")
        (tmp_path / "elsewhere").symlink_to(tmp_path / "store")
        assert (
            blobs.read("a/link")
            == LocalBlobs(str(tmp_path / "elsewhere")).read("a/link")
            == b"within"
        )
