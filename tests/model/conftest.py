"""Places of a model store: a folder, and a bucket of Cloud Storage in this process."""

import pytest
from fake_gcs import FakeGcs

from beam_topics.model.publishing import gcs


@pytest.fixture
def bucket(monkeypatch):
    """A server with an empty bucket of this name, which the client finds."""
    with FakeGcs("bucket") as server:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", server.address)
        gcs._client.cache_clear()
        yield server
    gcs._client.cache_clear()


@pytest.fixture(params=["folder", "bucket"])
def root(request, tmp_path):
    """The root of a store that is not there yet."""
    if request.param == "folder":
        return str(tmp_path / "store")
    request.getfixturevalue("bucket")
    return "gs://bucket/store"
