"""The service with a real client against a real uvicorn on a free port."""

import socket
import threading
from dataclasses import replace

import pytest
from reported import published

httpx = pytest.importorskip("httpx")
uvicorn = pytest.importorskip("uvicorn")
pytest.importorskip("starlette")

from model.errors import OptionError  # noqa: E402
from model.inference import Gibbs3, PublishedModel, inference_for  # noqa: E402
from model.inference.labelling_texts import tokenised  # noqa: E402
from model.publishing.store import ModelStore  # noqa: E402
from model.words.tokeniser import Tokeniser  # noqa: E402
from pipelines.service import models as models_module  # noqa: E402
from pipelines.service.app import Limits, Service  # noqa: E402
from pipelines.service.models import Models  # noqa: E402


class Server(uvicorn.Server):
    """A server that tells when it has begun."""

    def __init__(self, config):
        super().__init__(config)
        self.begun = threading.Event()

    async def startup(self, sockets=None):
        await super().startup(sockets)
        self.begun.set()


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return published(tmp_path_factory.mktemp("run") / "models")


@pytest.fixture(scope="module")
def address(store):
    """The address of a service whose bodies have to arrive in a fifth of a second."""
    limits = Limits(seconds=0.2)
    service = Service(Models(store.root, Gibbs3()), limits)
    listening = socket.create_server(("127.0.0.1", 0))
    server = Server(uvicorn.Config(service.app(), log_level="error"))
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    assert server.begun.wait(30)
    yield listening.getsockname()
    server.should_exit = True
    thread.join(30)


@pytest.fixture
def client(address):
    with httpx.Client(base_url="http://{}:{}".format(*address), timeout=30) as found:
        yield found


def test_a_text_has_the_bits_of_inference(client, store):
    text, manifest = "a ship came into the harbour", store.manifest("")
    found = client.post("/label", json={"text": text}).json()
    method, settings = inference_for(Gibbs3()), Gibbs3()
    model = PublishedModel(store.get_snapshot(manifest), manifest.version)
    document = tokenised(text, "", Tokeniser(manifest.tokeniser))
    (expected,) = method.infer(method.prepare(settings, model), [document])
    shares = [topic["share"] for topic in found["documents"][0]["topics"]]
    assert shares == list(map(float, expected.proportions))
    assert found["version"] == manifest.version


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"{", 400, "allowed is JSON such as"),
        (b"[" * 100_000, 400, "allowed is JSON such as"),
        (b'{"texts": [1]}', 400, "allowed is JSON such as"),
        (b"x" * 10_000_000, 413, "allowed are 1,000,000 bytes"),
        (b'{"texts": [' + b'"",' * 1000 + b'""]}', 413, "allowed are 1,000; send several"),
    ],
)
def test_a_wrong_body_is_refused_with_the_remedy(client, body, status, message):
    answer = client.post("/label", content=body)
    assert answer.status_code == status and message in answer.json()["error"]


@pytest.mark.parametrize("key", ["../..", "/etc", "..%2f", "\x00"])
def test_a_key_that_the_store_does_not_list_is_refused(client, key):
    answer = client.get("/topics", params={"key": key})
    assert answer.status_code == 404 and "a key of the model store" in answer.json()["error"]


def test_a_slow_sender_is_refused(address):
    with socket.create_connection(address, timeout=30) as slow:
        slow.sendall(b"POST /label HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
        assert slow.recv(100).startswith(b"HTTP/1.1 408")


def test_topics_health_and_metrics(client, store):
    topics = client.get("/topics").json()
    assert len(topics["topics"]) == store.get_snapshot(store.manifest("")).topic_count
    assert client.get("/health").json()["versions"] == {"": store.manifest("").version}
    text = client.get("/metrics").text
    assert 'beam_topics_requests_total{status="200"}' in text and store.latest("").version in text


def test_a_rolled_back_version_is_followed(store):
    models = Models(store.root, Gibbs3())
    assert models.get("").manifest == store.latest("") and models.refresh() == []
    first, last = store.manifests("")[0], store.latest("")
    store.roll_back(first)
    assert models.refresh() == [""] and models.get("").manifest == first != last


def test_a_store_without_a_version_is_refused_at_the_start(tmp_path):
    wanted = "--model_store: .* was given; allowed is a store in which some key has a version"
    with pytest.raises(OptionError, match=wanted):
        Models(str(tmp_path / "none"), Gibbs3()).check_any()


def test_the_models_of_the_keys_used_last_are_held(monkeypatch, store, tmp_path):
    monkeypatch.setattr(models_module, "MOST_KEYS", 2)
    manifest, others = store.manifest(""), ModelStore(str(tmp_path))
    for key in ("a", "b", "c"):
        digest = others.put_snapshot(replace(store.get_snapshot(manifest), key=key))
        others.publish(replace(manifest, key=key, parent=None, snapshot=digest, topic_order=()))
    models = Models(str(tmp_path), Gibbs3())
    for key in ("a", "b", "a", "c"):
        models.get(key)
    assert set(models.versions()) == {"a", "c"}
