from pathlib import Path

import pytest
from blob_battery import Battery
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_topics.model.errors import DamagedDataError, OptionError, OutputError
from beam_topics.model.publishing.blobs import Stamp, escape_key, unescape_key
from beam_topics.model.publishing.local_files import LocalBlobs, blobs_at


@pytest.fixture
def root(tmp_path):
    return str(tmp_path / "root")


@pytest.fixture(params=[30, pytest.param(200, marks=pytest.mark.slow)])
def rounds(request):
    return request.param


class TestLocalFolder(Battery):
    def test_nothing_but_the_file_is_left_behind(self, root):
        blobs = blobs_at(root)
        assert isinstance(blobs, LocalBlobs)
        blobs.create("k/file", b"one")
        blobs.create("k/file", b"two")
        blobs.replace_pointer("k/file", b"wrong", b"two")
        (file,) = Path(blobs.where("k")).iterdir()
        assert file.name == "file"


KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@settings(max_examples=200)
@given(KEYS, KEYS)
def test_escaped_keys_are_safe_distinct_and_come_back(one, two):
    name = escape_key(one)
    assert unescape_key(name) == one
    assert (
        name not in ("", ".", "..")
        and "/" not in name
        and not name.startswith(".")
        and name.isascii()
    )
    assert (name == escape_key(two)) == (one == two)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("", "_"),
        ("_", "%5F"),
        ("_a", "%5Fa"),
        (".", "%2E"),
        ("..", "%2E."),
        ("a/b", "a%2Fb"),
        ("a_", "a_"),
    ],
)
def test_special_keys(key, name):
    assert escape_key(key) == name
    assert unescape_key(name) == key


def test_key_that_no_file_system_takes():
    with pytest.raises(
        OptionError,
        match=(
            r"--key_field: 'xxx.*allowed is a key of at most 255 bytes once it is escaped. Use a"
            r" shorter"
        ),
    ):
        escape_key("x" * 256)
    assert len(escape_key("x" * 255)) == 255


@pytest.mark.parametrize("root", ["", "s3://b", "hdfs://a/b", __file__])
def test_other_places_are_refused(root):
    with pytest.raises(
        OptionError,
        match=(
            rf"--model_store: '{root}' was given; allowed is a local folder or a folder of Google"
            r" Cloud"
        ),
    ):
        blobs_at(root)


def test_a_folder_that_cannot_be_used_is_told_in_a_line(tmp_path):
    (tmp_path / "file").write_text("")
    blobs = LocalBlobs(str(tmp_path / "file" / "below"))
    for use in (lambda: blobs.create("a", b""), lambda: blobs.list(""), lambda: blobs.read("a")):
        with pytest.raises(
            OptionError,
            match=(
                r"--model_store: '.*file/below' was given; allowed is a folder .* The system says:"
                r" Not a dir"
            ),
        ):
            use()


def test_a_full_disk_is_told_in_a_line(tmp_path, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("beam_topics.model.publishing.local_files.os.fsync", full)
    with pytest.raises(OutputError) as error:
        LocalBlobs(str(tmp_path)).create("a", b"1")
    said = (
        f"--model_store: {tmp_path} cannot be written: No space left on device. Free some space, or"
        " give another folder, and run again."
    )
    assert str(error.value) == said


def test_an_error_without_a_file_names_none(tmp_path, monkeypatch):
    def broken(*args):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("beam_topics.model.publishing.local_files.os.fsync", broken)
    with pytest.raises(OptionError, match=r"The system says: Input/output error\.$"):
        LocalBlobs(str(tmp_path)).create("a", b"1")


def test_nothing_outside_of_the_store_is_written_listed_removed_or_marked(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("mine")
    root = tmp_path / "store"
    root.mkdir()
    (root / "k").symlink_to(outside)
    before, blobs, stamp = (outside / "file").stat(), LocalBlobs(str(root)), Stamp(1, "1000", 4)
    for act in (
        lambda: blobs.remove("k/file", stamp),
        lambda: blobs.touch("k/file"),
        lambda: blobs.create("k/other", b"1"),
        lambda: blobs.create("k/deeper/other", b"1"),
        lambda: blobs.replace_pointer("k/file", None, b"1"),
        lambda: blobs.read("k/file"),
        lambda: blobs.exists("k/file"),
        lambda: blobs.list("k"),
        lambda: blobs.stamps("k"),
    ):
        with pytest.raises(DamagedDataError, match="is a link out of the model store"):
            act()
    assert [one.name for one in outside.iterdir()] == ["file"]
    # To read the file changes its stat.
    assert (outside / "file").stat() == before and (outside / "file").read_text() == "mine"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / ".lock").symlink_to(outside / "lock")
    with pytest.raises(DamagedDataError, match="is a link out of the model store"):
        LocalBlobs(str(tmp_path / "other")).create("file", b"1")
    assert not (outside / "lock").exists()


def test_a_link_in_the_place_of_a_file_is_replaced(tmp_path):
    (tmp_path / "other").write_text("mine")
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "file").symlink_to("kept")
    blobs = LocalBlobs(str(tmp_path / "store"))
    assert blobs.create("file", b"1") and blobs.read("file") == b"1" and blobs.list("") == ["file"]


def test_a_link_to_nothing_and_a_long_name_are_told(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "no where")
    with pytest.raises(OptionError, match=f"link to nothing: mkdir '{tmp_path}/no where'"):
        blobs_at(str(tmp_path / "link"))
    with pytest.raises(OptionError, match="File name too long"):
        blobs_at(str(tmp_path / ("x" * 256)))
