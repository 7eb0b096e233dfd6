import os
from pathlib import Path

import pytest

from beam_topics.model.errors import OptionError
from beam_topics.model.publishing import local_files
from beam_topics.model.publishing.local_files import (
    OLD_SECONDS,
    PREFIX,
    LocalBlobs,
    blobs_at,
    remove_leftovers,
    write_temporary,
)
from beam_topics.transforms.write import write_file


def test_a_file_is_whole_where_the_system_takes_parts(tmp_path, monkeypatch):
    write, wrote = os.write, []

    def slow(number, data):
        wrote.append(write(number, data[:3]))
        return wrote[-1]

    monkeypatch.setattr(os, "write", slow)
    name = write_temporary(str(tmp_path / "a" / "b" / "file"), b"0123456789")
    assert Path(name).read_bytes() == b"0123456789"
    assert wrote == [3, 3, 3, 1]
    assert Path(name).parent == tmp_path / "a" / "b"


def test_a_file_that_cannot_be_written_is_closed(tmp_path, monkeypatch):
    closed, close = [], os.close

    def full(number, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    monkeypatch.setattr(os, "close", lambda number: closed.append(close(number)))
    with pytest.raises(OSError, match="No space left"):
        write_temporary(str(tmp_path / "file"), b"0")
    assert len(closed) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o007, 0o660), (0o077, 0o600)])
def test_the_mask_of_the_process_decides_who_may_read(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        name = write_temporary(str(tmp_path / "file"), b"0")
    finally:
        os.umask(before)
    assert Path(name).stat().st_mode & 0o777 == mode


@pytest.fixture(autouse=True)
def another_process(monkeypatch):
    monkeypatch.setattr(local_files, "_LOOKED_AT", set())


def made(folder, name, age):
    """A file that is so many seconds older than the newest one."""
    path = folder / name
    path.write_bytes(b"part")
    os.utime(path, (10**9 - age, 10**9 - age))
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no folder takes no file here")
def test_a_folder_that_takes_no_file_is_refused_whatever_its_rights_say(tmp_path):
    with pytest.raises(OptionError, match=r"--model_store: '/proc/no/models' was given") as error:
        blobs_at("/proc/no/models").check_writable()
    assert "allowed is a folder that this user may read and write" in str(error.value)
    blobs_at(str(tmp_path / "a" / "models")).check_writable()
    assert not list(tmp_path.iterdir())


def test_only_what_is_temporary_and_a_day_older_is_removed(tmp_path):
    for name, age in (("old", OLD_SECONDS + 1), ("young", OLD_SECONDS - 1), ("same", OLD_SECONDS)):
        made(tmp_path, PREFIX + name, age)
    for name in (".lock", "LATEST", "new-file", ".newer"):
        made(tmp_path, name, 10 * OLD_SECONDS)
    folder = tmp_path / f"{PREFIX}folder"
    folder.mkdir()
    os.utime(folder, (0, 0))
    remove_leftovers(str(made(tmp_path, f"{PREFIX}mine", 0)))
    kept = [
        ".lock",
        "LATEST",
        "new-file",
        ".newer",
        *(PREFIX + name for name in ("young", "same", "mine", "folder")),
    ]
    assert names(tmp_path) == sorted(kept)


def test_a_folder_is_looked_at_once(tmp_path):
    mine = made(tmp_path, f"{PREFIX}mine", 0)
    remove_leftovers(str(mine))
    made(tmp_path, f"{PREFIX}old", 2 * OLD_SECONDS)
    remove_leftovers(str(mine))
    assert len(names(tmp_path)) == 2


def test_a_file_that_goes_meanwhile_is_no_error(tmp_path):
    remove_leftovers(f"{tmp_path}/{PREFIX}gone")
    remove_leftovers(f"{tmp_path}/no-folder/{PREFIX}gone")


@pytest.mark.parametrize(
    "write",
    [
        lambda folder: LocalBlobs(str(folder)).create("a", b"1"),
        lambda folder: write_file(str(folder / "a"), b"1"),
    ],
    ids=["the model store", "an output"],
)
def test_the_next_write_removes_what_a_killed_process_left(tmp_path, write):
    left = made(tmp_path, f"{PREFIX}killed", 0)
    os.utime(left, (0, 0))
    alive = tmp_path / f"{PREFIX}alive"
    alive.write_bytes(b"half of a file, and more to c")
    write(tmp_path)
    assert [name for name in names(tmp_path) if name != ".lock"] == [alive.name, "a"]
