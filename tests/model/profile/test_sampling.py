"""Samples are bounded, spread over the whole of a file, and say how many records there are."""

import csv
import gzip
import io
import json

import pytest

from beam_topics.model.profile import sampling
from beam_topics.model.profile.sampling import sample_file, take_samples
from beam_topics.model.reading.settings import ReadSettings

ROWS = [{"id": str(n), "body": f"the ship {n}\ncame, in {'far ' * 20}"} for n in range(2000)]


def as_lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def as_csv(rows):
    out = io.StringIO(newline="")
    made = csv.DictWriter(out, list(rows[0]))
    made.writeheader()
    made.writerows(rows)
    return out.getvalue().encode()


def as_parquet(rows):
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out)
    return out.getvalue()


def as_avro(rows):
    import fastavro

    fields = [{"name": name, "type": "string"} for name in rows[0]]
    out = io.BytesIO()
    fastavro.writer(out, {"type": "record", "name": "R", "fields": fields}, rows)
    return out.getvalue()


FORMS = {
    "a.jsonl": as_lines,
    "a.json": lambda rows: json.dumps(rows, indent=1).encode(),
    "a.jsonl.gz": lambda rows: gzip.compress(as_lines(rows)),
    "a.csv": as_csv,
    "a.parquet": as_parquet,
    "a.avro": as_avro,
}


def sample(tmp_path, name, data, settings=None, given=()):
    (tmp_path / name).write_bytes(data)
    return sample_file(str(tmp_path / name), settings or ReadSettings(), given)


@pytest.mark.parametrize("name", FORMS)
def test_a_small_file_is_read_whole(tmp_path, name):
    found = sample(tmp_path, name, FORMS[name](ROWS[:50]))
    assert [dict(record) for record in found.records] == ROWS[:50]
    assert (found.count, found.whole, found.unread) == (50, True, 0)


@pytest.mark.parametrize("name", FORMS)
def test_a_sample_of_a_large_file_reaches_its_end(tmp_path, monkeypatch, name):
    monkeypatch.setattr(sampling, "WHOLE", 2**13)
    monkeypatch.setattr(sampling, "LAYOUT_BYTES", 2**13)
    monkeypatch.setattr(sampling, "_WINDOW", 2**11)
    monkeypatch.setattr(sampling, "_RECORDS", 200)
    found = sample(tmp_path, name, FORMS[name](ROWS))
    ids = [int(record["id"]) for record in found.records]
    assert not found.whole and len(ids) < 1000 and ids == sorted(set(ids))
    if not name.endswith((".gz", ".avro")):
        assert ids[-1] > 1900
    assert 1600 < found.count < 2400
    assert all(record == ROWS[int(record["id"])] for record in found.records)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le", "utf-8-sig"])
def test_the_encoding_is_found(tmp_path, encoding):
    text = "Datum;Meldung\r\n" + "2024-01-01;Größe und Straße, für 5 € überall\r\n" * 30
    found = sample(tmp_path, "a.csv", text.encode(encoding))
    assert found.encoding == encoding.removesuffix("-sig")
    assert found.records[0] == {
        "Datum": "2024-01-01",
        "Meldung": "Größe und Straße, für 5 € überall",
    }


def test_lines_may_end_in_cr_alone(tmp_path):
    found = sample(tmp_path, "a.csv", b"id,body\r1,a ship\r2,a port\r")
    assert [record["body"] for record in found.records] == ["a ship", "a port"]


def test_what_cannot_be_read_is_counted_with_its_reason(tmp_path):
    found = sample(tmp_path, "a.jsonl", as_lines(ROWS[:3]) + b"{\n")
    assert (len(found.records), found.unread, found.count) == (3, 1, 4)
    assert "does not end in this line" in found.fault
    damaged = sample(tmp_path, "a.parquet", b"PAR1 and no more")
    assert damaged.unread == 1 and "not a Parquet file" in damaged.fault


def test_many_files_are_sampled_evenly(tmp_path, monkeypatch):
    monkeypatch.setattr(sampling, "_FILES", 3)
    paths = []
    for number in range(9):
        (tmp_path / f"{number}.jsonl").write_bytes(as_lines(ROWS[number : number + 1]))
        paths.append(str(tmp_path / f"{number}.jsonl"))
    found = take_samples(paths, ReadSettings(), ())
    assert [record["id"] for record in found.records] == ["0", "4", "8"]
    assert (found.documents, found.whole) == (9, False)
