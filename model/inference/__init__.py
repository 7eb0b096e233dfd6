"""Topic proportions of new documents, given a model.

:mod:`beam_topics.model.inference.base` has the contract. Importing a method's module here registers
the method.
"""

from beam_topics.model.inference.base import (
    METHOD,
    InferenceSettings,
    PublishedModel,
    inference_for,
    inference_named,
    inference_names,
)
from beam_topics.model.inference.settings import (
    Gibbs2,
    Gibbs3,
    Hybrid,
    MaxEnt,
    Variational,
)

__all__ = [
    "METHOD",
    "Gibbs2",
    "Gibbs3",
    "Hybrid",
    "InferenceSettings",
    "MaxEnt",
    "PublishedModel",
    "Variational",
    "inference_for",
    "inference_named",
    "inference_names",
]
