"""Learn a finite collection of documents into a model store, in this process and without Beam.

:func:`learn_documents` does what ``beam-topics train`` does after reading: it sequences,
learns on each island and publishes. The same documents and options give the same minibatches,
checkpoints and versions, to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import islice

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.documents.pending import ListBag
from beam_topics.model.learner_log.head import LearnerHead, LiveLearners
from beam_topics.model.learner_log.log import RUN_MINIBATCHES, Session
from beam_topics.model.learner_log.options import LearnOptions
from beam_topics.model.learner_log.progress import PROGRESS, ProgressLog
from beam_topics.model.learner_log.restoring import SequenceStart
from beam_topics.model.publishing.choice import Candidate
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.publishing.publication import Publisher, PublishHead

# The event time of Beam's transforms.constants.END_OF_STREAM. Candidates of the end of the input
# carry it, and checkpoints hold candidates.
END_OF_STREAM = 9_223_371_950_453_774_000


@dataclass
class _Island:
    """One learner and what it has in place of a runner's state."""

    session: Session
    head: LearnerHead
    log: ListBag = field(default_factory=ListBag)
    gap: ListBag = field(default_factory=ListBag)


class _Publication:
    """The versions of one key, in place of a runner's state."""

    def __init__(self, options: LearnOptions, key: str) -> None:
        self._publisher = Publisher(options, key, options.opened())
        self._head, self._waiting = PublishHead(), ListBag()
        self.versions: list[Manifest] = []

    def offer(self, candidates: Iterable[Candidate]) -> None:
        for candidate in candidates:
            self._head, made = self._publisher.handle(self._head, candidate, self._waiting)
            self.versions += [manifest for _, manifest in made]


def learn_documents(
    documents: Block, options: LearnOptions, on_dead_letter: Callable[[DeadLetter], None]
) -> list[Manifest]:
    """Learn all documents, and publish the versions that are due and one at the end.

    Args:
        documents: documents of the model key "".
        options: what to learn, and where to keep it. With ``options.run.start`` the learners
            continue from a checkpoint of the store; with ``options.run.add_documents`` the
            documents came after those that the store has learned.
        on_dead_letter: called for each document whose id is repeated in its window.

    Returns:
        The versions that were made, the oldest first.

    Raises:
        StoreConflictError: the store holds another history or other settings, or too many added
            documents are older than what it has learned.
        MemoryLimitError: a learner has outgrown ``max_state_mb``.
    """
    options, key, live = replace(options, end_of_stream=END_OF_STREAM), "", LiveLearners()
    publication, progress = _Publication(options, key), ProgressLog()
    islands = []
    for number in range(options.settings.islands):
        session = Session(options, key, number, live)
        head, unpublished = session.first()
        publication.offer(unpublished)
        islands.append(_Island(session, head))
    learned = islands[0].head.sequence
    start = SequenceStart(options)
    first = start.head(key)
    if options.run.add_documents:
        documents = start.unknown(key, documents)
    PROGRESS.info("read", extra={"read": len(documents)})
    links = start.links(key, documents, first, on_dead_letter)
    while run := list(islice(links, RUN_MINIBATCHES)):
        for number, island in enumerate(islands):
            outcome = island.session.handle(island.head, run, island.log, island.gap)
            island.head = outcome.head
            for step in outcome.steps:
                progress(key, number, step)
            publication.offer(outcome.candidates)
    # Versions that an earlier run published are among them.
    return [one for one in publication.versions if one.sequence > learned]
