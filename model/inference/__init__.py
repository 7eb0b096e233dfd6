"""Topic proportions of new documents, given a model: see :mod:`model.inference.base` for the contract."""

from model.inference import gibbs3
from model.inference.base import Inference, InferenceSettings, inference_for, inference_names

__all__ = ["Inference", "InferenceSettings", "gibbs3", "inference_for", "inference_names"]
