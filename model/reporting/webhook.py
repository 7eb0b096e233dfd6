"""Webhooks: addresses that take events, one in each POST.

The body is the line that a file of events would have; Slack gets ``{"text": ...}``. The header
``Idempotency-Key`` names the event, so that a receiver leaves out what comes twice.
``X-Hub-Signature-256`` has ``sha256=`` and the HMAC of the body in hexadecimal digits, by the
secret of the environment variable :data:`SECRET`. A machine's own address takes events without a
secret. Slack's addresses are secrets themselves, so for Slack the variable has the whole address.
"""

from __future__ import annotations

import hashlib
import hmac
import html
import json
import os
from typing import NamedTuple
from urllib.parse import urlsplit

from beam_topics.model.errors import OptionError

SECRET = "BEAM_TOPICS_WEBHOOK_SECRET"
SLACK = "hooks.slack.com"
OWN = ("localhost", "127.0.0.1", "::1")


class Post(NamedTuple):
    """What is sent for an event."""

    url: str
    body: bytes
    headers: dict[str, str]


def is_own(url: str) -> bool:
    """Return whether an address is on this machine."""
    return urlsplit(url).hostname in OWN


def secret_of(option: str, url: str) -> str:
    """Return the secret of a webhook; "" for one on this machine that has none.

    Raises:
        OptionError: it is missing, or is not an address of Slack where it has to be.
    """
    secret = os.environ.get(SECRET, "")
    if urlsplit(url).hostname == SLACK:
        allowed = f"Slack with the address of its webhook in the environment variable {SECRET}"
        example = f"Set it to https://{SLACK}/services/..., here and on all workers."
        usable = secret.startswith(f"https://{SLACK}/") and secret.isascii()
        usable &= secret.isprintable() and " " not in secret
    else:
        allowed = f"an address whose secret is in the environment variable {SECRET}"
        example = "Set it, here and on all workers. The receiver checks signatures with it."
        usable = bool(secret) or is_own(url)
    if not usable:
        raise OptionError(option, url, allowed, example)
    return secret


def post_of(url: str, secret: str, name: str, record: bytes, text: str) -> Post:
    """Return what is sent for an event.

    The record is a JSON object, and the text what it says, for Slack.
    """
    headers = {"Content-Type": "application/json", "User-Agent": "beam-topics"}
    headers["Idempotency-Key"] = hashlib.sha256(name.encode()).hexdigest()
    if urlsplit(url).hostname == SLACK:
        # Slack's marks, as of a mention of all, begin with "<".
        return Post(secret, json.dumps({"text": html.escape(text, quote=False)}).encode(), headers)
    if secret:
        signature = hmac.new(secret.encode(), record, hashlib.sha256).hexdigest()
        headers["X-Hub-Signature-256"] = f"sha256={signature}"
    return Post(url, record, headers)
