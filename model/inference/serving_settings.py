"""Settings of serving models: what is kept in memory, and what is told of coverage."""

from __future__ import annotations

from dataclasses import dataclass

from model.options import Record, option
from model.times import MICROSECONDS_PER_SECOND

# The share of known distinct words below which a model should be trained again.
RETRAIN_BELOW = 0.7
_DAY = 24 * 3600 * MICROSECONDS_PER_SECOND


@dataclass(frozen=True)
class CacheSettings(Record):
    """How many models a worker keeps."""

    megabytes: int = option(
        1024,
        "megabytes of models that a worker keeps in memory; more keys need more, or their models"
        " are read again (the counter models_loaded)",
        name="model_cache_mb",
        least=1,
    )


@dataclass(frozen=True)
class CoverageSettings(Record):
    """What a coverage report is about."""

    window: int = option(
        _DAY,
        "event time in one report",
        name="coverage_window",
        unit="microseconds",
        least=1,
    )


@dataclass(frozen=True)
class RetrainSettings(Record):
    """When a model should be trained again."""

    below: float = option(
        RETRAIN_BELOW,
        "share of known distinct words below which a report has the retrain signal",
        name="retrain_below",
        least=0,
        most=1,
    )
