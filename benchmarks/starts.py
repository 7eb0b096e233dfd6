"""How streams begin: a bad start, small data, toys; ``python -m benchmarks.starts``, as JSON lines.

    python -m benchmarks.starts alerts --seeds 1 2
    python -m benchmarks.starts toys --seeds 1 2 3 4 5 --topics 50 auto
    python -m benchmarks.starts small --seeds 1 2 --sizes 300 1000 3000
    python -m benchmarks.starts few --seeds 1 2 3

``alerts``: 400 lines of four templates, then 92 % such lines and 8 % newsgroup posts. A line has
the accuracy of a linear SVM on the roots of mixtures, for 3,000 unseen posts, after 300, 1,000 and
4,000 more documents. ``toys``: subjects whose words are their own, 200 documents each. A topic of
one token in 200 or more counts, and is *pure* if .95 of its tokens are of one subject. ``small``:
posts in random order, and the first eight words of 5,000 abstracts (``--sizes 8``), with the
accuracy for 3,000 unseen documents; ``late`` events come after the first tenth, and all are false.
``few``: 30 to 290 documents of toys whose subjects have 20 words, with the nMI of the documents'
topics and subjects.

Each case is learned with births, without them (a number of topics alone), and, for toys and small
data, by tomotopy with 200 sweeps if it is installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from beam_topics.model.evaluation.held_out import nmi
from beam_topics.model.learners import LEARNER, learner_for
from beam_topics.model.learners.engine.kernels.draw import NONE
from beam_topics.model.learners.engine.snapshots import Held, texts_of
from beam_topics.model.learners.engine.state import Array, State
from beam_topics.model.settings.compositions import compose
from benchmarks.births_engine import Text, block_of, texts
from benchmarks.corpora import minibatches

SIZE, ALERTS, UNSEEN, LATER = 100, 400, 3000, (300, 1000, 4000)
FEW = (30, 60, 120, 290)
SHARE, SUBJECTS, EACH, PURE, COUNTS = 0.08, (3, 4, 8, 20), 200, 0.95, 0.005
WORDS, ABSTRACTS, SWEEPS = 8, 5000, 200
SERVICES = ("billing", "search", "login", "cart", "catalog", "mail", "gateway", "cache", "index")


def alert(generator: np.random.Generator) -> Text:
    """Return an alert line of one of four templates."""
    place, k = f"node{generator.integers(26)}", int(generator.integers(4))
    service, n = SERVICES[generator.integers(len(SERVICES))], generator.integers(9)
    level = ("minor", "major", "critical")[generator.integers(3)]
    line = (
        f"disk usage above threshold host {place} volume{n} severity {level} cleanup required",
        f"service {service} unreachable probe timeout host {place} attempt{n} severity {level}",
        f"certificate expires soon domain {service} issuer renew{n} host {place} tls notice",
        f"backup job {service} finished duration{n} host {place} snapshot verified retention",
    )[k]
    return Text(f"alert{k}", line.split())


def toy(subjects: int, words: int, seed: int) -> list[Text]:
    """Return documents of twelve tokens, each of one subject; subjects share no word."""
    generator = np.random.default_rng(seed)
    of = generator.integers(subjects, size=EACH * subjects)
    return [
        Text(str(s), [f"s{s}w{w}" for w in generator.integers(words, size=12)]) for s in of.tolist()
    ]


def frequent(rows: Sequence[Text], least: int) -> list[Text]:
    """Return documents with the words that so many of them have, and at most a tenth."""
    having = Counter(word for row in rows for word in set(row.words))
    known = {word for word, n in having.items() if least <= n <= 0.1 * len(rows)}
    return [Text(row.label, [word for word in row.words if word in known]) for row in rows]


def steps(
    rows: Sequence[Text], seed: int, size: int = SIZE, **options: Any
) -> Iterator[tuple[Any, list[Any]]]:
    """Yield (state, events) after each minibatch."""
    settings = compose(LEARNER, {"learner": "gibbs", "seed": seed, **options})
    learner = learner_for(settings)
    state = learner.init(settings, "", 0)
    for minibatch in minibatches(block_of(rows), size):
        yield state, list(learner.step(state, minibatch).events)


def accuracy(words: Sequence[str], phi: Array, rows: Sequence[Text]) -> float:
    """Return the accuracy of a linear SVM on mixtures; one half learns, the other is tested.

    Args:
        words: the W words.
        phi: float[W, T].
        rows: unseen documents.
    """
    from sklearn.svm import LinearSVC

    number = {word: w for w, word in enumerate(words)}
    known = [[number[word] for word in row.words if word in number] for row in rows]
    model = State(1)
    model.add_words(len(words))
    lengths = np.array([len(some) for some in known])
    read = texts_of(model, model.add_documents(np.concatenate(known).astype(np.int32), lengths))
    held = Held.of(0.1, np.ascontiguousarray(phi[read.ids], np.float32))
    theta = np.sqrt(held.mixtures(read)[:, : phi.shape[1]])
    labels = np.array([row.label for row in rows])
    fitted = LinearSVC(C=1, dual=False).fit(theta[::2], labels[::2])
    return round(float(fitted.score(theta[1::2], labels[1::2])), 3)


def accuracy_of(state: Any, rows: Sequence[Text]) -> float:
    """Return the accuracy of a learner's mixtures."""
    live = state.live
    used = live.totals[: live.topics] > 0
    return accuracy(list(state.vocabulary.words), live.phi().T[:, used], rows)


def pure(table: Array) -> dict[str, int]:
    """Return how many topics count, and how many of these are pure.

    Args:
        table: int[subjects, T], tokens.
    """
    totals = table.sum(axis=0)
    counts = totals >= COUNTS * totals.sum()
    is_pure = table.max(axis=0) >= PURE * totals
    return {"used": int(counts.sum()), "pure": int((counts & is_pure).sum())}


def tokens_of(rows: Sequence[Text], topics: Array, lengths: Array) -> Array:
    """Return int64[subjects, T], the tokens of each label in each topic."""
    labels = np.array([int(row.label) for row in rows])
    where, has = np.repeat(labels, lengths), topics != NONE
    found = np.zeros((labels.max() + 1, int(topics[has].max()) + 1), np.int64)
    np.add.at(found, (where[has], topics[has]), 1)
    return found


def tomotopy_of(rows: Sequence[Text], topics: int, seed: int) -> Any:
    """Return tomotopy's model of documents, or None where it is not installed."""
    if importlib.util.find_spec("tomotopy") is None:
        return None
    import tomotopy

    model = tomotopy.LDAModel(k=topics, seed=seed)
    for row in rows:
        if row.words:
            model.add_doc(row.words)
    model.train(SWEEPS, workers=1)
    return model


def variants(topics: str) -> Iterator[dict[str, Any]]:
    """Yield the options of the learner that are compared."""
    yield {"topics": topics if topics == "auto" else int(topics)}
    if topics != "auto":
        yield {"topics": int(topics), "births": "off"}


def alerts(args: argparse.Namespace, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the figures of a stream that begins with alerts."""
    generator = np.random.default_rng(seed)
    posts = frequent(texts("news", seed)[: UNSEEN + max(LATER)], 5)
    unseen, others = posts[:UNSEEN], iter(posts[UNSEEN:])
    rows = [alert(generator) for _ in range(ALERTS)]
    for _ in range(max(LATER)):
        is_post = generator.random() < SHARE
        rows.append(next(others) if is_post else alert(generator))
    for topics in args.topics:
        for options in variants(topics):
            found: dict[str, Any] = {**options, "births told": [], "seed": seed}
            for state, events in steps(rows, seed, **options):
                after = state.documents - ALERTS
                found["births told"] += [(after, event.topics, event.kind) for event in events]
                if after in LATER:
                    count = int((state.live.totals > 0).sum())
                    found[f"+{after}"] = [count, accuracy_of(state, unseen)]
            yield found


def toys(args: argparse.Namespace, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the figures of toys."""
    for subjects in args.subjects:
        rows = toy(subjects, args.words, seed)
        lengths = np.array([len(row.words) for row in rows])
        for topics in args.topics:
            about = {"subjects": subjects, "words": args.words, "seed": seed}
            for options in variants(topics):
                run = list(steps(rows, seed, **options))
                live, told = run[-1][0].live, sum(len(events) for _, events in run)
                table = tokens_of(rows, live.z[: live.tokens], lengths)
                yield {**about, **options, "told": told, **pure(table)}
            if topics != "auto" and (model := tomotopy_of(rows, int(topics), seed)):
                z = np.concatenate([np.array(document.topics) for document in model.docs])
                yield {**about, "tomotopy": int(topics), **pure(tokens_of(rows, z, lengths))}


def small(args: argparse.Namespace, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the figures of small data."""
    for size in args.sizes:
        if size == WORDS:
            read, count = texts("arxiv", seed)[: ABSTRACTS + UNSEEN], ABSTRACTS
            read = [Text(row.label, row.words[:WORDS]) for row in read]
        else:
            read, count = texts("news", seed)[: size + UNSEEN], size
        kept = frequent(read, 3 if size < 2000 else 5)
        rows, unseen = kept[:count], kept[count:]
        for topics in args.topics:
            for options in variants(topics):
                begun, late = time.process_time(), []
                for state, events in steps(rows, seed, **options):
                    late += [event.kind for event in events if state.documents > count / 10]
                found = {"size": size, "seed": seed, **options, "late": late}
                found["topics at the end"] = int((state.live.totals > 0).sum())
                found["seconds"] = round(time.process_time() - begun, 1)
                yield {**found, "accuracy": accuracy_of(state, unseen)}
            if topics != "auto" and (model := tomotopy_of(rows, int(topics), seed)):
                phi = np.array([model.get_topic_word_dist(t) for t in range(model.k)]).T
                found = {"size": size, "seed": seed, "tomotopy": int(topics)}
                yield {**found, "accuracy": accuracy(list(model.used_vocabs), phi, unseen)}


def few(args: argparse.Namespace, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the figures of documents that are fewer than choose for good."""
    for subjects, count, topics in product(args.subjects, FEW, args.topics):
        rows = toy(subjects, 20, seed)[:count]
        options = {"topics": topics if topics == "auto" else int(topics)}
        live = list(steps(rows, seed, 10, **options))[-1][0].live
        agreed = nmi([row.label for row in rows], live.main_topics().tolist())
        about = {"subjects": subjects, "documents": count, "seed": seed, **options}
        yield {**about, "nmi": round(agreed, 3), "used": int((live.totals > 0).sum())}


CASES = {
    "few": (few, ["50", "auto"]),
    "alerts": (alerts, ["5", "50", "auto"]),
    "toys": (toys, ["50", "auto"]),
    "small": (small, ["50", "auto"]),
}


def starts(given: Sequence[str] = ("toys",)) -> None:
    """Toys of disjoint subjects: how many topics are pure, with and without births."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=list(CASES))
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--topics", nargs="+")
    parser.add_argument("--subjects", nargs="+", type=int, default=list(SUBJECTS))
    parser.add_argument("--words", type=int, default=6)
    parser.add_argument("--sizes", nargs="+", type=int, default=[WORDS, 300, 1000, 3000])
    args = parser.parse_args(given)
    case, topics = CASES[args.what]
    args.topics = args.topics or topics
    for seed in args.seeds:
        for found in case(args, seed):
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    import sys

    starts(sys.argv[1:])
