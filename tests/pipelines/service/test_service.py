"""The service with a real client against a real uvicorn on a free port."""

import contextlib
import queue
import re
import socket
import threading
from contextlib import contextmanager, suppress
from dataclasses import replace

import pytest
from blocks import mixtures_of_documents
from reported import published, trends_of

httpx = pytest.importorskip("httpx")
uvicorn = pytest.importorskip("uvicorn")
pytest.importorskip("starlette")
pytest.importorskip("httptools")
parser = pytest.importorskip("prometheus_client.parser")

from serving import LISTENING, Server, client_of, publish_next, serving  # noqa: E402

from beam_topics.model.errors import OptionError  # noqa: E402
from beam_topics.model.inference import Gibbs3, PublishedModel  # noqa: E402
from beam_topics.model.inference.features import NumberedDocuments  # noqa: E402
from beam_topics.model.inference.labelling import tokenised  # noqa: E402
from beam_topics.model.inference.serving import NoneShares  # noqa: E402
from beam_topics.model.publishing.catalogue import Catalogue, CatalogueStore  # noqa: E402
from beam_topics.model.publishing.store import ModelStore  # noqa: E402
from beam_topics.model.words.tokeniser import Tokeniser  # noqa: E402
from beam_topics.pipelines import report  # noqa: E402
from beam_topics.pipelines.cli.options import ServiceSettings  # noqa: E402
from beam_topics.pipelines.serve import TOKEN, config_of  # noqa: E402
from beam_topics.pipelines.service import followers  # noqa: E402
from beam_topics.pipelines.service.limits import RequestLimits  # noqa: E402
from beam_topics.pipelines.service.models import Models  # noqa: E402


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return published(tmp_path_factory.mktemp("run") / "models")


@pytest.fixture(scope="module")
def address(store):
    """The address of a service that waits for requests longer than any test takes."""
    with serving(Models(store.root, Gibbs3(), 100), patience=100.0) as found:
        yield found


@pytest.fixture(scope="module")
def impatient(store):
    """The address of a service whose requests have to arrive in a fifth of a second."""
    with serving(Models(store.root, Gibbs3(), 100), patience=0.2) as found:
        yield found


@contextmanager
def begun(address, sent, ends):
    """Yield a connection that has sent this, and the answer up to these bytes.

    Where this machine has no time to send it before the service gives up, it is sent again.
    """
    answer = b""
    while not answer.endswith(ends):
        with socket.create_connection(address, timeout=30) as made:
            answer = b""
            with suppress(ConnectionError):
                made.sendall(sent)
                # The head and the body may come apart.
                while not answer.endswith(ends) and (part := made.recv(10_000)):
                    answer += part
            if answer.endswith(ends):
                yield made, answer


@pytest.fixture
def client(address):
    with client_of(address) as found:
        yield found


def test_a_text_has_the_bits_of_inference(client, store):
    text, manifest = "a ship came into the harbour: שלום", store.manifest("")
    found = client.post("/label", json={"text": text}).json()
    model = PublishedModel(store.get_snapshot(manifest), manifest.version)
    document = tokenised([text], "", Tokeniser(manifest.tokeniser))
    (expected,) = mixtures_of_documents(Gibbs3(), model, document)
    listed = [(one["topic"], one["share"]) for one in found["documents"][0]["topics"]]
    assert listed == [
        (topic, round(share, 6))
        for topic, share in expected.shown().largest(expected.proportions, 9)
    ]
    assert found["documents"][0]["topic"] == listed[0][0]
    (none,) = NoneShares(model.snapshot).of(NumberedDocuments(model.snapshot, document))
    assert found["documents"][0]["none"] == round(float(none), 6)
    assert found["version"] == manifest.version


def test_a_text_without_a_known_word_has_no_topic(client):
    found = client.post("/label", json={"text": "zebra"}).json()["documents"]
    assert found == [{"topic": None, "topics": [], "none": 1.0, "words_known": 0, "tokens": 1}]


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


@pytest.mark.parametrize("begin", [b"", b"P", b"POST /label HTTP/1.1\r\nHost: localhost\r\n"])
def test_a_connection_whose_headers_do_not_arrive_is_closed(impatient, begin):
    with socket.create_connection(impatient, timeout=30) as slow:
        slow.sendall(begin)
        assert slow.recv(100) == b""


def test_the_second_request_of_a_connection_has_as_much_time(impatient):
    first = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with begun(impatient, first, b"}}") as (slow, answer):
        assert answer.startswith(b"HTTP/1.1 200")
        slow.sendall(b"GET /hea")
        assert slow.recv(100) == b""


def test_a_slow_sender_is_refused(impatient):
    sent = b"POST /label HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
    with begun(impatient, sent, b"}") as (_, answer):
        assert answer.startswith(b"HTTP/1.1 408")


def test_topics_health_and_metrics(client, store):
    topics = client.get("/topics").json()
    assert len(topics["topics"]) == store.get_snapshot(store.manifest("")).topic_count
    assert client.get("/health").json()["versions"] == {"": store.manifest("").version}
    text = client.get("/metrics").text
    counted = families(text)
    assert counted["beam_topics_requests_total", "/topics", "200"] >= 1
    assert counted["beam_topics_request_seconds_count", "/topics", ""] >= 1
    assert store.latest("").version in text


def test_models_are_read_before_the_first_request_and_it_is_ready_then(store):
    class Held(Models):
        may_begin = threading.Event()

        def begin(self):
            assert self.may_begin.wait(30)
            super().begin()

    models = Held(store.root, Gibbs3(), 100)
    with serving(models) as address, client_of(address) as client:
        assert client.get("/health").json() == {"versions": {}}
        refused = client.get("/ready")
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
        assert refused.json() == {"error": "ready: the models are not read yet"}
        models.may_begin.set()
        while client.get("/ready").status_code != 200:
            pass
        assert client.get("/health").json()["versions"] == {"": store.manifest("").version}


def test_one_topic_with_more_words(client):
    every = client.get("/topics").json()
    second = every["topics"][1]
    assert {topic["mark"] for topic in every["topics"]} == {""}
    found = client.get("/topics/1", params={"words": 12}).json()
    assert found.pop("version") == every["version"] and len(found["words"]) == 12
    assert {**found, "words": found["words"][:10]} == second
    assert client.get("/topics/1").json()["words"] == second["words"]
    counted = families(client.get("/metrics").text)
    assert counted["beam_topics_requests_total", "/topics/{topic}", "200"] >= 2


@pytest.mark.parametrize("topic", ["99", "-3", "x", "01", "1%2F..", "\u0661"])
def test_another_topic_is_told(client, topic):
    answer = client.get(f"/topics/{topic}")
    assert answer.status_code == 404
    if "%2F" not in topic:
        told = f"topic: {topic!r} was given; allowed is a topic that version "
        assert answer.json()["error"].startswith(told)
        assert answer.json()["error"].endswith(" shows. GET /topics lists them.")


@pytest.mark.parametrize(
    "words", ["0", "1001", "x", "-1", "1e2", "", "9" * 5000, "0" * 8 + "1" + "0" * 5000]
)
def test_another_number_of_words_is_told(client, words):
    answer = client.get("/topics/1", params={"words": words})
    assert answer.status_code == 400
    assert answer.json()["error"] == "words: allowed is a whole number from 1 to 1,000"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:8000", 200),
        ("[::1]:8000", 200),
        ("127.0.0.1", 200),
        ("evil.example", 400),
        ("localhost.evil.example:8000", 400),
        ("[::1]", 200),
        ("", 400),
    ],
)
def test_a_request_under_another_name_is_refused(client, host, status):
    for path in ("/health", "/metrics"):
        answer = client.get(path, headers={"Host": host})
        assert answer.status_code == status
    if status == 400:
        said = "Host: the service has another name; name more with --allowed_hosts"
        assert answer.json()["error"] == said


@pytest.mark.parametrize("allowed", ["topics.example", "*"])
def test_other_names_are_allowed_by_their_option(store, allowed):
    models, wanted = Models(store.root, Gibbs3(), 100), ServiceSettings(allowed_hosts=(allowed,))
    with serving(models, wanted) as here, client_of(here) as client:
        answer = client.get("/health", headers={"Host": "topics.example:80"})
        assert answer.status_code == 200


def test_there_is_no_redirect_to_a_host_that_a_request_gives(client):
    answer = client.get("/topics/1/", headers={"Host": "localhost"})
    assert answer.status_code == 404 and "location" not in answer.headers


def families(text):
    """Return each figure of a Prometheus page by name, route and status."""
    return {
        (sample.name, sample.labels.get("route", ""), sample.labels.get("status", "")): sample.value
        for family in parser.text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_what_is_not_there_is_told_and_counted(client):
    for path, method, status in (("/etc/passwd", "GET", 404), ("/label", "GET", 405)):
        answer = client.request(method, path)
        assert answer.status_code == status and answer.json()["error"]
    assert families(client.get("/metrics").text)["beam_topics_requests_total", "", "404"] >= 1


def figures_of(page):
    return re.search('<script type="application/json" id="figures">(.*)</script>', page)[1]


def test_the_report_has_the_figures_of_the_command(client, store, tmp_path, capsys):
    answer = client.get("/")
    assert answer.headers["content-security-policy"] == "frame-ancestors 'none'"
    output = str(tmp_path / "page.html")
    assert report.main([f"--model_store={store.root}", f"--output={output}", "--title=Topics"]) == 0
    capsys.readouterr()
    written = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert figures_of(answer.text) == figures_of(written)
    assert "EventSource" in answer.text and "EventSource" not in written
    assert client.get("/", params={"key": "../x"}).status_code == 404


def test_requests_above_the_rate_are_refused_until_there_is_room(store):
    with serving(Models(store.root, Gibbs3(), 100), rate=0.001) as here, client_of(here) as client:
        assert client.get("/topics").status_code == 200
        # The address of the connection counts, whatever a client says of itself.
        answer = client.get("/topics", headers={"X-Forwarded-For": "10.1.2.3"})
        assert answer.status_code == 429 and int(answer.headers["retry-after"]) in range(1, 1001)
        assert "allowed are 0.001 requests a second" in answer.json()["error"]
        # Figures for those who watch the service have no limit.
        assert client.get("/metrics").status_code == client.get("/health").status_code == 200


def test_requests_beyond_those_that_may_wait_are_refused(store):
    class Slow(Models):
        here, go = threading.Event(), threading.Event()

        def get(self, key):
            self.here.set()
            assert self.go.wait(30)
            return super().get(key)

    models = Slow(store.root, Gibbs3(), 100)
    with serving(models, most_waiting=1) as here, client_of(here) as client:
        first = threading.Thread(target=client.get, args=("/topics",))
        first.start()
        assert models.here.wait(30)
        with client_of(here) as other:
            answer = other.get("/topics")
        assert answer.status_code == 503 and answer.headers["retry-after"] == "1"
        assert "1 requests wait already" in answer.json()["error"]
        models.go.set()
        first.join(30)
        assert client.get("/topics").status_code == 200


def test_silent_connections_beyond_the_limit_make_room_for_new_ones(store):
    models = Models(store.root, Gibbs3(), 100)
    with serving(models, most_connections=50, patience=100.0) as here:
        silent = [socket.create_connection(here, timeout=30) for _ in range(60)]
        with client_of(here) as client:
            assert client.get("/health").status_code == 200
        # Those that have waited longest are closed, long before the end of their patience.
        assert [one.recv(100) for one in silent[:12]] == [b""] * 12
        silent[-1].sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert silent[-1].recv(100).startswith(b"HTTP/1.1 200")
        for one in silent:
            one.close()


def test_connections_beyond_the_limit_are_refused_until_there_is_room(store):
    models = Models(store.root, Gibbs3(), 100)
    with serving(models, most_connections=50, patience=100.0) as here:
        slow = []
        for _ in range(49):
            slow.append(one := socket.create_connection(here, timeout=30))
            one.sendall(b"POST /label HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n")
            one.sendall(b"Expect: 100-continue\r\n\r\n")
            assert one.recv(100).startswith(b"HTTP/1.1 100")
        with client_of(here) as client:
            assert client.get("/health").status_code == 503
        for one in slow:
            one.sendall(b"wrong")
        assert {one.recv(12) for one in slow} == {b"HTTP/1.1 400"}
        for one in slow:
            one.close()
        # The service hears of each in its own time.
        status = 503
        while status == 503:
            with client_of(here) as client:
                status = client.get("/health").status_code
        assert status == 200


def test_an_error_of_the_store_and_one_of_the_service_are_told(store, caplog):
    class Broken(Models):
        error = OSError("the disk is gone")

        def get(self, key):
            raise self.error

    models = Broken(store.root, Gibbs3(), 100)
    with serving(models) as here, client_of(here) as client:
        answer = client.get("/topics")
        assert answer.status_code == 500 and "see the log" in answer.json()["error"]
        assert "the disk is gone" in caplog.text and "disk" not in answer.text
        models.error = KeyError("secret")
        answer = client.get("/topics")
        assert answer.status_code == 500
        assert answer.json()["error"] == "the service failed; see its log"


def test_a_new_version_and_a_new_catalogue_are_followed(store, tmp_path):
    """The service looks by itself; the wait ends with the look that sees them."""
    manifest, here = store.manifests("")[0], ModelStore(str(tmp_path))
    first = here.put_snapshot(store.get_snapshot(manifest))
    here.publish(replace(manifest, snapshot=first, topic_order=()))

    class Told(Models):
        looks: queue.Queue = queue.Queue()

        def refresh(self):
            found = super().refresh()
            self.looks.put(found)
            return found

    models = Told(here.root, Gibbs3(), 100)
    with serving(models, poll=0.02) as at, client_of(at) as client:
        name = client.get("/topics").json()["topics"][0]["name"]
        CatalogueStore(here.root).put("", Catalogue().with_entries([0], name="Harbours"))
        changed_of(models)
        assert client.get("/topics").json()["topics"][0]["name"] == "Harbours" != name
        version = publish_next(here, manifest, snapshot=first)
        changed_of(models)
        assert client.get("/health").json()["versions"] == {"": version}


def changed_of(models):
    while models.looks.get(timeout=30) != [""]:
        pass


@pytest.fixture
def own_store(store, tmp_path):
    """A store of the test's own, without a version, and the facts of one that it may publish."""
    manifest, here = store.manifests("")[0], ModelStore(str(tmp_path / "own"))
    digest = here.put_snapshot(store.get_snapshot(manifest))
    return here, replace(manifest, snapshot=digest)


def events_in(lines, count):
    """The data of the next events; nothing else may come."""
    found = [next(lines) for _ in range(2 * count)]
    assert found[1::2] == [""] * count
    return [line.removeprefix("data: ") for line in found[::2]]


def test_a_follower_is_told_of_the_versions_after_its_own_until_the_service_ends(own_store):
    here, manifest = own_store
    first = publish_next(here, manifest)
    with contextlib.ExitStack() as stack:
        with serving(Models(here.root, Gibbs3(), 100), poll=0.02) as at:
            client = stack.enter_context(client_of(at))
            answer = stack.enter_context(client.stream("GET", "/follow"))
            assert answer.headers["content-type"].startswith("text/event-stream")
            lines = answer.iter_lines()
            for _ in range(2):
                later = publish_next(here, manifest)
                assert events_in(lines, 1) == [later]
            # One that has an earlier version, as after a connection that was lost, hears at once.
            path = f"/follow?version={first}"
            behind = stack.enter_context(client.stream("GET", path)).iter_lines()
            assert events_in(behind, 1) == [later]
        # ``serving`` has ended the service, which waits for answers.
        assert list(lines) == list(behind) == []


def test_before_the_first_version_a_page_waits_and_a_follower_hears_of_it(own_store):
    here, manifest = own_store
    with serving(Models(here.root, Gibbs3(), 100), poll=0.02) as at, client_of(at) as client:
        page = client.get("/")
        assert page.status_code == 503 and "No version yet" in page.text
        assert '<meta http-equiv="refresh"' in page.text
        answer = client.post("/label", json={"text": "a ship"})
        assert answer.status_code == 503 and "there is no version yet" in answer.json()["error"]
        assert client.get("/ready").status_code == 503
        with client.stream("GET", "/follow") as following:
            version = publish_next(here, manifest)
            assert events_in(following.iter_lines(), 1) == [version]
        assert client.get("/ready").status_code == client.get("/").status_code == 200


def test_followers_are_few_and_have_the_limits_of_requests(store):
    with (
        serving(Models(store.root, Gibbs3(), 100), most_followers=1) as at,
        client_of(at) as client,
    ):
        assert client.get("/follow", params={"key": "../x"}).status_code == 404
        with client.stream("GET", "/follow") as following:
            assert following.status_code == 200
            refused = client.get("/follow")
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "60")
            assert refused.json()["error"] == "followers: 1 follow already; try again later"
        status = 503
        # The service hears in its own time that the first one has gone.
        while status == 503:
            with client.stream("GET", "/follow") as following:
                status = following.status_code
        assert status == 200
    with serving(Models(store.root, Gibbs3(), 100), rate=0.001) as at, client_of(at) as client:
        assert client.get("/topics").status_code == 200
        assert client.get("/follow").status_code == 429


def test_a_stream_of_events_ends_in_time(client, monkeypatch):
    monkeypatch.setattr(followers, "SECONDS", 0.0)
    assert client.get("/follow").text == ""


def test_a_rolled_back_version_is_followed(store):
    models = Models(store.root, Gibbs3(), 100)
    assert models.get("").manifest == store.latest("") and models.refresh() == []
    first, last = store.manifests("")[0], store.latest("")
    store.roll_back(first)
    assert models.refresh() == [""] and models.get("").manifest == first != last


def test_a_store_without_a_version_is_refused_at_the_start(tmp_path):
    wanted = "--model_store: .* was given; allowed is a store in which some key has a version"
    with pytest.raises(OptionError, match=wanted):
        Models(str(tmp_path / "none"), Gibbs3(), 100).check_any()


def test_the_models_of_the_keys_used_last_are_held(store, tmp_path):
    manifest, others = store.manifest(""), ModelStore(str(tmp_path))
    for key in ("a", "b", "c"):
        digest = others.put_snapshot(replace(store.get_snapshot(manifest), key=key))
        others.publish(replace(manifest, key=key, parent=None, snapshot=digest, topic_order=()))
    models = Models(str(tmp_path), Gibbs3(), 2)
    for key in ("a", "b", "a", "c"):
        models.get(key)
    assert set(models.versions()) == {"a", "c"}


def test_a_server_that_is_forced_to_end_prints_nothing(store, capfd):
    server = Server(config_of(Models(store.root, Gibbs3(), 100), LISTENING, RequestLimits(), 1.0))
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    assert server.begun.wait(30)
    # As two interrupts set them.
    server.should_exit = server.force_exit = True
    thread.join(30)
    assert not thread.is_alive() and capfd.readouterr().err == ""


def test_the_page_has_the_windows_beside_a_store_of_a_run_alone(tmp_path):
    for name, judged in (("models", True), ("other", False)):
        store = published(tmp_path / name / name)
        trends_of(tmp_path / name / "trends")
        with serving(Models(store.root, Gibbs3(), 100)) as found, client_of(found) as client:
            assert ('"judged":true' in client.get("/").text) == judged


def changing(client, body, token=TOKEN):
    return client.post("/topics", content=body, headers={"Authorization": f"Bearer {token}"})


def test_a_change_of_the_catalogue_needs_the_token_and_says_what_is_allowed(tmp_path):
    store = published(tmp_path / "models")
    with serving(Models(store.root, Gibbs3(), 100)) as place, client_of(place) as client:
        asked = '{"topics": [3], "name": "Health"}'
        assert client.post("/topics", content=asked).status_code == 401
        assert changing(client, asked, "another").status_code == 401
        assert CatalogueStore(store.root).latest("")[0] is None
        fields = ('"name": 1', '"hidden": 1', '"into": true', '"name": "a", "more": 1')
        topics = ("[]", '["3"]', "[true]", "3")
        bodies = [f'{{"topics": {one}, "name": "a"}}' for one in topics]
        bodies += [f'{{"topics": [3], {one}}}' for one in fields]
        for body in ("", "[]", "{}", '{"topics": [3]}', *bodies):
            answer = changing(client, body)
            assert answer.status_code == 400 and '"topics": [3]' in answer.json()["error"]
        for body in ('{"topics": [99], "name": "a"}', '{"topics": [3], "into": 99}'):
            answer = changing(client, body)
            assert answer.status_code == 404 and "99" in answer.json()["error"]
        long = changing(client, f'{{"topics": [3], "name": "{"x" * 300}"}}')
        assert long.status_code == 404 and "at most 200" in long.json()["error"]
        assert CatalogueStore(store.root).latest("")[0] is None
        assert changing(client, asked).status_code == 200
        assert client.get("/topics/3").json()["name"] == "Health"
