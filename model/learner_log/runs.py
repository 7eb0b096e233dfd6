"""Runs of consecutive minibatches of one key, which a learner takes in one call.

An upstream step joins minibatches to runs (:func:`run_to_bytes`), and a session cuts runs where the
head of the learner must be known: after a minibatch that is followed by a version or a checkpoint.
The cuts depend on the minibatches alone, and what is learned does not depend on the runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from model import wire
from model.learner_log import offering
from model.learner_log.head import LearnerHead
from model.learner_log.options import LearnOptions
from model.records import Minibatch, NumberedMinibatch

_RUN = b"BTA1"
# The largest run. A learner is measured once a run, and the costs of a call are small beside it.
RUN_MINIBATCHES = 64
RUN_BYTES = 256 << 10


def run_to_bytes(links: Sequence[bytes]) -> bytes:
    """Return a run of numbered minibatches, given as bytes, in their order."""
    return wire.pack(_RUN, {}, *links)


def run_from_bytes(data: bytes) -> list[NumberedMinibatch]:
    """Read the bytes that :func:`run_to_bytes` wrote.

    Raises:
        DamagedDataError: The bytes are not a run.
    """
    return [NumberedMinibatch.from_bytes(link) for link in wire.unpack(_RUN, data)[1]]


def parts_of(links: Sequence[NumberedMinibatch]) -> Iterator[list[NumberedMinibatch]]:
    """Yield runs of minibatches within the bounds of a run, and each end marker alone.

    What waits in a gap bag may be of any size, and is parsed run by run.
    """
    part: list[NumberedMinibatch] = []
    size = 0
    for link in links:
        size += len(link.payload)
        if part and (link.is_end or len(part) == RUN_MINIBATCHES or size > RUN_BYTES):
            yield part
            part, size = [], len(link.payload)
        if link.is_end:
            yield [link]
        else:
            part.append(link)
    if part:
        yield part


def passed(
    head: LearnerHead, minibatches: Sequence[Minibatch], options: LearnOptions
) -> LearnerHead:
    """Return a head that has counted minibatches into its log and its windows.

    What depends on the learner is left as it is.
    """
    begin = options.sequence.window_start(minibatches[0].window_end)
    return replace(
        head,
        log_count=head.log_count + len(minibatches),
        log_tokens=head.log_tokens + tokens_of(minibatches),
        window_end=minibatches[-1].window_end,
        since=begin if head.since is None else head.since,
        windows=head.windows + sum(minibatch.closes_window for minibatch in minibatches),
    )


def tokens_of(minibatches: Sequence[Minibatch]) -> int:
    """Return the number of tokens of minibatches."""
    return sum(len(minibatch.tokens) for minibatch in minibatches)


def before_due(head: LearnerHead, minibatches: Sequence[Minibatch], options: LearnOptions) -> int:
    """Return how many minibatches come up to the next version or checkpoint, at least one.

    Args:
        head: The head before the minibatches.
        minibatches: The minibatches.
        options: The options of the stream.
    """
    begin = options.sequence.window_start(minibatches[0].window_end)
    since = begin if head.since is None else head.since
    windows, tokens = head.windows, head.log_tokens
    for count, minibatch in enumerate(minibatches, 1):
        windows += minibatch.closes_window
        tokens += len(minibatch.tokens)
        due = offering.is_due(minibatch, options, windows=windows, since=since)
        if due or tokens >= options.run.checkpoint_tokens:
            return count
    return len(minibatches)
