"""Topic proportions of new documents, given a model.

:mod:`beam_topics.model.inference.base` has the contract. Importing a method's module here registers
the method.
"""

from beam_topics.model.inference.base import (
    METHOD,
    Gibbs3,
    InferenceSettings,
    PublishedModel,
    inference_for,
    inference_names,
)

__all__ = [
    "METHOD",
    "Gibbs3",
    "InferenceSettings",
    "PublishedModel",
    "inference_for",
    "inference_names",
]
