"""What requests may take: bodies within limits of size and time, a rate, and patience for headers.

A client has a bucket of tokens (:class:`Rate`). It holds at most ten seconds of requests and is
filled evenly. A request takes one; where there is less, it is refused and the client is told when
one is there. Buckets that are full again say nothing, so those used least recently leave beyond
:data:`MOST_CLIENTS`, and memory is bounded.

uvicorn limits the time between two requests of a connection, and :func:`read` that of a body. The
time of the first headers is limited by :func:`protocol_with`, so that clients who send nothing, or
one byte a second, do not hold connections for ever.

uvicorn answers 503 where too many connections are open. Before it comes to that, at 95 % of them,
each new one takes the place of the one that has waited longest for headers, so that silent clients
keep nobody out. The rest is for connections that come before those have gone.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from beam_topics.model.times import duration_text
from beam_topics.pipelines.cli.options import LimitSettings

SECONDS = 10.0
MOST_CLIENTS = 10_000
# Words of a topic in an answer: where a request does not say how many, and at most.
FIRST_WORDS = 10
MOST_WORDS = 1_000
_FORM = 'body: allowed is JSON such as {"text": "a ship"} or {"texts": ["a ship", "a court"]}'


async def read(request: Request, limits: LimitSettings) -> bytes:
    """Return the body of a request.

    Raises:
        HTTPException: It is too large or too slow, or the client went away.
    """
    try:
        return await asyncio.wait_for(_whole(request, limits), limits.patience / 1e6)
    except TimeoutError:
        given = duration_text(limits.patience)
        raise HTTPException(408, f"body: it did not arrive in {given}; send it again") from None
    except ClientDisconnect:
        raise HTTPException(400, "body: the connection ended before its end") from None


async def _whole(request: Request, limits: LimitSettings) -> bytes:
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > limits.most_bytes:
            allowed = f"body: allowed are {limits.most_bytes:,} bytes; send fewer texts"
            raise HTTPException(413, allowed)
        parts.append(part)
    return b"".join(parts)


def count_of(text: str | None) -> int:
    """Return how many words of a topic a request asks for.

    Raises:
        HTTPException: It is not a number from 1 to the most words of an answer.
    """
    if text is None:
        return FIRST_WORDS
    short = text.isascii() and text.isdecimal() and len(text) <= len(str(MOST_WORDS))
    if not short or not 1 <= int(text) <= MOST_WORDS:
        raise HTTPException(400, f"words: allowed is a whole number from 1 to {MOST_WORDS:,}")
    return int(text)


def texts_of(body: bytes, limits: LimitSettings) -> list[str]:
    """Return the texts of a body.

    Raises:
        HTTPException: The body has another form, or is over a limit.
    """
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
    """The buckets of all clients.

    Args:
        rate: Requests a second; 0 for any number.
    """

    def __init__(self, rate: float) -> None:
        self._rate, self._most = rate, max(1.0, SECONDS * rate)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str, now: float) -> float:
        """Take a request from the bucket of a client.

        Args:
            client: The address of the client.
            now: Seconds of a clock that never goes back.

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


def protocol_with(seconds: float) -> type[HttpToolsProtocol]:
    """Return the protocol with this time for headers."""
    # Connections without the headers of a request, the one that has waited longest first.
    silent: dict[HttpToolsProtocol, None] = {}

    class Patient(HttpToolsProtocol):
        _waits: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            limit = self.limit_concurrency
            if silent and limit is not None and len(self.connections) >= limit - limit // 20:
                oldest = next(iter(silent))
                del silent[oldest]
                oldest.transport.close()
            self._begin()

        def data_received(self, data: bytes) -> None:
            if self._waits is None and (self.cycle is None or self.cycle.response_complete):
                self._begin()
            super().data_received(data)

        def on_headers_complete(self) -> None:
            self._end()
            super().on_headers_complete()

        def connection_lost(self, exc: Exception | None) -> None:
            self._end()
            super().connection_lost(exc)

        def _begin(self) -> None:
            self._waits = self.loop.call_later(seconds, self._give_up)
            silent[self] = None

        def _end(self) -> None:
            silent.pop(self, None)
            if self._waits is not None:
                self._waits.cancel()
                self._waits = None

        def _give_up(self) -> None:
            self._end()
            self.transport.close()

    return Patient
