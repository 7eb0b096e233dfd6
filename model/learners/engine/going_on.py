"""An archive goes on as a stream.

The stream begins with the model of the archive's newest version: counts, topics of tokens, tables,
G, a, a0 and alpha. The documents have the numbers in which they came. A sample of them and the
newest ones stay at hand. T is chosen already, and D counts the documents of the archive, so the
stream visits earlier documents as often as one that has seen them. Births have the archive's words
and its model as their first snapshot.
"""

from __future__ import annotations

import numpy as np

from beam_topics.model.learners.engine.births import remember
from beam_topics.model.learners.engine.holding import GibbsState
from beam_topics.model.learners.engine.nursery import Stream
from beam_topics.model.learners.engine.settings import Gibbs
from beam_topics.model.learners.engine.stream import places_of


def as_stream(settings: Gibbs, archive: GibbsState) -> GibbsState:
    """Return a stream that has learned what an archive has.

    Args:
        settings: of the stream; the others are those of the archive.
        archive: must not be used again.
    """
    learned, rows, order = archive.current()
    live = archive.live
    live.recount(live.places(order)[0], learned.z[: learned.tokens])
    live.tables[: live.size], live.base[: live.size] = learned.tables[rows], learned.base[rows]
    live.alpha[: live.topics] = learned.alpha[: live.topics]
    for name in ("a", "a0", "epochs", "visits", "reseated"):
        setattr(live, name, getattr(learned, name))
    live.workspace = None
    stream = GibbsState(settings, archive.key, archive.threads)
    for name in ("live", "vocabulary", "sequence", "documents", "tokens", "labels"):
        setattr(stream, name, getattr(archive, name))
    stream.first, stream.marks = live.topics, np.arange(archive.documents)
    stream.places = places_of(live, stream.marks)
    _remember(stream)
    stream.keep_sample(stream.documents)
    return stream


def _remember(state: GibbsState) -> None:
    """Let births know what was learned."""
    if state.nursery is None:
        return
    live, nursery, everyone = state.live, state.nursery, np.arange(state.documents)
    nursery.alpha, nursery.uses = state.alpha, np.zeros((2, live.size), np.int64)
    about = state.documents, everyone[:0], (), 0, state.pool
    stream = Stream(live, state.marks, nursery, *about)
    remember(stream, everyone)
