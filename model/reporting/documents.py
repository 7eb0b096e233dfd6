"""The documents of a report: typical ones of each topic and a sample, with their mixtures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from model.reporting.limits import Limits, shortened
from model.reporting.mixtures import Labelled, Mixture
from model.reporting.texts import Text

# Smaller shares are not listed. What is left of 1 is shown as the rest.
LEAST_SHARE = 0.01
_MILLISECOND = 1000


def shown(labelled: Labelled) -> list[Mixture]:
    """Return the documents of a report once each, by time and id."""
    both = [*(mixture for topic in labelled.typical for mixture in topic), *labelled.sample]
    unique = {mixture.digest: mixture for mixture in both}
    return sorted(unique.values(), key=lambda m: (m.timestamp, m.id, m.digest))


def document_columns(
    labelled: Labelled | None, texts: Mapping[bytes, Text] | None, limits: Limits
) -> dict[str, Any] | None:
    """Return the documents as columns, and the places of the typical ones of each topic."""
    if labelled is None:
        return None
    mixtures = shown(labelled)
    place = {mixture.digest: number for number, mixture in enumerate(mixtures)}
    found: dict[str, Any] = {
        "all": labelled.documents,
        "id": [shortened(m.id, limits.name) for m in mixtures],
        "time": [m.timestamp // _MILLISECOND for m in mixtures],
        "version": [m.version for m in mixtures],
        "tokens": [m.tokens for m in mixtures],
        "known": [m.words_known for m in mixtures],
        "none": [m.none for m in mixtures],
        "mixture": [largest(m) for m in mixtures],
        "typical": [[place[m.digest] for m in topic] for topic in labelled.typical],
    }
    if texts is not None:
        none = Text("", "", "")
        own = [texts.get(m.digest, none) for m in mixtures]
        found |= {name: [getattr(t, name) for t in own] for name in ("title", "text", "label")}
    return found


def largest(mixture: Mixture) -> list[list[float]]:
    """Return the topics of a document with at least 1 %, each with its share, largest first."""
    order = np.argsort(-mixture.proportions, kind="stable").tolist()
    shares = mixture.proportions.tolist()
    return [[z, shares[z]] for z in order if shares[z] >= LEAST_SHARE]
