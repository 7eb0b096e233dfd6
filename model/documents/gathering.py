"""Which documents of a reader share a block.

A block ends with the document that fills it, so it depends on the source and on sizes alone. Blocks
for the sequence hold documents of one window; blocks for inference those of any time.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from beam_topics.model.documents.document import Document
from beam_topics.model.documents.settings import SequenceSettings

# A block ends with the document that reaches one of them.
BLOCK_DOCUMENTS, BLOCK_TOKENS = 256, 100_000
# All blocks end with the document with which they together reach one of them: this bounds what a
# reader holds.
GATHERED_DOCUMENTS, GATHERED_TOKENS = 4096, 400_000
# The characters of a text that count as a token.
_TOKEN_CHARACTERS = 8


@dataclass(frozen=True)
class Blocks:
    """What the documents of a block have in common: their key, and perhaps their window.

    Attributes:
        windows: The settings of the windows; None for documents of any time.
    """

    windows: SequenceSettings | None = None

    def place(self, document: Document) -> Hashable:
        """Return what the documents of a block have in common."""
        if self.windows is None:
            return document.key
        return document.key, self.windows.window_number(document.timestamp)


class Gathering:
    """Documents that wait until their block ends.

    Args:
        blocks: Which documents share a block.
    """

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._groups: dict[Hashable, list[Document]] = {}
        self._tokens: dict[Hashable, int] = {}
        self._documents = self._all_tokens = 0

    def add(self, document: Document) -> list[list[Document]]:
        """Add a document; return the documents of each block that ends with it."""
        place, size = self._blocks.place(document), -(-len(document.text) // _TOKEN_CHARACTERS)
        group = self._groups.setdefault(place, [])
        group.append(document)
        tokens = self._tokens[place] = self._tokens.get(place, 0) + size
        self._documents += 1
        self._all_tokens += size
        if self._documents >= GATHERED_DOCUMENTS or self._all_tokens >= GATHERED_TOKENS:
            return self.rest()
        if len(group) < BLOCK_DOCUMENTS and tokens < BLOCK_TOKENS:
            return []
        self._documents -= len(group)
        self._all_tokens -= self._tokens.pop(place)
        return [self._groups.pop(place)]

    def rest(self) -> list[list[Document]]:
        """End all blocks; return the documents of each."""
        found = list(self._groups.values())
        self._groups, self._tokens, self._documents, self._all_tokens = {}, {}, 0, 0
        return found
