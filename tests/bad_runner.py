"""Runs the stream's functions as a bad runner would: failing bundles, restarts and repeats.

Each step has committed state (bytes) and a process (what lies in memory). A bundle works on a copy
of the state, whose bags come in any order, and is committed or not. What it did to the memory
stays. ``chance`` is a :class:`random.Random` that hypothesis seeds.
"""

from fake_learner import FAILURES, StepFailed

from beam_topics.model.documents import sequencing
from beam_topics.model.documents.block import Block
from beam_topics.model.documents.pending import ListBag, Mirror
from beam_topics.model.documents.sequencing import SequenceHead
from beam_topics.model.inference.labelling import LabelHead, Labeller, Reference
from beam_topics.model.learner_log.head import LearnerHead, LiveLearners
from beam_topics.model.learner_log.log import Session, run_from_bytes, run_to_bytes
from beam_topics.model.publishing.choice import Candidate
from beam_topics.model.publishing.publication import Publisher, PublishHead
from beam_topics.model.publishing.store import ModelStore


def chunks(chance, items, most):
    """The items in runs of 1 to ``most``."""
    items, found = list(items), []
    while items:
        size = chance.randint(1, most)
        found.append(items[:size])
        items = items[size:]
    return found


def disordered(chance, items, reach=4, repeats=0.2):
    """The items, each up to ``reach`` places away from its own, and some of them again."""
    keyed = [
        (at + chance.uniform(0, reach), n, item) for n, (at, item) in enumerate(enumerate(items))
    ]
    again = [(at + reach + 1, -n - 1, item) for at, n, item in keyed if chance.random() < repeats]
    return [item for _, _, item in sorted(keyed + again, key=lambda entry: entry[:2])]


class Step:
    """Committed state of one key of one step: a head and bags, as bytes."""

    bags = ()

    def __init__(self, chance):
        self.chance = chance
        self.head, self.held = None, {name: [] for name in self.bags}
        self.forget()

    def forget(self):
        """A new process."""

    def bundle(self, work):
        """Commit what ``work(head, bags)`` -> (head, outputs) comes to.

        Before that a bundle may be rolled back, and the process may be a new one.
        """
        if self.chance.random() < 0.15:
            self.attempt(work)
        if self.chance.random() < 0.15:
            self.forget()
        while (done := self.attempt(work)) is None:
            pass
        self.head, self.held, outputs = done
        return outputs

    def attempt(self, work):
        """The head, the bags and the outputs; None where a step failed."""
        bags = {
            name: ListBag(self.chance.sample(held, len(held))) for name, held in self.held.items()
        }
        try:
            head, outputs = work(self.head, bags)
        except StepFailed:
            return None
        return head.to_bytes(), {name: bag.elements for name, bag in bags.items()}, outputs


class Sequencer(Step):
    """The sequence of one key."""

    bags = ("pending",)

    def __init__(self, chance, key, settings, start):
        self.key, self.settings, self.start = key, settings, start
        super().__init__(chance)

    def forget(self):
        self.mirror = Mirror()

    def first(self, head):
        return SequenceHead.from_bytes(head) if head else self.start

    def add_documents(self, documents):
        """Documents come alone or in blocks, whose documents may have different windows."""
        blocks = chunks(self.chance, documents, self.chance.choice((1, 3)))

        def work(head, bags):
            head = self.first(head)
            for block in blocks:
                data = Block.joined(block).to_bytes()
                head = sequencing.add_documents(
                    head, self.mirror, bags["pending"], data, self.settings
                ).head
            return head, None

        self.bundle(work)

    def pass_time(self, time):
        """Fire until nothing is due; each firing may end early, where it has sent enough."""
        links, letters = [], []
        while (at := self.first(self.head).pending.due) is not None and at <= time:
            fired, budget = self.chance.choice((at, time)), self.chance.choice((1, 500, 1 << 20))

            def work(head, bags, fired=fired, budget=budget):
                head = self.first(head)
                links, letters, bag = [], [], bags["pending"]
                for closed in sequencing.close_windows(
                    head,
                    self.mirror,
                    bag,
                    time=fired,
                    settings=self.settings,
                    budget=budget,
                ):
                    head = closed.head
                    links += closed.links
                    letters += closed.dead_letters
                return head, (links, letters)

            new = self.bundle(work)
            links += new[0]
            letters += new[1]
        return links, letters


def sequence(chance, events, key, settings, start, forever):
    """The links and dead letters of a list of events, see :mod:`stream_twin`."""
    step, links, letters, arrived = Sequencer(chance, key, settings, start), [], [], []
    for event in [*events, forever]:
        if not isinstance(event, int):
            arrived.append(event)
            continue
        for documents in chunks(chance, chance.sample(arrived, len(arrived)), 5):
            step.add_documents(documents)
        arrived = []
        new = step.pass_time(event)
        links += new[0]
        letters += new[1]
    return links, letters


class IslandLearner(Step):
    """The learner of one island."""

    bags = ("log", "gap")

    def __init__(self, chance, options, key, island):
        self.options, self.key, self.island = options, key, island
        super().__init__(chance)

    def forget(self):
        self.live = LiveLearners()

    def work(self, links):
        def work(head, bags):
            session, offered = Session(self.options, self.key, self.island, self.live), []
            if head is None:
                head, offered = session.first()
            else:
                head = LearnerHead.from_bytes(head)
            for run in chunks(self.chance, links, 3):
                data = run_to_bytes([link.to_bytes() for link in run])
                out = session.handle(head, run_from_bytes(data), bags["log"], bags["gap"])
                head, offered = out.head, offered + out.candidates
            return head, offered

        return work


def learn(chance, links, options, key, island):
    """The candidates and the last head of one island.

    Any step may fail once, and any minibatch may come early and again.
    """
    step, candidates = IslandLearner(chance, options, key, island), []
    FAILURES.at = [link.sequence for link in links if chance.random() < 0.1]
    for some in chunks(chance, disordered(chance, links), 4):
        candidates += step.bundle(step.work(some))
    FAILURES.at = []
    head = LearnerHead.from_bytes(step.head)
    assert head.gaps == 0 and step.held["gap"] == [] and head.log_count == len(step.held["log"])
    return candidates, head


class Publication(Step):
    """The publisher of one key."""

    bags = ("waiting",)

    def __init__(self, chance, options, key, on_superseded=None):
        self.publisher = Publisher(options, key, ModelStore(options.store), on_superseded)
        super().__init__(chance)

    def send(self, candidates):
        def work(head, bags):
            head, versions = PublishHead.from_bytes(head) if head else PublishHead(), []
            for candidate in candidates:
                head, new = self.publisher.handle(
                    head, Candidate.from_bytes(candidate.to_bytes()), bags["waiting"]
                )
                versions += new
            return head, versions

        return self.bundle(work)


def publish(chance, offers, options, key):
    """The versions of the islands' candidates, in the order in which they are made."""
    step, versions = Publication(chance, options, key), []
    arriving = disordered(
        chance,
        [candidate for offered in offers for candidate in offered],
        reach=chance.choice((1, 3, 100)),
    )
    for some in chunks(chance, arriving, 3):
        versions += step.send(some)
    head = PublishHead.from_bytes(step.head) if step.head else PublishHead()
    assert head.waiting == 0 and step.held["waiting"] == []
    return versions


class Job:
    """A job that streams: all islands and the publisher of a key, as one state."""

    def __init__(self, chance, options, key):
        self.chance, self.options, self.superseded = chance, options, []
        self.islands = [
            IslandLearner(chance, options, key, island)
            for island in range(options.settings.islands)
        ]
        self.publication = Publication(
            chance, options, key, lambda version, names: self.superseded.extend(names)
        )

    def take(self, links):
        """Learn and publish minibatches that follow each other."""
        for some in chunks(self.chance, links, 4):
            for island in self.islands:
                for candidate in island.bundle(island.work(some)):
                    self.publication.send([candidate])

    def state(self):
        return [
            (step.head, {name: list(held) for name, held in step.held.items()})
            for step in (*self.islands, self.publication)
        ]

    def restore(self, state):
        """A new process, at a state that was committed together."""
        for step, (head, held) in zip((*self.islands, self.publication), state, strict=True):
            step.head, step.held = head, {name: list(one) for name, one in held.items()}
            step.forget()


class Shard(Step):
    """One labeller."""

    bags = ("pending", "waiting")

    def __init__(self, chance, before_first_model):
        self.labeller = Labeller(before_first_model, "window")
        super().__init__(chance)

    def forget(self):
        self.mirror = Mirror()

    def call(self, name, *values, **named):
        """``fire``, ``documents``, ``reference`` or ``end`` of the labeller, as a bundle."""

        def work(head, bags):
            head = LabelHead.from_bytes(head) if head else LabelHead()
            given = {"reference": (bags["waiting"],), "end": (bags["waiting"],)}
            states = given.get(name, (self.mirror, bags["pending"], bags["waiting"]))
            labels = getattr(self.labeller, name)(head, *states, *values, **named)
            return labels.head, (labels.labelled, labels.dead_letters)

        return self.bundle(work)

    def pass_time(self, time):
        found = [], []
        while (
            self.head
            and (wake := LabelHead.from_bytes(self.head).wake()) is not None
            and wake <= time
        ):
            for all_, new in zip(
                found, self.call("fire", self.chance.choice((wake, time))), strict=True
            ):
                all_.extend(new)
        return found


def label(chance, documents, references, before_first_model):
    """(document, version) pairs and dead letters.

    ``documents``: (window's end, bytes). ``references``: (event time it travels with, Reference).
    Everything comes at its event time or before it, in any order that keeps to that.
    """
    step, labelled, letters = Shard(chance, before_first_model), [], []
    arriving = [(end, "documents", (), {"end": end, "block": data}) for end, data in documents]
    arriving += [(at, "reference", (reference,), {}) for at, reference in references]
    early = max((time for time, *_ in arriving), default=0) // 4
    arriving = [
        (time - chance.choice((0, 0, 1, early)), chance.random(), *rest) for time, *rest in arriving
    ]
    for time, _, name, values, named in sorted(arriving, key=lambda entry: entry[:2]):
        new = step.pass_time(time), step.call(name, *values, **named)
        labelled += [pair for pairs, _ in new for pair in pairs]
        letters += [letter for _, some in new for letter in some]
    for pairs, some in (step.pass_time(2**62), step.call("end")):
        labelled += pairs
        letters += some
    return labelled, letters


__all__ = ["Job", "Reference", "label", "learn", "publish", "sequence"]
