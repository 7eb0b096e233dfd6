"""What an operator sees of a model store: metrics for Prometheus, and a line for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from beam_topics.model.publishing.blobs import Stamp
from beam_topics.model.publishing.manifest import Manifest, topics_in_use
from beam_topics.model.publishing.watch import PARTS, Seen, StoreWatch
from beam_topics.model.reporting.added_files import LabelledWindows, RefusedCounts
from beam_topics.model.times import MICROSECONDS_PER_SECOND, duration_text, to_iso

Stamps = Collection[Stamp]


def _bytes(stamps: Stamps) -> int:
    return sum(stamp.size for stamp in stamps)


def _written(stamps: Stamps) -> float | None:
    return _seconds(max((stamp.time for stamp in stamps), default=None))


# Figures of the files of a part of a store.
_OF_PARTS: tuple[tuple[str, Callable[[Stamps], float | None], str], ...] = (
    ("files", len, "Files of a part of the store"),
    ("bytes", _bytes, "Bytes of a part of the store"),
    ("written_timestamp_seconds", _written, "Time of the newest file of a part of the store"),
)


class Monitor:
    """The figures of a model store and of a folder of dead letters, as a Prometheus collector.

    A request gets the figures of the last reading, so requests cost the store nothing.

    Args:
        root: The model store.
        dead_letters: The folder of dead letters; "" for none.
        trust: The file of public keys; "" for none.
        trends: The folder of trends; "" for none.

    Raises:
        OptionError: One of them is no folder.
    """

    def __init__(
        self, root: str, dead_letters: str = "", trust: str = "", trends: str = ""
    ) -> None:
        self._watch = StoreWatch(root, trust)
        self._refused = RefusedCounts(dead_letters) if dead_letters else None
        self._labelled = LabelledWindows(trends) if trends else None
        self._read_at = self._failures = 0
        self._metrics: list[Metric] = []
        self.registry = CollectorRegistry()
        self.registry.register(self)  # type: ignore[arg-type]

    def collect(self) -> Iterable[Metric]:
        """Return the figures of the last reading."""
        return self._metrics

    def read(self, now: int) -> list[str]:
        """Read the store, the dead letters and the trends once more.

        Args:
            now: The time, in microseconds.

        Returns:
            Why a key or a file could not be read, a line each. Its figures stay.

        Raises:
            OptionError: The store or the folder as a whole cannot be read.
        """
        readers = filter(None, (self._watch, self._refused, self._labelled))
        wrong = [line for one in readers for line in one.read()]
        self._read_at = now
        self.failed(len(wrong))
        return wrong

    def failed(self, count: int = 1) -> None:
        """Count readings that failed."""
        self._failures += count
        self._metrics = list(self._made())

    def line(self, now: int) -> str:
        """Return what was read, in one line that no terminal obeys; ``now`` is in microseconds."""
        seen = list(self._watch.seen.values())
        files = {part: [one.files.get(part, {}).values() for one in seen] for part in PARTS}
        sizes = {part: sum(map(_bytes, found)) for part, found in files.items()}
        found = [_newest(seen, self._watch.keys, now)]
        found += [f"{name} {size / 1e6:,.2f} MB" for name, size in sizes.items() if size]
        if self._refused is not None:
            found.append(f"dead letters {self._refused.by_reason.total():,}")
            counts = self._refused.by_reason.most_common(3)
            found += [f"{reason} {count:,}" for reason, count in counts if count]
            found += [f"files that wait {n:,}" for n in [self._refused.waiting] if n]
        return f"{to_iso(now)[:19]}Z {'  '.join(found)}"

    def _made(self) -> Iterator[Metric]:
        seen, gauge, counter = self._watch.seen, GaugeMetricFamily, CounterMetricFamily
        versions = {(key,): _of_version(one) for key, one in seen.items()}
        for name in next(iter(versions.values()), ()):
            values = {key: figures[name] for key, figures in versions.items()}
            text = f"{name.replace('_', ' ').capitalize()} of the newest version"
            yield _filled(gauge, f"version_{name}", text, ("key",), values)
        points = {(key,): _seconds(one.checkpoint) for key, one in seen.items()}
        text = "Event time from which --resume_from=latest goes on"
        yield _filled(gauge, "checkpoint_event_timestamp_seconds", text, ("key",), points)
        places = {(key, log): at for key, one in seen.items() for log, at in one.offsets.items()}
        text = "Offset up to which a partition is learned, by the newest checkpoint"
        yield _filled(gauge, "learned_offset", text, ("key", "partition"), places)
        if self._labelled is not None:
            windows = self._labelled.windows.items()
            ends = {(key,): _seconds(end) for key, (end, _) in windows}
            text = "End of the newest window of trends"
            yield _filled(gauge, "labelled_event_timestamp_seconds", text, ("key",), ends)
            lengths = {(key,): _seconds(end - start) for key, (end, start) in windows}
            text = "Event time in a window of trends"
            yield _filled(gauge, "labelled_period_seconds", text, ("key",), lengths)
        for name in ("published", "superseded"):
            values = {(key,): getattr(one, name) for key, one in seen.items()}
            text = f"Versions {name} since the first reading of the key"
            yield _filled(counter, f"versions_{name}", text, ("key",), values)
        parts = {
            (key, part): files.values()
            for key, one in seen.items()
            for part, files in one.files.items()
        }
        for name, of, text in _OF_PARTS:
            figures = {labels: of(stamps) for labels, stamps in parts.items()}
            yield _filled(gauge, f"store_{name}", text, ("key", "part"), figures)
        if self._refused is not None:
            values = {(reason,): count for reason, count in self._refused.by_reason.items()}
            text = "Records that could not be used"
            yield _filled(counter, "dead_letters", text, ("reason",), values)
        at, text = self._read_at / MICROSECONDS_PER_SECOND, "Time of the last reading"
        yield _filled(gauge, "keys", "Keys of the store", (), {(): self._watch.keys})
        yield _filled(gauge, "monitor_read_timestamp_seconds", text, (), {(): at})
        text = "Keys, files and readings that failed"
        yield _filled(counter, "monitor_failures", text, (), {(): self._failures})


def _filled(
    kind: type[GaugeMetricFamily | CounterMetricFamily],
    name: str,
    text: str,
    labels: Sequence[str],
    values: Mapping[tuple[str, ...], float | None],
) -> Metric:
    """Return a metric with a value for each tuple of labels; None is left out."""
    made = kind(f"beam_topics_{name}", text, labels=labels)
    for given, value in values.items():
        if value is not None:
            made.add_metric(given, value)
    return made


def _of_version(seen: Seen) -> dict[str, float | None]:
    """Return the figures of a version; they fall where it is given up, so they are no counters."""
    newest = seen.newest
    return {
        "sequence": newest.sequence,
        "published_timestamp_seconds": seen.moved.time / MICROSECONDS_PER_SECOND,
        "event_timestamp_seconds": newest.event_time / MICROSECONDS_PER_SECOND,
        "period_seconds": _period(newest),
        "documents": newest.documents,
        "tokens": newest.tokens,
        "words": newest.words,
        "topics_in_use": topics_in_use(newest.topic_tokens),
        "perplexity": newest.prequential_perplexity,
    }


def _period(newest: Manifest) -> float | None:
    """Return the event time between two versions, in seconds; None if it is not known."""
    window = (newest.settings.get("sequence") or {}).get("window")
    found = newest.publish_every.get("period")
    if found is None and isinstance(window, int) and "windows" in newest.publish_every:
        found = newest.publish_every["windows"] * window
    return _seconds(found)


def _seconds(micros: int | None) -> float | None:
    return None if micros is None else micros / MICROSECONDS_PER_SECOND


def _newest(seen: Sequence[Seen], keys: int, now: int) -> str:
    """Return what the newest version of all keys is, as text."""
    if not seen:
        return "no version yet"
    last = max(seen, key=lambda one: one.moved.time)
    newest, used = last.newest, topics_in_use(last.newest.topic_tokens)
    age = max(now - last.moved.time, 0) // MICROSECONDS_PER_SECOND * MICROSECONDS_PER_SECOND
    point = "none" if last.checkpoint is None else f"up to {to_iso(last.checkpoint)[:19]}"
    of_key = f" of key {newest.key!r} (of {keys:,} keys)" if keys > 1 else ""
    return (
        f"version {newest.sequence}{of_key} up to {to_iso(newest.event_time)[:19]}, published"
        f" {duration_text(age) or '0s'} ago  checkpoint {point}  documents"
        f" {newest.documents:,}  tokens {newest.tokens:,}  words {newest.words:,}"
        f"  topics in use {used or '?'}"
    )
