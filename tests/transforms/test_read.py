import gzip
import io
import json
import os

import apache_beam as beam
import fastavro
import pytest
from blocks import joined
from collecting import run

import beam_topics.model.reading.sources
import beam_topics.transforms.read
from beam_topics.model.documents import block
from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.documents.sequencing import sequence_documents
from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.errors import OptionError
from beam_topics.model.reading import files
from beam_topics.model.reading.settings import FieldNames, ParseSettings, ReadSettings
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.model.words.tokeniser import Tokeniser
from beam_topics.transforms.read import ParseMessages, ReadDocuments, _groups, check_patterns

PLAIN = TokeniserSettings(stop_words="none")
SCHEMA = {
    "type": "record",
    "name": "R",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "timestamp", "type": "long"},
        {"name": "text", "type": "string"},
    ],
}


def jsonl(*records):
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def record(name, time=0, text="plain words"):
    return {"id": name, "timestamp": time, "text": text}


def avro(records, schema=SCHEMA):
    out = io.BytesIO()
    fastavro.writer(out, schema, records, codec="deflate", sync_interval=200)
    return out.getvalue()


def read(transform, *flags):
    """(element time, Document), dead letters, counters."""

    def build(pipeline):
        made = pipeline | transform
        return {"documents": made.documents, "dead": made.dead_letters}

    results, counters = run(build, *flags)
    documents = [(time, Document.from_bytes(item)) for time, item in results["documents"]]
    return documents, [json.loads(item) for _, item in results["dead"]], counters


def test_documents_carry_their_event_times(tmp_path):
    path = tmp_path / "a.jsonl"
    times = {
        "old": "1790-01-08T00:00:00.000500",
        "far": "9999-12-31T23:59:59.999999",
        "first": "0001-01-01",
    }
    path.write_bytes(jsonl(*(record(name, time) for name, time in times.items())))
    documents, dead, _ = read(ReadDocuments([str(path)], ReadSettings(), None))
    assert [document.id for _, document in documents] == ["first", "old", "far"]
    assert all(0 <= document.timestamp - time < 1000 for time, document in documents)
    assert documents[1][1].timestamp == -5679590400000000 + 500
    assert dead == []


def test_tokenised_documents_and_counters(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(
        jsonl(record("a", 1, "one two one"), record("b", 2, "?!")) + b"{\n[]\n\n"
    )

    def build(pipeline):
        made = pipeline | ReadDocuments([str(tmp_path / "*.jsonl")], ReadSettings(), PLAIN)
        assert (made.documents.element_type, made.dead_letters.element_type) == (bytes, bytes)
        return {"documents": made.documents}

    results, counters = run(build)
    ((_, data),) = results["documents"]
    made = Block.from_bytes(data)
    assert (made.ids, made.words, made.tokens.tolist()) == (("a", "b"), ("one", "two"), [0, 1, 0])
    assert counters == {
        "records_read": 4,
        "documents": 2,
        "tokens": 3,
        "documents_without_words": 1,
        "lost_signs": 1,
        "dead_not_json": 1,
        "dead_wrong_type": 1,
    }


@pytest.mark.parametrize(
    ("most", "time_from"),
    [({}, "field"), ({"BLOCK_DOCUMENTS": 7}, "order"), ({"BLOCK_TOKENS": 5}, "field")],
)
def test_blocks_have_the_same_documents_and_lose_nothing(bad_sources, monkeypatch, most, time_from):
    for name, value in most.items():
        monkeypatch.setattr(block, name, value)
    settings = ReadSettings(ParseSettings(max_document_bytes=2**20), time_from=time_from)

    def build(pipeline):
        made = pipeline | ReadDocuments([str(bad_sources / "*")], settings, PLAIN)
        return {"documents": made.documents, "dead": made.dead_letters}

    held, counters = run(build)
    blocks = [Block.from_bytes(data) for _, data in held["documents"]]
    assert 1 < max(map(len, blocks)) <= (7 if most else 512)
    # The test sees element times in milliseconds.
    earliest = [int(one.timestamps.min()) // 1000 * 1000 for one in blocks]
    assert [time for time, _ in held["documents"]] == earliest
    whole, dead, counted = read(ReadDocuments([str(bad_sources / "*")], settings, None))
    tokeniser = Tokeniser(PLAIN)
    wanted = [tokeniser.block([one]) for _, one in whole]
    documents = [one for each in blocks for one in each.documents()]
    assert sorted(map(Block.to_bytes, documents)) == sorted(map(Block.to_bytes, wanted))
    letters = [json.loads(letter) for _, letter in held["dead"]]
    assert sorted(letters, key=str) == sorted(dead, key=str)
    assert len(documents) > 60 and counted == {k: v for k, v in counters.items() if k != "tokens"}


@pytest.fixture
def bad_sources(tmp_path):
    """One file of each kind of trouble."""
    good = [record(f"g{n}", n) for n in range(50)]
    whole = avro(good)
    files = {
        "good.jsonl": jsonl(*good[:5]),
        "empty.jsonl": b"",
        "empty.avro": b"",
        "no-records.avro": avro([]),
        "mixed.jsonl": (
            jsonl(
                record("m0"),
                record(None),
                record("m1", "never"),
                record("m2", 0, " "),
                record("m3", 0, "a\0b"),
            )
            + b'{"id": "\xff"}\nhello\n'
        ),
        "cut.jsonl.gz": gzip.compress(jsonl(*good))[:-20],
        "cut.avro": whole[:-5],
        "damaged.avro": whole[: len(whole) // 2] + b"\xff\xff\xff" + whole[len(whole) // 2 + 3 :],
        "other.avro": avro(
            [{"n": 1}], {"type": "record", "name": "O", "fields": [{"name": "n", "type": "int"}]}
        ),
        "text.avro": b"this is not Avro",
        "large.jsonl": (
            b'{"id": "l", "timestamp": 0, "text": "'
            + b"x" * 3_000_000
            + b'"}\n'
            + jsonl(record("after"))
        ),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


def test_bad_sources_cost_what_is_bad_and_nothing_is_lost(bad_sources):
    settings = ReadSettings(ParseSettings(max_document_bytes=2**20))
    documents, dead, counters = read(ReadDocuments([str(bad_sources / "*")], settings, None))
    by_file = {}
    for letter in dead:
        by_file.setdefault(
            letter["source"].removeprefix(str(bad_sources) + "/").replace(":", " ").split(" ")[0],
            [],
        ).append(letter)
    assert {
        name: sorted(letter["reason"] for letter in letters) for name, letters in by_file.items()
    } == {
        "mixed.jsonl": [
            "bad_timestamp",
            "empty_text",
            "invalid_utf8",
            "missing_id",
            "not_json",
            "nul",
        ],
        "cut.jsonl.gz": ["damaged"],
        "cut.avro": ["damaged"],
        "damaged.avro": ["damaged"],
        "other.avro": ["schema"],
        "text.avro": ["damaged"],
        "large.jsonl": ["too_large"],
    }
    places = {
        name: letters[0]["source"].removeprefix(str(bad_sources) + "/")
        for name, letters in by_file.items()
    }
    assert places["large.jsonl"] == "large.jsonl:1"
    assert places["damaged.avro"].startswith("damaged.avro block ")
    assert " bytes " in places["cut.avro"]
    ids = [document.id for _, document in documents]
    assert {"m0", "after", *(f"g{n}" for n in range(5))} <= set(ids)
    assert len(ids) > 100
    assert (
        counters["records_read"]
        == len(documents) + len(dead)
        == counters["documents"]
        + sum(count for name, count in counters.items() if name.startswith("dead_"))
    )


def test_shuffled_files_and_overlapping_patterns_give_the_same_documents(tmp_path):
    for number in range(6):
        (tmp_path / f"{number}.jsonl").write_bytes(
            jsonl(*(record(f"{number}-{n}", n) for n in range(3)))
        )
    paths = [str(tmp_path / f"{number}.jsonl") for number in (4, 1, 5, 0, 2, 3)]
    two_workers = ("--direct_num_workers=2", "--direct_running_mode=multi_threading")
    shuffled = read(
        ReadDocuments([*paths, str(tmp_path / "*.jsonl")], ReadSettings(), None), *two_workers
    )
    assert shuffled[0] == read(ReadDocuments([str(tmp_path / "?.jsonl")], ReadSettings(), None))[0]
    assert len(shuffled[0]) == 18


def test_the_order_as_time(tmp_path):
    (tmp_path / "b.jsonl").write_bytes(jsonl({"id": "b0", "text": "x"}))
    (tmp_path / "a.jsonl").write_bytes(
        jsonl({"id": "a0", "text": "x"}, {"id": "a1"}, {"id": "a2", "text": "x"})
    )
    patterns = [str(tmp_path / "b.jsonl"), str(tmp_path / "a.jsonl")]
    documents, dead, _ = read(ReadDocuments(patterns, ReadSettings(time_from="order"), None))
    assert [(time, document.id) for time, document in documents] == [
        (0, "a0"),
        (2_000_000, "a2"),
        (3_000_000, "b0"),
    ]
    assert [letter["reason"] for letter in dead] == ["missing_text"]


def test_dead_letters_in_one_count_as_their_records(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_REFUSED", 1)
    (tmp_path / "a.jsonl").write_bytes(b"{}\n" * 4)
    (tmp_path / "b.jsonl").write_bytes(jsonl({"id": "b", "text": "x"}))
    settings = ReadSettings(time_from="order")
    documents, dead, counters = read(ReadDocuments([str(tmp_path / "*")], settings, None))
    assert [time for time, _ in documents] == [4_000_000]
    assert sorted(letter.get("count", 1) for letter in dead) == [1, 3]
    assert (counters["records_read"], counters["dead_missing_id"]) == (5, 4)


def test_messages_from_elsewhere():
    messages = [json.dumps(record("a", 5) | {"who": "k"}).encode(), b"nonsense"]

    def build(pipeline):
        made = (
            pipeline
            | beam.Create(messages)
            | ParseMessages("a queue", ParseSettings(FieldNames(key="who")), PLAIN)
        )
        return {"documents": made.documents, "dead": made.dead_letters}

    results, counters = run(build)
    ((time, data),) = results["documents"]
    assert (time, Block.from_bytes(data).key) == (5_000_000, "k")
    assert json.loads(results["dead"][0][1])["source"] == "a queue"
    assert counters["records_read"] == 2


def test_messages_from_the_future_are_dead_letters():
    messages = [json.dumps(record(f"d{time}", time)).encode() for time in (5, 15, 16)]

    def build(pipeline):
        made = (
            pipeline
            | beam.Create([beam.window.TimestampedValue(message, 5) for message in messages])
            | beam.Map(lambda message: message)
            | ParseMessages("a queue", ParseSettings(), PLAIN, max_future=10_000_000)
        )
        return {"documents": made.documents, "dead": made.dead_letters}

    results, counters = run(build)
    assert sorted(time for time, _ in results["documents"]) == [5_000_000, 15_000_000]
    assert json.loads(results["dead"][0][1])["reason"] == "future"
    assert counters["dead_future"] == 1


def test_messages_have_no_place_that_could_be_an_id():
    with pytest.raises(
        OptionError,
        match=(
            "--id_from: 'place' was given; allowed is field for messages, which have no place that"
            " stays"
        ),
    ):
        ParseMessages("a queue", ParseSettings(id_from="place"), PLAIN)


def test_patterns_are_checked_before_the_run(tmp_path):
    (tmp_path / "a.jsonl").touch()
    (tmp_path / "b.doc").touch()
    (tmp_path / "folder.jsonl").mkdir()
    assert check_patterns([str(tmp_path / "*.jsonl"), str(tmp_path / "a*")], ReadSettings()) == [
        str(tmp_path / "a.jsonl")
    ]
    with pytest.raises(
        OptionError, match=r"--input: '.*none\*' was given; allowed is .* at least one file. Check"
    ):
        check_patterns([str(tmp_path / "none*")], ReadSettings())
    with pytest.raises(OptionError, match=r"It is a folder: give '.*/\*' for the files"):
        check_patterns([str(tmp_path / "folder.jsonl")], ReadSettings())
    with pytest.raises(
        OptionError, match="--held_out: 'nowhere://x' was given.*It cannot be looked up"
    ):
        check_patterns(["nowhere://x"], ReadSettings(), "--held_out")
    with pytest.raises(OptionError, match=r"^--training: '.*b\.doc' was given"):
        check_patterns([str(tmp_path / "*")], ReadSettings(), "--training")
    with pytest.raises(OptionError, match="one or more paths"):
        check_patterns([], ReadSettings())


@pytest.mark.parametrize("how", [{"id_from": "place"}, {"id_from": "field"}])
def test_the_same_files_under_another_path_give_the_same_minibatches(tmp_path, monkeypatch, how):
    mail = b"From a@b Mon Jan  1 10:00:00 2024\nDate: 1 Jan 2024 10:00\n\nlast words %d\n\n"
    row = b"1,2024-01-01,plain words %d,1\n"
    csv = b"id,timestamp,text,n\n" + b"".join(row % n for n in range(12))
    files = {"b.csv": csv, "b.csv.gz": gzip.compress(csv), "a/c.csv": csv}
    if how["id_from"] == "field":
        files = {name + ".mbox": b"".join(mail % n for n in range(12)) for name in ("a/a", "b")}
    for folder in ("here/data", "there"):
        for name, data in files.items():
            (tmp_path / folder / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / folder / name).write_bytes(data)
    monkeypatch.chdir(tmp_path / "here")
    found = []
    for patterns in (
        ["data/**/*.*"],
        ["data/**/"],
        ["./data//*.*", f"{tmp_path}/here/data/a/"],
        [f"{tmp_path}/there/a/*.*", f"{tmp_path}/there/*.*"],
    ):
        read_them = ReadDocuments(patterns, ReadSettings(ParseSettings(**how)), PLAIN)
        results, _ = run(lambda pipeline, them=read_them: {"": (pipeline | them).documents})
        documents = [Block.from_bytes(data) for _, data in results[""]]
        settings = SequenceSettings(window=10**6)
        links = list(sequence_documents(joined(documents), settings, bytes(32)))
        found.append([link.payload for link in links])
        if how["id_from"] == "place":
            at = ("a/c.csv", "b.csv", "b.csv.gz")
            ids = [id for link in links for id in link.minibatch().ids]
            assert ids == [f"{name} row {n:09}" for name in at for n in range(2, 14)]
    assert found[0] and found == [found[0]] * 4


def test_small_files_are_read_together_and_named_within_their_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(beam_topics.transforms.read, "_MOST_FILES", 3)
    (tmp_path / "in").mkdir()
    for number in range(1, 9):
        (tmp_path / "in" / f"2024-03-{number:02}.txt").write_text(f"text {number}" * (number != 5))
    (tmp_path / "more.jsonl").write_bytes(jsonl(record("a")))
    patterns = [str(tmp_path / "**" / "*.txt"), str(tmp_path / "*.jsonl")]
    documents, dead, counters = read(ReadDocuments(patterns, ReadSettings(), None))
    assert [document.id for _, document in documents] == [
        "a",
        *(f"in/2024-03-{number:02}.txt" for number in (1, 2, 3, 4, 6, 7, 8)),
    ]
    assert [letter["reason"] for letter in dead] == ["empty_text"]
    assert counters["records_read"] == 9
    in_order, _, _ = read(ReadDocuments(patterns, ReadSettings(time_from="order"), None))
    assert [document.timestamp // 10**6 for _, document in in_order] == [0, 1, 2, 3, 5, 6, 7, 8]


@pytest.mark.parametrize("pattern", ["a.jsonl", "*.jsonl"])
def test_a_pipe_is_refused_by_its_name_and_not_opened(tmp_path, pattern):
    os.mkfifo(tmp_path / "a.jsonl")
    said = (
        rf"--input: '{tmp_path}/a\.jsonl' was given; allowed is a regular file\. It is a named"
        r" pipe\."
    )
    with pytest.raises(OptionError, match=said):
        check_patterns([str(tmp_path / pattern)], ReadSettings())
    with pytest.raises(
        OptionError, match="'/dev/zero' was given; allowed is a regular file. It is a device"
    ):
        check_patterns(["/dev/zero"], ReadSettings(format="jsonl"))


def test_a_wrong_tokeniser_ends_before_the_run():
    with pytest.raises(OptionError, match="--stemmer"):
        ReadDocuments(["a.jsonl"], ReadSettings(), TokeniserSettings(stemmer="klingon"))


def test_a_large_file_of_lines_is_read_in_parts(tmp_path, monkeypatch):
    lines = jsonl(*(record(f"d{n}", n, "plain words " * 900) for n in range(40))) + b"{broken\n[]"
    (tmp_path / "a.jsonl").write_bytes(lines)
    (tmp_path / "b.csv").write_bytes(b"id,timestamp,text\n" + b"c,1,d\n" * 300)
    pattern = [str(tmp_path / "*")]
    whole = read(ReadDocuments(pattern, ReadSettings(), None))
    assert len(list(_groups(b"", pattern, ReadSettings()))) == 2
    monkeypatch.setattr(beam_topics.transforms.read, "LEAST", 500)
    monkeypatch.setattr(beam_topics.model.reading.sources.parts_of, "__defaults__", (500,))
    pieces = [json.loads(one) for one in _groups(b"", pattern, ReadSettings())]
    assert len(pieces) == 9 and all(len(one) == 1 for one in pieces)
    assert pieces[-1][0][1:] == [str(tmp_path / "b.csv"), None]

    found = read(ReadDocuments(pattern, ReadSettings(), None))
    assert sorted(found[0], key=str) == sorted(whole[0], key=str)
    assert sorted(found[1], key=str) == sorted(whole[1], key=str)
    assert found[2]["records_read"] == whole[2]["records_read"] == 342
