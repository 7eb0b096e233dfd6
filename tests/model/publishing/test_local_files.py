import os
from pathlib import Path

from model.publishing.local_files import write_beside


def test_a_file_is_whole_where_the_system_takes_parts(tmp_path, monkeypatch):
    opened, wrote = os.fdopen, []

    class Slow:
        def __init__(self, *given, **others):
            self._file = opened(*given, **others)

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self._file.close()

        def write(self, data):
            wrote.append(self._file.write(data[:3]))
            return wrote[-1]

    monkeypatch.setattr(os, "fdopen", Slow)
    name = write_beside(str(tmp_path / "a" / "b" / "file"), b"0123456789")
    assert Path(name).read_bytes() == b"0123456789"
    assert wrote == [3, 3, 3, 1]
    assert Path(name).parent == tmp_path / "a" / "b"
