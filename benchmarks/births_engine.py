"""Births of the learner ``gibbs``, with ``--births=on``, as JSON lines.

    python -m benchmarks.births_engine inside --names sci.crypt rec.sport.hockey --seeds 1 2
    python -m benchmarks.births_engine unchanged --names news arxiv --seeds 1
    python -m benchmarks.births_engine pause --names sci.crypt --seeds 1
    python -m benchmarks.births_engine change --seeds 1
    python -m benchmarks.births_engine turnover --names sci.crypt+rec.sport.hockey --seeds 1

``inside``: 4,000 posts of nineteen newsgroups, then every twelfth (``--every``) is of one more; or
abstracts, where the name is a category of arXiv (``cs.PL``). A line says how many of its posts
came until it was told, and which share of the documents that hold a born topic is of it.
``unchanged``: a corpus in random order; every event is false. ``pause``: 6 % of
10,000 posts are of a newsgroup that writes nothing from 4,000 to 7,000; ``holder`` is the topic
that holds most of its posts after that, and their share. ``change``: 3,000 abstracts, then 6,000
posts. ``turnover``: 3,300 posts of six newsgroups, T = 8; after 1,600 the words of one are those of
another, at once or over so many documents (``--over``); ``groups`` are the newest 900 documents of
each by their topics. ``cost`` is the share of seconds that births take, beside the same learner
without births; ``--cost`` runs it. ``accuracy`` of a change is that of a linear SVM on the roots of
mixtures, for 3,000 posts that nobody has learned: with births, without them, and of the posts
learned alone.

Words have three letters or more, are no stop words, and five documents or more have them, and at
most a tenth. Documents are cut at 200 words. Minibatches have 300 documents.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.learners import LEARNER, learner_for
from beam_topics.model.learners.engine.snapshots import Held, texts_of
from beam_topics.model.learners.engine.state import State
from beam_topics.model.publishing.events import BIRTH
from beam_topics.model.settings.compositions import compose
from benchmarks.corpora import frequent, minibatches, records, stop_words

LONGEST, LEAST, MOST, SIZE = 200, 5, 0.1, 300
OLD, EVERY, STREAM = 4000, 12, 9000
LONG, PAUSE, SHARE = 10_000, range(4000, 7000), 0.06
SHORT, TURN, LAST = 3300, 1600, 900
BESIDE = ("comp.graphics", "rec.autos", "sci.med", "sci.space", "talk.politics.mideast")
FILES = {"news": "20news-bydate", "arxiv": "arxiv-cs-1994-2019"}
TOPICS = {"news": 30, "arxiv": 50}
_WORD = re.compile(r"[a-z]{3,}")


@dataclass
class Text:
    """A document.

    Attributes:
        label: its group.
        words: its words.
    """

    label: str
    words: list[str]


def texts(name: str, seed: int) -> list[Text]:
    """Read a corpus in random order."""
    stop, found = stop_words(), []
    for record in records(FILES[name]):
        text = record["text"].split("\n\n", 1)[-1] if name == "news" else record["text"]
        words = [word for word in _WORD.findall(text.lower()) if word not in stop]
        if record["label"]:
            found.append(Text(record["label"], words[:LONGEST]))
    order = np.random.default_rng(100 + seed).permutation(len(found))
    return [found[d] for d in order[:20_000].tolist()]


def inside(group: str, seed: int, every: int = EVERY) -> list[Text]:
    """Return posts of other groups, or abstracts of other categories, and then some of one more."""
    rows = texts("arxiv" if group.startswith("cs.") else "news", seed)
    new = [row for row in rows if row.label == group][:400]
    old = [row for row in rows if row.label != group]
    found, at = old[:OLD], OLD
    for row in new:
        found += [*old[at : at + every - 1], row]
        at += every - 1
    return found


def block_of(rows: Sequence[Text]) -> Block:
    """Return documents, whose ids are their places, as a block."""
    documents = [Document(str(d), d, "", row.label) for d, row in enumerate(rows)]
    return Block.of_words(documents, [row.words for row in rows])


def run(rows: list[Text], seed: int, **options: Any) -> tuple[float, list[dict[str, Any]], Any]:
    """Learn a stream; return (seconds, events, the state)."""
    settings = compose(LEARNER, {"learner": "gibbs", "seed": seed, **options})
    learner, found = learner_for(settings), []
    state = learner.init(settings, "", 0)
    seconds, documents = 0.0, frequent(block_of(rows), LEAST, MOST * len(rows))
    for n, minibatch in enumerate(minibatches(documents, SIZE)):
        begun = time.process_time()
        info = learner.step(state, minibatch)
        # The first minibatches compile.
        seconds += time.process_time() - begun if n > 3 else 0.0
        for event in info.events:
            found.append({"at": state.documents, **told(state, event, rows)})
    return seconds, found, state


def told(state: Any, event: Any, rows: list[Text]) -> dict[str, Any]:
    """Return what an event says, and the labels of the documents that hold its topics."""
    main = state.live.main_topics()
    of = Counter(rows[d].label for d in state.marks[np.isin(main, event.topics)].tolist())
    live, words = state.live, state.vocabulary.words
    p = live.rows[: live.size, event.topics[0]] / max(live.totals[event.topics[0]], 1)
    order = np.argsort(-p * np.log(np.maximum(p, 1e-12) / live.base[: live.size]))
    figures = {name: round(value, 4) for name, value in event.figures.items()}
    best = [words[w] for w in order[:8].tolist()]
    return {
        "kind": event.kind,
        "topics": event.topics,
        "documents": event.documents,
        "ids": [rows[int(d)].label for d in event.ids],
        **figures,
        "words": " ".join(best),
        "labels": of.most_common(3),
    }


def paused(group: str, seed: int) -> list[Text]:
    """Return posts of which a group has a share, but for PAUSE."""
    rows, generator = texts("news", seed), np.random.default_rng(seed)
    own = iter([row for row in rows if row.label == group])
    others = iter([row for row in rows if row.label != group])
    return [
        next(own if d not in PAUSE and generator.random() < SHARE else others) for d in range(LONG)
    ]


def turned(names: str, seed: int, over: int) -> list[Text]:
    """Return posts of six groups, one of which has other words in the end.

    Args:
        names: two groups, ``sci.crypt+rec.sport.hockey``: the words are of the one, then the other.
        seed: of the order.
        over: documents after TURN in which the words turn over; 0 is at once.
    """
    before, after = names.split("+")
    rows, generator = texts("news", seed), np.random.default_rng(seed)
    posts = {g: iter([row for row in rows if row.label == g]) for g in (before, after, *BESIDE)}
    found = []
    for d in range(SHORT):
        share = min(1.0, max(0.0, (d - TURN) / over)) if over else float(d >= TURN)
        label = (before, *BESIDE)[generator.integers(1 + len(BESIDE))]
        if label != before:
            found.append(next(posts[label]))
            continue
        parts = (before, 1.0 - share), (after, share)
        words = [w for g, p in parts for w in next(posts[g]).words if generator.random() < p]
        found.append(Text(after if share > 0.5 else before, words))
    return found


def topics_of_groups(state: Any, rows: list[Text]) -> dict[str, list[int]]:
    """Return the posts of each group of the newest LAST, by their topics, most first."""
    last = state.marks >= state.documents - LAST
    of = Counter(
        (rows[d].label, int(topic))
        for d, topic in zip(state.marks[last], state.live.main_topics()[last], strict=True)
        if topic >= 0
    )
    groups = sorted({group for group, _ in of})
    return {g: [n for (one, _), n in of.most_common() if one == g] for g in groups}


def holder(state: Any, rows: list[Text], name: str) -> tuple[int, float]:
    """Return the topic that holds most posts of a group after the pause, and their share."""
    mine = [d >= PAUSE.stop and rows[d].label == name for d in state.marks.tolist()]
    main = state.live.main_topics()[mine]
    counts = np.bincount(main[main >= 0])
    return int(counts.argmax()), round(float(counts.max() / counts.sum()), 3)


def accuracy(state: Any, rows: list[Text]) -> float:
    """Return the accuracy of a linear SVM on mixtures; one half learns, the other is tested."""
    from sklearn.svm import LinearSVC

    live, number = state.live, {word: w for w, word in enumerate(state.vocabulary.words)}
    known = [[number[word] for word in row.words if word in number] for row in rows]
    model = State(live.topics)
    model.add_words(live.size)
    documents = model.add_documents(
        np.array([w for words in known for w in words]), np.array([len(words) for words in known])
    )
    read = texts_of(model, documents)
    held = Held.of(float(live.alpha[0]), np.ascontiguousarray(live.phi().T[read.ids], np.float32))
    theta = np.sqrt(held.mixtures(read)[:, : live.topics])
    labels = np.array([row.label for row in rows])
    fitted = LinearSVC(C=1, dual=False).fit(theta[::2], labels[::2])
    return round(float(fitted.score(theta[1::2], labels[1::2])), 3)


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["inside", "unchanged", "pause", "change", "turnover"])
    parser.add_argument("--names", nargs="+", default=["news"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--documents", type=int, default=STREAM)
    parser.add_argument("--every", type=int, default=EVERY)
    parser.add_argument("--over", type=int, default=0)
    parser.add_argument("--cost", action="store_true")
    args = parser.parse_args()
    for name in args.names:
        for seed in args.seeds:
            print(json.dumps(line(args, name, seed)), flush=True)


def line(args: argparse.Namespace, name: str, seed: int) -> dict[str, Any]:
    """Return the figures of one run."""
    topics, found = TOPICS.get(name, 30), {"what": args.what, "name": name, "seed": seed}
    if args.what == "inside":
        rows = inside(name, seed, args.every)
    elif args.what == "pause":
        rows = paused(name, seed)
    elif args.what == "turnover":
        rows, topics = turned(name, seed, args.over), 8
    elif args.what == "unchanged":
        rows = texts(name, seed)[: args.documents]
    else:
        rows, topics = texts("arxiv", seed)[:3000] + texts("news", seed)[:6000], 50
    seconds, events, state = run(rows, seed, topics=topics, births="on")
    found |= {"events": events, "topics": state.live.topics, "seconds": round(seconds, 1)}
    found["ended"] = state.nursery.endings.ended
    births = [event for event in events if event["kind"] == BIRTH]
    if args.what == "inside":
        mine = [b for b in births if b["labels"] and b["labels"][0][0] == name]
        until = mine[0]["at"] if mine else None
        found["posts"] = until and sum(row.label == name for row in rows[:until])
        found["others"] = len(births) - len(mine)
    if args.what == "turnover":
        found["groups"] = topics_of_groups(state, rows)
    if args.what == "pause":
        found["holder"] = holder(state, rows, name)
    if args.what == "change":
        unseen = texts("news", seed)[6000:9000]
        off = run(rows, seed, topics=topics, births="off")[2]
        others = [off, run(rows[3000:], seed, topics=topics)[2]]
        found["accuracy"] = [accuracy(one, unseen) for one in (state, *others)]
    if args.cost:
        alone, _, _ = run(rows, seed, topics=topics)
        found["cost"] = round(seconds / alone - 1, 3)
    return found


if __name__ == "__main__":
    main()
