"""Whether neighbouring words that belong together become one word; the settings.

:mod:`model.learners.phrases` has the work.
"""

from __future__ import annotations

from dataclasses import dataclass

from model.kinds import Kinds
from model.options import Record, option


class PhraseSettings(Record):
    """Whether neighbouring words become one word."""


@dataclass(frozen=True)
class NoPhrases(PhraseSettings):
    """Every word stays as it is."""

    kind = "none"


@dataclass(frozen=True)
class LearnedPhrases(PhraseSettings):
    """Pairs of neighbours that belong together by a test are joined from the minibatch after."""

    kind = "learned"

    phrase_npmi: float = option(
        0.5,
        "normalised pointwise mutual information from which two neighbours are a phrase",
        above=0,
        below=1,
        usual="0.3 and 0.7",
    )
    phrase_documents: int = option(
        10, "documents in which the neighbours were seen, at least", unit="documents", least=2
    )
    max_phrases: int = option(
        5_000,
        "largest number of phrases; beyond it the least frequent ones are joined no longer",
        unit="phrases",
        least=1,
        most=1_000_000,
    )
    pairs_remembered: int = option(
        50_000,
        "pairs of neighbours, and words, whose counts are kept",
        unit="pairs",
        least=100,
        most=10_000_000,
    )


PHRASES = Kinds(NoPhrases, LearnedPhrases)
