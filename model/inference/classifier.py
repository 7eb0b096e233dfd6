"""A classifier that belongs to a snapshot, and the classifiers of a model store.

For the words w of a document x, p(t | x) ~ exp(sum_w lambda_wt f(n_w) / tau).
:mod:`beam_topics.model.inference.methods` uses a classifier, and
:mod:`beam_topics.model.inference.fitting` fits one. Its bytes are a function of its content, so
their SHA-256 names it. The provenance next to the weights says which model it belongs to and how it
was made. A store keeps classifiers next to the snapshots that they belong to:

    <root>/<key>/classifiers/<digest>           the weights
    <root>/<key>/classifiers/<digest>.json      digest and provenance, for people and tools
    <root>/<key>/classifiers/<version>.latest   the classifier of a version that was fitted last

The first two are named by their content, so writing them twice changes nothing. The pointer is
replaced as a whole.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from beam_topics.model.arrays import FloatArray, LongArray
from beam_topics.model.errors import DamagedDataError, OptionError
from beam_topics.model.inference.features import FEATURES
from beam_topics.model.publishing.blobs import create_named, escape_key, read_verified, sequence_of
from beam_topics.model.publishing.local_files import blobs_at
from beam_topics.model.publishing.signatures import Signatures
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.stored import checks, wire
from beam_topics.model.stored.wire import seal, unseal

SingleArray = npt.NDArray[np.float32]
# The largest weight. Sums over a document's words are then finite in 32 bits.
_MOST_WEIGHT = 1e25


@dataclass(frozen=True)
class Provenance:
    """What a classifier was made of.

    Attributes:
        key, version: the model that it belongs to.
        snapshot: digest of the model's snapshot, hex.
        pairs: number of documents that it was fitted to.
        tokens: number of their known tokens.
        pairs_digest: SHA-256 over the pairs, hex.
        settings: the settings of the fit.
        method: the method that gave the pairs their proportions, with its settings.
        variance: the chosen sigma squared.
        held_out_loss: for each variance tried, the mean cross-entropy of the held-out pairs, nats.
        iterations: number of iterations of the last fit.
        release: version of this package.
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
    """The weights lambda, the temperature tau and the feature f.

    Attributes:
        rows: int64[R], ascending: the model's words that have weights. All others have weight 0.
        weights: float32[R, T], lambda_wt.
        temperature: tau.
        features: f, one of :data:`~beam_topics.model.inference.features.FEATURES`.
        provenance: what the classifier was made of.
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
        return wire.pack(
            self.MAGIC,
            header,
            wire.array_to_bytes(self.rows, "<i8"),
            wire.array_to_bytes(self.weights, "<f4"),
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Classifier:
        """Decode the bytes of :meth:`to_bytes`.

        Raises:
            DamagedDataError: the bytes are not a classifier.
        """
        header, (rows, weights) = wire.unpack(cls.MAGIC, data, 2)
        topics = checks.whole("topics of a classifier", header.pop("topics", None), 1)
        made = checks.record(
            Provenance, header.pop("provenance", None), "the provenance of a classifier"
        )
        apart = ("rows", "weights", "provenance")
        facts = checks.record(cls, header, "a classifier", apart)
        words, table = wire.array_from_bytes(rows, "<i8"), wire.array_from_bytes(weights, "<f4")
        checks.within("words of a classifier", words, 0, checks.LARGEST)
        checks.ascending("words of a classifier", words, strictly=True)
        table = checks.shaped("weights of a classifier", table, len(words), topics)
        checks.measures("weights of a classifier", table, -_MOST_WEIGHT, _MOST_WEIGHT)
        temperature, features = facts["temperature"], facts["features"]
        checks.number("temperature of a classifier", temperature, 1.0 / _MOST_WEIGHT, _MOST_WEIGHT)
        if features not in FEATURES:
            checks.refuse("features of a classifier", repr(features), " or ".join(FEATURES))
        return cls(words, table, float(temperature), features, Provenance(**made))

    def table(self, snapshot: Snapshot) -> SingleArray:
        """Return the weights with a row for every word of the model, float32[W, T].

        Raises:
            DamagedDataError: the classifier has words or topics that this model does not have.
        """
        if self.weights.shape[1] != snapshot.topic_count or (
            len(self.rows) and self.rows[-1] >= len(snapshot.words)
        ):
            raise DamagedDataError(
                f"the classifier has {self.weights.shape[1]} topics and belongs to version"
                f" {self.provenance.version}; the model has {snapshot.topic_count} topics and"
                f" {len(snapshot.words)} words"
            )
        whole = np.zeros((len(snapshot.words), snapshot.topic_count), np.float32)
        whole[self.rows] = self.weights
        return whole


def log_likelihoods(scores: FloatArray) -> FloatArray:
    """Return ln p(t | x) of float64[N, T] scores, row by row."""
    shifted = scores - np.max(scores, axis=1, keepdims=True)
    result: FloatArray = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return result


class ClassifierStore:
    """The classifiers under the root of a model store."""

    def __init__(self, root: str, signatures: Signatures | None = None) -> None:
        self.root = root
        self._blobs = blobs_at(root)
        self._signatures = signatures or Signatures(self._blobs, "", "")

    def put(self, classifier: Classifier) -> str:
        """Write a classifier, make it the newest one of its version, and return its digest, hex."""
        made = classifier.provenance
        self._signatures.check_signs(made.key)
        data = classifier.to_bytes()
        digest = hashlib.sha256(data).hexdigest()
        folder = _folder(made.key)
        sequence_of(made.version, "the version that a classifier belongs to")
        facts = {
            "digest": digest,
            "temperature": classifier.temperature,
            "words": len(classifier.rows),
            **asdict(made),
        }
        for path, content in (
            (f"{folder}/{digest}", data),
            (f"{folder}/{digest}.json", seal(facts)),
        ):
            create_named(self._blobs, path, content)
        pointer, target = f"{folder}/{made.version}.latest", seal({"digest": digest})
        while not self._signatures.move(pointer, self._signatures.pointer(pointer), target):
            pass
        return digest

    def newest(self, key: str, version: str) -> str | None:
        """Return the digest of the newest classifier of a version; None if it has none."""
        sequence_of(version, "the version that a classifier belongs to")
        path = f"{_folder(key)}/{version}.latest"
        data, name = self._signatures.pointer(path), self._blobs.where(path)
        if data is None:
            return None
        return checks.hexadecimal(f"field digest of {name}", unseal(data, name).get("digest"))

    def find(self, key: str, version: str, method: str) -> str:
        """Return the digest of the newest classifier for a method that needs one.

        Args:
            key: The model key.
            version: The model version.
            method: The name of the method.

        Raises:
            OptionError: The version has no classifier.
        """
        digest = self.newest(key, version)
        if digest is None:
            allowed = (
                f"a method without a classifier: there is none for version {version} of key {key!r}"
                f" in {self.root}"
            )
            remedy = "Fit one first: beam-topics fit_classifier."
            raise OptionError("--method", method, allowed, remedy)
        return digest

    def get(self, key: str, digest: str) -> Classifier:
        """Return the classifier with this digest.

        Raises:
            DamagedDataError: It is missing, or does not have the content that was written.
        """
        checks.hexadecimal("the digest of a classifier", digest)
        return Classifier.from_bytes(read_verified(self._blobs, f"{_folder(key)}/{digest}", digest))


def _folder(key: str) -> str:
    return f"{escape_key(key)}/classifiers"
