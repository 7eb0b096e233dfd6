"""What requests bring, checked: bodies, read within limits of size and time, and numbers."""

from __future__ import annotations

import asyncio
import json

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from model.times import duration_text
from pipelines.service.settings import LimitSettings

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
