"""The words of the documents in which a topic has the largest share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from beam_topics.model.documents.document import Document
from beam_topics.model.evaluation.agreement import main_topics
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.reporting.mixture_rows import Mixture, document_digest
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.model.words.tokeniser import Tokeniser


def dominated(
    items: Iterable[Any], sample: Sequence[Mixture], settings: TokeniserSettings, snapshot: Snapshot
) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the largest topic of each document of a sample, and its words in their order."""
    tokeniser, phrases = Tokeniser(settings), snapshot.phrases
    topics = main_topics(np.array([m.proportions for m in sample]))
    left = {m.digest: topic for m, topic in zip(sample, topics, strict=True) if topic >= 0}
    for item in items:
        if isinstance(item, Document):
            topic = left.pop(document_digest(item.key, item.id, item.timestamp), None)
            if topic is not None:
                words = tokeniser.words(item.text)
                yield topic, phrases.in_words(words) if phrases else words
