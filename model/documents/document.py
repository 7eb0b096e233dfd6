"""A document as it was read, and a record that could not be read.

Each has explicit, deterministic bytes. Times are whole microseconds since
1970-01-01 UTC and may be negative. Values are checked where a record is read
(:mod:`beam_topics.model.stored.checks`), so later stages need not check them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.stored import checks, wire


# A frozen one takes three times as long to make, a tenth of the time of reading.
@dataclass(slots=True)
class Document:
    """A text as it was read; only its reader changes it.

    Attributes:
        id: The id of the document.
        timestamp: Its event time in microseconds.
        text: Its text.
        label: Its label, or None.
        key: The key of the model that it belongs to; ``""`` if there is one model for all.
        source: Its author or other source, or None.
        group: The group of trends that it counts in, or None.
        arrived: Its place in the order of its source, which decides between documents of one id.
        place: Its place in a log (:mod:`beam_topics.model.documents.minibatch`), or None.
    """

    id: str
    timestamp: int
    text: str
    label: str | None = None
    key: str = ""
    source: str | None = None
    group: str | None = None
    # Not part of what a document is: its order decides and is forgotten.
    arrived: int = field(default=0, compare=False)
    place: str | None = field(default=None, compare=False)

    MAGIC = b"BTt1"

    def to_bytes(self) -> bytes:
        facts = {name: getattr(self, name) for name in ("id", "timestamp", "label", "key")}
        marks = {"source": self.source, "group": self.group, "arrived": self.arrived or None}
        facts |= {name: mark for name, mark in marks.items() if mark is not None}
        return wire.pack(self.MAGIC, facts, self.text.encode())

    @classmethod
    def from_bytes(cls, data: bytes) -> Document:
        header, (text,) = wire.unpack(cls.MAGIC, data, 1)
        try:
            return cls(**checks.record(cls, {**header, "text": text.decode()}, "a document"))
        except UnicodeDecodeError as error:
            raise DamagedDataError(f"a document's text is not UTF-8: {error}") from error


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
        count: The number of records that it stands for; ``record`` is the first of several.
    """

    source: str
    reason: str
    detail: str
    record: str
    count: int = 1

    RECORD_CHARACTERS = 2000

    def as_json(self) -> str:
        """Return the dead letter as canonical JSON, with its count where it is not 1."""
        facts = asdict(self)
        if self.count == 1:
            del facts["count"]
        return wire.canonical_json(facts)
