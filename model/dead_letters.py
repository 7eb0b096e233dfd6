"""Dead letters: records that could not be processed, and why. Every record that is read is kept."""

from __future__ import annotations

from dataclasses import dataclass

from model import wire
from model.records import TokenisedDocument
from model.times import to_iso


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A record that could not be processed: where it came from, why, and as much of it as fits.

    Attributes:
        source: The file and the place (``data.jsonl:17``, ``data.avro block 3``), or the stage that
            refused the record.
        reason: One of a few fixed words (``not_json``, ``missing_id``, ...), which also name
            counters.
        detail: A sentence for a person.
        record: The first :data:`RECORD_CHARACTERS` characters of the record.
    """

    source: str
    reason: str
    detail: str
    record: str

    RECORD_CHARACTERS = 2000

    @classmethod
    def of(cls, document: TokenisedDocument, source: str, reason: str, detail: str) -> DeadLetter:
        """Make a dead letter of a document that was read.

        It has the fields of the document and as many of its words as fit.
        """
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
            # JSON writes a character as at most six characters.
            words = words[: -(over // 6 + 1)]
            record = wire.canonical_json({**fields, "words": words})
        return cls(source, reason, detail, record[: cls.RECORD_CHARACTERS])

    def as_json(self) -> str:
        """Return the dead letter as canonical JSON."""
        return wire.canonical_json(
            {
                "source": self.source,
                "reason": self.reason,
                "detail": self.detail,
                "record": self.record,
            }
        )
