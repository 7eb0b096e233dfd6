"""The choice between dense and sparse Gibbs sampling, for learners and for inference.

A dense sampler weighs every topic for each token. A sparse one (SparseLDA) weighs the topics that
the word and the document have.
"""

from __future__ import annotations

from typing import Literal

Sampler = Literal["auto", "dense", "sparse"]

SAMPLER_HELP = (
    "dense weighs every topic, sparse (SparseLDA) those of the word and the document, auto goes by"
    " the number of topics"
)
# The number of topics from which on sparse sampling is faster, see benchmarks/README.md. Learning
# from no counts and inference beside the counts of a model differ.
SPARSE_LEARNING_FROM = 4
SPARSE_INFERENCE_FROM = 8


def is_sparse(sampler: Sampler, topics: int, threshold: int) -> bool:
    """Return whether to sample with sparse counts; ``auto`` does from ``threshold`` topics on."""
    return sampler == "sparse" or (sampler == "auto" and topics >= threshold)
