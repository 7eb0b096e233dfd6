"""A classifier beside a snapshot: p(t | x) in proportion to exp(sum_w lambda_wt f(n_w) / tau), for the words w of a document x.

What it does is in :mod:`model.inference.maxent`, how it is fitted in :mod:`model.inference.fitting`. Its bytes are explicit and a function
of its content, so their SHA-256 names it; the facts beside the weights say which model it belongs to and how it was made.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from model import wire
from model.errors import DamagedDataError
from model.records import FloatArray, LongArray
from model.snapshot import Snapshot

SingleArray = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Provenance:
    """What a classifier was made of.

    Attributes:
        key, version, snapshot: the model that it belongs to; the snapshot's digest, hex.
        pairs: how many documents it learned from. tokens: their known tokens. pairs_digest: SHA-256 over the pairs, hex.
        settings: of the fit. method: what gave the pairs their proportions, with its settings.
        variance: the chosen sigma squared. held_out_loss: for each variance tried, the mean cross-entropy of the held-out pairs, nats.
        iterations: of the last fit. release: of this package.
    """

    key: str
    version: str
    snapshot: str
    pairs: int
    tokens: int
    pairs_digest: str
    settings: dict[str, Any]
    method: dict[str, Any]
    variance: float
    held_out_loss: list[list[float]]
    iterations: int
    release: str


@dataclass(frozen=True, eq=False)
class Classifier:
    """lambda, tau and f.

    Attributes:
        rows: int64[R], ascending: the model's words that have weights; all others have 0.
        weights: float32[R, T], lambda_wt. temperature: tau. features: f, one of :data:`~model.inference.features.FEATURES`.
        provenance: see there.
    """

    rows: LongArray
    weights: SingleArray
    temperature: float
    features: str
    provenance: Provenance

    MAGIC = b"BTc1"

    def to_bytes(self) -> bytes:
        header = {
            "topics": self.weights.shape[1],
            "temperature": self.temperature,
            "features": self.features,
            "provenance": asdict(self.provenance),
        }
        return wire.pack(self.MAGIC, header, wire.array_to_bytes(self.rows, "<i8"), wire.array_to_bytes(self.weights, "<f4"))

    @classmethod
    def from_bytes(cls, data: bytes) -> Classifier:
        """The inverse of ``to_bytes``. Raises DamagedDataError."""
        header, (rows, weights) = wire.unpack(cls.MAGIC, data)
        try:
            words = wire.array_from_bytes(rows, "<i8")
            table = wire.array_from_bytes(weights, "<f4").reshape(len(words), header["topics"])
            return cls(words, table, float(header["temperature"]), str(header["features"]), Provenance(**header["provenance"]))
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedDataError(f"a classifier of {len(data)} bytes was written by another release or is damaged: {error}") from error

    def table(self, snapshot: Snapshot) -> SingleArray:
        """float32[W, T]: a row for every word of the model.

        Raises:
            DamagedDataError: the classifier has words or topics that this model does not have.
        """
        if self.weights.shape[1] != snapshot.topic_count or (len(self.rows) and self.rows[-1] >= len(snapshot.words)):
            raise DamagedDataError(
                f"the classifier has {self.weights.shape[1]} topics and belongs to version {self.provenance.version}; the model has"
                f" {snapshot.topic_count} topics and {len(snapshot.words)} words"
            )
        whole = np.zeros((len(snapshot.words), snapshot.topic_count), np.float32)
        whole[self.rows] = self.weights
        return whole


def log_likelihoods(scores: FloatArray) -> FloatArray:
    """ln p(t | x) of float64[N, T] scores, row by row."""
    shifted = scores - np.max(scores, axis=1, keepdims=True)
    result: FloatArray = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return result
