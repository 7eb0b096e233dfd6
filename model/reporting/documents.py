"""Documents at hand whose mixtures are read: their texts, their words, and newer mixtures of them.

A stream labels documents as they come, each by the newest version of its time. So a topic has no
document from before its birth, and a document of an early version may be about something else than
the topic is now. Where a report has texts, those of its documents that other versions labelled are
labelled again, with the defaults of ``infer`` (:class:`Again`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
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
from beam_topics.model.reporting.mixtures import Labelled, Limits, shortened, shown
from beam_topics.model.reporting.shown import Shown
from beam_topics.model.settings.compositions import compose
from beam_topics.model.words.tokeniser import Tokeniser

# Documents that are labelled at a time.
_BATCH = 64
_TITLE = 120
# Smaller shares are not listed. What is left of 1 is shown as the rest.
LEAST_SHARE = 0.01
_MILLISECOND = 1000
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


@dataclass(frozen=True)
class Text:
    """The text of a document.

    Attributes:
        title: Its first line, or how it begins.
        text: The beginning of its text.
        label, group: Its label, and the group of trends that it names; "" without one.
    """

    title: str
    text: str
    label: str
    group: str

    @classmethod
    def of(cls, document: Document, limits: Limits) -> Text:
        """Return what a report shows of a document."""
        return cls(
            title_of(document.text),
            shortened(document.text.strip(), limits.text),
            shortened(document.label or "", limits.name),
            shortened(document.group or "", limits.name),
        )


def title_of(text: str) -> str:
    r"""Return the first line of a text; where it is long, the words that it begins with.

    >>> title_of("A title  here\nand more")
    'A title here'
    >>> title_of("word " * 50)[-6:]
    'word …'
    """
    line = " ".join((text.strip().splitlines() or [""])[0].split())
    if len(line) <= _TITLE:
        return line
    return f"{line[:_TITLE].rpartition(' ')[0] or line[:_TITLE]} …"


def document_columns(
    labelled: Labelled | None, texts: Mapping[bytes, Text] | None, limits: Limits
) -> dict[str, Any] | None:
    """Return the documents as columns, and the places of typical ones and of the sample."""
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
        "sample": [place[m.digest] for m in labelled.sample],
    }
    if texts is not None:
        none = Text("", "", "", "")
        own = [texts.get(m.digest, none) for m in mixtures]
        names = [one.name for one in fields(Text)]
        found |= {name: [getattr(text, name) for text in own] for name in names}
    return found


def largest(mixture: Mixture) -> list[list[float]]:
    """Return the topics of a document with at least 1 %, each with its share, largest first."""
    order = np.argsort(-mixture.proportions, kind="stable").tolist()
    shares = mixture.proportions.tolist()
    return [[z, shares[z]] for z in order if shares[z] >= LEAST_SHARE]
