"""Documents as rows of a sparse matrix: how often each word of the model occurs in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from model.inference.base import known_tokens
from model.records import LongArray, TokenisedDocument
from model.snapshot import Snapshot


def word_counts(snapshot: Snapshot, documents: Sequence[TokenisedDocument], dtype: npt.DTypeLike = np.float64) -> tuple[Any, LongArray]:
    """scipy's CSR [documents, W] of n_w, without unknown words; int64[documents]: the documents' known tokens."""
    parts = [known_tokens(snapshot, document) for document in documents]
    rows = [np.zeros(0, np.int64), *(used for used, _ in parts)]
    times = [np.zeros(0, np.int64), *(np.bincount(tokens, minlength=len(used)) for used, tokens in parts)]
    offsets = np.cumsum([0, *(len(used) for used, _ in parts)])
    shape = len(documents), len(snapshot.words)
    matrix = csr_array((np.concatenate(times).astype(dtype), np.concatenate(rows), offsets), shape=shape)
    return matrix, np.array([len(tokens) for _, tokens in parts], np.int64)
