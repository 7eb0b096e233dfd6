"""Options of coverage and classifiers.

:mod:`pipelines.cli.options` has the other options of inference.
"""

from __future__ import annotations

from model.inference.settings import CacheSettings, CoverageSettings, FitSettings, RetrainSettings
from pipelines.cli.groups import OptionGroup
from pipelines.cli.program_settings import CoverageFileSettings, TrainingInputSettings
from pipelines.cli.settings_options import declares


@declares(TrainingInputSettings)
class TrainingDocumentsOptions(OptionGroup):
    """Training documents."""


@declares(CacheSettings)
class ModelCacheOptions(OptionGroup):
    """Models in memory."""


@declares(CoverageFileSettings, CoverageSettings)
class CoverageOptions(OptionGroup):
    """Coverage."""


@declares(RetrainSettings)
class RetrainOptions(OptionGroup):
    """Retraining."""


@declares(FitSettings)
class FitOptions(OptionGroup):
    """Classifier."""
