"""What requests may take: bodies within limits of size and time, a rate, and patience for headers.

A client has a bucket of tokens (:class:`Rate`). It holds at most ten seconds of requests and is
filled evenly. A request takes one. Where there is less, it is refused, and the answer says when
one is there. Of more than :data:`MOST_CLIENTS` buckets, those used least recently are dropped.

uvicorn limits the time between two requests of a connection, and :class:`Bodies` that of a body and
the bytes of all bodies. :func:`protocol_with` limits the time, the number and the bytes of headers,
and the time in which a client reads what was sent.

uvicorn answers 503 where too many connections are open. At 95 % of them, each new one replaces the
one that has been waited for longest, so that silent clients keep nobody out.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from beam_topics.model.times import duration_text

SECONDS = 10.0
MOST_CLIENTS = 10_000
# Of one request.
MOST_HEADERS, MOST_HEADER_BYTES = 100, 32_768
_HEADERS = f"headers: allowed are {MOST_HEADERS}, of {MOST_HEADER_BYTES:,} bytes; send fewer"
# Words of a topic in an answer: where a request does not say how many, and at most.
FIRST_WORDS = 10
MOST_WORDS = 1_000
_FORM = 'body: allowed is JSON such as {"text": "a ship"} or {"texts": ["a ship", "a court"]}'


@dataclass(frozen=True)
class RequestLimits:
    """What requests may take. A request above a limit is refused with the remedy.

    Attributes:
        most_bytes: Bytes of a request's body.
        most_texts: Texts in a request.
        most_characters: The length of a text.
        most_waiting: Requests that are answered or wait at a time.
        most_connections: Connections at a time.
        most_followers: Connections at a time that are notified of new versions.
        rate: Requests a second of one client, over ten seconds; 0 for any number.
        patience: The seconds in which the headers and then the body have to arrive, and a part of
            an answer to be read.
    """

    most_bytes: int = 1_000_000
    most_texts: int = 1_000
    most_characters: int = 100_000
    most_waiting: int = 64
    most_connections: int = 1_000
    most_followers: int = 100
    rate: float = 0.0
    patience: float = 10.0


class Bodies:
    """The bodies that are being read, of ``most_waiting`` times ``most_bytes`` together at most.

    Beyond that, the one that began first makes room.
    """

    def __init__(self, limits: RequestLimits) -> None:
        self._limits, self._room = limits, limits.most_waiting * limits.most_bytes
        self._sizes: dict[asyncio.Timeout, int] = {}

    async def read(self, request: Request) -> bytes:
        """Return the body of a request.

        Raises:
            HTTPException: It is too large or too slow, others need its room, or the client went
                away.
        """
        try:
            async with asyncio.timeout(self._limits.patience) as time:
                self._sizes[time] = 0
                return await self._whole(request, time)
        except TimeoutError:
            if time not in self._sizes:
                message = "body: others came that needed its room; send it again, and faster"
                headers = {"Retry-After": "1", "Connection": "close"}
                raise HTTPException(503, message, headers) from None
            given = duration_text(round(self._limits.patience * 1e6))
            raise HTTPException(408, f"body: it did not arrive in {given}; send it again") from None
        except ClientDisconnect:
            raise HTTPException(400, "body: the connection ended before its end") from None
        finally:
            self._room += self._sizes.pop(time, 0)

    async def _whole(self, request: Request, time: asyncio.Timeout) -> bytes:
        parts, most = [], self._limits.most_bytes
        async for part in request.stream():
            self._take(len(part), time)
            if self._sizes[time] > most:
                raise HTTPException(413, f"body: allowed are {most:,} bytes; send fewer texts")
            parts.append(part)
        return b"".join(parts)

    def _take(self, size: int, time: asyncio.Timeout) -> None:
        """Take room for a part of a body, from that of the one that began first if need be."""
        while self._room < size:
            oldest = next(iter(self._sizes))
            self._room += self._sizes.pop(oldest)
            if oldest is time:
                raise TimeoutError
            oldest.reschedule(0.0)
        self._room -= size
        self._sizes[time] += size


def count_of(text: str | None) -> int:
    """Return how many words of a topic a request asks for."""
    if text is None:
        return FIRST_WORDS
    short = text.isascii() and text.isdecimal() and len(text) <= len(str(MOST_WORDS))
    if not short or not 1 <= int(text) <= MOST_WORDS:
        raise HTTPException(400, f"words: allowed is a whole number from 1 to {MOST_WORDS:,}")
    return int(text)


def texts_of(body: bytes, limits: RequestLimits) -> list[str]:
    """Return the texts of a body."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise HTTPException(400, _FORM) from None
    if not isinstance(value, dict) or len(value) != 1 or not set(value) <= {"text", "texts"}:
        raise HTTPException(400, _FORM)
    texts = [value["text"]] if "text" in value else value["texts"]
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise HTTPException(400, _FORM)
    if len(texts) > limits.most_texts:
        allowed = f"texts: allowed are {limits.most_texts:,}; send several requests"
        raise HTTPException(413, allowed)
    if any(len(text) > limits.most_characters for text in texts):
        allowed = f"text: allowed are {limits.most_characters:,} characters; split it"
        raise HTTPException(413, allowed)
    return texts


class Rate:
    """The buckets of all clients."""

    def __init__(self, rate: float) -> None:
        self._rate, self._most = rate, max(1.0, SECONDS * rate)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str, now: float) -> float:
        """Take a request from the bucket of a client at a time of a clock that never goes back.

        Returns:
            0 if there was one; else the seconds until there is one, and nothing is taken.
        """
        if not self._rate:
            return 0.0
        held, then = self._buckets.pop(client, (self._most, now))
        held = min(self._most, held + (now - then) * self._rate)
        taken = held >= 1.0
        self._buckets[client] = (held - taken, now)
        while len(self._buckets) > MOST_CLIENTS:
            self._buckets.popitem(last=False)
        return 0.0 if taken else (1.0 - held) / self._rate


class _Patient(HttpToolsProtocol):
    """The protocol of a server, which :func:`protocol_with` completes.

    Attributes:
        seconds: The time for headers, and for each part that a client reads.
        ending: Called for each connection when the server ends.
        silent: Connections that are waited for, the one that is waited for longest first.
    """

    seconds: float
    ending: Callable[[], None]
    silent: dict[_Patient, None]
    _in_headers = _is_over = False
    # The bytes of the headers that are there, and of one that is not complete.
    _named = _begun = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._waits: dict[str, asyncio.TimerHandle] = {}
        limit = self.limit_concurrency
        if self.silent and limit is not None and len(self.connections) >= limit - limit // 20:
            next(iter(self.silent)).give_up()
        self._wait_for("headers")

    def data_received(self, data: bytes) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self._wait_for("headers")
        goes_on = self._in_headers
        super().data_received(data)
        self._begun += len(data) if goes_on and self._in_headers else 0
        if self._begun > MOST_HEADER_BYTES and not self._is_over:
            self._is_over = True
            self.send_400_response(_HEADERS)

    def send_400_response(self, msg: str) -> None:
        super().send_400_response(_HEADERS if self._is_over else msg)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_headers, self._named, self._begun = True, 0, 0

    def on_header(self, name: bytes, value: bytes) -> None:
        self._named += len(name) + len(value)
        if len(self.headers) >= MOST_HEADERS or self._named > MOST_HEADER_BYTES:
            self._is_over = True
            # uvicorn answers an error of a callback as it does one of the parser.
            raise ValueError(_HEADERS)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_headers = False
        self._end("headers")
        super().on_headers_complete()

    def shutdown(self) -> None:
        super().shutdown()
        self.ending()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._wait_for("reading")

    def resume_writing(self) -> None:
        self._end("reading")
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(*self._waits)
        super().connection_lost(exc)

    def _wait_for(self, what: str) -> None:
        if what not in self._waits:
            self._waits[what] = self.loop.call_later(self.seconds, self.give_up)
            self.silent.setdefault(self)

    def _end(self, *whats: str) -> None:
        for what in whats:
            if (timer := self._waits.pop(what, None)) is not None:
                timer.cancel()
        if not self._waits:
            self.silent.pop(self, None)

    def give_up(self) -> None:
        self._end(*self._waits)
        # What a client does not read would keep a connection that is closed.
        self.transport.abort()


def protocol_with(
    seconds: float, ending: Callable[[], None] = lambda: None
) -> type[HttpToolsProtocol]:
    """Return the protocol with this time for headers, and for each part that a client reads.

    ``ending`` is called when the server ends, because it waits for answers that go on.
    """
    parts = {"seconds": seconds, "ending": staticmethod(ending), "silent": {}}
    return type("Patient", (_Patient,), parts)
