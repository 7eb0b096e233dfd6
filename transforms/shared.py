"""What several steps share: names, event times, and metrics.

**Event time.** The distribution ``event_time_<stage>`` (namespace ``beam_topics``) gets the event
times that a stage has handled, in seconds since 1970-01-01 UTC. Its maximum is the newest one. The
lag of a stage is the maximum of ``read`` less its own. No clock takes part, so the metric depends
on the data alone. A distribution is used and not a gauge, because the maximum of many workers is
the newest time of all, and a gauge keeps what one of them wrote last.

**Refused records.** :class:`Refusals` counts them by reason, with an example of each reason:

    self._refusals = Refusals(REASONS)
    yield self._refusals.refuse(letter)

A run reports them at its end (:mod:`beam_topics.model.reading.refused`). The examples are a metric
of string sets, which the local runner, Prism and Flink support. A step reports an example only if
its place comes before those that the step has reported already, so a metric holds a few examples
for each worker.

**Documents without words.** :class:`Wordless` counts documents of which the tokeniser keeps no
word, and says why for few of each file. The counter ``documents_without_words`` counts all. The
counters ``lost_<reason>`` count the words of the first ones of a file, or of a bundle of messages
(:mod:`beam_topics.model.words.losses`). Documents with words cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from apache_beam.metrics import Metrics
from apache_beam.pvalue import TaggedOutput
from apache_beam.transforms.window import GlobalWindow, TimestampedValue
from apache_beam.utils.timestamp import Timestamp

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.reading.refused import Example
from beam_topics.model.times import MICROSECONDS_PER_SECOND, to_iso
from beam_topics.model.words.losses import MOST_TEXTS, REASONS, Losses
from beam_topics.model.words.settings import TokeniserSettings

# The namespace of all counters, distributions and string sets of this project.
NAMESPACE = "beam_topics"
# The tag of the output that holds dead letters.
DEAD_LETTERS = "dead_letters"
# The last whole millisecond of event time, in microseconds. When the input has ended, each step
# finishes before the steps that use its output: Sequence at END_OF_STREAM, Label at END_OF_LABELS,
# and the steps that collect records by period at LAST_TIME.
LAST_TIME = int(GlobalWindow().max_timestamp().micros) // 1000 * 1000
END_OF_LABELS = LAST_TIME - 500_000
END_OF_STREAM = LAST_TIME - 1_000_000
PREFIX = "event_time_"
# The stages in their order. Documents are read, windows are sequenced and learned, versions are
# published, and documents are labelled.
STAGES = ("read", "sequenced", "learned", "published", "labelled")
EXAMPLES = "refused_examples"
WITHOUT_WORDS = "documents_without_words"
LOST = "lost_"


class EventTime:
    """The newest event time that one instance of a stage has handled in a bundle.

    Args:
        stage: One of :data:`STAGES`.
    """

    def __init__(self, stage: str) -> None:
        self._metric = Metrics.distribution(NAMESPACE, PREFIX + stage)
        self._newest: int | None = None

    def start_bundle(self) -> None:
        """Begin anew: the metrics of a bundle that failed are lost."""
        self._newest = None

    def reached(self, micros: int) -> None:
        """Note an event time in microseconds. Times of the end of a stream are left out."""
        seconds = micros // MICROSECONDS_PER_SECOND
        if micros < END_OF_STREAM and (self._newest is None or seconds > self._newest):
            self._newest = seconds
            self._metric.update(seconds)


def lags(newest: Mapping[str, int]) -> str:
    """Return a line with the newest event time that was read, and how far each stage is behind it.

    A stage whose last window ends after the newest document is not behind.

    Args:
        newest: The newest event time of each stage in seconds. Stages that a program does not have
            are absent.
    """
    if "read" not in newest:
        return ""
    read = newest["read"]
    behind = [
        f"{stage} {max(read - newest[stage], 0):,} s" for stage in STAGES[1:] if stage in newest
    ]
    line = f"event time: read up to {to_iso(read * MICROSECONDS_PER_SECOND)[:19]}"
    return f"{line}; behind it: {', '.join(behind)}" if behind else line


class Refusals:
    """Counters ``dead_<reason>`` and examples of one step."""

    def __init__(self, reasons: Iterable[str]) -> None:
        self._counters = {
            reason: Metrics.counter(NAMESPACE, f"dead_{reason}") for reason in reasons
        }
        self._examples = Metrics.string_set(NAMESPACE, EXAMPLES)
        self._reported: dict[str, Example] = {}

    def refuse(self, letter: DeadLetter, at: Timestamp | None = None) -> TaggedOutput:
        """Count a letter, report it if it is the first one of its reason here, and return it.

        Args:
            letter: The dead letter.
            at: Its event time. None gives it the time of the element that it came from.
        """
        self._counters[letter.reason].inc(letter.count)
        before, example = self._reported.get(letter.reason), Example.of(letter)
        if before is None or example.order() < before.order():
            self._reported[letter.reason] = example
            self._examples.add(example.to_json())
        data = letter.as_json().encode()
        return TaggedOutput(DEAD_LETTERS, data if at is None else TimestampedValue(data, at))


class Wordless:
    """Counters of one step."""

    def __init__(self) -> None:
        self._documents = Metrics.counter(NAMESPACE, WITHOUT_WORDS)
        self._lost = {name: Metrics.counter(NAMESPACE, f"{LOST}{name}") for name in REASONS}
        self._seen = 0
        self._losses: Losses | None = None

    def begin(self) -> None:
        """Begin a file, or a bundle of messages."""
        self._seen = 0

    def add(self, text: str, settings: TokeniserSettings) -> None:
        """Count the text of a document without words, and say why if it is one of the first."""
        self._documents.inc()
        self._seen += 1
        if self._seen <= MOST_TEXTS:
            self._losses = self._losses or Losses(settings)
            for reason, count in self._losses.of(text).items():
                self._lost[reason].inc(count)
