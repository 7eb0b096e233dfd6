"""Clients that are notified of new versions, by server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress

from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

# A stream of events ends after this many seconds, because a client may have gone unnoticed. A
# browser reconnects by itself.
SECONDS = 300.0


class Followers:
    """The followers of a service. The event loop calls the methods; no follower has a thread."""

    def __init__(self, most: int) -> None:
        self._most, self._count, self._ended = most, 0, False
        self._looked = asyncio.Event()

    def tell(self) -> None:
        """Let each follower compare its version with the one at hand."""
        self._looked.set()
        self._looked = asyncio.Event()

    def end(self) -> None:
        """End all streams."""
        self._ended = True
        self.tell()

    def answer(
        self, version: str, at_hand: Callable[[], str], headers: Mapping[str, str]
    ) -> Response:
        """Return a stream of the names of versions, without the one that the client has.

        ``at_hand`` returns the version at hand, "" for none.

        Raises:
            HTTPException: There are too many followers.
        """
        if self._count >= self._most:
            message = f"followers: {self._most} follow already; try again later"
            raise HTTPException(503, message, {"Retry-After": "60"})
        self._count += 1
        return _Events(self._names(version, at_hand), headers, self._leave)

    async def _names(self, version: str, at_hand: Callable[[], str]) -> AsyncIterator[str]:
        clock = asyncio.get_running_loop().time
        end = clock() + SECONDS
        while not self._ended and (left := end - clock()) > 0:
            looked = self._looked
            if (newest := at_hand()) not in ("", version):
                version = newest
                yield f"data: {version}\n\n"
            with suppress(TimeoutError):
                await asyncio.wait_for(looked.wait(), left)

    def _leave(self) -> None:
        self._count -= 1


class _Events(StreamingResponse):
    """A stream of events that says when it has ended, also where it never began."""

    def __init__(
        self, events: AsyncIterator[str], headers: Mapping[str, str], ended: Callable[[], None]
    ) -> None:
        super().__init__(events, headers=headers, media_type="text/event-stream")
        self._ended = ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._ended()
