"""What the learner ``gibbs`` holds next to the engine's state: words, labels, and its position.

Words get numbers in the order of their first use. A stream that has more than --max_words drops the
least used ones, with their counts, their tables and their tokens. An archive does not learn words
above the bound: otherwise the result would depend on when it was asked for.
"""

from __future__ import annotations

import hashlib
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from beam_topics.model.documents.minibatch import Minibatch
from beam_topics.model.kernels.threads import pool_of
from beam_topics.model.learners.engine.archive import Schedule, archive
from beam_topics.model.learners.engine.candidates import Names
from beam_topics.model.learners.engine.kernels.draw import NONE
from beam_topics.model.learners.engine.nursery import Nursery, forget
from beam_topics.model.learners.engine.settings import ArchiveSchedule, Gibbs, StreamSchedule
from beam_topics.model.learners.engine.start import first_model
from beam_topics.model.learners.engine.state import Array, State
from beam_topics.model.learners.engine.stream import keep_sample, places_of
from beam_topics.model.learners.seeds import prior_tokens, words_of
from beam_topics.model.words.vocabulary import Vocabulary
from beam_topics.model.words.word_list import first_uses

# The reservoir by the documents that leave it together.
PARTS = 64


class Current(NamedTuple):
    """The current model.

    Attributes:
        live: what was learned.
        rows: int64[W], the number that each word of the vocabulary has there.
        order: int64[D], for each document there its place among those at hand.
    """

    live: State
    rows: Array
    order: Array


@dataclass
class GibbsState:
    """The state of the learner.

    Attributes:
        settings, key, threads: as given to ``init``.
        live: the engine's state; in an archive its documents have no topics.
        vocabulary: the words.
        sequence: number of the last minibatch.
        documents, tokens: how many came.
        scored: tokens that ``log_evidence`` covers.
        log_evidence: ln P of them, each minibatch given all before it.
        marks: int64[D], for each document at hand how many came before it; in an archive a hash
            of its id and words.
        places: float64[D], the uniforms by which documents stay at hand; not saved, and none in an
            archive.
        labels: their labels.
        arrived: float64[2, T], the tokens and documents of each topic in the minibatches of the
            last call; not saved.
        learned: the model of an archive, if it was made since the last minibatch; not saved.
        nursery: what births need, if topics are born.
        first: T, the topics with which learning began, by the last choice; 0 before the first one
            (:mod:`beam_topics.model.learners.engine.start`).
    """

    settings: Gibbs
    key: str
    threads: int
    live: State = field(init=False)
    vocabulary: Vocabulary = field(init=False)
    sequence: int = 0
    documents: int = 0
    tokens: int = 0
    scored: int = 0
    log_evidence: float = 0.0
    marks: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    places: Array = field(default_factory=lambda: np.zeros(0))
    labels: list[str | None] = field(default_factory=list)
    arrived: Array = field(init=False)
    learned: Current | None = None
    nursery: Nursery | None = None
    first: int = 0

    def __post_init__(self) -> None:
        if not self.settings.chooses_first:
            self.first = self.settings.first_topics
        self.live = new_model(self.settings, self.key)
        self.vocabulary = self.settings.vocabulary.new()
        self.vocabulary.keep_always(words_of(self.settings.seeds))
        self.live.add_words(len(self.vocabulary))
        self.live.add_prior_tokens(*self.prior)
        self.arrived = np.zeros((2, self.settings.topic_count))
        if law := self.settings.births:
            most = self.settings.topic_count
            alpha, full = self.settings.topic_alpha, self.settings.most_first
            grows, names = self.settings.learns_topics, Names(self.live.key)
            self.nursery = Nursery(law, alpha, most, names, full, grows)

    @property
    def alpha(self) -> float:
        """Return alpha of each topic."""
        return self.settings.alpha_of(self.first or self.live.topics)

    @property
    def is_choosing(self) -> bool:
        """Return whether T may be chosen again, by all documents; so all are at hand.

        Births remember their first documents when it is chosen for good.
        """
        return self.settings.chooses_first and not (self.nursery and self.nursery.due)

    def choose_topics(self, documents: int) -> None:
        """Choose T by the first documents; the model starts over, with all documents at hand."""
        assert self.nursery
        self.live = first_model(self.live, self.first, documents, self.settings, self.pool)
        self.first = self.live.topics
        self.nursery.alpha = self.alpha

    @property
    def prior(self) -> tuple[Array, Array]:
        """Return the numbers of the words of seeds, int32[n], and their prior tokens, int64[n, m].

        The columns are the first topics.
        """
        seeds, strength = self.settings.seeds, self.settings.seed_strength
        return self.vocabulary.numbers(words_of(seeds)), prior_tokens(seeds, strength)

    @property
    def is_archive(self) -> bool:
        """Return whether documents wait until a version is made."""
        return isinstance(self.settings.schedule, ArchiveSchedule)

    @property
    def pool(self) -> Executor | None:
        """Return threads for the work; None where this one does all."""
        return pool_of(self.threads)

    def take(self, minibatch: Minibatch) -> Array:
        """Hold a minibatch's documents, without topics.

        Returns:
            int64[n], their numbers in the model.
        """
        numbers = self._number_words(minibatch)
        tokens = numbers[minibatch.tokens]
        known = tokens >= 0
        ends = np.concatenate([[0], np.cumsum(known)])[minibatch.offsets]
        arrived = self.live.add_documents(tokens[known], np.diff(ends))
        marks = np.arange(self.documents, self.documents + len(minibatch))
        if self.is_archive:
            marks = np.array([_mark(minibatch, d) for d in range(len(minibatch))], np.int64)
        else:
            self.places = np.concatenate([self.places, places_of(self.live, marks)])
        self.marks = np.concatenate([self.marks, marks])
        self.labels += minibatch.labels
        self.sequence, self.learned = minibatch.sequence, None
        self.documents += len(minibatch)
        self.tokens += int(known.sum())
        return arrived

    def keep_sample(self, arrived: int) -> None:
        """Let documents leave that are more than the settings allow; ``arrived`` are new.

        They leave together, once per many arrivals, because the others then move.
        """
        schedule = self.settings.schedule
        if not isinstance(schedule, StreamSchedule) or self.is_choosing:
            return
        together = max(1, schedule.reservoir // PARTS)
        is_due = (self.documents - arrived) // together < self.documents // together
        most = schedule.reservoir - together + 1
        if not is_due or len(self.marks) <= most:
            return
        wanted = self.nursery.wanted(self.marks, self.documents) if self.nursery else None
        staying = keep_sample(self.live, self.places, most, wanted)
        # Few leave, and most of them have come last.
        first = int(np.count_nonzero(staying == np.arange(len(staying))))
        self.labels[first:] = [self.labels[d] for d in staying[first:].tolist()]
        self.marks, self.places = self.marks[staying], self.places[staying]

    def erase(self, arrivals: Array) -> int:
        """Take documents at hand out of all counts; they stay as documents without words.

        Births forget their snapshots and candidates: these counted the tokens by topics that are
        no longer known. The numbers of documents and tokens that came do not change.

        Args:
            arrivals: int64[n], how many documents came before each of them.

        Returns:
            How many of them were at hand with a word or a label.
        """
        live = self.live
        # An archive holds all documents in the order in which they came.
        at = arrivals if self.is_archive else np.flatnonzero(np.isin(self.marks, arrivals))
        lengths = np.diff(live.offsets[: live.documents + 1])
        found = np.array([d for d in at if lengths[d] or self.labels[d] is not None], np.int64)
        if not len(found):
            return 0
        places = live.places(found)[0]
        words = live.words[places]
        if self.nursery:
            forget(self.nursery)
        if self.nursery and not self.is_choosing:
            learned = found[~np.isin(self.marks[found], self.nursery.waiting)]
            self.nursery.count_uses(live, learned, -1)
        live.recount(places, np.full(len(places), NONE))
        stays = np.ones(live.tokens, np.bool_)
        stays[places], lengths[found] = False, 0
        live.keep_tokens(stays, lengths)
        used = np.unique(words)
        live.tables[used] = np.minimum(live.tables[used], live.rows[used].sum(axis=1))
        for d in found.tolist():
            self.labels[d] = None
        if self.is_archive:
            self.marks[found] = found
        unused = used[~live.rows[used].any(axis=1) & ~np.isin(used, live.words[: live.tokens])]
        unused = unused[unused >= self.vocabulary.always]
        if self.settings.vocabulary.is_open and len(unused):
            self._keep_words(np.setdiff1d(np.arange(live.size), unused))
        self.learned = live.workspace = None
        return len(found)

    def _keep_words(self, staying: Array) -> None:
        self.vocabulary.keep(staying)
        self.live.keep_words(staying)
        if self.nursery:
            self.nursery.keep_words(staying)

    def _number_words(self, minibatch: Minibatch) -> Array:
        """Return the number of each word of a minibatch, int32; new words join."""
        words, is_open = minibatch.words, self.settings.vocabulary.is_open
        leave = is_open and not self.is_archive
        staying = self.vocabulary.staying(words) if leave else None
        if staying is not None:
            self._keep_words(staying)
        numbers = self.vocabulary.numbers(words)
        self.vocabulary.used(numbers, np.bincount(minibatch.tokens, minlength=len(words)))
        self.live.add_words(len(self.vocabulary) - self.live.size)
        return numbers

    def current(self) -> Current:
        """Return the current model; an archive is learned, once for each minibatch."""
        if not self.is_archive:
            size, documents = self.live.size, self.live.documents
            return Current(self.live, np.arange(size), np.arange(documents))
        if self.learned is None:
            self.learned = learn_archive(self)
        return self.learned


def new_model(settings: Gibbs, key: str) -> State:
    """Return a model before its first document."""
    topics, unseen = settings.first_topics, int(settings.vocabulary.is_open)
    live = State(topics, settings.seed, key, unseen=unseen)
    live.alpha[:topics] = settings.topic_alpha
    return live


def learn_archive(state: GibbsState) -> Current:
    """Learn all documents, in the order of their marks and of the words' first uses in it."""
    held, order = state.live, np.argsort(state.marks, kind="stable")
    lengths = np.diff(held.offsets[: held.documents + 1])[order]
    starts = np.repeat(held.offsets[order] - (np.cumsum(lengths) - lengths), lengths)
    words = held.words[starts + np.arange(held.tokens)]
    used = words[first_uses(words)[0]] if len(words) else words
    unused = np.setdiff1d(np.arange(held.size), used)
    rows = np.empty(held.size, np.int64)
    rows[np.concatenate([used, unused])] = np.arange(held.size)
    live = new_model(state.settings, state.key)
    live.add_words(held.size)
    numbers, tokens = state.prior
    live.add_prior_tokens(rows[numbers], tokens)
    live.add_documents(rows[words], lengths)
    schedule = state.settings.schedule
    assert isinstance(schedule, ArchiveSchedule)
    if len(words):
        archive(live, Schedule(sweeps=schedule.sweeps), state.pool)
    live.workspace = None
    return Current(live, rows, order)


def _mark(minibatch: Minibatch, d: int) -> int:
    """Return a hash of a document's id and words, below 2^62."""
    text = "\n".join([minibatch.ids[d], *minibatch.words_of(d)])
    found = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(found, "little") >> 2
