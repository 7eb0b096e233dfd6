"""Learners and their settings; :mod:`beam_topics.model.learners.base` defines the contract.

Importing a learner's settings here registers the learner. The settings of this package are
separate from the learners, which import kernels.
"""

from __future__ import annotations

from typing import Any

from beam_topics.model.learners.base import (
    LEARNER,
    Learner,
    LearnerSettings,
    implementation_of,
    learner_names,
)
from beam_topics.model.learners.engine.settings import (
    ArchiveSchedule,
    Gibbs,
    LocalBirths,
    NoBirths,
    StreamSchedule,
)
from beam_topics.model.learners.filters.settings import CountOnce, Keep
from beam_topics.model.learners.variational.settings import (
    FixvocHybrid,
    FixvocVb,
    Infvoc,
)
from beam_topics.model.learners.vocabularies import Given, Growing
from beam_topics.model.papers.settings import (
    AfterResampling,
    BatchGibbs,
    EveryDocument,
    EveryTokens,
    FullHistory,
    IncrementalGibbs,
    InitialBatch,
    Multinomial,
    Never,
    NeverResample,
    NoInitialBatch,
    OLda,
    ParticleFilter,
    Reservoir,
    Residual,
)


def learner_for(settings: LearnerSettings) -> Learner[Any]:
    """Return the learner that the settings belong to."""
    learner = implementation_of(settings)
    if not settings.is_filtered:
        return learner
    # Imported here, so that settings can be listed without kernels.
    from beam_topics.model.learners.filters.learner import filtered

    return filtered(learner)


__all__ = [
    "LEARNER",
    "AfterResampling",
    "ArchiveSchedule",
    "BatchGibbs",
    "CountOnce",
    "EveryDocument",
    "EveryTokens",
    "FixvocHybrid",
    "FixvocVb",
    "FullHistory",
    "Gibbs",
    "Given",
    "Growing",
    "IncrementalGibbs",
    "Infvoc",
    "InitialBatch",
    "Keep",
    "LearnerSettings",
    "LocalBirths",
    "Multinomial",
    "Never",
    "NeverResample",
    "NoBirths",
    "NoInitialBatch",
    "OLda",
    "ParticleFilter",
    "Reservoir",
    "Residual",
    "StreamSchedule",
    "learner_for",
    "learner_names",
]
