"""Settings of :mod:`model.publishing.choice`."""

from __future__ import annotations

from dataclasses import dataclass

from model.options import Record, option


@dataclass(frozen=True)
class PublishSettings(Record):
    """When a version may come from another particle or island than the version before it.

    Attributes:
        margin: m of :mod:`model.publishing.choice`.
        versions: the number of versions in a row in which another sampler has to be better.
    """

    margin: float = option(
        0.001,
        "a version comes from another particle or island than its parent only where that one's log"
        " loss is lower by this share; 0: lower at all",
        name="switch_margin",
        least=0,
        below=1,
        remedy="0.001 is about one percent of perplexity.",
    )
    versions: int = option(
        3,
        "and where it was so in this number of versions in a row; 1: at once",
        name="switch_after",
        unit="versions",
        least=1,
    )
