import os
import socket

import pytest

from beam_topics.model.errors import OptionError
from beam_topics.model.files.matching import check_regular, kind_of, read_text


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
