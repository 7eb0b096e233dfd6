"""Documents into numbered minibatches: the one place where order is decided.

Everything is a function of a small head and a buffer of waiting documents (:mod:`model.pending`):

1. A document waits for the end of its event-time window. Windows are as long as ``--window`` and
   aligned to 1970. A document whose window was closed already joins the next window after the last
   closed one, so nothing is dropped for being late.
2. When a window closes, its documents are sorted by (time, id, content). A second document with an
    id of the window becomes a dead letter.
3. The rest is cut into minibatches, bounded by documents and by tokens, and these are numbered and
   chained: h_n = H(h_n-1, minibatch's bytes), where h_0 = H(key, settings of reading and
   sequencing).

Order comes from sorting, never from arrival, so without late documents the result depends on the
data alone:

>>> from model.records import Document, TokenisedDocument
>>> make = lambda id, time: TokenisedDocument.from_words(Document(id, time, ""), ["a", "b"])
>>> settings = SequenceSettings(window=10, minibatch_size=2)
>>> documents = [make("x", 12), make("y", 3), make("z", 19), make("w", 11)]
>>> [link.minibatch().ids for link in sequence_documents("", documents, settings, bytes(32))]
[('y',), ('w', 'x'), ('z',)]
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from model import checks, pending, wire
from model.dead_letters import DeadLetter
from model.errors import DamagedDataError, StoreConflictError
from model.pending import PENDING_BYTES, Bag, Mirror, PendingHead
from model.records import Minibatch, NumberedMinibatch, TokenisedDocument
from model.settings import SequenceSettings, TokeniserSettings
from model.times import to_iso

REPEATED_ID = "repeated_id"
# One firing of a timer emits about so much, so that no bundle grows without bound; the rest follows
# at the same event time.
FIRING_BYTES = 32 << 20
# The largest share of added documents that may be older than the last window that was learned.
MOST_OLDER = 0.1

_NUMBERS = struct.Struct("<qq?q")


def chain_start(key: str, tokeniser: TokeniserSettings, settings: SequenceSettings) -> bytes:
    """h_0 of a key."""
    return wire.digest(
        b"sequence", key.encode(), tokeniser.canonical().encode(), settings.canonical().encode()
    )


def window_end(timestamp: int, window: int) -> int:
    """The end of the window that holds ``timestamp`` (microseconds); a window holds its start,
    not its end.
    """
    return (timestamp // window + 1) * window


@dataclass(frozen=True, slots=True)
class SequenceHead:
    """Where the sequence of one key stands.

    Attributes:
        sequence, chain: the last minibatch sent, and its h_n.
        closed: end of the last window that takes no more documents; None before the first.
        taken: how many documents of that window were sent already, 0 when all were.
        pending: of the documents that wait.
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
    """What closing a window gave, or a part of it that the budget allowed.

    Attributes:
        head: where the sequence stands afterwards. end: of the window.
        links: the minibatches. dead_letters: the documents whose id is repeated in the window.
    """

    head: SequenceHead
    end: int
    links: list[NumberedMinibatch]
    dead_letters: list[DeadLetter]


def assigned_end(head: SequenceHead, timestamp: int, window: int) -> tuple[int, bool]:
    """The end of the window that a document joins, and whether it is late (its own window was
    closed already).
    """
    own = window_end(timestamp, window)
    if head.closed is None or own > head.closed:
        return own, False
    return window_end(head.closed, window), True


def add_document(
    head: SequenceHead,
    mirror: Mirror,
    bag: Bag,
    document: bytes,
    *,
    timestamp: int,
    settings: SequenceSettings,
) -> tuple[SequenceHead, bool]:
    """The head after a document came in, and whether the document was late."""
    end, late = assigned_end(head, timestamp, settings.window)
    waiting = pending.add(head.pending, mirror, bag, end, document)
    return SequenceHead(head.sequence, head.chain, head.closed, head.taken, waiting), late


def check_newer(
    key: str, head: SequenceHead, mirror: Mirror, bag: Bag, settings: SequenceSettings
) -> None:
    """Refuse an input that repeats what was learned: too many of its documents lie before the last
    closed window.

    Called before the first window closes, when the whole input waits. Documents of the last closed
    window itself are not counted: a run may have ended within that window.

    Raises:
        StoreConflictError: more than ``MOST_OLDER`` of the documents that wait are older.
    """
    if head.closed is None or head.pending.due != (at := window_end(head.closed, settings.window)):
        return
    begin, found = head.closed - settings.window, pending.matched(head.pending, mirror, bag).at(at)
    older = sum(
        wire.header_of(TokenisedDocument.MAGIC, data)["timestamp"] < begin for data in found
    )
    if older > MOST_OLDER * head.pending.live:
        of_key = f" of key {key!r}" if key else ""
        raise StoreConflictError(
            f"{older:,} of {head.pending.live:,} documents{of_key} are older than the last window"
            f" that the model store has learned, which begins at {to_iso(begin)}; --add_documents"
            f" allows {MOST_OLDER:.0%}. Nothing of this input was learned. Give only documents that"
            " came after those that were learned. To repeat a run that was interrupted, add"
            " --resume_from=the number of the minibatch that it went on after. To learn an archive"
            " from its beginning, give an empty model store."
        )


def close_windows(
    key: str,
    head: SequenceHead,
    mirror: Mirror,
    bag: Bag,
    *,
    time: int,
    settings: SequenceSettings,
    budget: int = FIRING_BYTES,
) -> Iterator[ClosedWindow]:
    """Close the windows that end by ``time``, in their order.

    The windows that ``budget`` bytes of minibatches do not reach stay due at the same time.
    """
    mirror = pending.matched(head.pending, mirror, bag)
    for end in mirror.due_by(time):
        documents, repeated = split_repeated_ids(mirror.at(end))
        closed = ClosedWindow(
            head, end, [], [] if head.taken else [_repeated(document, end) for document in repeated]
        )
        for link, after in _cut_window(key, closed.head, end, documents, settings):
            head = after
            closed.links.append(link)
            budget -= len(link.payload)
            if budget <= 0:
                break
        if head.taken == len(documents):
            head = replace(head, taken=0, pending=pending.spend(head.pending, mirror, bag, end))
        yield replace(closed, head=head)
        if budget <= 0:
            return


def _cut_window(
    key: str,
    head: SequenceHead,
    end: int,
    documents: Sequence[TokenisedDocument],
    settings: SequenceSettings,
) -> Iterator[tuple[NumberedMinibatch, SequenceHead]]:
    """The minibatches of a window from the first document that was not sent yet, each with the
    head after it.
    """
    taken = head.taken
    for part in cut_minibatches(documents[taken:], settings):
        taken += len(part)
        minibatch = Minibatch.from_documents(
            key, head.sequence + 1, end, taken == len(documents), part
        )
        link = NumberedMinibatch.link(head.sequence + 1, head.chain, minibatch.to_bytes())
        head = replace(
            head, sequence=link.sequence, chain=link.fingerprint, closed=end, taken=taken
        )
        yield link, head


def split_repeated_ids(
    window: Iterable[bytes],
) -> tuple[list[TokenisedDocument], list[TokenisedDocument]]:
    """The documents of a window (their bytes) in their order, the first of each id; and the
    others of these ids.
    """
    keyed = [(TokenisedDocument.from_bytes(data), hashlib.sha256(data).digest()) for data in window]
    first: list[TokenisedDocument] = []
    repeated: list[TokenisedDocument] = []
    seen: set[str] = set()
    for document, _ in sorted(keyed, key=_order):
        (repeated if document.id in seen else first).append(document)
        seen.add(document.id)
    return first, repeated


def _order(keyed: tuple[TokenisedDocument, bytes]) -> tuple[int, str, bytes]:
    document, digest = keyed
    return document.timestamp, document.id, digest


def cut_minibatches(
    documents: Sequence[TokenisedDocument], settings: SequenceSettings
) -> Iterator[Sequence[TokenisedDocument]]:
    """Runs of documents within the bounds of a minibatch; a document of more tokens than the
    bound is alone.
    """
    first, tokens = 0, 0
    for at, document in enumerate(documents):
        size = len(document.tokens)
        if at > first and (
            at - first == settings.minibatch_size or tokens + size > settings.minibatch_tokens
        ):
            yield documents[first:at]
            first, tokens = at, 0
        tokens += size
    if first < len(documents):
        yield documents[first:]


def sequence_documents(
    key: str,
    documents: Iterable[TokenisedDocument],
    settings: SequenceSettings,
    start: bytes,
    on_dead_letter: Callable[[DeadLetter], None] | None = None,
) -> Iterator[NumberedMinibatch]:
    """The numbered minibatches of a finished collection: what the pipeline sends for it, in any
    order and on any runner.

    Args:
        key: the model's key; all documents have it.
        start: h_0, see :func:`chain_start`.
        on_dead_letter: called for each document whose id is repeated in its window.
    """
    mirror, bag, head = Mirror(), pending.ListBag(), SequenceHead(0, start)
    for document in documents:
        head, _ = add_document(
            head, mirror, bag, document.to_bytes(), timestamp=document.timestamp, settings=settings
        )
    while head.pending.due is not None:
        for closed in close_windows(
            key, head, mirror, bag, time=head.pending.due, settings=settings
        ):
            head = closed.head
            if on_dead_letter:
                for letter in closed.dead_letters:
                    on_dead_letter(letter)
            yield from closed.links


def _repeated(document: TokenisedDocument, end: int) -> DeadLetter:
    detail = (
        f"another document of key {document.key!r} in this window has the id {document.id!r}, and"
        " was kept"
    )
    return DeadLetter.of(document, f"window that ends {to_iso(end)}", REPEATED_ID, detail)
