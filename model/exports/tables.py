"""Topics and their words as a table: CSV, Parquet, or a frame of pandas.

A row is a topic and a word with a count in it, in the order of topics and of counts. The columns:
``topic``, ``name``, ``share`` (of the tokens that the model holds), ``rank`` (from 1), ``word``,
``count`` (n_wz) and ``probability`` (P(w | z)).
"""

from __future__ import annotations

import csv
import io
from typing import Any

from model.errors import OptionError
from model.exports import Exported
from model.reporting.relevance import topic_shares, word_statistics

Columns = dict[str, list[Any]]


def columns(exported: Exported, words: int | None = None) -> Columns:
    """Return the table by columns.

    Args:
        exported: the model.
        words: the number of words of each topic; None for all.
    """
    snapshot, shares = exported.snapshot, topic_shares(exported.snapshot)
    statistics = word_statistics(snapshot)
    found: Columns = {
        name: [] for name in ("topic", "name", "share", "rank", "word", "count", "probability")
    }
    for place, topic in enumerate(exported.ids):
        at = statistics.span(place)
        rows = statistics.words[at][:words].tolist()
        found["topic"] += [topic] * len(rows)
        found["name"] += [exported.names.get(topic, "")] * len(rows)
        found["share"] += [float(shares[place])] * len(rows)
        found["rank"] += range(1, len(rows) + 1)
        found["word"] += [snapshot.words[row] for row in rows]
        found["count"] += statistics.counts[at][:words].tolist()
        found["probability"] += statistics.probability[at][:words].tolist()
    return found


def to_csv(exported: Exported, words: int | None = None) -> bytes:
    """Return the table as CSV (RFC 4180) in UTF-8; numbers have all of their digits."""
    found, out = columns(exported, words), io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(found)
    writer.writerows(zip(*found.values(), strict=True))
    return out.getvalue().encode()


def to_parquet(exported: Exported, words: int | None = None) -> bytes:
    """Return the table as a Parquet file."""
    # Imported here, because the import takes a second.
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.table(columns(exported, words)), out)
    return out.getvalue()


def to_frame(exported: Exported, words: int | None = None) -> Any:
    """Return the table as a ``pandas.DataFrame``.

    Raises:
        OptionError: pandas is not installed.
    """
    try:
        import pandas
    except ModuleNotFoundError as error:
        raise OptionError(
            "frame", "pandas", "nothing unless pandas is installed", "Run: pip install pandas."
        ) from error
    return pandas.DataFrame(columns(exported, words))
