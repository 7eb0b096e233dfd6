"""Changes of the catalogue that the reader of a page asks for.

A request has to bring the token of the service in ``Authorization``. Pages of other sites cannot
send that header, and do not know the token.
"""

from __future__ import annotations

import hmac
import json
from typing import Any

from starlette.exceptions import HTTPException

from beam_topics.model.errors import DamagedDataError, OptionError, StoreConflictError
from beam_topics.model.publishing.catalogue import CatalogueStore
from beam_topics.model.stored import checks
from beam_topics.pipelines.service.models import Loaded

_FORM = 'body: allowed is JSON such as {"topics": [3], "name": "Health"}, with "hidden" or "into"'


def check_token(given: str, token: str) -> None:
    """Refuse a request without the token of the service.

    Args:
        given: The header ``Authorization``.
        token: The token.

    Raises:
        HTTPException: It is another one.
    """
    if not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
        message = "token: allowed is the one of the address that the service prints at its start"
        raise HTTPException(401, message, {"WWW-Authenticate": "Bearer"})


def change(store: CatalogueStore, loaded: Loaded, body: bytes) -> None:
    """Write what a request says of topics as the newest catalogue of their key.

    Raises:
        HTTPException: The body says something else.
        OptionError: The version has no such topic, or a name is too long.
    """
    key, known = loaded.manifest.key, {*loaded.shown.topics}
    try:
        topics, name, hidden, into = _read(body)
    except (ValueError, TypeError, KeyError, RecursionError, DamagedDataError):
        raise HTTPException(400, _FORM) from None
    for topic in [*topics, *[into] * (into is not None)]:
        if topic not in known:
            allowed = f"topics of version {loaded.manifest.version}"
            raise OptionError("topics", topic, allowed, "GET /topics lists them.")
    try:
        store.put(key, store.latest(key)[1].changed(topics, name, hidden, into))
    except StoreConflictError as error:
        raise HTTPException(409, str(error)) from None


def _read(body: bytes) -> tuple[list[int], str | None, bool | None, int | None]:
    fields: Any = json.loads(body)
    if not isinstance(fields, dict) or not isinstance(topics := fields.pop("topics"), list):
        raise TypeError("no topics")
    name, hidden, into = (fields.pop(one, None) for one in ("name", "hidden", "into"))
    if fields or not topics or (name, hidden, into) == (None, None, None):
        raise ValueError("nothing, or something else")
    kinds = zip((name, hidden, into), (str, bool, int), strict=True)
    if not all(value is None or type(value) is kind for value, kind in kinds):
        raise TypeError("fields")
    return [checks.whole("topics", topic) for topic in topics], name, hidden, into
