"""Documents of a report that the version which is shown labels again.

A stream labels documents as they come, each by the newest version of its time. So a topic has no
document from before its birth, and a document of an early version may be about something else than
the topic is now. Where a report has texts, those of its documents that other versions labelled are
labelled again, with the defaults of ``infer``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from beam_topics.model.documents.document import Document
from beam_topics.model.inference import METHOD, PublishedModel, inference_for
from beam_topics.model.inference.features import numbered
from beam_topics.model.inference.mixture_blocks import inferred
from beam_topics.model.publishing.snapshot import Snapshot
from beam_topics.model.reporting.mixture_rows import Mixture, document_digest
from beam_topics.model.reporting.mixtures import Labelled, shown
from beam_topics.model.reporting.shown import Shown
from beam_topics.model.settings.compositions import compose
from beam_topics.model.words.tokeniser import Tokeniser

_BATCH = 64


class Anew:
    """Labels the documents of a report again.

    Args:
        labelled: What their mixtures say.
        view: The version that is shown.
        snapshot: Its model, with all its topics.

    Attributes:
        found: The new mixtures by the digests of the documents. They do not say whether topics
            explain a document.

    Raises:
        OptionError: The tokeniser of the model cannot be used here.
    """

    def __init__(self, labelled: Labelled, view: Shown, snapshot: Snapshot) -> None:
        self.found: dict[bytes, Mixture] = {}
        self._version, self._groups, self._snapshot = view.manifest.version, view.groups, snapshot
        self._tokeniser, self._settings = Tokeniser(view.manifest.tokeniser), compose(METHOD, {})
        published = PublishedModel(snapshot, self._version)
        self._prepared = inference_for(self._settings).prepare(self._settings, published)
        others = (m for m in shown(labelled) if m.version != self._version)
        self._waiting = {mixture.digest: mixture for mixture in others}

    def passing(self, items: Iterable[Any]) -> Iterator[Any]:
        """Yield items as they are, and label the documents among them."""
        stream = iter(items)
        while some := list(islice(stream, _BATCH)):
            self._label([item for item in some if isinstance(item, Document)])
            yield from some

    def _label(self, documents: list[Document]) -> None:
        digests = [document_digest(one.key, one.id, one.timestamp) for one in documents]
        chosen = {d: one for d, one in zip(digests, documents, strict=True) if d in self._waiting}
        if not chosen:
            return
        found = numbered(self._snapshot, self._tokeniser.block(list(chosen.values())))
        block = inferred(self._settings, self._prepared, found, self._version)
        # A text without a known word may be another one than was labelled, so its mixture stays.
        for at, digest in enumerate(chosen):
            if not block.words_known[at]:
                continue
            self.found[digest] = replace(
                self._waiting.pop(digest),
                version=self._version,
                proportions=self._groups.sums(block.proportions[at]),
                tokens=int(block.tokens[at]),
                words_known=int(block.words_known[at]),
                none=None,
            )
