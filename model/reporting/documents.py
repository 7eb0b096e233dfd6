"""Documents at hand whose mixtures are read: their words, and newer mixtures of them.

A stream labels documents as they come, each by the newest version of its time. So a topic has no
document from before its birth, and a document of an early version may be about something else than
the topic is now. Where a report has texts, those of its documents that other versions labelled are
labelled again, with the defaults of ``infer`` (:class:`Again`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from beam_topics.model.documents.document import Document
from beam_topics.model.evaluation.agreement import main_topics
from beam_topics.model.inference import METHOD, PublishedModel, inference_for
from beam_topics.model.inference.features import numbered
from beam_topics.model.inference.mixture_blocks import inferred
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.reporting.mixture_rows import Mixture, document_digest
from beam_topics.model.reporting.shown import Shown
from beam_topics.model.settings.compositions import compose
from beam_topics.model.words.tokeniser import Tokeniser

# Documents that are labelled at a time.
_BATCH = 64
Found = Iterable[tuple[Mixture, Document]]


def with_documents(mixtures: Iterable[Mixture], items: Iterable[Any]) -> Found:
    """Yield mixtures with their documents, the first of each among documents and dead letters."""
    wanted = {mixture.digest: mixture for mixture in mixtures}
    ids = {mixture.id for mixture in wanted.values()}
    for item in items:
        if isinstance(item, Document) and item.id in ids:
            mixture = wanted.pop(document_digest(item.key, item.id, item.timestamp), None)
            if mixture is not None:
                yield mixture, item


def largest_topics(
    sample: Sequence[Mixture], items: Iterable[Any], view: Shown
) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the largest topic of each document of a sample, and its words in their order."""
    tokeniser, phrases = Tokeniser(view.manifest.tokeniser), view.snapshot.phrases
    topics = main_topics(np.array([m.proportions for m in sample]))
    of = {m.digest: topic for m, topic in zip(sample, topics, strict=True) if topic >= 0}
    for mixture, document in with_documents((m for m in sample if m.digest in of), items):
        words = tokeniser.words(document.text)
        yield of[mixture.digest], phrases.in_words(words) if phrases else words


class Again:
    """Labels documents again that other versions labelled than the one that is shown.

    Args:
        view: The version that is shown.
        snapshot: Its model, with all its topics.

    Attributes:
        found: The new mixtures by the digests of the documents. They do not say whether topics
            explain a document.

    Raises:
        OptionError: The tokeniser of the model cannot be used here.
    """

    def __init__(self, view: Shown, snapshot: Snapshot) -> None:
        self.found: dict[bytes, Mixture] = {}
        self._version, self._groups, self._snapshot = view.manifest.version, view.groups, snapshot
        self._tokeniser, self._settings = Tokeniser(view.manifest.tokeniser), compose(METHOD, {})
        published = PublishedModel(snapshot, self._version)
        self._prepared = inference_for(self._settings).prepare(self._settings, published)

    def passing(self, found: Found) -> Found:
        """Yield mixtures and documents as they are, and label the documents."""
        stream = iter(found)
        while some := list(islice(stream, _BATCH)):
            self._label([one for one in some if one[0].version != self._version])
            yield from some

    def _label(self, some: Sequence[tuple[Mixture, Document]]) -> None:
        if not some:
            return
        documents = self._tokeniser.block([document for _, document in some])
        found = numbered(self._snapshot, documents)
        block = inferred(self._settings, self._prepared, found, self._version)
        for at, (mixture, _) in enumerate(some):
            # A text without a known word may be another one than was labelled: its mixture stays.
            if block.words_known[at]:
                self.found[mixture.digest] = replace(
                    mixture,
                    version=self._version,
                    proportions=self._groups.sums(block.proportions[at]),
                    tokens=int(block.tokens[at]),
                    words_known=int(block.words_known[at]),
                    none=None,
                )
