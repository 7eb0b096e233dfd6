import io
import itertools
from datetime import timedelta

import fastavro
import pytest

pytest.importorskip("psutil", reason="psutil is not installed: it is in the extra bench")

from benchmarks import headlines
from benchmarks.headlines import JOB_SERVER, Tenths, flags_of, pieces, write_archive
from benchmarks.soak import PASSES, PRISM, report


def numbered(count):
    return " ".join(map(str, range(count)))


def test_a_text_is_cut_into_pieces_of_twelve_words_and_the_rest_is_left_out():
    found = list(pieces([numbered(25), numbered(11), numbered(12)]))
    assert found == [numbered(12), " ".join(map(str, range(12, 24))), numbered(12)]


def test_the_archive_has_a_headline_every_ten_seconds_and_a_file_a_day(tmp_path, monkeypatch):
    texts = ({"text": numbered(12)} for _ in itertools.count())
    monkeypatch.setattr(headlines, "records", lambda name: texts)
    assert write_archive(tmp_path, 10_000) == 10_000
    files = sorted(tmp_path.iterdir())
    stored = (io.BytesIO(path.read_bytes()) for path in files)
    found = [record for file in stored for record in fastavro.reader(file)]
    gaps = {later["timestamp"] - one["timestamp"] for one, later in itertools.pairwise(found)}
    assert len(files) == 2 and gaps == {timedelta(seconds=10)}
    assert [record["id"] for record in found] == list(map(str, range(10_000)))


def test_a_tenth_ends_with_a_tenth_of_the_documents():
    watch = Tenths(first=0, span=1, total=50)
    for _ in range(25):
        watch.learned(0, 2)
    # The documents of a minibatch belong to the tenth in which it begins.
    assert dict(watch.documents) == {1: 6, 2: 4, 3: 6, 4: 4, 5: 6, 6: 4, 7: 6, 8: 4, 9: 6, 10: 4}


def test_the_pace_of_prism_is_documents_a_second(monkeypatch):
    monkeypatch.setenv(PRISM, "bin/prism")
    monkeypatch.setenv(JOB_SERVER, "server.jar")
    assert "--replay_speed=7000x" in flags_of("prism", 700)
    assert not any(flag.startswith("--replay_speed") for flag in flags_of("flink", 700))


def test_a_runner_without_a_path_is_left_out(monkeypatch, capsys):
    learned = []
    monkeypatch.setattr(headlines, "learn", lambda *given: learned.append(given))
    monkeypatch.setenv("BENCHMARK_EVERY", "100")
    monkeypatch.setenv(PRISM, "bin/prism")
    monkeypatch.delenv(JOB_SERVER, raising=False)
    headlines.headlines()
    assert learned == [("prism", 10_000)]
    assert f"left out: {JOB_SERVER} does not say where flink is" in capsys.readouterr().out


def test_growth_is_measured_from_the_first_tenth(capsys):
    watch = Tenths(first=0, span=1)
    for number in range(1, PASSES + 1):
        watch.passed = number
        watch.resident[number] = [100.0 if number == 1 else 106.0]
    report(watch, since=1)
    assert "+6.0%   grows" in capsys.readouterr().out
