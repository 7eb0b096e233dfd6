"""Rows of trends as files, and whole tables from their parts.

A row is a dictionary with the fields that :mod:`transforms.trends` describes.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from model.errors import DamagedDataError
from model.times import parse_time, to_iso

# The fields that name a row.
TREND_KEY = ("key", "window_start", "group", "topic", "part")
_TIME = pa.timestamp("us", tz="UTC")
_TYPICAL = pa.struct([("id", pa.string()), ("timestamp", _TIME), ("share", pa.float64())])
SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        ("window_start", _TIME),
        ("window_end", _TIME),
        ("part", _TIME),
        ("group", pa.string()),
        ("topic", pa.int64()),
        ("documents", pa.int64()),
        ("tokens", pa.float64()),
        ("mean_share", pa.float64()),
        ("typical", pa.list_(_TYPICAL)),
    ]
)
_TIMES = ("window_start", "window_end", "part")


def rows_to_parquet(records: Sequence[bytes]) -> bytes:
    """Return a Parquet file for rows as JSON, in one order."""
    rows = [json.loads(record) for record in sorted(records)]
    stream = io.BytesIO()
    table = pa.Table.from_pylist([_with_times(row, parse_time) for row in rows], SCHEMA)
    pq.write_table(table, stream, compression="zstd")
    return stream.getvalue()


def _with_times(row: Mapping[str, Any], convert: Any) -> dict[str, Any]:
    typical = [{**one, "timestamp": convert(one["timestamp"])} for one in row["typical"]]
    return {**row, **{name: convert(row[name]) for name in _TIMES}, "typical": typical}


def rows_of_file(stream: BinaryIO, name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file, with times in microseconds.

    Args:
        stream: The bytes of the file.
        name: Its name. One that ends in ``.parquet`` is Parquet; any other one has JSON lines.

    Raises:
        DamagedDataError: The file cannot be read as rows of trends.
    """
    try:
        if name.endswith(".parquet"):
            rows = pq.read_table(io.BytesIO(stream.read()), schema=SCHEMA).to_pylist()
        else:
            rows = [json.loads(line) for line in stream]
        for row in rows:
            found = _with_times(row, parse_time)
            _ = [float(found[field]) for field in ("documents", "tokens", "mean_share")]
            _ = None if found["topic"] is None else float(found["topic"])
            _ = found["key"] + found["group"]
            yield found
    except (ValueError, KeyError, TypeError, AttributeError, pa.ArrowException) as error:
        raise DamagedDataError(
            f"{name} cannot be read as trends: {type(error).__name__} {error}. --trends takes what"
            " infer or stream wrote. Restore it from a copy."
        ) from error


def whole_rows(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return one row for each key, window, group and topic: repeated rows once, parts added up.

    Args:
        rows: Rows with times in microseconds.

    Returns:
        The rows by key, window, group and topic. They have no part, and the best of the typical
        documents of their parts.
    """
    parts = {tuple(row[name] for name in TREND_KEY): row for row in rows}
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in sorted(parts.values(), key=_order):
        place = tuple(row[name] for name in TREND_KEY[:-1])
        if place not in found:
            found[place] = {name: value for name, value in row.items() if name != "part"}
            continue
        whole = found[place]
        documents = whole["documents"] + row["documents"]
        shares = (one["mean_share"] * one["documents"] for one in (whole, row))
        whole["mean_share"] = sum(shares) / documents
        most = max(len(whole["typical"]), len(row["typical"]))
        both = [*whole["typical"], *row["typical"]]
        both.sort(key=lambda one: (-one["share"], one["timestamp"], one["id"]))
        whole |= {
            "documents": documents,
            "tokens": whole["tokens"] + row["tokens"],
            "typical": both[:most],
        }
    return list(found.values())


def _order(row: Mapping[str, Any]) -> tuple[tuple[bool, Any], ...]:
    """Return the sort key of a row; no topic comes after all topics."""
    return tuple((row[name] is None, row[name]) for name in TREND_KEY)


def window_name(row: Mapping[str, Any]) -> str:
    """Return the day on which the window of a row begins."""
    return to_iso(row["window_start"])[:10]
