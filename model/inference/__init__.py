"""Topic proportions of new documents, given a model.

:mod:`model.inference.base` has the contract. Importing a method's module here registers the method.
"""

from model.inference.base import (
    METHOD,
    Inference,
    InferenceSettings,
    PublishedModel,
    inference_for,
    inference_named,
    inference_names,
)
from model.inference.settings import (
    Gibbs1,
    Gibbs2,
    Gibbs2S,
    Gibbs3,
    Gibbs3S,
    Hybrid,
    MaxEnt,
    NaiveBayes,
    Variational,
)

__all__ = [
    "METHOD",
    "Gibbs1",
    "Gibbs2",
    "Gibbs2S",
    "Gibbs3",
    "Gibbs3S",
    "Hybrid",
    "Inference",
    "InferenceSettings",
    "MaxEnt",
    "NaiveBayes",
    "PublishedModel",
    "Variational",
    "inference_for",
    "inference_named",
    "inference_names",
]
