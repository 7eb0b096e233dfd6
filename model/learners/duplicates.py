"""Near copies of documents: whether learners learn them.

A flood of near copies (mails, newswire, spam) takes topics from the rest of a stream.
:class:`CountOnce` and :class:`Drop` let a learner learn the first of them only. The settings are
here; :mod:`model.learners.near_copies` has the work.
"""

from __future__ import annotations

from dataclasses import dataclass

from model.kinds import Kinds
from model.options import Record, option


class Duplicates(Record):
    """What happens to near copies of documents that were learned."""


@dataclass(frozen=True)
class Keep(Duplicates):
    """Learn every document."""

    kind = "keep"


@dataclass(frozen=True)
class CopySettings(Duplicates):
    """How near copies are found."""

    duplicate_similarity: float = option(
        0.5,
        "Jaccard index of the sets of words, as MinHash estimates it, from which a document is a"
        " near copy",
        above=0,
        most=1,
    )
    duplicates_remembered: int = option(
        10_000,
        "documents with which later ones are compared",
        unit="documents",
        least=1,
        most=1_000_000,
    )


@dataclass(frozen=True)
class CountOnce(CopySettings):
    """Learn the first of several near copies; count the others, and label them like all."""

    kind = "count_once"


@dataclass(frozen=True)
class Drop(CopySettings):
    """As count_once, and a copy of a copy is a copy, too, however far the flood drifts."""

    kind = "drop"


DUPLICATES = Kinds(Keep, CountOnce, Drop)
