"""Stories against threads of newsgroups, and against copies: ``python -m benchmarks stories``.

**Threads.** The 18,846 posts of 20 Newsgroups in the order of their times, in windows of a day. The
true story of a post is its subject without ``Re:``. Headers are left out, so no method reads the
subject. ``without quotes`` also leaves out quoted lines: what is left has few words in common.
B-cubed precision, recall and F1 are those of all posts, and of threads of at least five posts.
``alone`` puts each post into a story of its own. ``by group`` finds the stories of each newsgroup
apart, as if topics were perfect, and ``by topic`` those of the topics of a model of 50 topics.

**Copies.** Short texts, as wires write them: six copies of each of 200 sentences of abstracts, of
which a copy loses one word in five, swaps two words, and adds two words of the corpus. They come
among 5,000 sentences that are no copies. Ten seeds.
"""

from __future__ import annotations

import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cache
from itertools import groupby, islice
from typing import NamedTuple

import numpy as np

from beam_topics.model.inference.mixtures import MOST_DISTINCT
from beam_topics.model.reporting.stories import Sketch, Stories
from beam_topics.model.times import parse_time
from beam_topics.model.words.tokeniser import Tokeniser, tokeniser_settings
from benchmarks.corpora import records

DAY = 86_400_000_000
SEEDS, COPIED, COPIES, OTHERS = 10, 200, 6, 5000
LARGE = 5
_REPLY = re.compile(r"^((re|fwd?)(\[\d+\])?:\s*)+")
_QUOTED = re.compile(r"\s*(>|\S{0,4}>|[:|])|.*(writes|wrote|writes\.\.\.):?\s*$")


class Post(NamedTuple):
    """A post: time, id, newsgroup, thread, and its words with and without quotes."""

    time: int
    id: str
    group: str
    thread: str
    words: list[str]
    own: list[str]


@cache
def posts() -> list[Post]:
    """Return all posts by time and id."""
    words, found = Tokeniser(tokeniser_settings()).words, []
    for one in records("20news-bydate"):
        head, _, body = one["text"].partition("\n\n")
        subject = re.search(r"^Subject:(.*(?:\n[ \t].*)*)", head, re.MULTILINE)
        thread = " ".join((subject[1] if subject else one["id"]).lower().split())
        own = "\n".join(line for line in body.split("\n") if not _QUOTED.match(line))
        thread = _REPLY.sub("", thread)
        moment = parse_time(one["timestamp"])
        found.append(Post(moment, one["id"], one["label"], thread, words(body), words(own)))
    return sorted(found)


def b_cubed(truth: Sequence[Hashable], found: Sequence[Hashable]) -> tuple[float, float, float]:
    """Return B-cubed precision, recall and F1 (Bagga and Baldwin 1998)."""
    true, told, both = Counter(truth), Counter(found), Counter(zip(truth, found, strict=True))
    precision = sum(n * n / told[story] for (_, story), n in both.items()) / len(truth)
    recall = sum(n * n / true[thread] for (thread, _), n in both.items()) / len(truth)
    return precision, recall, 2 * precision * recall / (precision + recall)


def found_in(sketches: Sequence[Sketch], part: Callable[[Sketch], Hashable]) -> dict[str, Hashable]:
    """Return the story of each document, by its id; each part of the documents has its own."""
    found: dict[str, Hashable] = {}
    known: dict[Hashable, _Noting] = defaultdict(_Noting)
    for _, window in groupby(sketches, key=lambda one: one.time // DAY):
        parts: dict[Hashable, list[Sketch]] = defaultdict(list)
        for one in window:
            parts[part(one)].append(one)
        for name, some in parts.items():
            known[name].closed(some)
    for name, one in known.items():
        found |= {id: (name, story) for id, story in one.noted.items()}
    return found


class _Noting(Stories):
    """Stories that note the story of each document."""

    def __init__(self) -> None:
        super().__init__()
        self.noted: dict[str, str] = {}

    def _joined(self, one: Sketch) -> int:
        number = super()._joined(one)
        self.noted[one.id] = self.stories[number].first
        return number


def sketch(time: int, id: str, topic: int | None, words: Sequence[str]) -> Sketch:
    """Return the sketch of a document."""
    return Sketch(time, id, topic, dict(islice(Counter(words).items(), MOST_DISTINCT)))


def topics_of(texts: Sequence[Sequence[str]]) -> list[int]:
    """Return the main topic of each text by a model of 50 topics of all texts."""
    from beam_topics import TopicModel

    shares = TopicModel(topics=50).fit_transform([" ".join(words) for words in texts])
    return np.asarray(shares).argmax(axis=1).tolist()


def threads() -> None:
    """Print the rows of threads."""
    truth = [one.thread for one in posts()]
    sizes = Counter(truth)
    large = [at for at, thread in enumerate(truth) if sizes[thread] >= LARGE]

    def row(name: str, found: Sequence[Hashable], micros: float = 0.0) -> None:
        some = b_cubed([truth[at] for at in large], [found[at] for at in large])
        figures = " ".join(f"{value:.3f}" for value in (*b_cubed(truth, found), *some))
        print(f"{name:40} {figures} {micros:6.0f} us", flush=True)

    row("alone", range(len(truth)))
    for name, words in (
        ("posts", [p.words for p in posts()]),
        ("without quotes", [p.own for p in posts()]),
    ):
        given = topics_of(words) if name == "posts" else [None] * len(truth)
        made = [sketch(p.time, p.id, z, w) for p, z, w in zip(posts(), given, words, strict=True)]
        parts: dict[str, Callable[[Sketch], Hashable]] = {"": lambda one: 0}
        if name == "posts":
            parts |= {
                ", by group": lambda one: one.id.rpartition("/")[0],
                ", by topic": lambda one: one.topic,
            }
        for how, part in parts.items():
            begin = time.perf_counter()
            found = found_in(made, part)
            micros = (time.perf_counter() - begin) / len(made) * 1e6
            row(name + how, [found[p.id] for p in posts()], micros)


def sentences() -> Iterator[list[str]]:
    """Yield the words of sentences of abstracts that are as long as a headline or a short wire."""
    words = Tokeniser(tokeniser_settings()).words
    for one in records("arxiv-cs-1994-2019"):
        for text in one["text"].partition("\n\n")[2].split(". "):
            if 6 <= len(found := words(text)) <= 14:
                yield found


def copies() -> None:
    """Print precision and recall of pairs of copies, and of all pairs within stories."""
    found = []
    several = list(islice(sentences(), 60_000))
    for seed in range(SEEDS):
        draw = random.Random(seed)
        chosen = draw.sample(several, COPIED + OTHERS)
        rows = [(f"{at}-0", at, words) for at, words in enumerate(chosen)]
        for at, words in enumerate(chosen[:COPIED]):
            for copy in range(1, COPIES):
                kept = [word for word in words if draw.random() > 0.2]
                first, second = draw.sample(range(len(kept)), 2) if len(kept) > 1 else (0, 0)
                kept[first], kept[second] = kept[second], kept[first]
                kept += draw.sample(draw.choice(several), 2)
                rows.append((f"{at}-{copy}", at, kept))
        draw.shuffle(rows)
        made = [sketch(at * 10**7, name, None, words) for at, (name, _, words) in enumerate(rows)]
        told = found_in(made, lambda one: 0)
        found.append(b_cubed([at for _, at, _ in rows], [told[name] for name, _, _ in rows]))
        some = [(at, told[name]) for name, at, _ in rows if at < COPIED]
        found[-1] += b_cubed(*zip(*some, strict=True))
    low, middle, high = np.percentile(np.array(found), [0, 50, 100], axis=0)
    for name, figures in (("least", low), ("median", middle), ("most", high)):
        print(f"copies, {name:32} {' '.join(f'{value:.3f}' for value in figures)}", flush=True)


def stories() -> None:
    """Print all rows."""
    print(f"{'':40} {'all: P R F1':17} {'large threads: P R F1':17}")
    threads()
    copies()


if __name__ == "__main__":
    stories()
