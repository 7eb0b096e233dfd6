"""Languages found in texts: ``python -m benchmarks.languages``.

What is measured: the share of posts (20 Newsgroups without headers) and abstracts (arXiv), nearly
all English, by the language that ``--key_from=language`` finds; and the time of tokenising with the
detector over the time without it. ``tests/languages.py`` has sentences in other languages.
"""

from __future__ import annotations

import json
import time
from collections import Counter

from beam_topics.model.documents.document import Document
from beam_topics.model.words.tokeniser import Tokeniser, tokeniser_settings
from benchmarks.corpora import records
from benchmarks.ingest import parts

ROUNDS = 3
SHOWN = 4


def seconds(cut: Tokeniser, documents: list[Document]) -> float:
    """Return the least processor time of some rounds."""
    taken = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        for some in parts(map(cut.with_key, documents)):
            cut.block(some)
        taken.append(time.process_time() - begin)
    return min(taken)


def corpus(name: str, every: int) -> None:
    """Print a line for every so manieth text of a corpus."""
    texts = [record["text"] for record in records(name)][::every]
    if name == "20news-bydate":
        texts = [text.partition("\n\n")[2] for text in texts]
    documents = [Document(str(n), n, text) for n, text in enumerate(texts)]
    plain = Tokeniser(tokeniser_settings())
    keyed = Tokeniser(tokeniser_settings(key_from="language"))
    found = Counter(keyed.key(text) for text in texts)
    before, after = seconds(plain, documents), seconds(keyed, documents)
    row = {
        "corpus": name,
        "documents": len(texts),
        "shares": {key: round(n / len(texts), 4) for key, n in found.most_common(SHOWN)},
        "keys": len(found),
        "ratio": round(after / before, 2),
        "documents a second": round(len(texts) / after),
    }
    print(json.dumps(row))


def main() -> None:
    """Print a line of JSON for each corpus."""
    corpus("20news-bydate", 5)
    corpus("arxiv-cs-1994-2019", 20)


if __name__ == "__main__":
    main()
