import os
import socket

import pytest

from beam_topics.model.errors import OptionError
from beam_topics.model.files import (
    _warn,
    check_regular,
    is_local,
    is_marker,
    kind_of,
    local_files,
    matching_files,
    read_text,
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("a.jsonl", "b.jsonl", "data[1].csv", "notes.txt", ".hidden.jsonl"):
        (tmp_path / name).touch()
    (tmp_path / "below" / "deep").mkdir(parents=True)
    (tmp_path / "below" / "c.jsonl").touch()
    (tmp_path / "below" / "deep" / "d.jsonl").touch()
    _warn.cache_clear()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("a.jsonl", ["a.jsonl"]),
        ("*.jsonl", ["a.jsonl", "b.jsonl"]),
        ("[ab].jsonl", ["a.jsonl", "b.jsonl"]),
        ("data[1].csv", ["data[1].csv"]),
        ("**/*.jsonl", ["a.jsonl", "b.jsonl", "below/c.jsonl", "below/deep/d.jsonl"]),
        ("below/", ["below/c.jsonl"]),
        ("below/*", ["below/c.jsonl"]),
        ("nowhere/*", []),
        ("below", []),
    ],
)
def test_paths_and_globs(folder, pattern, names, absolute):
    begin = f"{folder}/" if absolute else ""
    assert local_files(begin + pattern, "--input") == [begin + name for name in names]


@pytest.mark.parametrize(
    ("pattern", "remedy", "advised"),
    [
        ("a.jsnl", "Did you mean a.jsonl?", "a.jsonl"),
        ("below/e.jsonl", "Did you mean below/c.jsonl?", "below/c.jsonl"),
        ("below", "It is a folder: give 'below/*' for the files in it.", "below/*"),
        ("'*.jsonl'", "Leave out the quotes, which the shell has passed on.", "*.jsonl"),
        ("zzz", "Check the spelling.", None),
        ("nowhere/zzz", "Check the spelling.", None),
    ],
)
def test_what_matches_nothing_is_refused_with_the_nearest(folder, pattern, remedy, advised):
    with pytest.raises(OptionError) as raised:
        matching_files(pattern, "--input")
    assert str(raised.value).endswith(f"that matches at least one file. {remedy}")
    if advised:
        assert matching_files(advised, "--input")


def test_links_without_a_target_are_told_once_with_their_number_and_the_first(folder, caplog):
    (folder / "link.jsonl").symlink_to(folder / "a.jsonl")
    for name in ("gone-2.jsonl", "gone-1.jsonl", "gone.csv"):
        (folder / name).symlink_to(folder / "nothing")
    for _ in range(2):
        assert matching_files("*.jsonl", "--input") == ["a.jsonl", "b.jsonl", "link.jsonl"]
    (record,) = caplog.records
    said = (
        "--input: '*.jsonl' matches 2 links to files that do not exist; they are left out. The"
        " first is gone-1.jsonl."
    )
    assert (record.levelname, record.getMessage()) == ("WARNING", said)


@pytest.mark.parametrize(
    "name",
    [
        "_SUCCESS",
        "_committed_3",
        "_started_3",
        "_metadata",
        "_common_metadata",
        "a.crc",
        ".b.jsonl",
    ],
)
def test_marks_of_tools_are_no_match_of_a_glob_and_are_a_path(tmp_path, name):
    (tmp_path / name).touch()
    (tmp_path / "_data.jsonl").touch()
    assert is_marker(name) and not is_marker("_data.jsonl")
    assert local_files(f"{tmp_path}/*", "--input") == [f"{tmp_path}/_data.jsonl"]
    assert local_files(f"{tmp_path}/{name}", "--input") == [f"{tmp_path}/{name}"]


def test_a_glob_finds_nothing_in_stores_unless_it_names_them(tmp_path):
    for name in ("m/_/settings.json", "m/_/manifests/1.json", "app/manifests/2.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = local_files(f"{tmp_path}/**/*.json", "--input")
    assert found == [f"{tmp_path}/app/manifests/2.json"]
    assert len(local_files(f"{tmp_path}/m/_/*.json", "--input")) == 1


def test_an_object_store_is_not_this_machine():
    assert is_local("data/*.csv") and not is_local("gs://bucket/*.csv")


@pytest.fixture
def irregular(tmp_path):
    """Paths of what is no regular file, by kind."""
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        names = {
            "folder": "a folder",
            "pipe": "a named pipe",
            "link": "a named pipe",
            "socket": "a socket",
        }
        yield {str(tmp_path / name): kind for name, kind in names.items()} | {
            "/dev/zero": "a device"
        }


def test_what_is_no_regular_file_is_refused_by_its_kind_and_not_opened(irregular):
    for path, kind in irregular.items():
        assert kind_of(path) == kind
        said = (
            rf"^--word_list: '{path}' was given; allowed is a regular file\. It is {kind}\. Write"
            r" what it"
        )
        for refuse in (
            lambda path=path: check_regular("--word_list", path),
            lambda path=path: read_text("--word_list", path, "text"),
        ):
            with pytest.raises(OptionError, match=said):
                refuse()


def test_regular_files_and_what_is_not_there(tmp_path):
    (tmp_path / "file").write_bytes("\ufeffWörter\n".encode())
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    for name in ("file", "link", "dangling", "nothing", "a\0b"):
        assert kind_of(str(tmp_path / name)) is None
        check_regular("--word_list", str(tmp_path / name))
    assert read_text("--word_list", str(tmp_path / "link"), "text") == "Wörter\n"


@pytest.mark.parametrize("name", ["nothing", "latin", "a\0b"])
def test_files_that_cannot_be_read(tmp_path, name):
    (tmp_path / "latin").write_bytes(b"W\xf6rter")
    with pytest.raises(
        OptionError, match=r"--word_list: .* allowed is a text of words\. It cannot be read: "
    ):
        read_text("--word_list", str(tmp_path / name), "a text of words")
