"""Write rows of trends to files and to BigQuery.

    rows: bytes (JSON, :mod:`transforms.trends`) -> what the sink gives

Rows are written at least once. Readers drop repeated rows by :data:`model.trends.TREND_KEY`.
"""

from __future__ import annotations

import json
from typing import Any

import apache_beam as beam
from apache_beam.transforms.window import GlobalWindows

from model.encoding import json_lines
from model.trends import rows_to_parquet
from transforms.write import Encoder

_ENCODERS: dict[str, Encoder] = {"jsonl": json_lines, "parquet": rows_to_parquet}

SCHEMA: dict[str, Any] = {
    "fields": [
        *(
            {"name": name, "type": kind, "mode": "NULLABLE" if name == "topic" else "REQUIRED"}
            for name, kind in (
                ("key", "STRING"),
                ("window_start", "TIMESTAMP"),
                ("window_end", "TIMESTAMP"),
                ("part", "TIMESTAMP"),
                ("group", "STRING"),
                ("topic", "INTEGER"),
                ("documents", "INTEGER"),
                ("tokens", "FLOAT"),
                ("mean_share", "FLOAT"),
            )
        ),
        {
            "name": "typical",
            "type": "RECORD",
            "mode": "REPEATED",
            "fields": [
                {"name": "id", "type": "STRING", "mode": "REQUIRED"},
                {"name": "timestamp", "type": "TIMESTAMP", "mode": "REQUIRED"},
                {"name": "share", "type": "FLOAT", "mode": "REQUIRED"},
            ],
        },
    ]
}


def trends_encoder(output_format: str) -> Encoder:
    """Return the function that makes a file of rows."""
    return _ENCODERS[output_format]


class WriteTrendsToBigQuery(beam.PTransform):
    """Write rows to a BigQuery table with Beam's own sink; it makes the table where there is none.

    Args:
        table: ``project:dataset.table``.
        streams: Whether rows are inserted one by one as they come, or loaded from files.
    """

    def __init__(self, table: str, *, streams: bool) -> None:
        super().__init__()
        self._table, self._streams = table, streams

    def expand(self, rows: beam.PCollection) -> Any:
        from apache_beam.io.gcp.bigquery import BigQueryDisposition, WriteToBigQuery

        methods = WriteToBigQuery.Method
        return (
            rows
            | "Global" >> beam.WindowInto(GlobalWindows())
            | "Read" >> beam.Map(json.loads).with_output_types(dict)
            | "Insert"
            >> WriteToBigQuery(
                self._table,
                schema=SCHEMA,
                create_disposition=BigQueryDisposition.CREATE_IF_NEEDED,
                write_disposition=BigQueryDisposition.WRITE_APPEND,
                method=methods.STREAMING_INSERTS if self._streams else methods.FILE_LOADS,
            )
        )
