"""Count refused records by reason, with an example of each reason.

    self._refusals = Refusals(REASONS)
    self._refusals.add(letter)

A run reports them at its end (:mod:`model.reading.refused`). The examples are a metric of string
sets, which the local runner, Prism and Flink support. A step reports an example only if its place
comes before those that the step has reported already, so a metric holds a few examples for each
worker.

Count documents of which the tokeniser keeps no word, and why, for few of each file.

    self._wordless.begin()
    self._wordless.add(document.text, tokeniser.settings)

The counter ``documents_without_words`` counts all. The counters ``lost_<reason>`` count the words
of the first ones of a file, or of a bundle of messages (:mod:`model.words.losses`). Documents with
words cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from apache_beam.metrics import Metrics

from model.reading.refused import Example
from model.records import DeadLetter
from model.settings import TokeniserSettings
from model.words.losses import MOST_TEXTS, REASONS, Losses
from transforms.constants import NAMESPACE

EXAMPLES = "refused_examples"


class Refusals:
    """Counters ``dead_<reason>`` and examples of one step."""

    def __init__(self, reasons: Iterable[str]) -> None:
        self._counters = {
            reason: Metrics.counter(NAMESPACE, f"dead_{reason}") for reason in reasons
        }
        self._examples = Metrics.string_set(NAMESPACE, EXAMPLES)
        self._reported: dict[str, Example] = {}

    def add(self, letter: DeadLetter) -> None:
        """Count a letter, and report it if it is the first one of its reason here."""
        self._counters[letter.reason].inc()
        before, example = self._reported.get(letter.reason), Example.of(letter)
        if before is None or example.order() < before.order():
            self._reported[letter.reason] = example
            self._examples.add(example.to_json())


WITHOUT_WORDS = "documents_without_words"
LOST = "lost_"


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
