"""Learners and their settings; :mod:`model.learners.base` defines the contract.

An import of a learner's settings here registers the learner. The settings of this package are apart
from the learners, which import kernels.
"""

from model.learners.base import LEARNER, LearnerSettings, learner_names
from model.learners.batch_gibbs.settings import BatchGibbs
from model.learners.filters.settings import CountOnce, Drop, Keep
from model.learners.making import learner_for
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
