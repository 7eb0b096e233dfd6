"""The whole stream, slowly: documents in; minibatches, versions, labels and dead letters out.

The program spreads this over steps with heads, bags, mirrors, bundles and timers. The twin has none
of these. It holds everything in lists, sorts them, and looks at all that came before. Tests compare
the two.

The input is a list of events in the order in which they happen:

* a :class:`beam_topics.model.documents.block.Block` of one document arrives, or
* an integer t: event time has passed t, so windows that end at t or before are closed.

The learner is the one of :mod:`fake_learner`. All functions are of one model key.
"""

import hashlib
import math
from collections import Counter
from dataclasses import dataclass, field
from itertools import permutations
from math import exp, log, sqrt

import numpy as np
from fake_learner import (
    alpha_of,
    events_of,
    evidence_of,
    first_digest,
    next_digest,
    posterior_of,
    score,
    strength_of,
    topic_of,
)

from beam_topics.model.documents.minibatch import Minibatch
from beam_topics.model.words.word_list import WordList

FOREVER = 2**62


def length_and(data):
    return len(data).to_bytes(8, "little") + data


@dataclass
class Batch:
    """A numbered minibatch: n, h_n-1, h_n, its bytes, and the documents in it."""

    sequence: int
    end: int
    closes_table: bool
    documents: list
    previous: bytes
    payload: bytes

    @property
    def chain(self):
        return hashlib.sha256(length_and(self.previous) + length_and(self.payload)).digest()


def bytes_of(key, sequence, end, closes_table, documents):
    """The minibatch's bytes: one dictionary, in the order of first use."""
    words, tokens, offsets = [], [], [0]
    for document in documents:
        words += [word for word in document.words if word not in words]
        tokens += [words.index(document.words[number]) for number in document.tokens]
        offsets.append(len(tokens))
    return Minibatch(
        key=key,
        sequence=sequence,
        window_end=end,
        closes_window=closes_table,
        ids=tuple(document.ids[0] for document in documents),
        timestamps=np.array([time_of(document) for document in documents], np.int64),
        labels=tuple(document.labels[0] for document in documents),
        words=WordList.of(words),
        tokens=np.array(tokens, np.int32),
        offsets=np.array(offsets, np.int64),
    ).to_bytes()


def time_of(document):
    return int(document.timestamps[0])


def sequenced(events, key, settings, start, closed=None):
    """The minibatches, and the documents whose ids were repeated with window's end and reason.

    ``closed``: end of the last window that was closed before the first event.
    """
    waiting, batches, repeated = [], [], []
    for event in [*events, FOREVER]:
        if not isinstance(event, int):
            end = (time_of(event) // settings.window + 1) * settings.window
            if closed is not None and end <= closed:
                end = (closed // settings.window + 1) * settings.window
            waiting.append((end, event))
            continue
        for end in sorted({end for end, _ in waiting if end <= event}):
            kept, last = [], settings.on_repeat == "last"
            joined = [document for due, document in waiting if due == end]
            for name in sorted({document.ids[0] for document in joined}):
                same = [document for document in joined if document.ids[0] == name]
                stays, *others = sorted(same, key=arrival, reverse=last)
                kept.append(stays)
                repeated += [(end, document, reason(document, stays, last)) for document in others]
            kept.sort(key=lambda document: (time_of(document), document.ids[0]))
            parts = split(kept, settings.minibatch_size, settings.minibatch_tokens)
            for number, part in enumerate(parts):
                sequence, closes_table = len(batches) + 1, number == len(parts) - 1
                previous = batches[-1].chain if batches else start
                payload = bytes_of(key, sequence, end, closes_table, part)
                batches.append(Batch(sequence, end, closes_table, part, previous, payload))
            waiting = [(due, document) for due, document in waiting if due != end]
            closed = end
    return batches, repeated


def arrival(document):
    """Where a document stands among those with its id."""
    content = hashlib.sha256(document.content(0)).digest()
    return int(document.arrived[0]), time_of(document), content


def reason(document, stays, last):
    """Why another document is left out beside the one that stays."""
    texts = [[one.words[number] for number in one.tokens] for one in (document, stays)]
    return "copy" if texts[0] == texts[1] else "replaced" if last else "repeated_id"


def split(documents, most_documents, most_tokens):
    """Minibatches, each as long as the bounds allow."""
    parts = []
    for document in documents:
        last = parts[-1] if parts else []
        tokens = sum(len(other.tokens) for other in last) + len(document.tokens)
        if last and len(last) < most_documents and tokens <= most_tokens:
            last.append(document)
        else:
            parts.append([document])
    return parts


def due(batches, publish_every, window, ended=True):
    """After which minibatches a version is made; also after the last one if the stream ended.

    There is none where no token came since the last one.
    """
    kind, every = publish_every
    found, windows, tokens = [], 0, 0
    since = batches[0].end - window if batches else 0
    for batch in batches:
        windows += batch.closes_table
        tokens += sum(len(document.tokens) for document in batch.documents)
        is_due = batch.closes_table and (
            windows >= every if kind == "windows" else batch.end // every > since // every
        )
        if is_due and tokens:
            found.append(batch.sequence)
            since, windows, tokens = batch.end, 0, 0
    if ended and tokens:
        found.append(batches[-1].sequence)
    return found


@dataclass
class Version:
    """What is published after a minibatch."""

    sequence: int
    event_time: int
    island: int
    chain: bytes
    documents: int
    tokens: int
    words: Counter
    log_evidence: float
    perplexity: float | None
    posterior: float
    particle: int
    replaced: dict | None
    topic_tokens: list
    topic_documents: list
    events: list


class Chooser:
    """Which of several is published, over all versions so far.

    ``margin`` and ``needed``: another one replaces it after so many versions in a row in which its
    log loss was lower by this share.
    """

    def __init__(self, margin, needed):
        self.margin, self.needed = margin, needed
        self.now, self.ahead = None, {}

    def next(self, figures, time):
        """(the number that is published, what it replaces)."""
        best_first = sorted(range(len(figures)), key=lambda n: (*figures[n], -n), reverse=True)
        if self.now is None:
            self.now = best_first[0]
            return self.now, None
        losses = [-math.frexp(figure[0])[1] for figure in figures]
        gains = {n: losses[self.now] - losses[n] for n in best_first}
        better = [
            n
            for n in best_first
            if figures[n][0] > figures[self.now][0] and gains[n] >= self.margin * losses[self.now]
        ]
        self.ahead = {n: [*self.ahead.get(n, []), time] for n in better}
        for n in better:
            if len(self.ahead[n]) >= self.needed:
                replaced = {"versions": len(self.ahead[n]), "since": self.ahead[n][0]}
                replaced["number"], self.now, self.ahead = self.now, n, {}
                return n, replaced
        return self.now, None


def published(batches, sequences, settings, key, choice):
    """The versions: of each island's learner the figures, of the chosen island the version.

    ``choice``: (margin, versions) of :class:`Chooser`.
    """
    versions, before = [], 0
    chains = [Chooser(*choice) for _ in range(settings.islands)]
    islands = Chooser(*choice)
    for sequence in sequences:
        learned, new = batches[:sequence], batches[before:sequence]
        time = learned[-1].end
        standings = []
        for island, chooser in enumerate(chains):
            evidence, posteriors = evidence_and_posteriors(learned, settings, key, island)
            particle, other = chooser.next([(posterior,) for posterior in posteriors], time)
            standings.append((evidence, posteriors[particle], particle, other))
        island, other = islands.next([standing[:2] for standing in standings], time)
        particle = standings[island][2]
        replaced = other or standings[island][3]
        if replaced:
            replaced = {name: replaced[name] for name in ("versions", "since")}
            replaced |= {"island": versions[-1].island, "particle": versions[-1].particle}
        counts = [
            Counter(topic_of(word, island + particle, settings.topics) for word in words_of(one))
            for batch in new
            for one in batch.documents
        ]
        main = [min(one, key=lambda z: (-one[z], z)) for one in counts if one]
        loss, _ = losses(learned)
        new_loss, new_scored = losses(new)
        documents = [document for batch in learned for document in batch.documents]
        version = Version(
            sequence=sequence,
            event_time=learned[-1].end,
            island=island,
            chain=learned[-1].chain,
            documents=len(documents),
            tokens=sum(len(document.tokens) for document in documents),
            words=Counter(
                document.words[number] for document in documents for number in document.tokens
            ),
            log_evidence=-loss / 1000,
            perplexity=exp(new_loss / 1000 / new_scored) if before and new_scored else None,
            posterior=log(standings[island][1]),
            particle=particle,
            replaced=replaced,
            topic_tokens=[sum(one[z] for one in counts) for z in range(settings.topics)],
            topic_documents=[main.count(z) for z in range(settings.topics)],
            events=noted(learned, len(new), settings, key, island),
        )
        versions.append(version)
        before = sequence
    return versions


def words_of(document):
    return [document.words[number] for number in document.tokens]


def evidence_and_posteriors(learned, settings, key, island):
    """(evidence, the posterior of each chain) of an island's learner."""
    digest = first_digest(settings, key, island)
    for batch in learned:
        digest = next_digest(digest, batch.payload)
    figures = evidence_of(digest), posterior_of(digest, 0), posterior_of(digest, 1)
    evidence, *posteriors = [mantissa * 2.0**exponent for mantissa, exponent in figures]
    return evidence, posteriors


def noted(learned, new, settings, key, island):
    """(minibatch, event) of the last ``new`` minibatches, as an island's learner tells them."""
    digest, found = first_digest(settings, key, island), []
    for batch in learned:
        digest = next_digest(digest, batch.payload)
        found.append([(batch, event) for event in events_of(digest, settings.topics)])
    return [pair for pairs in found[len(found) - new :] for pair in pairs]


def losses(batches):
    """(thousandths of a nat, tokens scored)."""
    scores = [score(Minibatch.from_bytes(batch.payload)) for batch in batches]
    return sum(loss for loss, _ in scores), sum(scored for _, scored in scores)


@dataclass
class Model:
    """Of each word the count in each topic, and what belongs to a topic."""

    counts: dict
    alpha: list
    strength: list
    order: list = field(default_factory=list)

    def numbered(self, order):
        """The same model with its topic ``order[i]`` as topic i."""
        counts = {word: [row[z] for z in order] for word, row in self.counts.items()}
        return Model(
            counts, [self.alpha[z] for z in order], [self.strength[z] for z in order], list(order)
        )


def model_of(version, topics, particle=None):
    """As the chain that was chosen numbers it, or as another one does."""
    numbering = version.island + (version.particle if particle is None else particle)
    counts = {
        word: [count * (z == topic_of(word, numbering, topics)) for z in range(topics)]
        for word, count in version.words.items()
    }
    every = range(topics)
    return Model(
        counts,
        [alpha_of(z, numbering, topics) for z in every],
        [strength_of(z, numbering, topics) for z in every],
    )


def best_numberings(before, model):
    """All renumberings of a model's topics that make them most similar to the version before."""
    topics = range(len(model.alpha))

    def column(one, z):
        total = sum(row[z] for row in one.counts.values())
        return {word: row[z] / total for word, row in one.counts.items() if row[z]}

    old, new = [column(before, z) for z in topics], [column(model, z) for z in topics]
    similarity = [
        [sum(sqrt(p * new[j].get(word, 0)) for word, p in old[i].items()) for j in topics]
        for i in topics
    ]
    sums = {
        order: sum(similarity[i][j] for i, j in enumerate(order)) for order in permutations(topics)
    }
    if sums[tuple(topics)] > max(sums.values()) - 1e-12:
        return [tuple(topics)]
    return [order for order, total in sums.items() if total > max(sums.values()) - 1e-6]


def labelled(batches, references, before_first_model):
    """The version of each document, by (window's end, id), and the documents that have none.

    ``references``: (event time, sequence, version). The version ``""`` is the prior.
    """
    labels, unlabelled = {}, []
    for batch in batches:
        earlier = sorted(reference for reference in references if reference[0] < batch.end)
        for document in batch.documents:
            name = batch.end, document.ids[0]
            if earlier:
                labels[name] = earlier[-1][2]
            elif before_first_model == "prior":
                labels[name] = ""
            elif before_first_model == "wait" and references:
                labels[name] = min(references)[2]
            else:
                unlabelled.append(name)
    return labels, unlabelled


def by_period(events, period):
    """What :class:`beam_topics.transforms.shared.PeriodDoFn` closes: (end, its records).

    The events are those of the stream, with (time, record) in place of documents.
    """
    waiting, passed, found = [], None, []
    for event in [*events, FOREVER]:
        if isinstance(event, int):
            ends = sorted({due for due, _ in waiting if due <= event})
            found += [
                (end, sorted(record for due, record in waiting if due == end)) for end in ends
            ]
            waiting = [(due, record) for due, record in waiting if due > event]
            passed = event if ends else passed
        else:
            time, record = event
            end = (time // period + 1) * period
            while passed is not None and end <= passed:
                end += period
            waiting.append((end, record))
    return found
