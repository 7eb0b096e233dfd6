"""A protocol that closes connections on which the headers of a request do not arrive in time.

uvicorn limits the time between two requests of a connection, and the service that of a body
(:mod:`pipelines.service.app`). The time of the first headers is limited here, so that clients who
send nothing, or one byte a second, do not hold connections for ever.

uvicorn answers 503 where too many connections are open. Before it comes to that, at 95 % of them,
each new one takes the place of the one that has waited longest for headers, so that silent clients
keep nobody out. The rest is for connections that come before those have gone.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol


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
