"""Turn the candidates of the islands into versions in the model store.

    candidates: (key, bytes (Candidate)) -> references: (key, bytes (Manifest, JSON)),
                                            events: bytes (JSON)

The step is stateful and has no timers. :mod:`beam_topics.model.publishing.publication` has the
logic. The Beam key is the model key and not (key, sequence), because the topics of a version are
matched with those of the version before it. Versions are therefore made in their order. A candidate
names the candidate before it, and one that comes too early waits in state.

The events of a version (:mod:`beam_topics.model.publishing.version_events`) are an output of their
own. Each is emitted when its version is made. The logger ``beam_topics.events`` gets one INFO
record for all events of a version.
"""

from __future__ import annotations

import ctypes
import logging
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.coders import BytesCoder
from apache_beam.metrics import Metrics
from apache_beam.transforms.userstate import BagStateSpec
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.timestamp import Timestamp

from beam_topics.model.learner_log.options import LearnOptions
from beam_topics.model.publishing.blobs import sequence_of
from beam_topics.model.publishing.choice import Candidate
from beam_topics.model.publishing.events import Event
from beam_topics.model.publishing.expiry import Expiry
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.publishing.publication import Publisher, PublishHead
from beam_topics.model.publishing.version_events import records_of, summary_of, superseding
from beam_topics.transforms.shared import NAMESPACE, StatefulDoFn

LOGGER = logging.getLogger("beam_topics.events")
EVENTS = "events"
# Versions of a key between two expiries in a process; there is one after the first version.
_EXPIRE_EVERY = 16
# Versions of all keys after which the step gives freed memory of its process back.
_GIVE_BACK_EVERY = 16


class Published(NamedTuple):
    """The outputs of :class:`Publish`."""

    references: beam.PCollection
    events: beam.PCollection


class PublishDoFn(StatefulDoFn[PublishHead]):
    """Make versions of candidates, in order; keyed by the UTF-8 bytes of the model key."""

    STAGE = "published"
    WAITING = BagStateSpec("waiting", BytesCoder())
    _WAITING = beam.DoFn.StateParam(WAITING)
    _NOW = beam.DoFn.TimestampParam

    def __init__(self, options: LearnOptions, streams: bool) -> None:
        self._options, self._streams = options, streams

    def setup(self) -> None:
        super().setup()
        self._versions = Metrics.counter(NAMESPACE, "versions")
        self._superseded = Metrics.counter(NAMESPACE, "superseded_versions")
        self._expired = Metrics.counter(NAMESPACE, "expired_files")
        self._store = self._options.opened()
        keep = self._options.keep
        self._expiry = Expiry(self._options.store, keep) if keep else None
        # The versions of each key that this process published.
        self._published: Counter[str] = Counter()
        self._since = 0

    def head_from(self, key: bytes, data: bytes | None) -> PublishHead:
        return PublishHead.from_bytes(data) if data else PublishHead()

    def process(
        self,
        element: tuple[bytes, bytes],
        now: Any = _NOW,
        head: Any = StatefulDoFn._HEAD,
        waiting: Any = _WAITING,
    ) -> Iterator[Any]:
        """Publish the versions that this candidate completes."""
        key, data = element
        candidate = Candidate.from_bytes(data)
        superseded: dict[str, list[Event]] = {}

        def note(manifest: Manifest, names: list[str]) -> None:
            self._superseded.inc(len(names))
            superseded[manifest.version] = [superseding(manifest, names)]

        on_superseded = note if self._streams else None
        published = sequence_of(candidate.base, "base") if candidate.base else -1
        publisher = Publisher(self._options, key.decode(), self._store, on_superseded)
        after, versions = publisher.handle(self.read_head(key, head), candidate, waiting)
        self.write_head(key, after, head)
        for at, manifest in versions:
            self._versions.inc()
            self.event_time.reached(manifest.event_time)
            # The time of a version that an earlier job published is past. At that time it would
            # not hold the watermark, so it travels at the time of the candidate.
            travels = max(Timestamp(micros=at), now)
            # Versions of an earlier job come before the candidate, or are the base of the run.
            if manifest.sequence >= candidate.sequence > published:
                more = superseded.get(manifest.version, [])
                if summary := summary_of(manifest, more):
                    LOGGER.info("%s", summary)
                for record in records_of(manifest, more):
                    yield beam.pvalue.TaggedOutput(EVENTS, TimestampedValue(record, travels))
            yield TimestampedValue((key, manifest.to_json()), travels)
        if versions:
            self._expire(key.decode(), len(versions))
            self._give_back(len(versions))

    def _expire(self, key: str, made: int) -> None:
        """Remove what is no longer needed, now and then: a listing costs as much as a version.

        Where the bundle fails after this, it is repeated. What it refers to is within the time of
        grace.
        """
        before = self._published[key]
        self._published[key] += made
        if self._expiry and before // _EXPIRE_EVERY < -(-self._published[key] // _EXPIRE_EVERY):
            self._expired.inc(self._expiry.expire(key))

    def _give_back(self, made: int) -> None:
        """Give freed memory back now and then: a call takes up to a tenth of a version's time."""
        self._since += made
        if self._since >= _GIVE_BACK_EVERY:
            self._since = 0
            give_back()


def give_back() -> None:
    """Give free pages back to the system, where the C library has ``malloc_trim``.

    glibc gives back the end of a heap and arrays that have pages of their own. What is freed
    between small objects stays: a bundle of many documents that waited leaves 20 to 30 MB in a
    worker (``docs/results/headlines.md``). A call takes .1 to 4 milliseconds in a worker of 450 MB.
    """
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):
        # musl and macOS have no malloc_trim; on Windows there is no library of that name.
        return


class Publish(beam.PTransform):
    """Publish versions; gives the references (key, bytes) and the events (bytes).

    Args:
        options: The options of :class:`beam_topics.transforms.learn.Learn`.
        streams: Whether the job streams (:func:`beam_topics.pipelines.graphs.runners.streams`). Its
            runner may restore it to a state before some of its versions. It then supersedes those
            that it does not come to again.
    """

    def __init__(self, options: LearnOptions, *, streams: bool = False) -> None:
        super().__init__()
        self._options, self._streams = options, streams

    def expand(self, candidates: beam.PCollection) -> Published:
        step = beam.ParDo(PublishDoFn(self._options, self._streams)).with_output_types(
            tuple[bytes, bytes], **{EVENTS: bytes}
        )
        outputs = candidates | "Publish" >> step.with_outputs(EVENTS, main="references")
        return Published(outputs.references, outputs[EVENTS])
