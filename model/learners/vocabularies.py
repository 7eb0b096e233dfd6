"""The vocabulary of a learner that counts words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from beam_topics.model.errors import OptionError
from beam_topics.model.settings.options import Kinds, Record, option

if TYPE_CHECKING:
    from beam_topics.model.words.vocabulary import Vocabulary

DEFAULT_MAX_WORDS = 50_000
# The use of a word falls by 1 / WORD_MEMORY at each minibatch.
WORD_MEMORY = 100


class VocabularySettings(Record):
    """What a learner asks of a vocabulary."""

    @property
    def is_open(self) -> bool:
        """Return whether new words join the vocabulary."""
        return True

    @property
    def words(self) -> tuple[str, ...]:
        """Return the words that have numbers before the first minibatch."""
        return ()

    @property
    def size(self) -> int:
        """Return W, the number of words over which a flat prior spreads its mass."""
        return len(self.words)

    def new(self) -> Vocabulary:
        """Return the vocabulary before the first minibatch."""
        # Imported here, because options are read without numba.
        from beam_topics.model.words.vocabulary import Vocabulary

        return Vocabulary(self.words, self.size, WORD_MEMORY)


@dataclass(frozen=True)
class Growing(VocabularySettings):
    """New words join; when the vocabulary would become too large, the least used words leave."""

    kind = "growing"

    max_words: int = option(
        DEFAULT_MAX_WORDS,
        "largest size of the vocabulary; beyond it the least used words leave",
        unit="words",
        least=1,
        first=True,
    )

    @property
    def size(self) -> int:
        return self.max_words


@dataclass(frozen=True)
class FirstWords(Growing):
    """New words join while there is room; later ones are not learned."""

    kind = "growing"

    max_words: int = option(
        DEFAULT_MAX_WORDS,
        "W, the size of the vocabulary; words that come when it is full are not learned",
        unit="words",
        least=1,
        first=True,
    )


@dataclass(frozen=True)
class Given(VocabularySettings):
    """The words of a list and no others."""

    kind = "given"

    words: tuple[str, ...] = option(
        (),
        "file with one word a line, as the tokeniser returns them",
        name="vocabulary_file",
        file="lines",
    )

    def check(self) -> None:
        if not self.words:
            raise OptionError(
                "--vocabulary",
                "given",
                "a list of at least one word with it",
                "Give the words with --vocabulary_file.",
            )

    @property
    def is_open(self) -> bool:
        return False


VOCABULARIES = Kinds(Growing, Given)
