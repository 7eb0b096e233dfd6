import shutil
from copy import deepcopy
from pathlib import Path

import pytest
from crashes import check_consistent, died_at, publish_one

from beam_topics.model.publishing.store import ModelStore


class Folder:
    """A store in a folder, which can be put back to how it was."""

    def __init__(self, path):
        self.root, self._kept = str(path / "store"), path / "kept"

    def keep(self):
        Path(self.root).mkdir(exist_ok=True)
        shutil.copytree(self.root, self._kept)

    def put_back(self):
        shutil.rmtree(self.root)
        shutil.copytree(self._kept, self.root)

    def files(self):
        paths = [
            path
            for path in Path(self.root).rglob("*")
            if path.is_file() and not path.name.startswith(".")
        ]
        return {str(path.relative_to(self.root)): path.read_bytes() for path in paths}


class Bucket:
    """The same in a bucket."""

    root = "gs://bucket/store"

    def __init__(self, server):
        self._server = server

    def keep(self):
        self._kept = deepcopy(self._server.buckets)

    def put_back(self):
        self._server.buckets = deepcopy(self._kept)

    def files(self):
        return {name: held.data for name, held in self._server.buckets["bucket"].items()}


@pytest.fixture(params=["folder", "bucket"])
def place(request, tmp_path):
    if request.param == "folder":
        return Folder(tmp_path)
    return Bucket(request.getfixturevalue("bucket"))


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(1, marks=pytest.mark.slow, id="at any line"),
        pytest.param(24, id="at some lines"),
    ],
)
@pytest.mark.parametrize("first", [True, False], ids=["the first version", "a later one"])
def test_a_publisher_that_dies_leaves_a_store_that_can_be_read_and_gone_on_with(place, first, step):
    if not first:
        publish_one(place.root, 3)
    before, sequence = (0, 3) if first else (3, 7)
    place.keep()
    publish_one(place.root, sequence)
    finished = place.files()
    found, line = set(), 0
    while True:
        place.put_back()
        if not died_at(line, place.root, sequence):
            break
        found.add(check_consistent(place.root, before, sequence))
        publish_one(place.root, sequence)
        assert place.files() == finished, line
        line += step
    assert before in found and line > 100
    # Few lines come after the pointer has moved.
    assert sequence in found or step > 1
    assert ModelStore(place.root).latest("").sequence == sequence
