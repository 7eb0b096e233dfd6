"""Classifiers in a model store, beside the snapshots that they belong to.

    <root>/<key>/classifiers/<digest>           the weights, see model.inference.classifier
    <root>/<key>/classifiers/<digest>.json      digest and provenance, for people and tools
    <root>/<key>/classifiers/<version>.latest   the classifier of a version that was fitted last

The first two are named by their content, so writing them twice changes nothing. The pointer is
replaced as a whole.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict

from beam_topics.model import checks
from beam_topics.model.errors import OptionError
from beam_topics.model.inference.classifier import Classifier
from beam_topics.model.publishing.blobs import create_named, escape_key, read_verified, sequence_of
from beam_topics.model.publishing.local_files import blobs_at
from beam_topics.model.wire import seal, unseal


class ClassifierStore:
    """The classifiers under the root of a model store."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._blobs = blobs_at(root)

    def put(self, classifier: Classifier) -> str:
        """Write a classifier, make it the newest one of its version, and return its digest, hex."""
        made = classifier.provenance
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
        while not self._blobs.replace_pointer(
            pointer, self._blobs.read(pointer) if self._blobs.exists(pointer) else None, target
        ):
            pass
        return digest

    def newest(self, key: str, version: str) -> str | None:
        """Return the digest of the newest classifier of a version; None if it has none."""
        sequence_of(version, "the version that a classifier belongs to")
        path = f"{_folder(key)}/{version}.latest"
        if not self._blobs.exists(path):
            return None
        name = self._blobs.where(path)
        return checks.hexadecimal(
            f"field digest of {name}", unseal(self._blobs.read(path), name).get("digest")
        )

    def find(self, key: str, version: str, method: str, option: str = "--method") -> str:
        """Return the digest of the newest classifier for a method that needs one.

        Args:
            key: The model key.
            version: The model version.
            method: The name of the method.
            option: The option that named the method, for the message.

        Raises:
            OptionError: The version has no classifier.
        """
        digest = self.newest(key, version)
        if digest is None:
            allowed = (
                f"a method without a classifier: there is none for version {version} of key {key!r}"
                f" in {self.root}"
            )
            raise OptionError(
                option,
                method,
                allowed,
                "Fit one first: beam-topics fit_classifier.",
            )
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
