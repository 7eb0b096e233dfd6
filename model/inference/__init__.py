"""Topic proportions of new documents, given a model: see :mod:`model.inference.base` for the contract."""

from model.inference import gibbs2, gibbs3, maxent, naive_bayes, variational
from model.inference.base import Inference, PublishedModel, inference_for, inference_names
from model.inference.settings import InferenceSettings

__all__ = [
    "Inference",
    "InferenceSettings",
    "PublishedModel",
    "gibbs2",
    "gibbs3",
    "inference_for",
    "inference_names",
    "maxent",
    "naive_bayes",
    "variational",
]
