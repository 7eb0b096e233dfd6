import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.blobs import LocalBlobs, blobs_at, escape_key, unescape_key
from model.errors import OptionError


@pytest.fixture
def blobs(tmp_path):
    return LocalBlobs(str(tmp_path / "root"))


def test_create_writes_once_and_never_over_other_bytes(blobs):
    assert blobs.create("k/file", b"one")
    assert blobs.create("k/file", b"one")
    assert not blobs.create("k/file", b"two")
    assert blobs.read("k/file") == b"one"


def test_nothing_but_the_file_is_left_behind(blobs):
    blobs.create("k/file", b"one")
    blobs.create("k/file", b"two")
    blobs.replace_pointer("k/file", b"wrong", b"two")
    (file,) = Path(blobs.where("k")).iterdir()
    assert file.name == "file" and file.stat().st_mode & 0o777 == 0o644


def test_missing_file(blobs):
    assert not blobs.exists("k/file")
    assert blobs.list("k") == []
    with pytest.raises(FileNotFoundError):
        blobs.read("k/file")


def test_list_marks_folders_and_hides_hidden_files(blobs):
    blobs.create("b", b"")
    blobs.create("a/x", b"")
    assert blobs.list("") == ["a/", "b"]
    assert blobs.list("a") == ["x"]


def test_pointer_changes_only_from_what_was_expected(blobs):
    assert blobs.replace_pointer("p", None, b"1")
    assert not blobs.replace_pointer("p", None, b"2")
    assert not blobs.replace_pointer("p", b"0", b"2")
    assert blobs.replace_pointer("p", b"1", b"2")
    assert blobs.read("p") == b"2"


def test_pointer_loses_no_step_between_threads(blobs):
    blobs.replace_pointer("p", None, b"0")

    def climb():
        for _ in range(25):
            while True:
                old = blobs.read("p")
                if blobs.replace_pointer("p", old, str(int(old) + 1).encode()):
                    break

    threads = [threading.Thread(target=climb) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert blobs.read("p") == b"100"


KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(KEYS, KEYS)
def test_escaped_keys_are_safe_distinct_and_come_back(one, two):
    name = escape_key(one)
    assert unescape_key(name) == one
    assert name not in ("", ".", "..") and "/" not in name and not name.startswith(".") and name.isascii()
    assert (name == escape_key(two)) == (one == two)


@pytest.mark.parametrize(
    ("key", "name"), [("", "_"), ("_", "%5F"), ("_a", "%5Fa"), (".", "%2E"), ("..", "%2E."), ("a/b", "a%2Fb"), ("a_", "a_")]
)
def test_special_keys(key, name):
    assert escape_key(key) == name
    assert unescape_key(name) == key


def test_key_that_no_file_system_takes():
    with pytest.raises(OptionError, match=r"--key_field: 'xxx.*allowed is a key of at most 255 bytes once it is escaped. Use a shorter"):
        escape_key("x" * 256)
    assert len(escape_key("x" * 255)) == 255


@pytest.mark.parametrize("root", ["gs://bucket/store", "", "s3://b", __file__])
def test_only_local_folders(root):
    with pytest.raises(OptionError, match=rf"--model_store: '{root}' was given; allowed is a local folder. Give a folder that all"):
        blobs_at(root)
