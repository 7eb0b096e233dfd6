import json
from dataclasses import replace

import driving
import pytest
from collecting import run
from log_battery import check_laws

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.errors import DamagedDataError, OptionError
from beam_topics.model.reading.files import end_of
from beam_topics.model.reading.settings import FieldNames, ParseSettings, ReadSettings
from beam_topics.model.reporting.encoding import documents_to_avro
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.transforms.read import ReadDocuments
from beam_topics.transforms.sources import log_source, replay
from beam_topics.transforms.sources.log_source import Entry, LogRange, Pause
from beam_topics.transforms.sources.replay import (
    ArchiveReader,
    Pace,
    ReplayArchive,
    ReplayDoFn,
    archive_of,
)
from beam_topics.transforms.write import shard_start, write_shard

HOUR = 3_600_000_000
SETTINGS = ReadSettings(ParseSettings(FieldNames(key="key")))
TOKENISER = TokeniserSettings()
DOCUMENTS = [Document(f"d{n}", n * HOUR, f"text of number {n}", None, "k") for n in range(50)]


@pytest.fixture
def archive(tmp_path):
    shards = {}
    for document in DOCUMENTS:
        shards.setdefault(shard_start(document.to_bytes(), 10 * HOUR)[0], []).append(
            document.to_bytes()
        )
    for shard in shards.items():
        write_shard(shard, str(tmp_path / "archive"))
    return str(tmp_path / "archive" / "*.avro")


def dofn(speed=None):
    return ReplayDoFn(SETTINGS, TOKENISER, speed)


def element(archive):
    return archive_of(b"", [archive], SETTINGS)


def test_the_range_is_the_whole_archive(archive):
    files = json.loads(element(archive))
    assert len(files) == 5
    assert dofn().range_of(element(archive)) == LogRange((0, 0, 0, 0), end_of(files))


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b"[" * 1000, b"\xff"])
def test_a_damaged_list_of_files_is_refused(data):
    with pytest.raises(DamagedDataError, match="the list of an archive's files"):
        dofn().range_of(data)


@pytest.mark.parametrize("entries", [1, 7, 1000])
def test_a_replay_is_the_archive_in_order(archive, monkeypatch, entries):
    monkeypatch.setattr(log_source, "BUNDLE_ENTRIES", entries)
    bundles = driving.to_the_end(dofn(), element(archive))
    assert driving.ids(bundles) == [document.id for document in DOCUMENTS]
    done = 0
    for bundle in bundles[:-1]:
        done += len(bundle.outputs)
        assert bundle.watermark == DOCUMENTS[done - 1].timestamp


@pytest.mark.parametrize("entries", [1, 7, 1000])
def test_blocks_hold_the_same_documents_and_none_is_held_over_a_bundle(
    archive, monkeypatch, entries
):
    monkeypatch.setattr(log_source, "BUNDLE_ENTRIES", entries)
    fn = ReplayDoFn(SETTINGS, TOKENISER, None)
    fn.setup()
    bundles, done = driving.to_the_end(fn, element(archive)), 0
    for bundle in bundles:
        held = [
            (output.timestamp, list(Block.from_bytes(output.value).documents()))
            for output in bundle.outputs
        ]
        wanted = DOCUMENTS[done : done + min(entries, 512)]
        assert [one.ids[0] for _, part in held for one in part] == [one.id for one in wanted]
        # The first one of a bundle may be at the watermark, and none is late.
        assert len(held) == (1 if wanted else 0)
        assert all(time.micros == part[0].timestamps[0] for time, part in held)
        done += len(wanted)
    assert done == len(DOCUMENTS)


def test_the_laws_of_a_log(tmp_path):
    """Two files of two documents: each opening of a file starts a process."""
    for number in (0, 2):
        documents = [document.to_bytes() for document in DOCUMENTS[number : number + 2]]
        path = tmp_path / f"archive-2000010{1 + number}T000000Z-aa.avro"
        path.write_bytes(documents_to_avro(documents))
    ids = [document.id for document in DOCUMENTS[:4]]
    check_laws(dofn, element(str(tmp_path / "*.avro")), ids)


def documents_in(results):
    """Documents without their places in the source, which a replay does not have."""
    return [
        (int(one.timestamps[0]), replace(one, arrived=0).to_bytes())
        for _, data in results
        for one in Block.from_bytes(data).documents()
    ]


@pytest.mark.parametrize("flags", [(), ("--direct_runner_bundle_repeat=2",)])
def test_a_replay_gives_what_reading_the_files_gives(archive, monkeypatch, flags):
    monkeypatch.setattr(log_source, "BUNDLE_ENTRIES", 7)
    read = {
        "one": ReplayArchive([archive], SETTINGS, TOKENISER),
        "two": ReadDocuments([archive], SETTINGS, TOKENISER),
    }
    found = {}
    for name, what in read.items():
        results, _ = run(lambda pipeline, what=what: {"all": (pipeline | what).documents}, *flags)
        # Where bundles are done twice, what collects them collects twice.
        found[name] = sorted(set(documents_in(results["all"])))
    assert found["one"] == found["two"]
    assert [micros for micros, _ in found["one"]] == [document.timestamp for document in DOCUMENTS]


def test_a_damaged_file_costs_dead_letters_and_nothing_else(archive, tmp_path):
    path = sorted((tmp_path / "archive").iterdir())[2]
    path.write_bytes(b"nonsense")

    def build(pipeline):
        made = pipeline | ReplayArchive([archive], SETTINGS, TOKENISER)
        return {"documents": made.documents, "dead": made.dead_letters}

    results, counters = run(build)
    assert [name for _, data in results["documents"] for name in Block.from_bytes(data).ids] == [
        f"d{n}" for n in range(50) if n // 10 != 2
    ]
    ((_, letter),) = results["dead"]
    assert json.loads(letter)["source"] == str(path)
    assert (counters["records_read"], counters["documents"], counters["dead_damaged"]) == (
        41,
        40,
        1,
    )


class Clock:
    def __init__(self):
        self.time = 100.0

    def __call__(self):
        return self.time

    def sleep(self, seconds):
        self.time += seconds


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(replay.time, "sleep", made.sleep)
    return made


def test_a_pace_begins_with_the_first_document(clock):
    pace = Pace(3600, clock)
    assert pace.seconds_until(5 * HOUR) == 0
    assert pace.seconds_until(7 * HOUR) == 2
    clock.time += 1.5
    assert pace.seconds_until(7 * HOUR) == 0.5
    # An earlier document is late, and is due.
    assert pace.seconds_until(4 * HOUR) < 0


def test_documents_come_when_they_are_due(archive, clock):
    reader = ArchiveReader(json.loads(element(archive)), SETTINGS, (0, 0, 0, 0), Pace(3600, clock))
    times = []
    while (taken := reader.take()) is not None:
        if isinstance(taken, Pause):
            clock.time += taken.seconds
        else:
            assert isinstance(taken, Entry)
            times.append(clock.time - 100)
    assert times == pytest.approx(range(50))
    assert reader.take() is None
    reader.close()


def test_a_pause_waits_at_its_document(archive, clock):
    reader = ArchiveReader(json.loads(element(archive)), SETTINGS, (0, 0, 0, 0), Pace(3600, clock))
    first = reader.take()
    before = reader.position
    assert isinstance(reader.take(), Pause)
    assert reader.position == before > first.position


def test_a_restored_replay_does_not_make_up_for_lost_time(archive, clock):
    first = driving.bundle(dofn(), element(archive), stop_after=10)
    clock.time += 1e6
    start = LogRange.from_bytes(first.rest).start
    reader = ArchiveReader(json.loads(element(archive)), SETTINGS, start, Pace(3600, clock))
    assert reader.take().item.id == "d10"
    clock.time += 0.3
    paused = reader.take()
    assert 0.1 + paused.seconds == pytest.approx(0.7)


def test_pace_changes_no_result(archive, clock, monkeypatch):
    monkeypatch.setattr(replay, "Pace", lambda speed: Pace(speed, clock))
    bundles = driving.to_the_end(dofn(3600 * 1000), element(archive))
    assert driving.ids(bundles) == [document.id for document in DOCUMENTS]
    assert clock.time > 100


def test_a_document_out_of_order_is_late_and_not_lost(tmp_path):
    (tmp_path / "archive-20000101T000000Z-aa.avro").write_bytes(
        documents_to_avro([d.to_bytes() for d in DOCUMENTS[5:]])
    )
    (tmp_path / "archive-20000102T000000Z-aa.avro").write_bytes(
        documents_to_avro([d.to_bytes() for d in DOCUMENTS[:5]])
    )
    bundles = driving.to_the_end(dofn(), element(str(tmp_path / "*.avro")))
    assert driving.ids(bundles) == [document.id for document in DOCUMENTS[5:] + DOCUMENTS[:5]]


def test_what_cannot_be_replayed():
    with pytest.raises(
        OptionError, match=r"--time_from: 'order' was given; allowed is field with --source=replay"
    ):
        ReplayArchive(["a"], ReadSettings(time_from="order"), TOKENISER)
