"""Rows of trends as files: read as they were written; parts add up; damage is told."""

import io
import json

import pytest
from blocks import count_in

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.reporting.encoding import json_lines
from beam_topics.model.reporting.now import Newest
from beam_topics.model.reporting.trends import Trends, rows_of_file, whole_rows
from beam_topics.transforms.send import TRENDS
from beam_topics.transforms.trends import rows_of

DAY = 86_400_000_000


def rows(shares, part=DAY, run=0):
    table = Trends(2)
    for number, share in enumerate(shares):
        named = number, f"d{share}"
        count_in(table, 0, "g", [share, 1 - share], tokens=4, words_known=4, named=named)
    return list(rows_of(table, "k", part, DAY, run))


def read(data, name):
    return list(rows_of_file(io.BytesIO(data), name))


def test_rows_are_read_as_they_were_written():
    written = json_lines(rows([0.25, 0.5, 0.75]))
    first = next(one for one in read(written, "a.jsonl") if one["topic"] == 0)
    assert (first["mean_share"], first["documents"], first["tokens"]) == (0.5, 3, 6.0)
    assert [one["id"] for one in first["typical"]] == ["d0.75", "d0.5", "d0.25"]


def test_parts_add_up_and_repeated_rows_count_once():
    late, whole = rows([1.0], part=2 * DAY), rows([0.25, 0.75])
    found = whole_rows(read(json_lines([*whole, *late, *whole]), "x"))
    assert [row["topic"] for row in found] == [0, 1, None]
    assert found[0]["documents"] == 3 and found[0]["tokens"] == 8
    assert found[0]["mean_share"] == pytest.approx(2 / 3)
    assert [one["id"] for one in found[0]["typical"]] == ["d1.0", "d0.75"]


def test_equal_rows_of_two_runs_add_up_and_repeated_ones_count_once():
    first, added = rows([0.25, 0.75]), rows([0.25, 0.75], run=12)
    assert "run" not in json.loads(first[0]) and json.loads(added[0])["run"] == 12
    written = read(json_lines([*first, *added, *added, *first]), "x")
    found, newest = whole_rows(written), Newest()
    newest.take(io.BytesIO(json_lines([*first, *added, *added])), "trends-1.jsonl")
    assert [row["documents"] for row in found] == [4, 4, 4] and found[0]["tokens"] == 8
    assert whole_rows(newest.rows("k")) == found
    # The key of a message of Kafka.
    assert TRENDS.message_of(first[0])[0] != TRENDS.message_of(added[0])[0]


def test_damage_names_the_option_that_writes_trends():
    told = r"bad cannot be read .* Rows of trends are what --trends of infer or stream wrote\."
    with pytest.raises(DamagedDataError, match=told):
        read(b"{}", "bad")


@pytest.mark.parametrize(
    "change",
    [
        {"topic": "x"},
        {"window_start": "soon"},
        {"typical": None},
        {"key": 3},
        {"documents": None},
        {"run": -1},
        {"run": "x"},
    ],
)
def test_damage_is_told(change):
    row = json.loads(rows([0.5])[0]) | change
    with pytest.raises(DamagedDataError, match="bad cannot be read as trends: "):
        read(json.dumps(row).encode(), "bad")
    with pytest.raises(DamagedDataError, match=r"bad.txt cannot be read as trends: "):
        read(b"PAR1", "bad.txt")
