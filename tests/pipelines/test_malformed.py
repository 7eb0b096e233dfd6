"""Half of a stream is malformed: nothing of that is fatal, and everything is accounted for."""

import json
from collections import Counter

import pytest
from malformed import write_mixed

from beam_topics.model.reading.files import read_file
from beam_topics.model.reading.parsing import REASONS
from beam_topics.model.reading.settings import ReadSettings
from beam_topics.pipelines import archive


@pytest.mark.parametrize("malformed", [400, pytest.param(10_000, marks=pytest.mark.slow)])
def test_as_many_malformed_records_as_good_ones(tmp_path, capsys, malformed):
    source, kept, dead = tmp_path / "source", tmp_path / "archive", tmp_path / "dead"
    source.mkdir()
    records = write_mixed(source, malformed)
    assert (
        archive.main(
            [
                f"--input={source}/*",
                f"--output={kept}",
                f"--dead_letters={dead}",
            ]
        )
        == 0
    )
    found = {}
    for path in kept.glob("*.avro"):
        with path.open("rb") as stream:
            found |= {
                document.id: document.text
                for document in read_file(stream, path.name, ReadSettings())
            }
    assert found == {record["id"]: record["text"] for record in records}
    letters = [
        json.loads(line) for path in dead.glob("*.jsonl") for line in path.read_bytes().splitlines()
    ]
    assert len(letters) == malformed
    assert all(letter["detail"] for letter in letters)
    assert max(Counter(letter["source"] for letter in letters).values()) == 1
    # What is left out needs --key_field, a larger record, a message, or a file that is wrong as a
    # whole.
    seen = Counter(letter["reason"] for letter in letters)
    unseen = {"too_large", "missing_key", "bad_key", "schema", "future"}
    assert set(REASONS) - set(seen) == unseen, seen
    error = capsys.readouterr().err
    assert f"records_read {2 * malformed:,}" in error and f"documents {malformed:,}" in error
