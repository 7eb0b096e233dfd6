"""Count documents of which the tokeniser keeps no word, and why, for few of each file.

    self._wordless.begin()
    self._wordless.add(document.text, tokeniser.settings)

The counter ``documents_without_words`` counts all. The counters ``lost_<reason>`` count the words
of the first ones of a file, or of a bundle of messages (:mod:`model.words.losses`). Documents with
words cost nothing.
"""

from __future__ import annotations

from apache_beam.metrics import Metrics

from model.settings import TokeniserSettings
from model.words.losses import MOST_TEXTS, REASONS, Losses
from transforms.constants import NAMESPACE

WITHOUT_WORDS = "documents_without_words"
LOST = "lost_"


class Wordless:
    """Counters of one step."""

    def __init__(self) -> None:
        self._documents = Metrics.counter(NAMESPACE, WITHOUT_WORDS)
        self._lost = {name: Metrics.counter(NAMESPACE, f"{LOST}{name}") for name in REASONS}
        self._seen = 0
        self._losses: Losses | None = None

    def begin(self) -> None:
        """Begin a file, or a bundle of messages."""
        self._seen = 0

    def add(self, text: str, settings: TokeniserSettings) -> None:
        """Count the text of a document without words, and say why if it is one of the first."""
        self._documents.inc()
        self._seen += 1
        if self._seen <= MOST_TEXTS:
            self._losses = self._losses or Losses(settings)
            for reason, count in self._losses.of(text).items():
                self._lost[reason].inc(count)
