"""From the bytes of a file to minibatches: processor microseconds a document, stage by stage.

    python -m benchmarks.ingest --corpus arx8 --form jsonl

``arxiv`` are abstracts of arXiv, ``arx8`` every eighth of them, ``news`` posts of 20 Newsgroups,
``nips`` papers. The file is JSON lines, the same gzipped, or CSV. The stages run one after the
other on the whole corpus, as a worker runs them: ``read`` gives documents from bytes, ``tokenise``
their words, ``blocks`` the bytes of blocks with their keys, ``sequence`` the
minibatches as bytes, ``parse`` the minibatches from their bytes. The least of several repetitions
counts. The digest is the last link of the chain: equal digests are equal minibatches.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice

from beam_topics.model.documents.block import Block, Gathering, keyed
from beam_topics.model.documents.document import Document
from beam_topics.model.documents.minibatch import NumberedMinibatch
from beam_topics.model.documents.pending import ListBag, Mirror
from beam_topics.model.documents.sequencing import SequenceHead, add_documents, close_windows
from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.reading.files import read_file
from beam_topics.model.reading.settings import ReadSettings
from beam_topics.model.times import DURATION_UNITS
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.model.words.tokeniser import Tokeniser
from beam_topics.transforms.shared import END_OF_STREAM
from benchmarks.corpora import records

CORPORA = {
    "arx8": ("arxiv-cs-1994-2019", 8),
    "arxiv": ("arxiv-cs-1994-2019", 1),
    "news": ("20news-bydate", 1),
    "nips": ("nips-00-12", 1),
}
FORMS = {"jsonl": "a.jsonl", "gz": "a.jsonl.gz", "csv": "a.csv"}
_FIELDS = ("id", "timestamp", "label", "text")


def ingest() -> None:
    """Time the stages from a file to minibatches, for JSON lines, gzip and CSV."""
    for form in FORMS:
        report("arx8", form, 3, 30)


def main() -> None:
    """Report what the command line asks for."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--corpus", choices=CORPORA, default="arx8")
    parser.add_argument("--form", choices=FORMS, default="jsonl")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--days", type=int, default=30, help="days in a window")
    options = parser.parse_args()
    report(options.corpus, options.form, options.rounds, options.days)


def report(corpus: str, form: str, rounds: int, days: int) -> None:
    """Print one line of JSON with the microseconds a document of each stage."""
    data = file_of(corpus, form)
    settings = SequenceSettings(window=days * DURATION_UNITS["d"])
    least: dict[str, float] = defaultdict(lambda: float("inf"))
    for _ in range(rounds):
        spent, documents, digest = stages(data, FORMS[form], settings)
        for stage, seconds in spent.items():
            least[stage] = min(least[stage], seconds)
    micros = {stage: round(1e6 * seconds / documents, 1) for stage, seconds in least.items()}
    line = {"corpus": corpus, "form": form, "documents": documents, **micros}
    print(json.dumps(line | {"all": round(sum(micros.values()), 1), "digest": digest}), flush=True)


def file_of(corpus: str, form: str) -> bytes:
    """Return the bytes of a file with a corpus."""
    name, every = CORPORA[corpus]
    chosen = [
        {field: record[field] for field in _FIELDS}
        for record in islice(records(name), 0, None, every)
    ]
    if form == "csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, _FIELDS)
        writer.writeheader()
        writer.writerows(chosen)
        return text.getvalue().encode()
    data = "".join(json.dumps(record) + "\n" for record in chosen).encode()
    return gzip.compress(data) if form == "gz" else data


def stages(data: bytes, name: str, settings: SequenceSettings) -> tuple[dict[str, float], int, str]:
    """Run all stages once; (seconds of each, the number of documents, the last link)."""
    marks = [time.process_time()]

    def mark() -> None:
        marks.append(time.process_time())

    found = list(read_file(io.BytesIO(data), name, ReadSettings()))
    documents = [item for item in found if isinstance(item, Document)]
    mark()
    tokeniser = Tokeniser(TokeniserSettings())
    blocks = list(map(tokeniser.block, parts(documents)))
    mark()
    payloads = [data for _, data in map(keyed, map(Block.to_bytes, blocks))]
    mark()
    links = list(_sequenced(payloads, settings))
    mark()
    for link in links:
        link.minibatch()
    mark()
    names = ("read", "tokenise", "blocks", "sequence", "parse")
    spent = {name: marks[at + 1] - marks[at] for at, name in enumerate(names)}
    return spent, len(documents), links[-1].fingerprint.hex()[:16]


def parts(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Yield the documents of each block."""
    gathering = Gathering()
    for document in documents:
        yield from gathering.add(document)
    yield from gathering.rest()


def _sequenced(blocks: list[bytes], settings: SequenceSettings) -> Iterator[NumberedMinibatch]:
    """Yield the minibatches of blocks that are bytes already."""
    mirror, bag, head = Mirror(), ListBag(), SequenceHead(0, bytes(32))
    for part in blocks:
        head = add_documents(head, mirror, bag, part, settings).head
    while head.pending.due is not None:
        for closed in close_windows(head, mirror, bag, time=END_OF_STREAM, settings=settings):
            head = closed.head
            yield from closed.links


if __name__ == "__main__":
    main()
