"""The HTTP service as a Starlette application, with its figures in Prometheus's text form."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from math import ceil
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from beam_topics.model.errors import BeamTopicsError, OptionError
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.reporting.now import Newest
from beam_topics.pipelines.cli.arguments import labels_beside
from beam_topics.pipelines.cli.options import ServiceSettings
from beam_topics.pipelines.pages.page import check_installed, page_of_store
from beam_topics.pipelines.service.changes import change, check_token
from beam_topics.pipelines.service.followers import Followers
from beam_topics.pipelines.service.limits import (
    FIRST_WORDS,
    Bodies,
    Rate,
    RequestLimits,
    count_of,
    texts_of,
)
from beam_topics.pipelines.service.models import Loaded, Models, NoVersionError

_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

FORM = CONTENT_TYPE_LATEST


class Metrics:
    """The figures of one service."""

    def __init__(self, versions: Callable[[], Mapping[str, str]]) -> None:
        self._registry = CollectorRegistry()
        self.documents = Counter(
            "beam_topics_documents_labelled", "Texts labelled", registry=self._registry
        )
        self._requests = Counter(
            "beam_topics_requests",
            "Requests answered",
            ["route", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "beam_topics_request_seconds",
            "Time from the headers of a request to its answer",
            ["route"],
            buckets=_BOUNDS,
            registry=self._registry,
        )
        self._registry.register(_Versions(versions))

    def observe(self, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def text(self) -> bytes:
        """Return all figures."""
        return generate_latest(self._registry)


class _Versions:
    """The version of each key, as a gauge that is 1."""

    def __init__(self, versions: Callable[[], Mapping[str, str]]) -> None:
        self._versions = versions

    def collect(self) -> Iterator[GaugeMetricFamily]:
        family = GaugeMetricFamily(
            "beam_topics_model_version", "The version at hand", labels=["key", "version"]
        )
        for key, version in sorted(self._versions().items()):
            family.add_metric([key, version], 1.0)
        yield family


_LOGGER = logging.getLogger("beam_topics.service")
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
# The page of a report brings a policy of its own, which names its scripts and styles.
_PAGE = {**_HEADERS, "Content-Security-Policy": "frame-ancestors 'none'"}
_DATA = {**_HEADERS, "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'"}

_SOON = {"Retry-After": "1"}
# The page before the first version renews itself.
_WAITING = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="2"><title>Topics</title>
<p>No version yet: this page shows the topics when the first one is published.</p></html>
"""

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
ANY = "*"
# Pages that are kept: a megabyte or more each.
MOST_PAGES = 4
_PART = 65_536

Answer = Callable[[Request], Awaitable[Response]]


class Labels:
    """The newest windows of trends and stories, from files that a run adds meanwhile.

    A file has its whole content when it has its name, so it is read once. One thread at a time
    calls :meth:`refresh` and reads ``newest``. Where the store is not a folder ``models`` of this
    machine, there is nothing.
    """

    def __init__(self, store: str) -> None:
        self._folder, self._known = labels_beside(store).get("trends"), set[str]()
        self.newest = Newest()

    def refresh(self) -> None:
        """Read the files that are new. One that cannot be read is logged, and left out."""
        if self._folder is None:
            return
        paths = [
            p for kind in ("trends", "stories") for p in Path(self._folder).glob(f"{kind}-*.jsonl")
        ]
        for path in sorted(paths):
            if path.name not in self._known:
                self._known.add(path.name)
                try:
                    with path.open("rb") as stream:
                        self.newest.take(stream, str(path))
                except (BeamTopicsError, OSError) as error:
                    _LOGGER.warning("%s was left out: %s", path, error)


class Reports:
    """The pages that were asked for last, which follow the versions and labels of a store.

    A page is kept until another version, catalogue or window is at hand. One thread at a time calls
    the methods.
    """

    def __init__(self, store: ModelStore, labels: Labels) -> None:
        self._store, self._newest = store, labels.newest
        self._pages: dict[tuple[str | None, ...], bytes] = {}

    def page(self, loaded: Loaded) -> bytes:
        """Return the page of a version."""
        try:
            check_installed()
        except BeamTopicsError as error:
            raise HTTPException(501, str(error)) from None
        key = loaded.manifest.key
        state = self._newest.state(key)
        name = (key, loaded.manifest.version, loaded.catalogue_digest, state)
        if name not in self._pages:
            while len(self._pages) >= MOST_PAGES:
                del self._pages[next(iter(self._pages))]
            page = page_of_store(self._store, loaded.shown, True, self._newest)
            self._pages[name] = page.encode()
        return self._pages[name]


class Service:
    """Answers requests.

    One thread reads models and labels, and one reads trends and makes reports, so the event loop
    waits for neither.
    """

    def __init__(self, models: Models, limits: RequestLimits, poll: float, token: str) -> None:
        self._models, self._limits, self._poll = models, limits, poll
        self._token = token
        self.metrics, self._rate = Metrics(models.versions), Rate(limits.rate)
        self._labels, self._bodies = Labels(models.store.root), Bodies(limits)
        self._reports = Reports(models.store, self._labels)
        self.followers = Followers(limits.most_followers)
        self._worker, self._printer = ThreadPoolExecutor(1), ThreadPoolExecutor(1)
        self._is_ready = False
        self._active = dict.fromkeys((self._worker, self._printer), 0)

    def app(self) -> Starlette:
        """Return the application."""
        routes = [
            Route("/label", self._answer("/label", self._label), methods=["POST"]),
            Route("/topics", self._answer("/topics", self._topics)),
            Route("/topics", self._answer("/topics", self._change), methods=["POST"]),
            Route("/topics/{topic}", self._answer("/topics/{topic}", self._topic)),
            Route("/", self._answer("/", self._report)),
            Route("/follow", self._answer("/follow", self._events)),
            Route("/metrics", self._figures),
            Route("/health", self._health),
            Route("/ready", self._readiness),
        ]
        handlers: Any = {HTTPException: self._other, Exception: self._failed}
        app = Starlette(routes=routes, exception_handlers=handlers, lifespan=self._lifespan)
        # A redirect would name the host that the request gave.
        app.router.redirect_slashes = False
        return app

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        follower = asyncio.create_task(self._follow())
        # A second interrupt ends the server without its end of the application.
        with suppress(asyncio.CancelledError):
            yield
        follower.cancel()
        self._worker.shutdown()
        self._printer.shutdown()

    async def _follow(self) -> None:
        while True:
            work = self._models.refresh if self._is_ready else self._models.begin
            try:
                await self._run(self._printer, self._labels.refresh)
                await self._run(self._worker, work)
                self._is_ready = bool(self._models.versions())
                self.followers.tell()
            except (BeamTopicsError, OSError) as error:
                # A publisher or an expiry may be at work: the version at hand goes on.
                _LOGGER.warning("the newest version was not read: %s", error)
            await asyncio.sleep(self._poll)

    @staticmethod
    async def _run(worker: ThreadPoolExecutor, work: Callable[..., Any], *given: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(worker, work, *given)

    def _answer(self, route: str, work: Answer) -> Answer:
        """Return a function that answers, counts, and turns errors into answers."""

        async def answer(request: Request) -> Response:
            begin, status = time.perf_counter(), 500
            try:
                self._check_rate(request, begin)
                response = await work(request)
                status = response.status_code
            except HTTPException as error:
                status, response = error.status_code, refusal(error)
            except NoVersionError as error:
                status, response = 503, refusal(HTTPException(503, str(error), _SOON))
            except OptionError as error:
                status, response = 404, refusal(HTTPException(404, str(error)))
            except (BeamTopicsError, OSError) as error:
                _LOGGER.error("%s: %s", route, error)
                message = "the model store cannot be read; see the log of the service"
                response = refusal(HTTPException(500, message))
            finally:
                self.metrics.observe(route, status, time.perf_counter() - begin)
            return response

        return answer

    def _check_rate(self, request: Request, now: float) -> None:
        wait = self._rate.wait(request.client.host if request.client else "", now)
        if wait:
            message = f"rate: allowed are {self._limits.rate:g} requests a second; send fewer"
            raise HTTPException(429, message, {"Retry-After": str(ceil(wait))})

    @asynccontextmanager
    async def _place(self, worker: ThreadPoolExecutor) -> AsyncIterator[None]:
        """Take one of the places of requests that wait for a thread; each thread has its own."""
        if self._active[worker] >= self._limits.most_waiting:
            message = f"waiting: {self._limits.most_waiting} requests wait already; send it again"
            raise HTTPException(503, message, _SOON)
        self._active[worker] += 1
        try:
            yield
        finally:
            self._active[worker] -= 1

    async def _label(self, request: Request) -> Response:
        texts = texts_of(await self._bodies.read(request), self._limits)
        async with self._place(self._worker):
            found = await self._run(self._worker, self._labelled, _key(request), texts)
        self.metrics.documents.inc(len(texts))
        return JSONResponse(found, headers=_DATA)

    def _labelled(self, key: str, texts: list[str]) -> dict[str, Any]:
        key_of = None if key else self._models.key_of_text
        if key_of is not None:
            return {"documents": [self._by_key(key_of(text), text) for text in texts]}
        loaded = self._models.get(key)
        documents = [loaded.described(mixture) for mixture in loaded.mixtures(texts)]
        return {"version": loaded.manifest.version, "documents": documents}

    def _by_key(self, key: str, text: str) -> dict[str, Any]:
        """Label a text by the model of its key; without one it has no topics."""
        try:
            loaded = self._models.get(key)
        except OptionError:
            return {"key": key, "version": None, "topics": []}
        (mixture,) = loaded.mixtures([text])
        return {"key": key, "version": loaded.manifest.version, **loaded.described(mixture)}

    async def _topics(self, request: Request) -> Response:
        async with self._place(self._worker):
            loaded = await self._run(self._worker, self._models.get, _key(request))
            found = await self._run(self._worker, loaded.topics, FIRST_WORDS)
        return JSONResponse({"version": loaded.manifest.version, "topics": found}, headers=_DATA)

    async def _change(self, request: Request) -> Response:
        check_token(request.headers.get("authorization", ""), self._token)
        body = await self._bodies.read(request)
        async with self._place(self._worker):
            loaded = await self._run(self._worker, self._models.get, _key(request))
            await self._run(self._worker, change, self._models.catalogues, loaded, body)
            await self._run(self._worker, self._models.load, loaded.manifest)
        return JSONResponse({"version": loaded.manifest.version}, headers=_DATA)

    async def _topic(self, request: Request) -> Response:
        count = count_of(request.query_params.get("words"))
        async with self._place(self._worker):
            loaded = await self._run(self._worker, self._models.get, _key(request))
            found = await self._run(self._worker, loaded.topic, request.path_params["topic"], count)
        return JSONResponse({"version": loaded.manifest.version, **found}, headers=_DATA)

    async def _report(self, request: Request) -> Response:
        async with self._place(self._printer):
            try:
                loaded = await self._run(self._worker, self._models.get, _key(request))
            except NoVersionError:
                return HTMLResponse(_WAITING, 503, _DATA | _SOON)
            page = await self._run(self._printer, self._reports.page, loaded)
        length = {"Content-Length": str(len(page))}
        return StreamingResponse(_parts(page), headers=_PAGE | length, media_type="text/html")

    async def _events(self, request: Request) -> Response:
        """Tell of each version and window of a key after ``?version=``, or what is at hand."""
        key, version = _key(request), ""
        async with self._place(self._worker):
            with suppress(NoVersionError):
                loaded = await self._run(self._worker, self._models.get, key)
                version = loaded.manifest.version + self._labels.newest.state(key)
        version = request.query_params.get("version", version)

        def at_hand() -> str:
            found = self._models.versions().get(key, "")
            return found and found + self._labels.newest.state(key)

        return self.followers.answer(version, at_hand, _DATA)

    async def _figures(self, request: Request) -> Response:
        return Response(self.metrics.text(), headers=_DATA, media_type=FORM)

    async def _health(self, request: Request) -> Response:
        return JSONResponse({"versions": self._models.versions()}, headers=_DATA)

    async def _readiness(self, request: Request) -> Response:
        if not self._is_ready:
            raise HTTPException(503, "ready: the models are not read yet", _SOON)
        return JSONResponse({"ready": True}, headers=_DATA)

    async def _other(self, request: Request, error: Exception) -> Response:
        """Answer a request for which there is no route."""
        assert isinstance(error, HTTPException)
        self.metrics.observe("", error.status_code, 0.0)
        return refusal(error)

    async def _failed(self, request: Request, error: Exception) -> Response:
        """Answer after an error of the service; the server logs it."""
        message = "the service failed; see its log"
        return refusal(HTTPException(500, message))


async def _parts(page: bytes) -> AsyncIterator[bytes]:
    """Yield a page in parts, of which each waits until the client has read the one before."""
    for at in range(0, len(page), _PART):
        yield page[at : at + _PART]


def _key(request: Request) -> str:
    return request.query_params.get("key", "")


def refusal(error: HTTPException) -> Response:
    """Return the answer to a request that is refused."""
    headers = {**_DATA, **(error.headers or {})}
    return JSONResponse({"error": error.detail}, status_code=error.status_code, headers=headers)


def names_of(settings: ServiceSettings) -> frozenset[str]:
    """Return the names under which a service answers, in small letters."""
    own = f"[{settings.host}]" if ":" in settings.host else settings.host
    return frozenset(name.lower() for name in (*LOOPBACK, own, *settings.allowed_hosts))


class Hosts:
    """An application that passes on requests under one of its names.

    A page of another site can reach a service of this machine under a name of its own (DNS
    rebinding). Its requests carry that name in ``Host``.
    """

    def __init__(self, app: ASGIApp, names: frozenset[str]) -> None:
        self._app, self._names = app, names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = Headers(scope=scope).getlist("host") if scope["type"] == "http" else []
        names = {re.sub(":[0-9]+$", "", name).lower() for name in given}
        known = ANY in self._names or (len(given) == 1 and names <= self._names)
        if scope["type"] != "http" or known:
            await self._app(scope, receive, send)
            return
        message = "Host: the service has another name; name more with --allowed_hosts"
        await refusal(HTTPException(400, message))(scope, receive, send)
