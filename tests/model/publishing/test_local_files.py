import os
from pathlib import Path

import pytest

from beam_topics.model.publishing.local_files import write_beside


def test_a_file_is_whole_where_the_system_takes_parts(tmp_path, monkeypatch):
    write, wrote = os.write, []

    def slow(number, data):
        wrote.append(write(number, data[:3]))
        return wrote[-1]

    monkeypatch.setattr(os, "write", slow)
    name = write_beside(str(tmp_path / "a" / "b" / "file"), b"0123456789")
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
        write_beside(str(tmp_path / "file"), b"0")
    assert len(closed) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o007, 0o660), (0o077, 0o600)])
def test_the_mask_of_the_process_decides_who_may_read(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        name = write_beside(str(tmp_path / "file"), b"0")
    finally:
        os.umask(before)
    assert Path(name).stat().st_mode & 0o777 == mode
