"""Words of grammar among the first words of topics, in ten languages.

``python -m benchmarks.grammar FOLDER`` reads the translations of Django, ``**/locale/CODE/**/*.po``
below the folder of an unpacked wheel (``pip download --no-deps django==5.2.19``). A document has
ten translations of one file, one after the other. A row has, for a list of stop words, how many of
the first ten words of five topics are words of grammar: those of the short list of the language,
and of its line in ``tests/model/words/grammar_words.txt``. It has all these words, to be read, and
the nouns of that file that the list leaves out.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.learners import Gibbs, learner_for
from beam_topics.model.words.stop_lists import FUNCTIONS, LIBRARY, stop_words_of
from beam_topics.model.words.tokeniser import Tokeniser, tokeniser_settings
from benchmarks.corpora import minibatches

LISTS = Path(__file__).parent.parent / "tests" / "model" / "words" / "grammar_words.txt"
_TRANSLATION = re.compile(r'^msgstr(?:\[\d\])? ((?:"(?:[^"\\]|\\.)*"\s*)+)', re.MULTILINE)
# A name of a value, or a sign of a line.
_PLACE = re.compile(r"%(?:\(\w+\))?\w|\{\w*\}|\\n|\"\s*\"")
_TOPICS, _FIRST, _TOGETHER = 5, 10, 10


def texts(folder: Path, code: str) -> Iterator[str]:
    """Yield the documents of a language."""
    for path in sorted(folder.glob(f"**/locale/{code}/**/*.po")):
        # The first translation is the header of the file.
        found = _TRANSLATION.findall(path.read_text(encoding="utf-8"))[1:]
        for at in range(0, len(found), _TOGETHER):
            yield " . ".join(_PLACE.sub(" ", one) for one in found[at : at + _TOGETHER])


def first_words(documents: Block) -> set[str]:
    """Return the first words of the topics after one pass."""
    settings = Gibbs(topics=_TOPICS)
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    for minibatch in minibatches(documents, 20):
        learner.step(state, minibatch)
    return {word for topic in learner.snapshot(state).top_words(_FIRST) for word in topic}


def main(folder: str) -> None:
    """Print a row for each language and list."""
    for part in LISTS.read_text(encoding="utf-8").split("\n[")[1:]:
        code, (grammar, nouns) = part[:2], (line.split() for line in part.split("\n")[1:3])
        read = enumerate(texts(Path(folder), code))
        documents = [Document(str(number), number, text, "", "") for number, text in read]
        for name, options in (
            ("none", {"stop_words": "none"}),
            ("stopwordsiso", {"stop_words": code, "stop_lists": LIBRARY}),
            ("functions", {"stop_words": code, "stop_lists": FUNCTIONS}),
        ):
            cut = Tokeniser(tokeniser_settings(**options))
            first = first_words(cut.block(documents))
            found = len(first & (stop_words_of(code, FUNCTIONS) | set(grammar)))
            lost = sorted(set(nouns) - set(cut.words(" ".join(nouns))))
            row = {"language": code, "documents": len(documents), "list": name, "grammar": found}
            row |= {"nouns": len(nouns), "lost": lost, "words": sorted(first)}
            print(json.dumps(row, ensure_ascii=False))


if __name__ == "__main__":
    main(*sys.argv[1:])
