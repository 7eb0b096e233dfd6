"""Send topic mixtures, trends or events to a Kafka topic or a webhook, each at least once.

To a Kafka topic they go as JSON messages.

    mixtures: bytes (TopicMixture) -> nothing
    rows: bytes (JSON) -> nothing
    events: bytes (JSON) -> nothing

The value of a message is the line that a file would have. The key of a mixture's message is the
JSON list of key, id, timestamp and model version, that of an event's the list of key, version and
number, and that of a row of trends the list of
:data:`beam_topics.model.reporting.trends.TREND_KEY`. Readers drop repeated
messages by this key, and a compacted topic drops them by itself. A bundle ends when the brokers
have acknowledged all of its messages. If they refuse one, the bundle fails and is retried.

Events may be posted to a webhook, which gives dead letters: bytes (JSON).
:mod:`beam_topics.model.reporting.webhook` has the form of a request. A request without an answer,
and one whose status is 429 or 5xx, is repeated after the pauses of :data:`PAUSES`; any other status
outside 2xx refuses the event at once, as do redirects, which are not followed. An event that is not
delivered is a dead letter. The events after it in its bundle are tried once until one is delivered,
so a receiver that is down delays a bundle by the pauses of one event only.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from http.client import HTTPException
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

import apache_beam as beam
from apache_beam.metrics import Metrics
from apache_beam.transforms.window import GlobalWindows

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.errors import SourceError
from beam_topics.model.inference.mixtures import TopicMixture
from beam_topics.model.publishing.version_events import text_of
from beam_topics.model.reporting.encoding import mixture_to_json, row_key
from beam_topics.model.reporting.trends import TREND_KEY
from beam_topics.model.reporting.webhook import Post, is_own, post_of, secret_of
from beam_topics.model.stored import wire
from beam_topics.transforms.shared import DEAD_LETTERS, NAMESPACE, Refusals
from beam_topics.transforms.sources.kafka_client import client_library, producer_of

_TIMEOUT = 60.0
_SILENCE = f"no answer in {_TIMEOUT:g} s"
NOT_DELIVERED = "event_not_delivered"
# Seconds before a request is repeated, and for each answer.
PAUSES, TIMEOUT = (1.0, 2.0, 4.0, 8.0), 10.0


class Messages(NamedTuple):
    """What is sent.

    Attributes:
        message_of: Returns the key and the value of the message of an element.
        noun: What an element is.
        option: The option that names the topic.
    """

    message_of: Callable[[bytes], tuple[bytes, bytes]]
    noun: str
    option: str


def mixture_message(data: bytes) -> tuple[bytes, bytes]:
    """Return the key and the value of the message of a mixture."""
    mixture = TopicMixture.from_bytes(data)
    return row_key(mixture), mixture_to_json(mixture)


def row_message(names: Sequence[str], data: bytes) -> tuple[bytes, bytes]:
    """Return the key and the value of the message of a row, named by those fields that it has."""
    row = json.loads(data)
    return wire.canonical_json([row[name] for name in names if name in row]).encode(), data


MIXTURES = Messages(mixture_message, "mixture", "--output")
# The fields that name an event; those of alarms by rules have all.
EVENT_KEY = ("key", "version", "number", "rule", "group", "word")
EVENTS = Messages(partial(row_message, EVENT_KEY), "event", "--events")
TRENDS = Messages(partial(row_message, TREND_KEY), "trend", "--trends")


class KafkaSinkDoFn(beam.DoFn):
    """Send messages during the bundle and wait for the acknowledgements at its end.

    Raises:
        SourceError: The client or the brokers did not accept a message.
    """

    def __init__(self, servers: str, topic: str, config: str, messages: Messages) -> None:
        self._servers, self._topic, self._config = servers, topic, config
        self._messages = messages
        self._sent = Metrics.counter(NAMESPACE, f"{messages.noun}s_written")
        self._producer: Any = None
        self._answers: list[str | None] = []
        self._count = 0

    def setup(self) -> None:
        self._producer = producer_of(self._servers, self._config)

    def start_bundle(self) -> None:
        # Each bundle has its own list, so late answers to a failed bundle do not count here.
        self._answers = []
        self._count = 0

    def process(self, element: bytes) -> Iterator[Any]:
        key, value = self._messages.message_of(element)
        try:
            self._produce(key, value)
        except (BufferError, client_library().KafkaException, ValueError) as error:
            full = f"the client's buffer is full, and {_SILENCE}"
            why = full if isinstance(error, BufferError) else str(error)
            which = f"the {self._messages.noun} {key.decode()} was"
            raise self._not_taken(which, why) from error
        self._producer.poll(0)
        self._count += 1
        yield from ()

    def finish_bundle(self) -> None:
        self._producer.flush(_TIMEOUT)
        refused = [why for why in self._answers if why is not None]
        if failed := len(refused) + self._count - len(self._answers):
            raise self._not_taken(
                f"{failed} of {self._count} {self._messages.noun}s were",
                refused[0] if refused else _SILENCE,
            )
        self._sent.inc(self._count)

    def _produce(self, key: bytes, value: bytes) -> None:
        end = time.monotonic() + _TIMEOUT
        while True:
            try:
                self._producer.produce(
                    self._topic, value, key, on_delivery=partial(_note, self._answers)
                )
                return
            except BufferError:
                if time.monotonic() >= end:
                    raise
                # The client's buffer is full: wait until some of it is acknowledged.
                self._producer.poll(1)

    def _not_taken(self, which: str, why: str) -> SourceError:
        remedy = (
            f"Check {self._messages.option} and --kafka_servers, and, where a message is too large,"
            " message.max.bytes in --kafka_config."
        )
        return SourceError(
            f"Kafka topic {self._topic!r} at {self._servers}: {which} not taken: {why}. {remedy}"
        )


def _note(answers: list[str | None], error: Any, _: Any) -> None:
    """Record the delivery report of a message; the client calls this for each one."""
    answers.append(None if error is None else error.str())


class WriteToKafka(beam.PTransform):
    """Write elements to a Kafka topic.

    Args:
        servers: Brokers, ``host:port`` separated by commas.
        topic: The topic. It must exist.
        config: A file of client properties, or ``""``. See
            :mod:`beam_topics.transforms.sources.kafka_client`.
        messages: What the elements are: :data:`MIXTURES`, :data:`EVENTS` or :data:`TRENDS`.
    """

    def __init__(
        self, servers: str, topic: str, config: str = "", *, messages: Messages = MIXTURES
    ) -> None:
        super().__init__()
        self._fn = KafkaSinkDoFn(servers, topic, config, messages)

    def expand(self, elements: beam.PCollection) -> beam.PCollection:
        windowed = elements | "Global" >> beam.WindowInto(GlobalWindows())
        return windowed | "Send" >> beam.ParDo(self._fn).with_output_types(bytes)


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
        option: What names the address.
    """

    def __init__(
        self, url: str, wait: Callable[[float], None] = time.sleep, option: str = "--events"
    ) -> None:
        self._url, self._wait, self._option = url, wait, option

    def setup(self) -> None:
        self._secret, self._opener = secret_of(self._option, self._url), opener_of(self._url)
        self._sent = Metrics.counter(NAMESPACE, "events_written")
        self._refusals = Refusals([NOT_DELIVERED])

    def start_bundle(self) -> None:
        self._is_down = False

    def process(self, element: bytes) -> Iterator[Any]:
        record = json.loads(element)
        name = wire.canonical_json([record[part] for part in EVENT_KEY if part in record])
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
        option: As that of :class:`PostDoFn`.
    """

    def __init__(
        self, url: str, wait: Callable[[float], None] = time.sleep, option: str = "--events"
    ) -> None:
        super().__init__()
        self._fn = PostDoFn(url, wait, option)

    def expand(self, events: beam.PCollection) -> beam.PCollection:
        post = beam.ParDo(self._fn).with_output_types(bytes)
        return (events | "Post" >> post.with_outputs(DEAD_LETTERS, main="none"))[DEAD_LETTERS]
