"""From the bytes of a file to minibatches: processor microseconds a document, stage by stage.

    python -m benchmarks.ingest --corpus arx8 --form jsonl

``arxiv`` are abstracts of arXiv, ``arx8`` every eighth of them, ``news`` posts of 20 Newsgroups,
``nips`` papers. The file is JSON lines, the same gzipped, CSV, or Parquet, which another process
reads (its seconds do not count). The stages run one after the
other on the whole corpus, as a worker runs them: ``read`` gives documents from bytes, ``tokenise``
their words, ``blocks`` the bytes of blocks with their keys, ``sequence`` the
minibatches as bytes, ``parse`` the minibatches from their bytes. The least of several repetitions
counts. The digest is the last link of the chain: equal digests are equal minibatches.

``--keys 8`` gives the documents eight model keys in turn. Then, or with ``--beam``, the stages run
as steps of Beam's local runner. A run of a hundred documents, which is most of all Beam's start, is
taken off.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq

from beam_topics.model.documents.block import Block, Gathering, keyed
from beam_topics.model.documents.document import Document
from beam_topics.model.documents.minibatch import NumberedMinibatch
from beam_topics.model.documents.pending import ListBag, Mirror
from beam_topics.model.documents.sequencing import SequenceHead, add_documents, close_windows
from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.learner_log.options import LearnOptions
from beam_topics.model.learners import LEARNER
from beam_topics.model.reading.files import read_file
from beam_topics.model.reading.settings import FieldNames, ParseSettings, ReadSettings
from beam_topics.model.settings.compositions import compose
from beam_topics.model.times import DURATION_UNITS
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.model.words.tokeniser import Tokeniser
from beam_topics.transforms.read import ReadDocuments
from beam_topics.transforms.sequence import Sequence
from beam_topics.transforms.shared import END_OF_STREAM
from benchmarks.corpora import records

CORPORA = {
    "arx8": ("arxiv-cs-1994-2019", 8),
    "arxiv": ("arxiv-cs-1994-2019", 1),
    "news": ("20news-bydate", 1),
    "nips": ("nips-00-12", 1),
}
FORMS = {"jsonl": "a.jsonl", "gz": "a.jsonl.gz", "csv": "a.csv", "parquet": "a.parquet"}
_FIELDS = ("id", "timestamp", "label", "text")
_FEW = 100


def ingest() -> None:
    """Time the stages from a file to minibatches, for each form of a file."""
    for form in FORMS:
        report("arx8", form, 3, 30)


def main() -> None:
    """Report what the command line asks for."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--corpus", choices=CORPORA, default="arx8")
    parser.add_argument("--form", choices=FORMS, default="jsonl")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--days", type=int, default=30, help="days in a window")
    parser.add_argument("--keys", type=int, default=1, help="model keys")
    parser.add_argument("--beam", action="store_true", help="steps of Beam's local runner")
    options = parser.parse_args()
    if options.beam or options.keys > 1:
        report_beam(options.corpus, options.form, options.rounds, options.days, options.keys)
    else:
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


def report_beam(corpus: str, form: str, rounds: int, days: int, keys: int) -> None:
    """Print one line of JSON with the microseconds a document of the steps of Beam."""
    settings = SequenceSettings(window=days * DURATION_UNITS["d"])
    whole, few = file_of(corpus, form, keys), file_of(corpus, form, keys, _FEW)
    pairs = [
        [in_beam(data, FORMS[form], settings, keys) for data in (few, whole)] for _ in range(rounds)
    ]
    documents = len(range(0, sum(1 for _ in records(CORPORA[corpus][0])), CORPORA[corpus][1]))
    start, end = map(min, zip(*pairs, strict=True))
    micros = round(1e6 * (end - start) / (documents - _FEW), 1)
    line = {"corpus": corpus, "form": form, "documents": documents, "keys": keys}
    print(json.dumps(line | {"start": round(start, 2), "beam": micros}), flush=True)


def in_beam(data: bytes, name: str, settings: SequenceSettings, keys: int) -> float:
    """Return the seconds of the processor from a file to minibatches, as steps of Beam."""
    fields = FieldNames(key="key" if keys > 1 else None)
    tokeniser, learner = TokeniserSettings(), compose(LEARNER, {})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        options = LearnOptions(learner, tokeniser, settings, store=str(Path(folder) / "store"))
        read = ReadSettings(ParseSettings(fields=fields))
        begin = time.process_time()
        with beam.Pipeline("DirectRunner") as pipeline:
            documents = pipeline | ReadDocuments([str(path)], read, tokeniser)
            documents.documents | Sequence(options, streams=False)
        return time.process_time() - begin


def file_of(corpus: str, form: str, keys: int = 1, most: int | None = None) -> bytes:
    """Return the bytes of a file with a corpus, or with ``most`` documents of it."""
    name, every = CORPORA[corpus]
    chosen = [
        {field: record[field] for field in _FIELDS} | {"key": f"key{number % keys}"}
        for number, record in enumerate(islice(records(name), 0, None, every))
    ][:most]
    if form == "csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, [*_FIELDS, "key"])
        writer.writeheader()
        writer.writerows(chosen)
        return text.getvalue().encode()
    if form == "parquet":
        table = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(chosen), table)
        return table.getvalue()
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
