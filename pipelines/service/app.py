"""The HTTP service as a Starlette application."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from model.errors import BeamTopicsError, OptionError
from pipelines.service.metrics import Metrics
from pipelines.service.models import Loaded, Models

_LOGGER = logging.getLogger("beam_topics.service")
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True)
class Limits:
    """What a request may take.

    Attributes:
        body: The bytes of a body.
        texts: The number of texts in a request.
        characters: The length of a text.
        waiting: The requests that are answered or wait at a time.
        seconds: The time in which a body has to arrive.
        poll: The seconds between two looks for a newer version.
    """

    body: int = 1_000_000
    texts: int = 1000
    characters: int = 100_000
    waiting: int = 64
    seconds: float = 10.0
    poll: float = 10.0


class Service:
    """Answers requests. One thread reads and labels, so the event loop never waits for it."""

    def __init__(self, models: Models, limits: Limits) -> None:
        self._models, self._limits, self.metrics = models, limits, Metrics()
        self._worker = ThreadPoolExecutor(1)
        self._active = 0

    def app(self) -> Starlette:
        """Return the application."""
        routes = [
            Route("/label", self._answer(self._label), methods=["POST"]),
            Route("/topics", self._answer(self._topics)),
            Route("/metrics", self._metrics),
            Route("/health", self._health),
        ]
        handlers: Any = {HTTPException: self._refuse}
        return Starlette(routes=routes, exception_handlers=handlers, lifespan=self._lifespan)

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        follower = asyncio.create_task(self._follow())
        yield
        follower.cancel()
        self._worker.shutdown()

    async def _follow(self) -> None:
        while True:
            await asyncio.sleep(self._limits.poll)
            try:
                await self._run(self._models.refresh)
            except (BeamTopicsError, OSError) as error:
                # A publisher or an expiry may be at work: the version at hand goes on.
                _LOGGER.warning("the newest version was not read: %s", error)

    async def _run(self, work: Callable[..., Any], *given: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._worker, work, *given)

    def _answer(
        self, work: Callable[[Request], Awaitable[Any]]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            if self._active >= self._limits.waiting:
                return await self._refuse(request, HTTPException(503, "too many requests wait"))
            self._active, begin = self._active + 1, time.perf_counter()
            status = 500
            try:
                response: Response = JSONResponse(await work(request), headers=_HEADERS)
                status = response.status_code
            except HTTPException as error:
                status = error.status_code
                response = _error(status, error.detail)
            except OptionError as error:
                status, response = 404, _error(404, str(error))
            except (BeamTopicsError, OSError) as error:
                _LOGGER.error("%s", error)
                response = _error(500, "the model store cannot be read; see the log of the service")
            finally:
                self._active -= 1
                self.metrics.observe(status, time.perf_counter() - begin)
            return response

        return answer

    async def _refuse(self, request: Request, error: HTTPException) -> Response:
        self.metrics.observe(error.status_code, 0.0)
        return _error(error.status_code, error.detail)

    async def _label(self, request: Request) -> dict[str, Any]:
        try:
            body = await asyncio.wait_for(self._body(request), self._limits.seconds)
        except TimeoutError:
            raise HTTPException(
                408, f"body: it did not arrive in {self._limits.seconds:g} seconds; send it again"
            ) from None
        except ClientDisconnect:
            raise HTTPException(400, "body: the connection ended before its end") from None
        texts = _texts(body, self._limits)
        loaded, mixtures = await self._run(self._mixtures, _key(request), texts)
        self.metrics.documents += len(texts)
        return {
            "version": loaded.manifest.version,
            "documents": [_described(loaded, mixture) for mixture in mixtures],
        }

    def _mixtures(self, key: str, texts: list[str]) -> tuple[Loaded, list[Any]]:
        loaded = self._models.get(key)
        return loaded, loaded.mixtures(texts)

    async def _body(self, request: Request) -> bytes:
        parts, size = [], 0
        async for part in request.stream():
            size += len(part)
            if size > self._limits.body:
                allowed = f"body: allowed are {self._limits.body:,} bytes; send fewer texts"
                raise HTTPException(413, allowed)
            parts.append(part)
        return b"".join(parts)

    async def _topics(self, request: Request) -> dict[str, Any]:
        loaded = await self._run(self._models.get, _key(request))
        return {"version": loaded.manifest.version, "topics": await self._run(loaded.topics)}

    async def _metrics(self, request: Request) -> Response:
        text = self.metrics.text(self._models.versions())
        return PlainTextResponse(text, headers=_HEADERS, media_type="text/plain; version=0.0.4")

    async def _health(self, request: Request) -> Response:
        return JSONResponse({"versions": self._models.versions()}, headers=_HEADERS)


def _key(request: Request) -> str:
    return request.query_params.get("key", "")


def _error(status: int, message: str) -> Response:
    return JSONResponse({"error": message}, status_code=status, headers=_HEADERS)


def _texts(body: bytes, limits: Limits) -> list[str]:
    """Return the texts of a body.

    Raises:
        HTTPException: The body has another form, or is over a limit.
    """
    form = 'body: allowed is JSON such as {"text": "a ship"} or {"texts": ["a ship", "a court"]}'
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise HTTPException(400, form) from None
    if not isinstance(value, dict) or len(value) != 1 or not set(value) <= {"text", "texts"}:
        raise HTTPException(400, form)
    texts = [value["text"]] if "text" in value else value["texts"]
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise HTTPException(400, form)
    if len(texts) > limits.texts:
        raise HTTPException(413, f"texts: allowed are {limits.texts:,}; send several requests")
    if any(len(text) > limits.characters for text in texts):
        raise HTTPException(413, f"text: allowed are {limits.characters:,} characters; split it")
    return texts


def _described(loaded: Loaded, mixture: Any) -> dict[str, Any]:
    return {
        "tokens": int(mixture.tokens),
        "words_known": int(mixture.words_known),
        "topics": [
            {"topic": loaded.ids[n], "name": loaded.names[n], "share": float(share)}
            for n, share in enumerate(mixture.proportions)
        ],
    }
