"""The settings of filters: near copies of documents, and phrases.

A flood of near copies (mails, newswire, spam) takes topics from the rest of a stream.
:class:`CountOnce` and :class:`Drop` let a learner learn the first of them only
(:mod:`beam_topics.model.learners.filters.floods`). With :class:`JoinPhrases` neighbouring words
that belong together become one word (:mod:`beam_topics.model.learners.filters.phrases`).
"""

from __future__ import annotations

from dataclasses import dataclass

from beam_topics.model.settings.options import Kinds, Record, option


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


@dataclass(frozen=True)
class CountOnce(CopySettings):
    """Learn the first of several near copies; count the others, and label them like all."""

    kind = "count_once"


@dataclass(frozen=True)
class Drop(CopySettings):
    """As count_once, and a copy of a copy is a copy, too, however far the flood drifts."""

    kind = "drop"


DUPLICATES = Kinds(Keep, CountOnce, Drop)


class PhraseSettings(Record):
    """Whether neighbouring words become one word."""


@dataclass(frozen=True)
class NoPhrases(PhraseSettings):
    """Every word stays as it is."""

    kind = "none"


@dataclass(frozen=True)
class JoinPhrases(PhraseSettings):
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


PHRASES = Kinds(NoPhrases, JoinPhrases)
