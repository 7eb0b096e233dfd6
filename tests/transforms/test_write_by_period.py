import apache_beam as beam
import pytest
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.timestamp import Timestamp
from collecting import run
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.documents.pending import ListBag
from beam_topics.model.reporting.encoding import json_lines
from beam_topics.transforms import write
from beam_topics.transforms.shared import LAST_TIME
from beam_topics.transforms.write import WriteByPeriod, WriteByPeriodDoFn, shard_of

HOUR, MS = 3_600_000_000, 1000
RECORDS = [b"%04d" % n for n in range(200)]


def timed(record):
    return TimestampedValue(record, Timestamp(micros=int(record) * HOUR // 10))


def gathered(folder, records, *flags, period=10 * HOUR, streams=False):
    def build(pipeline):
        made = (
            pipeline
            | beam.Create(records, reshuffle=False)
            | beam.Map(timed).with_output_types(bytes)
            | beam.Reshuffle()
        )
        return {
            "paths": made
            | WriteByPeriod(str(folder), "rows", ".jsonl", json_lines, period, streams=streams)
        }

    return run(build, *flags)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("streams", [True, False])
def test_a_period_is_a_file_of_each_shard(tmp_path, streams):
    results, counters = gathered(tmp_path, RECORDS, streams=streams)
    files = contents(tmp_path)
    assert sorted(b"".join(files.values()).split()) == RECORDS
    assert len(files) == 2 * len({shard_of(record) for record in RECORDS})
    for data in files.values():
        rows = data.split()
        assert len({int(row) // 100 for row in rows}) == 1
        assert len({shard_of(row) for row in rows}) == 1
    assert len(results["paths"]) == len(files)
    assert {time for time, _ in results["paths"]} == {10 * HOUR, 20 * HOUR}
    assert counters["rows_written"] == 200


def test_two_side_by_side_keep_their_timers_apart(tmp_path):
    def build(pipeline):
        made = (
            pipeline
            | beam.Create(RECORDS, reshuffle=False)
            | beam.Map(timed).with_output_types(bytes)
        )
        folders = {name: str(tmp_path / name) for name in ("one", "other")}
        writers = {
            name: WriteByPeriod(path, name, ".jsonl", json_lines, 10 * HOUR, streams=False)
            for name, path in folders.items()
        }
        return {name: made | name >> write for name, write in writers.items()}

    _, counters = run(build)
    assert counters == {"one_written": 200, "other_written": 200}
    for name in ("one", "other"):
        assert sorted(b"".join(contents(tmp_path / name).values()).split()) == RECORDS


def test_a_repeated_bundle_writes_the_same_files(tmp_path):
    gathered(tmp_path, RECORDS)
    before = contents(tmp_path)
    gathered(tmp_path, RECORDS[::-1], "--direct_runner_bundle_repeat=2")
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("bound", "value", "records"), [("MAX_RECORDS", 7, 7), ("FLUSH_BYTES", 20, 5)]
)
def test_what_is_held_is_bounded_in_records_and_in_bytes(
    tmp_path, monkeypatch, bound, value, records
):
    monkeypatch.setattr(write, bound, value)
    gathered(tmp_path, RECORDS, period=10**6 * HOUR)
    files = contents(tmp_path)
    assert max(len(data.split()) for data in files.values()) == records
    assert sorted(b"".join(files.values()).split()) == RECORDS


class Value:
    data = b""

    def read(self):
        return self.data

    def write(self, data):
        self.data = data


class Timer:
    at = None

    def set(self, time, dynamic_timer_tag):
        self.at = time.micros if self.at is None else min(self.at, time.micros)


def step(tmp_path, streams=True):
    fn = WriteByPeriodDoFn(str(tmp_path), "rows", ".jsonl", json_lines, 10 * MS, streams=streams)
    fn.setup()
    return fn, Value(), ListBag(), Timer()


@given(
    st.lists(st.tuples(st.integers(-50, 200), st.integers(-50, 200), st.booleans()), max_size=40)
)
def test_whenever_timers_fire_and_workers_change_each_record_is_written_once(
    tmp_path_factory, moves
):
    folder = tmp_path_factory.mktemp("files")
    fn, head, bag, timer = step(folder)
    for number, (time, fire, lost) in enumerate(moves):
        fn.start_bundle()
        list(fn.process((b"0", b"%03d" % number), Timestamp(micros=time * MS), head, bag, timer))
        if lost:
            fn, *_ = step(folder)
        if timer.at is not None and fire * MS >= timer.at:
            fn.start_bundle()
            timer.at = None
            list(fn.close(b"0", Timestamp(micros=fire * MS), head, bag))
    fn.start_bundle()
    list(fn.close(b"0", Timestamp(micros=LAST_TIME), head, bag))
    assert sorted(b"".join(contents(folder).values()).split()) == [
        b"%03d" % number for number in range(len(moves))
    ]
    assert bag.elements == []
