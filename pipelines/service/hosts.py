"""Refuse requests under a name that is not the service's.

A page of another site can reach a service of this machine under a name of its own (DNS rebinding).
Its requests carry that name in ``Host``.
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from pipelines.service.app import refusal
from pipelines.service.settings import ServiceSettings

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
ANY = "*"


def names_of(settings: ServiceSettings) -> frozenset[str]:
    """Return the names under which a service answers, in small letters."""
    own = f"[{settings.host}]" if ":" in settings.host else settings.host
    return frozenset(name.lower() for name in (*LOOPBACK, own, *settings.allowed_hosts))


class Hosts:
    """An application that passes on requests under one of its names.

    Args:
        app: The application behind it.
        names: The names, in small letters; ``*`` stands for any.
    """

    def __init__(self, app: ASGIApp, names: frozenset[str]) -> None:
        self._app, self._names = app, names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or ANY in self._names or self._knows(scope):
            await self._app(scope, receive, send)
            return
        told = "Host: the service has another name; name more with --allowed_hosts"
        await refusal(HTTPException(400, told))(scope, receive, send)

    def _knows(self, scope: Scope) -> bool:
        given = Headers(scope=scope).getlist("host")
        return len(given) == 1 and _without_port(given[0]).lower() in self._names


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host
