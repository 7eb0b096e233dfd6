"""Count refused records by reason, with an example of each reason.

    self._refusals = Refusals(REASONS)
    self._refusals.add(letter)

A run reports them at its end (:mod:`model.reading.refused`). The examples are a metric of string
sets, which the local runner, Prism and Flink support. A step reports an example only if its place
comes before those that the step has reported already, so a metric holds a few examples for each
worker.
"""

from __future__ import annotations

from collections.abc import Iterable

from apache_beam.metrics import Metrics

from model.dead_letters import DeadLetter
from model.reading.refused import Example
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
