"""Dead letters: what could not be processed, and why. Nothing that was read is lost; what is not
used is here.
"""

from __future__ import annotations

from dataclasses import dataclass

from model import wire
from model.records import TokenisedDocument
from model.times import to_iso


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A record that could not be processed: where it came from, why, and as much of it as fits.

    Attributes:
        source: file and place (``data.jsonl:17``, ``data.avro block 3``) or the stage that refused
        it. reason: one of a few fixed words (``not_json``, ``missing_id``, ...), which are also the
        counters' names. detail: a sentence for a person. record: the record's text, at most
        :data:`RECORD_CHARACTERS` characters of it.
    """

    source: str
    reason: str
    detail: str
    record: str

    RECORD_CHARACTERS = 2000

    @classmethod
    def of(cls, document: TokenisedDocument, source: str, reason: str, detail: str) -> DeadLetter:
        """Of a document that was read: its fields and, as far as there is room, its words."""
        fields = {
            "id": document.id,
            "timestamp": to_iso(document.timestamp),
            "key": document.key,
            "label": document.label,
        }
        words = " ".join(document.words[w] for w in document.tokens[: cls.RECORD_CHARACTERS])[
            : cls.RECORD_CHARACTERS
        ]
        record = wire.canonical_json({**fields, "words": words})
        while words and (over := len(record) - cls.RECORD_CHARACTERS) > 0:
            # JSON writes a character by at most six.
            words = words[: -(over // 6 + 1)]
            record = wire.canonical_json({**fields, "words": words})
        return cls(source, reason, detail, record[: cls.RECORD_CHARACTERS])

    def as_json(self) -> str:
        return wire.canonical_json(
            {
                "source": self.source,
                "reason": self.reason,
                "detail": self.detail,
                "record": self.record,
            }
        )
