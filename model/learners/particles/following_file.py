"""What a learner remembers of its stream as bytes, with the documents that wait."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from model import checks, wire
from model.learners.particles.change_blocks import FIGURES, REMEMBERED, Block, ChangeTest
from model.learners.particles.following import Following
from model.learners.particles.history import Documents
from model.learners.particles.packing import pack_numbers, unpack_numbers
from model.records import LongArray
from model.scaled import Scaled

_MAGIC = b"BTj1"
_COUNTS = ("changed", "changes", "trial", "won", "tokens", "documents")
# A state has these where blocks wait in its test.
_OF_WAITING = ("began", "since")


def following_to_bytes(following: Following) -> bytes:
    """Return bytes that are equal for equal contents."""
    held, test = [tokens for tokens, _ in following.held], following.test
    blocks = [*test.blocks, *test.waiting]
    header = {
        **{name: getattr(following, name) for name in _COUNTS},
        "fresh": following.fresh,
        "labels": [label for _, label in following.held],
        "evidence": following.evidence.to_bytes().hex(),
    }
    if test.waiting:
        header |= {name: getattr(following, name) for name in _OF_WAITING}
        header |= {"waiting": len(test.waiting), "sums": list(test.sums)}
    return wire.pack(
        _MAGIC,
        header,
        pack_numbers(np.array([len(tokens) for tokens in held])),
        pack_numbers(np.concatenate([np.zeros(0, np.int64), *held])),
        wire.array_to_bytes([block.level for block in blocks], "<f8"),
        wire.array_to_bytes(
            np.concatenate([following.shares, *(block.shares for block in blocks)]), "<f8"
        ),
    )


def following_from_bytes(
    data: bytes, following: Following, topics: int, words: int, learned: int
) -> None:
    """Read the bytes of :func:`following_to_bytes`.

    Args:
        data: the bytes.
        following: takes the contents; nothing is remembered in it yet.
        topics: T of the learner.
        words: words of the learner's vocabulary.
        learned: documents that the learner has learned.

    Raises:
        DamagedDataError: the bytes are not of this form, or hold what no learner holds.
    """
    header, (lengths, tokens, levels, shares) = wire.unpack(_MAGIC, data, 4)
    header = {**dict.fromkeys(_OF_WAITING, 0), **header}
    for name in (*_COUNTS, *_OF_WAITING):
        most = learned if name in ("changed", "documents", "began") else checks.LARGEST
        setattr(
            following,
            name,
            checks.whole(f"{name} of a stream", checks.field(header, name), 0, most + 1),
        )
    following.fresh = checks.field(header, "fresh") is True
    following.held = _held(
        unpack_numbers(lengths), unpack_numbers(tokens), checks.field(header, "labels"), words
    )
    following.evidence = Scaled.from_hex(checks.field(header, "evidence"))
    of_shares = wire.array_from_bytes(shares, "<f8")
    of_blocks = wire.array_from_bytes(levels, "<f8")
    checks.measures("levels of blocks", of_blocks, -checks.HUGE)
    checks.measures("shares of topics", of_shares)
    begun = int(following.documents > 0)
    rows = checks.shaped("shares of topics", of_shares, len(of_blocks) + begun, topics)
    following.shares = rows[0].copy() if begun else np.zeros(0)
    blocks = [
        Block(float(level), row.copy()) for level, row in zip(of_blocks, rows[begun:], strict=True)
    ]
    _read_test(header, blocks, following.test)


def _read_test(header: dict[str, Any], blocks: list[Block], test: ChangeTest) -> None:
    """Read the state of a test over these blocks, the last of which wait."""
    waiting = checks.whole("blocks that wait", header.get("waiting", 0), 0, len(blocks) + 1)
    sums = header.get("sums", [0.0] * len(FIGURES))
    if not checks.fits(sums, list[float]):
        checks.refuse("sums of a stream", repr(sums), "a list of numbers")
    checks.sized("sums of a stream", sums, len(FIGURES))
    first, second = (checks.number("sums of a stream", one, 0, checks.HUGE) for one in sums)
    remembered = len(blocks) - waiting
    for count in (waiting, remembered):
        checks.whole("blocks of a stream", count, 0, REMEMBERED + 1)
    test.blocks, test.waiting = deque(blocks[:remembered]), blocks[remembered:]
    test.sums = first, second


def _held(lengths: LongArray, tokens: LongArray, labels: object, words: int) -> Documents:
    """Return the documents that wait."""
    if not checks.fits(labels, list[str | None]):
        checks.refuse("labels of documents that wait", repr(labels), "a list of texts and nulls")
    assert isinstance(labels, list)
    checks.sized("labels of documents that wait", labels, len(lengths))
    checks.within("tokens of documents that wait", tokens, 0, words)
    checks.within("lengths of documents that wait", lengths, 0, len(tokens) + 1)
    checks.equal("tokens of all documents that wait", len(tokens), int(lengths.sum()))
    parts = np.split(tokens.astype(np.int32), np.cumsum(lengths)[:-1]) if len(lengths) else []
    return list(zip(parts, labels, strict=True))
