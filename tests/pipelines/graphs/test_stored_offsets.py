"""A new job over a topic reads on behind what the model store has learned of it."""

import json
from dataclasses import replace
from types import SimpleNamespace

import fake_learner
import numpy as np
import pytest
from apache_beam.options.pipeline_options import PipelineOptions

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.errors import DamagedDataError, OptionError
from beam_topics.model.learner_log.known import Segment, cuts_after, offsets_after
from beam_topics.model.learner_log.restoring import SequenceStart
from beam_topics.model.publishing.settings import Publication
from beam_topics.model.publishing.store import ModelStore
from beam_topics.pipelines import erase, train
from beam_topics.pipelines.graphs import additions, outcomes
from beam_topics.transforms.sources import kafka, kafka_client
from beam_topics.transforms.sources.log_source import READER_CACHE

DAY, EOF = 86_400, -191
WORDS = ["ship", "sailed", "harbour", "judge", "court", "verdict"]
FLAGS = ["--window=2d", "--publish_every=2windows", "--learner=fake", "--topics=3"]


class Message(SimpleNamespace):
    def offset(self):
        return self.at

    def value(self):
        return self.data

    def timestamp(self):
        return 1, self.millis

    def error(self):
        return None if self.data else SimpleNamespace(code=lambda: EOF)


class Broker:
    """A topic of two partitions in memory, and the offsets at which consumers began."""

    KafkaException = type("KafkaException", (Exception,), {})
    KafkaError = SimpleNamespace(
        _PARTITION_EOF=EOF, _AUTO_OFFSET_RESET=-140, _ALL_BROKERS_DOWN=-187, _TRANSPORT=-195
    )
    TIMESTAMP_NOT_AVAILABLE = 0

    def __init__(self):
        self.logs, self.low, self.begun = {0: [], 1: []}, 0, {}

    def TopicPartition(self, topic, partition, offset=None):
        return SimpleNamespace(topic=topic, partition=partition, offset=offset)

    def Consumer(self, settings):
        return Consumer(self)

    def send(self, partition, *values):
        log = self.logs[partition]
        for value in values:
            data = value if isinstance(value, bytes) else json.dumps(value).encode()
            log.append(Message(at=len(log), data=data, millis=10**13))


class Consumer:
    def __init__(self, broker):
        self.broker = broker

    def list_topics(self, topic, timeout):
        found = SimpleNamespace(error=None, partitions=self.broker.logs)
        return SimpleNamespace(topics={topic: found})

    def get_watermark_offsets(self, which, timeout):
        return self.broker.low, len(self.broker.logs[which.partition])

    def assign(self, which):
        (self.which,) = which
        self.at = self.which.offset
        self.broker.begun[self.which.partition] = self.at

    def consume(self, most, timeout):
        found = self.broker.logs[self.which.partition][self.at : self.at + 3]
        self.at += len(found)
        return found

    def close(self):
        pass


@pytest.fixture
def broker(monkeypatch):
    fake_learner.FAILURES.at = []
    made = Broker()
    for module in (kafka, kafka_client):
        monkeypatch.setattr(module, "client_library", lambda: made)
    yield made
    READER_CACHE.__init__()


def row(number, day):
    text = " ".join(WORDS[(number * step) % 6] for step in range(1, 7))
    return {"id": f"d{number}", "timestamp": day * DAY, "text": text}


def learn(folder, capsys, *flags):
    """(status, standard error, newest version) of a run over the topic."""
    capsys.readouterr()
    given = ["--source=kafka", "--kafka_servers=b:9", "--kafka_topic=posts", "--until=end"]
    places = [f"--model_store={folder / 'models'}", f"--dead_letters={folder / 'dead'}"]
    status = train.main([*given, *places, "--max_future=99999d", *FLAGS, *flags])
    newest = ModelStore(str(folder / "models")).latest("")
    return status, capsys.readouterr().err, newest


def letters(folder):
    return [
        json.loads(line)["reason"]
        for path in sorted((folder / "dead").rglob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


def offsets(folder):
    store = ModelStore(str(folder / "models"))
    entry = store.checkpoints("")[-1]
    return Segment.from_bytes(store.get_known("", entry.digest)).offsets


def begin(broker, folder, capsys):
    """Learn twenty documents with a repeat, and a record that cannot be read."""
    for number in range(10):
        broker.send(0, row(number, number))
        broker.send(1, row(100 + number, number))
    broker.send(0, b"not json", row(3, 2), row(10, 9))
    status, _, newest = learn(folder, capsys)
    assert status == 0 and newest.documents == 21
    assert sorted(letters(folder)) == ["copy", "not_json"]
    assert offsets(folder) == {"posts/0": [[0, 13]], "posts/1": [[0, 10]]}
    assert broker.begun == {0: 0, 1: 0}


def test_a_new_job_reads_on_by_itself_and_each_record_is_used_once(broker, tmp_path, capsys):
    begin(broker, tmp_path, capsys)
    # A late document, and those of later windows.
    broker.send(0, row(20, 1), *(row(number, number) for number in range(21, 32)))
    status, told, newest = learn(tmp_path, capsys, "--publish_every=1window")
    assert status == 0 and newest.documents == 33
    assert "reads posts on at the offsets of the model store: 13 of 0, 10 of 1" in told
    assert "records_read 12 " in told and "known_documents" not in told
    assert broker.begun == {0: 13, 1: 10}
    assert sorted(letters(tmp_path)) == ["copy", "not_json"]
    assert offsets(tmp_path) == {"posts/0": [[0, 25]], "posts/1": [[0, 10]]}
    parents = [one.parent for one in ModelStore(str(tmp_path / "models")).manifests("")]
    assert parents.count(None) == 1


def test_a_topic_without_new_messages_changes_nothing(broker, tmp_path, capsys):
    begin(broker, tmp_path, capsys)
    before = ModelStore(str(tmp_path / "models")).latest("")
    assert learn(tmp_path, capsys)[2] == before


def test_documents_that_were_left_in_a_gap_are_read_again_and_others_are_known(
    broker, tmp_path, capsys
):
    begin(broker, tmp_path, capsys)
    store = ModelStore(str(tmp_path / "models"))
    entry = store.checkpoints("")[-1]
    segment = Segment.from_bytes(store.get_known("", entry.digest))
    gap = Segment(segment.before, segment.hashes, {"posts/0": [[0, 5], [6, 13]]})
    store.replace_known("", entry.digest, gap.to_bytes())
    broker.send(0, row(30, 30))
    status, told, newest = learn(tmp_path, capsys)
    assert status == 0 and newest.documents == 22
    # Of the other partition no offset is known.
    assert broker.begun == {0: 5, 1: 0}
    assert "known_documents 17 " in told


def test_offsets_that_are_gone_are_refused_and_the_remedy_works(broker, tmp_path, capsys):
    begin(broker, tmp_path, capsys)
    broker.send(0, *(row(number, number) for number in range(20, 26)))
    tree = {path: path.is_dir() or path.read_bytes() for path in tmp_path.rglob("*")}
    broker.low = 12
    status, told, _ = learn(tmp_path, capsys)
    assert status == 2 and told.count("\n") == 1
    assert "posts/1 was learned up to offset 10, and begins at offset 12 now: 2 were rem" in told
    broker.low = 0
    kept, broker.logs[1] = broker.logs[1], broker.logs[1][:4]
    status, told, _ = learn(tmp_path, capsys)
    assert status == 2 and "posts/1 was learned up to offset 10, and ends at offset 4" in told
    assert tree == {path: path.is_dir() or path.read_bytes() for path in tmp_path.rglob("*")}
    broker.logs[1] = kept
    status, told, newest = learn(tmp_path, capsys, "--kafka_start=earliest")
    assert status == 0 and newest.documents == 27 and broker.begun == {0: 0, 1: 0}


def test_documents_of_several_keys_have_no_offsets(broker, tmp_path, capsys):
    for number in range(8):
        broker.send(0, {**row(number, number), "desk": f"k{number % 2}"})
    assert learn(tmp_path, capsys, "--key_field=desk")[0] == 0
    store = ModelStore(str(tmp_path / "models"))
    for key in ("k0", "k1"):
        digest = store.checkpoints(key)[-1].digest
        assert not Segment.from_bytes(store.get_known(key, digest)).offsets


@pytest.mark.parametrize(("islands", "every"), [(1, 9), (2, 3), (2, 9)])
def test_times_of_versions_change_where_the_runner_restores_one_learner(islands, every):
    store = SimpleNamespace(
        latest=lambda key: SimpleNamespace(rhythm=Publication("windows", 3)),
        check_settings=lambda key, binding: None,
    )
    learning = SimpleNamespace(
        run=SimpleNamespace(publish_every=Publication("windows", every)),
        settings=SimpleNamespace(islands=islands),
        binding=None,
    )
    if (islands, every) == (2, 9):
        with pytest.raises(OptionError, match="'9windows' was given.*Give --publish_every=3w"):
            additions.check_restored(store, learning)
    else:
        additions.check_restored(store, learning)


@pytest.mark.parametrize(
    ("flags", "restores"),
    [([], False), (["--savepoint_path=file:///s"], True), (["--update"], True)],
)
def test_a_savepoint_or_an_update_is_state_that_the_runner_restores(flags, restores):
    options = SimpleNamespace(beam=PipelineOptions(["--job_name=j", *flags]))
    assert additions.restores_state(options) == restores


def test_a_restored_job_may_publish_at_other_times_and_does_not_add(
    broker, tmp_path, capsys, monkeypatch
):
    begin(broker, tmp_path, capsys)
    monkeypatch.setattr(additions, "restores_state", lambda options: True)
    # The local runner restores nothing, so the learner is refused once it begins anew.
    told = learn(tmp_path, capsys, "--publish_every=1window")[1]
    assert "reads posts on" not in told and broker.begun == {0: 0, 1: 0}


def test_each_version_has_a_checkpoint(broker, tmp_path, capsys):
    begin(broker, tmp_path, capsys)
    store = ModelStore(str(tmp_path / "models"))
    versions = {one.sequence for one in store.manifests("")}
    assert len(versions) == 3
    assert versions <= {entry.sequence for entry in store.checkpoints("")}


def test_documents_are_known_up_to_where_the_run_began(broker, tmp_path, capsys):
    begin(broker, tmp_path, capsys)
    store = ModelStore(str(tmp_path / "models"))
    first, *_, last = store.checkpoints("")
    block = Block.of_words([Document("d9", 9 * DAY * 10**6, "")], [["ship"]])
    settings = SequenceSettings(window=2 * DAY * 10**6)
    for entry, left in ((first, 1), (last, 0)):
        options = SimpleNamespace(
            known_up_to=entry.digest, opened=lambda: store, id_from="field", sequence=settings
        )
        assert len(SequenceStart(options).unknown("", block)) == left


def test_offsets_are_unknown_where_the_log_is_not_whole():
    before = Segment("", np.zeros(0, np.uint64), {"p/0": [[0, 4]]}).to_bytes()
    store = SimpleNamespace(get_known=lambda key, digest: {"a": before}.get(digest))
    more = {"p/0": [[0, 0], [4, 6]]}
    assert offsets_after(store, "", "a", [more, {}]) == {"p/0": [[0, 6]]}
    assert offsets_after(store, "", "", [more]) == more
    for digest, learned in (("a", None), ("b", [more]), ("", [more, {}])):
        assert offsets_after(store, "", digest, learned) == {}


def test_offsets_of_known_documents_are_sealed():
    data = Segment("", np.zeros(1, np.uint64), {"p/0": [[0, 4]]}).to_bytes()
    assert Segment.from_bytes(data).offsets == {"p/0": [[0, 4]]}
    with pytest.raises(DamagedDataError, match="content they were written with"):
        Segment.from_bytes(data.replace(b"[0,4]", b"[0,9]"))


def test_windows_of_known_documents_are_sealed_and_count_them():
    windows = [[10, 1, 30], [20, 2, 30]]
    known = Segment("", np.arange(1, 4, dtype=np.uint64), {"p/0": [[0, 4]]}, windows)
    data = known.to_bytes()
    assert Segment.from_bytes(data).ends.tolist() == [10, 20, 20]
    with pytest.raises(DamagedDataError, match="content they were written with"):
        Segment.from_bytes(data.replace(b"[10,1,30]", b"[11,1,30]"))
    for wrong in ([[10, 1]], [[10, 0, 30], [20, 3, 30]], [[10, 1, 30]], [[10, 3, 2**63]]):
        with pytest.raises(DamagedDataError, match="windows of known documents"):
            Segment.from_bytes(replace(known, windows=wrong).to_bytes())


def test_a_sequence_that_stands_before_the_newest_version_repeats_its_windows(
    broker, tmp_path, capsys
):
    begin(broker, tmp_path, capsys)
    store = ModelStore(str(tmp_path / "models"))
    settings = SequenceSettings(window=2 * DAY * 10**6)
    options = SimpleNamespace(opened=lambda: store, id_from="field", sequence=settings)
    first, *_, last = store.checkpoints("")
    assert cuts_after(options, "", last.sequence, last.window_end) is None
    cuts = cuts_after(options, "", first.sequence, first.window_end)
    after = [one.window_end for one in store.checkpoints("")[1:]]
    assert cuts.newest == last.window_end and cuts.after == settings.window_end(last.window_end)
    assert set(after) <= set(cuts.ends.tolist()) and cuts.ends.min() > first.window_end
    # Without the record of one checkpoint nothing is repeated.
    segment = Segment.from_bytes(store.get_known("", last.digest))
    store.replace_known("", last.digest, replace(segment, windows=[]).to_bytes())
    assert cuts_after(options, "", first.sequence, first.window_end) is None


def test_erased_documents_stay_below_the_offset(broker, tmp_path, capsys):
    begin(broker, tmp_path, capsys)
    ids = tmp_path / "ids.txt"
    ids.write_text("d3\n", encoding="utf-8")
    assert erase.main([str(tmp_path), f"--ids={ids}"]) == 0
    assert offsets(tmp_path) == {"posts/0": [[0, 13]], "posts/1": [[0, 10]]}
    assert learn(tmp_path, capsys)[2].documents == 21 and broker.begun == {0: 13, 1: 10}


def test_an_interrupted_job_that_went_on_is_repeated_from_where_it_began(
    broker, tmp_path, capsys, monkeypatch
):
    begin(broker, tmp_path, capsys)
    broker.send(0, *(row(number, number) for number in range(21, 32)))
    began = ModelStore(str(tmp_path / "models")).latest("").sequence

    def interrupted(*given):
        monkeypatch.setattr(outcomes.INTERRUPTS, "asked", True)
        raise KeyboardInterrupt

    monkeypatch.setattr(outcomes, "run", interrupted)
    status, told, _ = learn(tmp_path, capsys)
    assert status == 130
    assert "these documents are learned again from their first one" in told
    assert f"--add_documents --resume_from={began}" in told
