"""Post events to a webhook, each at least once.

    events: bytes (JSON) -> dead letters: bytes (JSON)

:mod:`beam_topics.model.reporting.webhook` has the form of a request. A request without an answer,
and one whose status is 429 or 5xx, is repeated after the pauses of :data:`PAUSES`; any other status
than 2xx refuses the event at once, as do redirects, which are not followed. An event that is not
delivered is a dead letter. The events after it in its bundle are tried once until one is
delivered, so a receiver that is down holds a bundle up by one event's pauses only.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

import apache_beam as beam
from apache_beam.metrics import Metrics

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.publishing.version_events import text_of
from beam_topics.model.reporting.webhook import Post, is_own, post_of, secret_of
from beam_topics.model.stored import wire
from beam_topics.transforms.kafka_sink import EVENT_KEY
from beam_topics.transforms.shared import DEAD_LETTERS, NAMESPACE, Refusals

NOT_DELIVERED = "event_not_delivered"
# Seconds before a request is repeated, and for each answer.
PAUSES, TIMEOUT = (1.0, 2.0, 4.0, 8.0), 10.0


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *given: Any) -> None:
        """Follow nothing: another host would get the events."""


def opener_of(url: str) -> OpenerDirector:
    """Return what opens an address; one of this machine without the proxy of the environment."""
    return build_opener(_NoRedirects, *([ProxyHandler({})] if is_own(url) else []))


def refusal_of(opener: OpenerDirector, post: Post) -> tuple[str | None, bool]:
    """Send a request, and return why it was not taken, or None, and whether to repeat it."""
    try:
        with opener.open(Request(post.url, post.body, post.headers), timeout=TIMEOUT):
            return None, False
    except HTTPError as error:
        error.close()
        return f"HTTP status {error.code}", error.code == 429 or error.code >= 500
    except (OSError, HTTPException) as error:
        reason = error.reason if isinstance(error, URLError) else error
        return f"no answer: {type(reason).__name__} {reason!s:.200}", True


class PostDoFn(beam.DoFn):
    """Post events; gives dead letters.

    Args:
        url: The address.
        wait: Waits for a number of seconds.
    """

    def __init__(self, url: str, wait: Callable[[float], None] = time.sleep) -> None:
        self._url, self._wait = url, wait

    def setup(self) -> None:
        self._secret, self._opener = secret_of("--events", self._url), opener_of(self._url)
        self._sent = Metrics.counter(NAMESPACE, "events_written")
        self._refusals = Refusals([NOT_DELIVERED])

    def start_bundle(self) -> None:
        self._is_down = False

    def process(self, element: bytes) -> Iterator[Any]:
        record = json.loads(element)
        name = wire.canonical_json([record[part] for part in EVENT_KEY])
        post = post_of(self._url, self._secret, name, element, text_of(record))
        if (why := self._refusal(post)) is None:
            self._sent.inc()
        else:
            letter = DeadLetter(f"event {name}", NOT_DELIVERED, why, element.decode())
            yield self._refusals.refuse(letter)

    def _refusal(self, post: Post) -> str | None:
        why, again = refusal_of(self._opener, post)
        for pause in () if self._is_down else PAUSES:
            if not again:
                break
            self._wait(pause)
            why, again = refusal_of(self._opener, post)
        self._is_down = again
        return why


class PostEvents(beam.PTransform):
    """Post events (JSON) to a webhook; gives dead letters.

    Args:
        url: The address.
        wait: As that of :class:`PostDoFn`.
    """

    def __init__(self, url: str, wait: Callable[[float], None] = time.sleep) -> None:
        super().__init__()
        self._fn = PostDoFn(url, wait)

    def expand(self, events: beam.PCollection) -> beam.PCollection:
        post = beam.ParDo(self._fn).with_output_types(bytes)
        return (events | "Post" >> post.with_outputs(DEAD_LETTERS, main="none"))[DEAD_LETTERS]
