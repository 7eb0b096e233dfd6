"""Dense or sparse: the two ways of Gibbs sampling topics, as learners and inference choose
between them.
"""

from __future__ import annotations

from typing import Literal

Sampler = Literal["auto", "dense", "sparse"]

SAMPLER_HELP = (
    "dense weighs every topic, sparse (SparseLDA) those of the word and the document, auto goes by"
    " the number of topics"
)


def is_sparse(sampler: Sampler, topics: int, least: int) -> bool:
    """Whether these settings mean sparse counts, which ``auto`` takes from ``least`` topics on."""
    return sampler == "sparse" or (sampler == "auto" and topics >= least)
