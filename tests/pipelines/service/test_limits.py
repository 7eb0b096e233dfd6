"""Limits of requests, with a clock, a loop and connections of the test's own."""

import asyncio
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

uvicorn = pytest.importorskip("uvicorn")
pytest.importorskip("starlette")
pytest.importorskip("httptools")

from starlette.exceptions import HTTPException  # noqa: E402
from uvicorn.server import ServerState  # noqa: E402

from beam_topics.pipelines.service import limits  # noqa: E402
from beam_topics.pipelines.service.limits import Bodies, Rate, protocol_with  # noqa: E402


def test_ten_seconds_at_once_and_then_one_for_each_interval():
    found = Rate(2.0)
    assert [found.wait("a", 0.0) for _ in range(21)] == [0.0] * 20 + [0.5]
    assert found.wait("a", 0.25) == pytest.approx(0.25)
    assert found.wait("a", 0.5) == 0.0 and found.wait("a", 0.5) == pytest.approx(0.5)
    assert [found.wait("a", 1000.0) for _ in range(21)] == [0.0] * 20 + [0.5]


def test_clients_have_buckets_of_their_own():
    found = Rate(0.1)
    assert found.wait("a", 0.0) == found.wait("b", 0.0) == 0.0
    assert found.wait("a", 0.0) == found.wait("b", 0.0) == pytest.approx(10.0)


def test_without_a_rate_everything_is_taken():
    assert {Rate(0.0).wait("a", 0.0) for _ in range(1000)} == {0.0}


def test_the_number_of_buckets_is_bounded(monkeypatch):
    monkeypatch.setattr(limits, "MOST_CLIENTS", 2)
    found = Rate(0.1)
    for client in "abac":
        found.wait(client, 0.0)
    # b was used least recently and left, so it begins again; a did not.
    assert found.wait("a", 0.0) > 0 and found.wait("b", 0.0) == 0.0


def test_beyond_the_room_of_all_bodies_the_first_one_gives_way():
    bodies = Bodies(limits.RequestLimits(most_bytes=64, most_waiting=2))
    went_on = []

    async def sent(*parts, then=None):
        for part in parts:
            yield part
        if then is not None:
            await then.wait()
            went_on.append(True)

    async def read(*parts, then=None):
        return await bodies.read(SimpleNamespace(stream=lambda: sent(*parts, then=then)))

    async def all_of_them():
        never = asyncio.Event()
        slow = [asyncio.create_task(read(b"x" * 60, then=never)) for _ in range(2)]
        await asyncio.sleep(0)
        found = await read(b"y" * 30, b"z" * 30)
        with pytest.raises(HTTPException, match="its room; send it again") as refused:
            await slow[0]
        assert (refused.value.status_code, found) == (503, b"y" * 30 + b"z" * 30)
        assert not slow[1].done()
        never.set()
        assert await slow[1] == b"x" * 60 and went_on == [True]
        assert [await read(b"x" * 64) for _ in range(3)] == [b"x" * 64] * 3

    asyncio.run(all_of_them())


@pytest.fixture
def connect():
    """A function that connects clients of a server with room for two, and their timers."""
    state, timers = ServerState(), []
    config = uvicorn.Config(None, limit_concurrency=2, ws="none", log_config=None)
    config.loaded_app, config.encoded_headers = None, []
    made = protocol_with(10.0)

    def call_later(seconds, act):
        timers.append(SimpleNamespace(act=act, cancel=lambda: timers.remove(timer)))
        timer = timers[-1]
        return timer

    def connected():
        loop = SimpleNamespace(call_later=call_later)
        client = made(config, state, {}, _loop=loop)
        transport = Mock(**{"get_extra_info.return_value": None, "is_closing.return_value": False})
        transport.abort.side_effect = lambda: client.connection_lost(ConnectionError())
        client.connection_made(transport)
        return client

    return connected, timers


def test_a_client_that_does_not_read_is_dropped_in_time(connect):
    connected, timers = connect
    client = connected()
    client._end("headers")
    client.pause_writing()
    client.resume_writing()
    assert timers == []
    client.pause_writing()
    (timer,) = timers
    timer.act()
    assert client.transport.abort.called and timers == []


def test_a_client_that_does_not_read_makes_room_for_new_ones(connect):
    connected, _ = connect
    unread = connected()
    unread._end("headers")
    unread.pause_writing()
    reading = connected()
    assert unread.transport.abort.called and not reading.transport.abort.called


@pytest.mark.parametrize(
    "parts",
    [
        [b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 101 + b"\r\n"],
        [b"GET / HTTP/1.1\r\na: " + b"b" * 33_000 + b"\r\n\r\n"],
        [b"GET / HTTP/1.1\r\na: ", *[b"b" * 1000] * 33],
    ],
    ids=["many", "large", "one without an end"],
)
def test_headers_are_few_and_small(connect, parts):
    client = connect[0]()
    for part in parts[:-1]:
        client.data_received(part)
        assert not client.transport.write.called
    client.data_received(parts[-1])
    told = client.transport.write.call_args[0][0]
    assert told.startswith(b"HTTP/1.1 400") and told.endswith(limits._HEADERS.encode())
    assert client.transport.close.called


def test_a_hundred_headers_and_then_a_large_body_are_taken(connect):
    client = connect[0]()
    client._start_asgi_task = Mock()
    client.data_received(
        b"POST / HTTP/1.1\r\n" + b"a: b\r\n" * 99 + b"Content-Length: 99999\r\n\r\n"
    )
    client.data_received(b"x" * 99_999)
    assert client._start_asgi_task.called and not client.transport.write.called
