"""Learners and their settings; :mod:`model.learners.base` defines the contract.

An import of a learner's settings here registers the learner. The settings of this package are apart
from the learners, which import kernels.

Make the learner that settings belong to, with the filters that they ask for.
"""

from __future__ import annotations

from typing import Any

from model.learners.base import LEARNER, Learner, LearnerSettings, implementation_of, learner_names
from model.learners.batch_gibbs.settings import BatchGibbs
from model.learners.filters.settings import CountOnce, Drop, Keep
from model.learners.particles.rejuvenation import (
    AfterResampling,
    Challengers,
    Decayed,
    EveryDocument,
    EveryTokens,
    FullHistory,
    Never,
    NewestFirst,
    NoChallengers,
    Reservoir,
    Uniform,
)
from model.learners.particles.resampling import (
    Multinomial,
    NeverResample,
    Residual,
    Stratified,
    Systematic,
)
from model.learners.particles.settings import (
    IncrementalGibbs,
    InitialBatch,
    NoInitialBatch,
    OLda,
    ParticleFilter,
)
from model.learners.particles.topic_priors import (
    Flat,
    Hierarchical,
    MinimalTables,
    SampledTables,
    Urn,
)
from model.learners.particles.vocabularies import Given, Growing
from model.learners.variational.settings import (
    Dict,
    DictHash,
    FixvocHybrid,
    FixvocVb,
    FullHash,
    GrowingUntilFull,
    Infvoc,
    Null,
)


def learner_for(settings: LearnerSettings) -> Learner[Any]:
    """Return the learner that the settings belong to."""
    learner = implementation_of(settings)
    if not settings.is_filtered:
        return learner
    # Imported here, so that settings can be listed without kernels.
    from model.learners.filters.learner import filtered

    return filtered(learner)


__all__ = [
    "LEARNER",
    "AfterResampling",
    "BatchGibbs",
    "Challengers",
    "CountOnce",
    "Decayed",
    "Dict",
    "DictHash",
    "Drop",
    "EveryDocument",
    "EveryTokens",
    "FixvocHybrid",
    "FixvocVb",
    "Flat",
    "FullHash",
    "FullHistory",
    "Given",
    "Growing",
    "GrowingUntilFull",
    "Hierarchical",
    "IncrementalGibbs",
    "Infvoc",
    "InitialBatch",
    "Keep",
    "LearnerSettings",
    "MinimalTables",
    "Multinomial",
    "Never",
    "NeverResample",
    "NewestFirst",
    "NoChallengers",
    "NoInitialBatch",
    "Null",
    "OLda",
    "ParticleFilter",
    "Reservoir",
    "Residual",
    "SampledTables",
    "Stratified",
    "Systematic",
    "Uniform",
    "Urn",
    "learner_for",
    "learner_names",
]
