import json
import logging

import apache_beam as beam
import numpy as np
import pytest
from collecting import run
from made import manifest_of, snapshot_of
from tallies import count

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.inference.base import RETRAIN_BELOW
from beam_topics.model.inference.features import Tally, numbered, tally_documents
from beam_topics.model.publishing.store import ModelStore
from beam_topics.transforms import coverage, shared
from beam_topics.transforms.coverage import LOGGER, Coverage, sums, tagged_tallies

DAY = 86_400_000_000


def document(day, words, key="", hour=1):
    return Block.of_words(
        [Document(f"{day} {words}", day * DAY + hour * DAY // 24, "", key=key)], [words.split()]
    )


@pytest.fixture
def store(tmp_path):
    store = ModelStore(str(tmp_path))
    for key, words in (("", ("a", "b", "c")), ("k", ("x", "y", "z"))):
        snapshot = snapshot_of([[1.0]] * 3, words=words, key=key)
        store.publish(manifest_of(3, key=key, snapshot=store.put_snapshot(snapshot)))
    return store


class Tallied(beam.DoFn):
    """Tally each document alone, as a bundle of one document would."""

    def __init__(self, store):
        self._store = store

    def process(self, element, time=beam.DoFn.TimestampParam):
        data, version = element
        item, tallies = Block.from_bytes(data), {}
        if version:
            store = ModelStore(self._store)
            snapshot = store.get_snapshot(store.manifest(item.key, version))
            windows = np.array([time.micros // DAY])
            for window, tally in tally_documents(numbered(snapshot, item), windows).items():
                tallies[item.key, version, window] = tally
        yield from (found.value for found in tagged_tallies(tallies, DAY))


def reports(documents, store, versions, *flags, below=RETRAIN_BELOW, streams=False):
    def build(pipeline):
        items = [
            (int(item.timestamps[0]), (item.to_bytes(), versions[item.key])) for item in documents
        ]
        tallies = (
            pipeline
            | beam.Create(items)
            | beam.MapTuple(
                lambda time, item: beam.window.TimestampedValue(item, time / 1e6)
            ).with_output_types(tuple[bytes, str])
            | beam.ParDo(Tallied(store)).with_output_types(tuple[bytes, bytes])
        )
        return {"reports": tallies | Coverage(DAY, below, streams=streams)}

    held, counters = run(build, *flags)
    return sorted(
        (json.loads(data) for _, data in held["reports"]),
        key=lambda row: (row["window_end"], row["key"]),
    ), counters


@pytest.mark.parametrize("streams", [True, False])
def test_one_report_for_each_window(store, streams):
    version = store.latest("").version
    documents = [
        document(0, "a b a"),
        document(0, "a x"),
        document(1, "x y z a"),
        document(3, "", hour=5),
    ]
    rows, counters = reports(documents, store.root, {"": version}, streams=streams)
    assert [
        (row["window_end"][:10], row["words"], row["words_known"], row["tokens"]) for row in rows
    ] == [
        ("1970-01-02", 3, 2, 5),
        ("1970-01-03", 4, 1, 4),
        ("1970-01-05", 0, 0, 0),
    ]
    assert [row["retrain"] for row in rows] == [True, True, False]
    assert {row["model_version"] for row in rows} == {version}
    assert counters["retrain"] == 2
    assert counters["coverage_windows"] == 3


def test_each_document_with_a_version_and_a_key_of_its_own(store):
    versions = {"": store.latest("").version, "k": store.latest("k").version, "none": ""}
    documents = [document(0, "a b"), document(0, "x q", "k"), document(0, "a", "none")]
    rows, _ = reports(documents, store.root, versions)
    assert [(row["key"], row["word_share"]) for row in rows] == [("", 1.0), ("k", 0.5)]


def test_tallies_are_added_up_where_many_wait(store, monkeypatch):
    documents = [document(day % 2, f"a x{day}") for day in range(20)]
    version = store.latest("").version
    whole, _ = reports(documents, store.root, {"": version})
    monkeypatch.setattr(shared, "MAX_SUMMANDS", 3)
    repeated, counters = reports(
        documents, store.root, {"": version}, "--direct_runner_bundle_repeat=2"
    )
    # The step that keeps what comes out sees each repetition.
    assert [row for place, row in enumerate(repeated) if row not in repeated[:place]] == whole
    assert [(row["documents"], row["words"]) for row in whole] == [(10, 11), (10, 11)]
    assert counters["coverage_windows"] == 2


def test_many_open_windows_are_not_added_up_again_and_again(store, monkeypatch):
    """What a bounded run holds: a year of windows, all open to the end."""
    calls = []
    monkeypatch.setattr(shared, "MAX_SUMMANDS", 3)
    monkeypatch.setattr(coverage._Report, "compact", lambda self, *arguments: calls.append(1))
    rows, _ = reports(
        [document(day, "a b") for day in range(365)], store.root, {"": store.latest("").version}
    )
    assert [row["documents"] for row in rows] == [1] * 365
    assert not calls


def test_sums_are_by_version_and_lose_nothing():
    snapshot = snapshot_of([[1.0]] * 3, words=("a", "b", "c"))

    def tally(words):
        found = Tally()
        count(found, snapshot, document(0, words))
        return found.to_bytes()

    found = sums([b"2\0" + tally("a q"), b"1\0" + tally("b"), b"2\0" + tally("a c")])
    assert [
        (version, tally.documents, tally.tokens, len(tally.known), len(tally.unknown))
        for version, tally in found
    ] == [
        (b"1", 1, 1, 1, 0),
        (b"2", 2, 4, 2, 1),
    ]


def test_the_signal_is_logged(store, caplog):
    with caplog.at_level(logging.INFO, LOGGER):
        reports([document(0, "a b"), document(1, "x")], store.root, {"": store.latest("").version})
    found = {
        record.levelno: record.getMessage() for record in caplog.records if record.name == LOGGER
    }
    assert "knows 100.0% of the distinct words" in found[logging.INFO]
    assert found[logging.WARNING].endswith("below 70%: retrain")


def test_without_a_share_there_is_no_signal(store, caplog):
    with caplog.at_level(logging.INFO, LOGGER):
        (row,), counters = reports(
            [document(1, "x")], store.root, {"": store.latest("").version}, below=None
        )
    assert (row["word_share"], row["retrain_below"], row["retrain"]) == (0.0, None, False)
    assert "retrain" not in counters
    assert [record.levelno for record in caplog.records if record.name == LOGGER] == [logging.INFO]
