"""The slow twin of tallies: documents that are counted one by one."""

import hashlib


def digest(word):
    return int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "little")


def count(tally, snapshot, document):
    """Add a document to a tally."""
    document = snapshot.joined(document)
    rows = snapshot.rows_of(document.words).tolist()
    tally.documents += 1
    tally.tokens += len(document.tokens)
    tally.tokens_known += sum(rows[token] >= 0 for token in document.tokens)
    for word, row in zip(document.words, rows, strict=True):
        if row < 0:
            tally.unknown.add(digest(word))
        else:
            tally.known.add(digest(word) if snapshot.buckets else row)
