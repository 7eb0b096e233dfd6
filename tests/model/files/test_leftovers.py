import os

import pytest

from beam_topics.model.publishing import local_files
from beam_topics.model.publishing.local_files import OLD_SECONDS, PREFIX, remove_leftovers
from beam_topics.model.publishing.roots import LocalBlobs
from beam_topics.transforms.write import write_file


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
