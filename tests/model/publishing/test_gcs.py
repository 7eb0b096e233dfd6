import os
from types import SimpleNamespace

import pytest
from blob_battery import Battery

from beam_topics.model.errors import OptionError
from beam_topics.model.publishing import gcs
from beam_topics.model.publishing.local_files import blobs_at


@pytest.fixture
def server(bucket, monkeypatch):
    # The client's waits between attempts would be most of the time.
    brief = gcs.DEFAULT_RETRY.with_delay(initial=0.01, maximum=0.01)
    monkeypatch.setattr(gcs, "DEFAULT_RETRY", brief)
    return bucket


@pytest.fixture
def root(server):
    return "gs://bucket/a folder/store"


@pytest.fixture
def rounds():
    # 200 in tests/runners/gcs: a server in Python is slow.
    return 10


@pytest.fixture
def blobs(root):
    return blobs_at(root)


def held(server, path):
    return server.buckets["bucket"][f"a folder/store/{path}"].data


class TestGcs(Battery):
    """On a server in this process; tests/runners/gcs has another implementation."""


def test_a_bucket_is_a_root_too(server):
    blobs = blobs_at("gs://bucket")
    blobs.create("k/file", b"1")
    assert blobs.list("") == ["k/"] and blobs.where("k") == "gs://bucket/k"
    assert set(server.buckets["bucket"]) == {"k/file"}


def test_a_large_object_is_sent_in_parts_on_one_condition(server, blobs):
    data = bytes(20 << 20)
    server.before_next("PUT", lambda: server.put("bucket", "a folder/store/large", b"other"))
    assert not blobs.create("large", data)
    assert held(server, "large") == b"other"


@pytest.mark.parametrize("method", ["POST", "GET"])
def test_a_lost_answer_changes_nothing(server, blobs, method):
    server.lose_answers(method, 2)
    assert blobs.create("file", b"1")
    server.lose_answers(method, 2)
    assert blobs.replace_pointer("p", None, b"1")
    server.lose_answers(method, 2)
    assert blobs.replace_pointer("p", b"1", b"2")
    assert (held(server, "file"), held(server, "p")) == (b"1", b"2")


def test_the_answer_to_the_last_part_is_lost(server, blobs):
    server.lose_answers("PUT", 1)
    assert blobs.replace_pointer("large", None, bytes(9 << 20))


def test_a_race_that_was_lost_is_not_taken_for_a_lost_answer(server, blobs):
    """Somebody else writes the very same bytes: one winner all the same."""
    server.before_next("POST", lambda: server.put("bucket", "a folder/store/p", b"1"))
    assert not blobs.replace_pointer("p", None, b"1")
    server.before_next("POST", lambda: server.put("bucket", "a folder/store/p", b"2"))
    assert not blobs.replace_pointer("p", b"1", b"2")
    # A file that is created twice with the same bytes is there, and that is what was asked.
    server.before_next("POST", lambda: server.put("bucket", "a folder/store/file", b"1"))
    assert blobs.create("file", b"1")


def test_a_pointer_that_changes_while_it_is_looked_at(server, blobs):
    blobs.replace_pointer("p", None, b"1")
    looked = []

    def quicker():
        looked.append(1)
        server.put("bucket", "a folder/store/p", b"1")

    # The second GET is that of the bytes: they are equal, but of another generation than was looked
    # at.
    server.before_next("GET", lambda: server.before_next("GET", quicker))
    assert not blobs.replace_pointer("p", b"1", b"2")
    assert looked and held(server, "p") == b"1"


def test_what_the_client_asks_of_itself_is_no_part_of_a_race(server, blobs):
    blobs.replace_pointer("p", None, b"1")
    looked = []
    server.before_next("GET", lambda: looked.append(1))
    gcs._client(os.getpid()).get_bucket("bucket")
    assert not looked
    assert blobs.read("p") == b"1" and looked


def test_a_pointer_that_vanishes_while_it_is_looked_at(server, blobs):
    blobs.replace_pointer("p", None, b"1")
    server.before_next("GET", lambda: server.before_next("GET", server.buckets["bucket"].clear))
    assert not blobs.replace_pointer("p", b"1", b"2")
    assert blobs.list("") == []


def test_every_write_has_a_condition(server, blobs):
    blobs.create("file", b"1")
    blobs.create("large", bytes(9 << 20))
    blobs.replace_pointer("p", None, b"1")
    blobs.replace_pointer("p", b"1", b"2")
    begun = [target for method, target in server.requests if method == "POST"]
    assert len(begun) == 4 and all("ifGenerationMatch=" in target for target in begun)


@pytest.mark.parametrize("root", ["gs://", "gs:///folder"])
def test_a_root_without_a_bucket(root):
    with pytest.raises(
        OptionError,
        match=(
            rf"--model_store: '{root}' was given; allowed is gs://bucket/folder. Name the bucket."
        ),
    ):
        blobs_at(root)


@pytest.mark.parametrize(
    "use",
    [
        lambda blobs: blobs.list(""),
        lambda blobs: blobs.create("a", b""),
        lambda blobs: blobs.create("a", bytes(9 << 20)),
    ],
)
def test_a_bucket_that_is_not_there(server, use):
    with pytest.raises(
        OptionError,
        match=(
            r"--model_store: 'gs://none/store' was given; allowed is a bucket that is there .*"
            r" Create the bucket, log in"
        ),
    ):
        use(blobs_at("gs://none/store"))


def test_an_account_that_may_not_write_is_told_before_anything_is_written(monkeypatch):
    monkeypatch.delenv("STORAGE_EMULATOR_HOST", raising=False)
    allowed = ["storage.objects.create"]
    bucket = SimpleNamespace(test_iam_permissions=lambda wanted: allowed)
    monkeypatch.setattr(gcs.GcsBlobs, "_bucket", lambda self: bucket)
    with pytest.raises(OptionError, match="roles/storage.objectUser.*may not write into bucket"):
        blobs_at("gs://bucket/models").check_writable()
    allowed.append("storage.objects.delete")
    blobs_at("gs://bucket/models").check_writable()


def test_no_login(monkeypatch, tmp_path):
    monkeypatch.delenv("STORAGE_EMULATOR_HOST", raising=False)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "absent.json"))
    gcs._client.cache_clear()
    with pytest.raises(
        OptionError,
        match=(
            r"log in \(gcloud auth application-default login\).*The service says: File"
            r" .*absent.json"
        ),
    ):
        blobs_at("gs://bucket/store").list("")
