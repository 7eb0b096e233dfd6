"""Settings of :mod:`model.inference.labelling`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from model.options import Record, option

BeforeFirstModel = Literal["prior", "wait", "dead_letter"]
LabelWith = Literal["window", "latest"]


@dataclass(frozen=True)
class LabelSettings(Record):
    """Which model labels a document."""

    before_first_model: BeforeFirstModel = option(
        "wait",
        "a document that comes before the first model has no topic, waits, or is a dead letter",
    )
    label_with: LabelWith = option(
        "window",
        "window: the newest model before the end of the document's window; latest: the newest of"
        " all, which is not reproducible",
    )
    shards: int = option(4, "number of labellers for each key", least=1)
