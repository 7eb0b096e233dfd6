"""Cut documents into numbered minibatches, and decide their order.

Everything is a function of a small head and a buffer of waiting documents
(:mod:`beam_topics.model.documents.pending`):

1. A document waits in its block for the end of its event-time window. Windows have the length
   ``--window`` and are aligned to 1970-01-01, those of days to midnight of a zone
   (:mod:`beam_topics.model.times`). A document whose window was already closed joins the first
   window after the last closed one, so no document is dropped for being late.
2. When a window closes, one document of each id stays: the first one that arrived, or with
   ``--on_repeat=last`` the last one. The others become dead letters. Documents arrive in the order
   of their source: that of files and their records, of Kafka offsets, or of Pub/Sub publishing
   times. Those that stay are sorted by (time, id).
3. The rest is cut into minibatches, bounded by documents and by tokens. Minibatches are numbered
   and chained: h_n = H(h_n-1, bytes of the minibatch), with h_0 = H(key, settings of the tokeniser
   and of sequencing).

The order comes from sorting and never from the order of processing. Without late documents the
result depends on the data alone:

>>> from beam_topics.model.documents.document import Document
>>> times = {"x": 12, "y": 3, "z": 19, "w": 11}
>>> documents = [Document(name, time, "") for name, time in times.items()]
>>> block = Block.of_words(documents, [["a", "b"]] * 4)
>>> settings = SequenceSettings(window=10, minibatch_size=2)
>>> [link.minibatch().ids for link in sequence_documents(block, settings, bytes(32))]
[('y',), ('w', 'x'), ('z',)]
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, groupby, islice
from typing import NamedTuple

import numpy as np

from beam_topics.model.arrays import LongArray
from beam_topics.model.documents import pending
from beam_topics.model.documents.block import Block, bounds_of, times_in
from beam_topics.model.documents.cuts import Cuts
from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.documents.minibatch import Minibatch, NumberedMinibatch, ranges_of
from beam_topics.model.documents.pending import PENDING_BYTES, Bag, Entry, Mirror, PendingHead
from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.errors import DamagedDataError, StoreConflictError
from beam_topics.model.stored import checks, wire
from beam_topics.model.times import to_iso
from beam_topics.model.words.settings import TokeniserSettings

# Reasons of dead letters: a document that came again as it is, one that a later one replaces, and
# another text with an id of the window.
REPEATS = COPY, REPLACED, REPEATED_ID = "copy", "replaced", "repeated_id"
# The bytes that the timers of one bundle emit, about. The limit bounds the size of a bundle. The
# rest follows in the next one, at the same event times.
FIRING_BYTES = 32 << 20
# Windows of several blocks are joined until they have this many documents. This many blocks are
# kept for the next windows.
_TOGETHER, _READ = 1024, 8
# No window ends later.
_LAST = 2**63 - 1
# The largest share of added documents that may be older than the last window that was learned.
MAX_OLDER_SHARE = 0.1

_NUMBERS = struct.Struct("<qq?q")


def chain_start(key: str, tokeniser: TokeniserSettings, settings: SequenceSettings) -> bytes:
    """Return h_0 of a key."""
    return wire.digest(
        b"sequence", key.encode(), tokeniser.canonical().encode(), settings.canonical().encode()
    )


@dataclass(frozen=True, slots=True)
class SequenceHead:
    """The state of the sequence of one key.

    Attributes:
        sequence: The number of the last minibatch that was sent, 0 before the first.
        chain: h_n of that minibatch, 32 bytes.
        closed: The end of the last window that takes no more documents; None before the first.
        taken: The number of documents of that window that were sent; 0 if all were sent.
        pending: The head of the buffer of waiting blocks.
    """

    sequence: int
    chain: bytes
    closed: int | None = None
    taken: int = 0
    pending: PendingHead = field(default_factory=PendingHead)

    MAGIC = b"BTs1"

    def to_bytes(self) -> bytes:
        numbers = _NUMBERS.pack(
            self.sequence, self.taken, self.closed is not None, self.closed or 0
        )
        return b"".join((self.MAGIC, numbers, self.pending.to_bytes(), self.chain))

    @classmethod
    def from_bytes(cls, data: bytes) -> SequenceHead:
        at = len(cls.MAGIC) + _NUMBERS.size
        if (
            data[: len(cls.MAGIC)] != cls.MAGIC
            or len(data) != at + PENDING_BYTES + wire.DIGEST_BYTES
        ):
            raise DamagedDataError(
                f"the sequence's head begins with {data[:4]!r} and has {len(data)} bytes; another"
                " release wrote it"
            )
        sequence, taken, has, closed = _NUMBERS.unpack_from(data, len(cls.MAGIC))
        checks.whole("sequence of a sequence's head", sequence)
        checks.whole("documents taken of a sequence's head", taken)
        head = PendingHead.from_bytes(data[at : at + PENDING_BYTES])
        return cls(sequence, data[at + PENDING_BYTES :], closed if has else None, taken, head)


@dataclass(frozen=True, slots=True)
class ClosedWindow:
    """The result of closing a window, or the part of it that the budget allowed.

    Attributes:
        head: The state of the sequence afterwards.
        end: The end of the window.
        links: The minibatches.
        dead_letters: The documents whose id is repeated in the window.
    """

    head: SequenceHead
    end: int
    links: list[NumberedMinibatch]
    dead_letters: list[DeadLetter]


class Added(NamedTuple):
    """The result of adding documents.

    Attributes:
        head: The state of the sequence afterwards.
        ends: The ends of the windows that the documents joined.
        late: The number of late ones.
    """

    head: SequenceHead
    ends: tuple[int, ...]
    late: int


def add_documents(
    head: SequenceHead,
    mirror: Mirror,
    bag: Bag,
    data: bytes,
    settings: SequenceSettings,
    cuts: Cuts | None = None,
) -> Added:
    """Add a block of documents of the key to the buffer.

    A block waits whole until the last of its windows closes. A document is late if its own window
    was closed already, and joins the next one.

    Args:
        head: The state of the sequence.
        mirror: The mirror of the buffer.
        bag: The bag of the buffer.
        data: The bytes of the block.
        settings: The settings of windows and minibatches.
        cuts: The windows that a restored job repeats.
    """
    times, late = times_in(data), 0
    ends = window_ends(times, settings)
    if head.closed is not None:
        late = int((ends <= head.closed).sum())
        ends = np.maximum(ends, settings.window_end(head.closed))
    waiting, parts = head.pending, {tuple(np.unique(ends).tolist()): data}
    if cuts is not None:
        block = Block.from_bytes(data)
        ends = cuts.joined(block, ends)
        # Late documents join the first window of their block.
        of_end = {end: np.flatnonzero(ends == end) for end in np.unique(ends).tolist()}
        parts = {(end,): block.take(rows).to_bytes() for end, rows in of_end.items()}
    for dues, part in parts.items():
        waiting = pending.add(waiting, mirror, bag, dues, part)
    return Added(replace(head, pending=waiting), tuple(chain.from_iterable(parts)), late)


def _ends_of(entry: Entry, settings: SequenceSettings) -> LongArray:
    """Return int64[D], the end of the window that each document of a waiting block joined.

    Late documents joined the first of its windows.
    """
    return np.maximum(window_ends(times_in(entry.payload), settings), entry.dues[0])


def window_ends(times: LongArray, settings: SequenceSettings) -> LongArray:
    """Return the end of the window of each time, int64[n] like the times."""
    order = np.argsort(times, kind="stable")
    ascending, ends = times[order], np.empty(len(times), np.int64)
    at = 0
    while at < len(times):
        end = settings.window_end(int(ascending[at]))
        after = at + int(np.searchsorted(ascending[at:], end))
        ends[order[at:after]] = end
        at = after
    return ends


def complete_until(
    head: SequenceHead,
    mirror: Mirror,
    bag: Bag,
    time: int,
    settings: SequenceSettings,
    cuts: Cuts | None,
) -> int:
    """Return up to which time windows may close; those of a restored job wait for their documents.

    Args:
        head: The state of the sequence.
        mirror: The mirror of the buffer.
        bag: The bag of the buffer.
        time: The event time in microseconds.
        settings: The settings of windows and minibatches.
        cuts: The windows that a restored job repeats; None for none.

    Returns:
        ``time``, or a time before the first window that lacks a document.
    """
    if cuts is None or time >= cuts.patience:
        return time
    mirror = pending.matched(head.pending, mirror, bag)
    for end in cuts.between(head.closed, time):
        waiting = [
            Block.from_bytes(entry.payload).take(np.flatnonzero(_ends_of(entry, settings) == end))
            for entry in mirror.entries_at(end)
        ]
        if cuts.lacks(end, waiting):
            return end - 1
    return time


def check_newer(
    key: str, head: SequenceHead, mirror: Mirror, bag: Bag, settings: SequenceSettings
) -> None:
    """Refuse an input of which too many documents lie before the last window that was learned.

    Documents that are known to be learned are left out before, so such an input is another history.
    The check runs before the first window closes, when the whole input waits. Documents of the last
    window itself are not counted, because a run may have ended within that window: the head of a
    run that adds documents is closed up to its begin.

    Raises:
        StoreConflictError: More than ``MAX_OLDER_SHARE`` of the waiting documents are older.
    """
    if head.closed is None or head.pending.due != (at := settings.window_end(head.closed)):
        return
    mirror = pending.matched(head.pending, mirror, bag)
    older = sum(int((times_in(data) < head.closed).sum()) for data in mirror.at(at))
    waiting = sum(len(times_in(entry.payload)) for entry in mirror.entries())
    if older > MAX_OLDER_SHARE * waiting:
        of_key = f" of key {key!r}" if key else ""
        raise StoreConflictError(
            f"{older:,} of {waiting:,} new documents{of_key} are older than the last window that"
            f" the model store has learned, which begins at {to_iso(head.closed)}; --add_documents"
            f" allows {MAX_OLDER_SHARE:.0%}. Nothing of this input was learned. Give documents that"
            " came after those that were learned. To repeat a run that was interrupted, add"
            " --resume_from=the number of the minibatch that it continued after. To learn an"
            " archive from its beginning, give an empty model store."
        )


def close_windows(
    head: SequenceHead,
    mirror: Mirror,
    bag: Bag,
    *,
    time: int,
    settings: SequenceSettings,
    budget: int = FIRING_BYTES,
) -> Iterator[ClosedWindow]:
    """Close the windows that end by ``time``, in their order.

    Windows that the budget does not reach stay due at the same time.

    Args:
        head: The state of the sequence.
        mirror: The mirror of the buffer.
        bag: The bag of the buffer.
        time: The event time in microseconds.
        settings: The settings of windows and minibatches.
        budget: The bytes of minibatches after which the firing ends.
    """
    mirror = pending.matched(head.pending, mirror, bag)
    reach = mirror.latest or 0
    for documents, windows in _together(mirror, time, settings):
        for window, minibatches in _cut(documents, windows, head.taken, settings):
            # Repeated ids are reported with the first part of the window.
            again = {} if head.taken else window.repeated
            letters = [
                _repeated(documents, row, kept, window.end, settings) for row, kept in again.items()
            ]
            links, places = [], [documents.places[row] for row in again if documents.places]
            for part in minibatches:
                link, head = _linked(head, part, window, places, reach)
                links.append(link)
                places = []
                budget -= len(link.payload)
                if budget <= 0:
                    break
            if head.taken == len(window.rows):
                left = pending.spend(head.pending, mirror, bag, window.end)
                head = SequenceHead(head.sequence, head.chain, head.closed, 0, left)
            yield ClosedWindow(head, window.end, links, letters)
            if budget <= 0:
                return


class _Window(NamedTuple):
    """A window that closes.

    Attributes:
        end: Its end.
        rows: int64, the rows of the documents that stay, in their order.
        repeated: The row that stays for each row that does not (:func:`split_repeated_ids`).
    """

    end: int
    rows: LongArray
    repeated: dict[int, int]


def _together(
    mirror: Mirror, time: int, settings: SequenceSettings
) -> Iterator[tuple[Block, list[_Window]]]:
    """Yield the windows that end by ``time``, several with one block of their documents.

    They are those of one waiting block, or the next ones of some thousand documents.
    """
    read = lru_cache(_READ)(lambda entry: Block.for_sequence(entry.payload))
    own: dict[Entry, LongArray] = {}
    group: list[int] = []
    alone, documents = None, 0
    for due in mirror.due_by(time):
        entries = mirror.entries_at(due)
        only = entries[0] if len(entries) == 1 else None
        if group and (only is not alone or documents >= _TOGETHER):
            yield _joined(group, own, read, settings.on_repeat)
            own = {entry: ends for entry, ends in own.items() if entry.dues[-1] >= due}
            group, documents = [], 0
        alone = only
        group.append(due)
        for entry in entries:
            if entry not in own:
                own[entry] = _ends_of(entry, settings)
            documents += int((own[entry] == due).sum())
    if group:
        yield _joined(group, own, read, settings.on_repeat)


def _joined(
    dues: Sequence[int],
    own: Mapping[Entry, LongArray],
    read: Callable[[Entry], Block],
    on_repeat: str,
) -> tuple[Block, list[_Window]]:
    """Return windows that follow one another, and a block with their documents.

    Args:
        dues: The ends of the windows, ascending.
        own: The entries that have documents of them, with the ends of all their documents.
        read: The block of an entry.
        on_repeat: As of :func:`split_repeated_ids`.
    """
    found = [
        (entry, ends, rows)
        for entry, ends in own.items()
        if len(rows := np.flatnonzero((ends >= dues[0]) & (ends <= dues[-1])))
    ]
    if len(found) == 1:
        entry, ends, rows = found[0]
        documents, ends = read(entry), ends[rows]
    else:
        documents = Block.joined([read(entry).take(rows) for entry, _, rows in found])
        ends = np.concatenate([ends[rows] for _, ends, rows in found])
        rows = np.arange(len(ends))
    order = np.argsort(ends, kind="stable")
    parts = np.split(rows[order], np.searchsorted(ends[order], dues[:-1], "right"))
    return documents, [
        _Window(due, *split_repeated_ids(documents, part, on_repeat))
        for due, part in zip(dues, parts, strict=True)
    ]


def _cut(
    documents: Block, windows: Sequence[_Window], taken: int, settings: SequenceSettings
) -> Iterator[tuple[_Window, Iterator[Block]]]:
    """Yield each window with its minibatches, without the first ``taken`` documents."""
    rests = [window.rows[taken if at == 0 else 0 :] for at, window in enumerate(windows)]
    sizes = [cut_minibatches(documents.lengths[rest].tolist(), settings) for rest in rests]
    bounds = bounds_of(chain.from_iterable(sizes))
    parts = documents.parts(np.concatenate(rests), bounds)
    for window, own in zip(windows, sizes, strict=True):
        yield window, islice(parts, len(own))


def _linked(
    head: SequenceHead, part: Block, window: _Window, places: Sequence[str | None], reach: int
) -> tuple[NumberedMinibatch, SequenceHead]:
    """Return the next minibatch of a window with its link, and the head after it.

    ``places`` are those of documents of the window that became dead letters, and ``reach`` is the
    end of the newest window that has documents.
    """
    number, taken = head.sequence + 1, head.taken + len(part)
    minibatch = Minibatch.of_block(part, number, window.end, taken == len(window.rows))
    offsets = ranges_of([*part.places, *places])
    link = NumberedMinibatch.link(number, head.chain, minibatch.to_bytes(), offsets, reach)
    return link, SequenceHead(number, link.fingerprint, window.end, taken, head.pending)


def split_repeated_ids(
    documents: Block, rows: LongArray, on_repeat: str = "first"
) -> tuple[LongArray, dict[int, int]]:
    """Split the documents of a window into those that stay and those whose id is repeated.

    Args:
        documents: A block.
        rows: int64, the rows of the documents of the window.
        on_repeat: Which of the documents of one id stays: ``first`` or ``last``. Documents that
            arrived at one place are in the order of their times and contents.

    Returns:
        The rows of the documents that stay by (time, id), int64, and the row that stays for each
        of the others.
    """

    def arrival(row: int) -> tuple[int, int, bytes]:
        content = hashlib.sha256(documents.content(row)).digest()
        return int(documents.arrived[row]), int(documents.timestamps[row]), content

    id_of, repeated = documents.ids.__getitem__, dict[int, int]()
    stay = sorted(rows.tolist(), key=id_of)
    if len(set(map(id_of, stay))) < len(stay):
        groups = [list(same) for _, same in groupby(stay, id_of)]
        for same in groups:
            if len(same) > 1:
                same.sort(key=arrival, reverse=on_repeat == "last")
                repeated |= dict.fromkeys(same[1:], same[0])
        stay = [same[0] for same in groups]
    by_time = np.argsort(documents.timestamps[stay], kind="stable")
    return np.array(stay, np.int64)[by_time], repeated


def cut_minibatches(lengths: Sequence[int], settings: SequenceSettings) -> list[int]:
    """Return the numbers of documents of minibatches that are within their bounds.

    A document with more tokens than the bound is a minibatch of its own.

    Args:
        lengths: The number of tokens of each document.
        settings: The bounds of a minibatch.
    """
    sizes: list[int] = []
    size, tokens = 0, 0
    for length in lengths:
        if size and (
            size == settings.minibatch_size or tokens + length > settings.minibatch_tokens
        ):
            sizes.append(size)
            size, tokens = 0, 0
        size += 1
        tokens += length
    return [*sizes, size] if size else sizes


def sequence_documents(
    documents: Block,
    settings: SequenceSettings,
    start: bytes | SequenceHead,
    on_dead_letter: Callable[[DeadLetter], None] | None = None,
    adds: bool = False,
) -> Iterator[NumberedMinibatch]:
    """Yield the numbered minibatches of a complete collection.

    They are those that the pipeline sends for it, in any order of arrival and on any runner.

    Args:
        documents: The documents of a model key.
        settings: The settings of windows and minibatches.
        start: The state of the sequence before them, or h_0 (:func:`chain_start`) for none.
        on_dead_letter: Called for each document whose id is repeated in its window.
        adds: Whether they have to be newer than what was learned (:func:`check_newer`).
    """
    mirror, bag = Mirror(), pending.ListBag()
    head = SequenceHead(0, start) if isinstance(start, bytes) else start
    if len(documents):
        head = add_documents(head, mirror, bag, documents.to_bytes(), settings).head
    if adds:
        check_newer(documents.key, head, mirror, bag, settings)
    while head.pending.due is not None:
        for closed in close_windows(head, mirror, bag, time=_LAST, settings=settings):
            head = closed.head
            if on_dead_letter:
                for letter in closed.dead_letters:
                    on_dead_letter(letter)
            yield from closed.links


def _repeated(
    documents: Block, row: int, kept: int, end: int, settings: SequenceSettings
) -> DeadLetter:
    """Return the dead letter of a document whose id another document of the window has."""
    reason = REPLACED if settings.on_repeat == "last" else REPEATED_ID
    if documents.words_of(row) == documents.words_of(kept):
        reason = COPY
    detail = (
        f"another document of key {documents.key!r} in this window has the id"
        f" {documents.ids[row]!r}, and was kept: the {settings.on_repeat} one (--on_repeat)"
    )
    return documents.dead_letter(row, f"window that ends {to_iso(end)}", reason, detail)
