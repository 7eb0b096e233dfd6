"""Models in the forms of other tools.

=============  ================================================================================
csv, parquet   a table of topics and their words (:func:`columns`)
json           topics, words and course for a page of the web (:func:`to_json`)
pyldavis       the arguments of ``pyLDAvis.prepare`` (:func:`to_pyldavis`)
gensim         a ``gensim.models.LdaModel`` (:func:`to_gensim`)
mallet         a Gibbs state of MALLET (:func:`to_mallet`)
seeds          frozen topics, for ``--seeds`` (:func:`to_seeds`)
=============  ================================================================================

Each form has the topics that the catalogue shows
(:class:`beam_topics.model.reporting.shown.Shown`): a merged topic is the sum of its group, a part
has its counts and its share of alpha (:mod:`beam_topics.model.reporting.shown`), and ids of parts
are below 0. Forms that number topics from 0 have them in this order. Hidden topics are there, so
shares have sum 1; ``json`` marks them.

A model keeps no documents. ``pyldavis`` and ``mallet`` have one document for each topic in their
place, which is about this topic alone and as long as the tokens of the topic. The shares of topics
and the frequencies of words are then those of the model.

tomotopy has no form: it makes a model of documents only, and reads only files that it wrote.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from beam_topics.model.arrays import FloatArray, LongArray
from beam_topics.model.errors import OptionError
from beam_topics.model.learners.seeds import MOST_TOKENS
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.reporting.escaping import cell
from beam_topics.model.reporting.relevance import topic_shares, word_statistics
from beam_topics.model.reporting.shown import Shown
from beam_topics.model.times import to_iso

# The most periods of a course.
PERIODS = 200
# Frozen topics: the words that cover this much of P(w | z), and the most words in all.
COVER = 0.999
MOST_WORDS = 20_000


def columns(shown: Shown) -> dict[str, list[Any]]:
    """Return the table of topics and words by columns.

    A row is a topic and a word with a count in it, in the order of topics and of counts. The
    columns: ``topic``, ``name``, ``share`` (of the tokens that the model holds), ``rank`` (from 1),
    ``word``, ``count`` (n_wz) and ``probability`` (P(w | z)).
    """
    snapshot, shares = shown.snapshot, topic_shares(shown.snapshot)
    statistics = word_statistics(snapshot)
    found: dict[str, list[Any]] = {
        name: [] for name in ("topic", "name", "share", "rank", "word", "count", "probability")
    }
    for place, topic in enumerate(shown.ids):
        at = statistics.span(place)
        rows = statistics.words[at].tolist()
        found["topic"] += [topic] * len(rows)
        found["name"] += [shown.given.get(topic, "")] * len(rows)
        found["share"] += [float(shares[place])] * len(rows)
        found["rank"] += range(1, len(rows) + 1)
        found["word"] += [snapshot.words[row] for row in rows]
        found["count"] += statistics.counts[at].tolist()
        found["probability"] += statistics.probability[at].tolist()
    return found


def to_csv(shown: Shown) -> bytes:
    """Return the table as CSV (RFC 4180) in UTF-8.

    Numbers have all of their digits. Text that a spreadsheet would compute begins with ``'``.
    """
    found, out = columns(shown), io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(found)
    writer.writerows(map(cell, row) for row in zip(*found.values(), strict=True))
    return out.getvalue().encode()


def to_parquet(shown: Shown) -> bytes:
    """Return the table as a Parquet file."""
    # Imported here, because the import takes a second.
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.table(columns(shown)), out)
    return out.getvalue()


def to_json(shown: Shown, history: Sequence[Manifest]) -> bytes:
    """Return topics as one JSON object in UTF-8, for a page of the web.

    ``version``, ``key``, ``event_time`` (ISO 8601), ``documents`` and ``tokens`` are of the
    version. ``topics`` has for each topic ``topic``, ``name``, ``share``, ``hidden``, ``words``
    (each with ``word``, ``count`` and ``probability``) and ``course``: its share in what came in
    each of ``periods`` (their middles, ISO 8601); null where nothing is known.
    """
    manifest, snapshot = shown.manifest, shown.snapshot
    course = shown.curves(history, PERIODS)
    shares, table = topic_shares(snapshot).tolist(), columns(shown)
    topics = [
        {
            "topic": topic,
            "name": shown.given.get(topic, ""),
            "share": shares[place],
            "hidden": shown.hidden[place],
            "words": [],
            "course": [
                None if math.isnan(one) else one for one in course.shares[:, place].tolist()
            ],
        }
        for place, topic in enumerate(shown.ids)
    ]
    names, by_id = ("word", "count", "probability"), dict(zip(shown.ids, topics, strict=True))
    for topic, *values in zip(table["topic"], *(table[name] for name in names), strict=True):
        by_id[topic]["words"].append(dict(zip(names, values, strict=True)))
    return _json(
        {
            "version": manifest.version,
            "key": manifest.key,
            "event_time": to_iso(manifest.event_time),
            "documents": manifest.documents,
            "tokens": manifest.tokens,
            "periods": [to_iso(time) for time in course.times()],
            "topics": topics,
        }
    )


def _json(values: dict[str, Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False, allow_nan=False).encode()


def to_pyldavis(shown: Shown) -> bytes:
    """Return what ``pyLDAvis.prepare`` takes, as one JSON object of its arguments, in UTF-8.

        pyLDAvis.save_html(pyLDAvis.prepare(**json.load(open("model.json"))), "model.html")

    Words without a count, and the probability of unseen words, are left out. Topics keep their
    order; pyLDAvis numbers them from 1.
    """
    snapshot = shown.snapshot
    every = np.arange(len(snapshot.words))
    counts = snapshot.rows(every)
    kept = np.flatnonzero(counts.sum(axis=1))
    phi = (counts + snapshot.prior.shares(every))[kept].T
    phi /= phi.sum(axis=1, keepdims=True)
    return _json(
        {
            "topic_term_dists": phi.tolist(),
            "doc_topic_dists": np.eye(snapshot.topic_count).tolist(),
            "doc_lengths": snapshot.totals.tolist(),
            "vocab": [snapshot.words[row] for row in kept.tolist()],
            "term_frequency": counts[kept].sum(axis=1).tolist(),
            "sort_topics": False,
        }
    )


def to_gensim(shown: Shown) -> Any:
    """Return a ``gensim.models.LdaModel`` with the counts and the prior of a model.

    Its parameters are lambda_zw = n_wz + s_z B(w), where ``eta`` holds the prior, so ``get_topics``
    gives P(w | z) among the known words, and ``alpha`` is that of the model. gensim infers
    documents by its own method.

    Raises:
        OptionError: gensim is not installed.
    """
    try:
        from gensim.corpora import Dictionary
        from gensim.models import LdaModel
    except ModuleNotFoundError as error:
        raise OptionError(
            "--format",
            "gensim",
            "nothing unless gensim is installed",
            "Run: pip install 'beam-topics[exports]'.",
        ) from error
    snapshot, every = shown.snapshot, np.arange(len(shown.snapshot.words))
    counts = snapshot.rows(every)
    words = Dictionary()
    words.token2id = {word: row for row, word in enumerate(snapshot.words)}
    words.id2token = dict(enumerate(snapshot.words))
    words.cfs = {row: round(total) for row, total in enumerate(counts.sum(axis=1))}
    words.num_docs, words.num_pos = shown.manifest.documents, shown.manifest.tokens
    found = LdaModel(
        id2word=words,
        num_topics=snapshot.topic_count,
        alpha=snapshot.alpha,
        eta=snapshot.prior.shares(every).T,
        dtype=np.float64,
        random_state=0,
    )
    found.state.sstats = np.ascontiguousarray(counts.T)
    found.state.numdocs = shown.manifest.documents
    found.sync_state()
    return found


def write_gensim(shown: Shown, path: Path) -> None:
    """Write the model as gensim does: some files with pickles, whose names begin with ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    to_gensim(shown).save(str(path))


def rounding(shown: Shown) -> tuple[float, int]:
    """Return the tokens of the model, and those of its state for MALLET."""
    counts = shown.snapshot.counts
    return float(counts.sum()), int(np.round(counts).sum())


def to_mallet(shown: Shown) -> bytes:
    """Return a Gibbs state in the form that MALLET writes with ``--output-state``, gzipped.

    Counts by word and topic are those of the model, and ``#alpha`` is its prior. MALLET has one
    ``#beta`` for all words and topics: the mean pseudo-count of the model's prior. A state has
    whole tokens: the expected counts of variational learners are rounded.

    MALLET numbers words in the order in which they come, and refuses a state with other numbers. So
    it reads this one where its instances are the texts of these documents.
    """
    snapshot = shown.snapshot
    offsets, rows, counts = snapshot.by_topic
    every = np.arange(len(snapshot.words))
    beta = float(np.mean(snapshot.prior.shares(every)))
    out = io.StringIO()
    out.write("#doc source pos typeindex type topic\n")
    out.write("#alpha : " + " ".join(repr(float(one)) for one in snapshot.alpha) + " \n")
    out.write(f"#beta : {beta!r}\n")
    numbers: dict[int, int] = {}
    for topic in range(snapshot.topic_count):
        at, place = slice(int(offsets[topic]), int(offsets[topic + 1])), 0
        for row, count in zip(rows[at].tolist(), counts[at].tolist(), strict=True):
            for _ in range(round(count)):
                number = numbers.setdefault(row, len(numbers))
                out.write(f"{topic} topic{topic} {place} {number} {snapshot.words[row]} {topic}\n")
                place += 1
    # Without a time, equal models give equal bytes.
    return gzip.compress(out.getvalue().encode(), mtime=0)


def to_seeds(shown: Shown, topics: Sequence[int] = ()) -> bytes:
    """Return a file for ``--seeds`` in which topics of a model keep their words.

        "space": "orbit^9362144 nasa^8120331 launch^4401920"

    Each topic has the same number of prior tokens,
    :data:`~beam_topics.model.learners.seeds.MOST_TOKENS` for all together, in proportion
    to P(w | z). A learner that begins with them moves P(w | z) by at most n_z / (n_z + s_z) in
    total variation, with n_z tokens that the topic learns and s_z prior ones. The other topics
    learn as ever.

    The file has the words that cover :data:`COVER` of P(w | z), the most probable first, and for
    all topics together at most :data:`MOST_WORDS`, because seeded words never leave the vocabulary.
    ``topics`` are ids in the order that they shall have; all if there is none.

    Raises:
        OptionError: the version has no such topic, or it is named twice, or two have one name.
    """
    snapshot, ids = shown.snapshot, shown.ids
    wanted = list(topics) or ids
    names = [shown.given.get(topic, f"topic {topic}").replace(": ", " ") for topic in wanted]
    for topic in wanted:
        if topic not in ids or wanted.count(topic) > 1:
            allowed = f"ids of topics of version {shown.manifest.version}, each once"
            raise OptionError("--topic_ids", topic, allowed, "beam-topics show lists them.")
    for name in names:
        if names.count(name) > 1:
            remedy = "Rename one: beam-topics topics."
            raise OptionError("--topic_ids", name, "topics with names of their own", remedy)
    rows = np.arange(len(snapshot.words))
    weight = snapshot.rows(rows) + snapshot.prior.shares(rows)
    shares = (weight / weight.sum(axis=0)).T[[ids.index(topic) for topic in wanted]]
    kept = _kept(shares)
    lines = []
    for name, share in zip(names, shares, strict=True):
        tokens = np.floor(share * (MOST_TOKENS // len(wanted))).astype(np.int64)
        own = [row for row in _covering(share).tolist() if kept[row] and tokens[row]]
        words = " ".join(f"{snapshot.words[row]}^{tokens[row]}" for row in own)
        # A string of JSON is one of YAML.
        lines.append(f"{json.dumps(name)}: {json.dumps(words, ensure_ascii=False)}\n")
    return "".join(lines).encode()


def _covering(share: FloatArray) -> LongArray:
    """Return the rows of the most probable words that cover a topic, int64."""
    order = np.argsort(-share, kind="stable")
    covered = np.cumsum(share[order])
    return order[: int(np.searchsorted(covered, COVER * covered[-1])) + 1]


def _kept(shares: FloatArray) -> npt.NDArray[np.bool_]:
    """Return which words the file may have, bool[W]: the most probable ones in any topic."""
    best = np.zeros(shares.shape[1])
    for share in shares:
        rows = _covering(share)
        best[rows] = np.maximum(best[rows], share[rows])
    kept = np.zeros(len(best), bool)
    kept[np.argsort(-best, kind="stable")[:MOST_WORDS]] = True
    return kept & (best > 0)
