import json

from collecting import run

from beam_topics.model.documents.document import Document
from beam_topics.model.reading.settings import FieldNames, ParseSettings, ReadSettings
from beam_topics.transforms.read import ReadDocuments
from beam_topics.transforms.write import WriteArchive, WriteDeadLetters, ranked, shard_start

DAY = 86_400_000_000
KEYED = ReadSettings(ParseSettings(FieldNames(key="key")))


def source(folder, order):
    """Three files over five days around 1970, with good records, a repeated one and a bad one."""
    for number in order:
        records = [
            {
                "id": f"{number}{n}",
                "timestamp": (number - 1) * 86400 + n * 0.5,
                "text": f"text {n} é",
                "label": n or None,
                "key": "k",
            }
            for n in range(2)
        ]
        lines = [json.dumps(record) for record in (*records, records[0])]
        (folder / f"{order.index(number)}.jsonl").write_text("\n".join([*lines, "nonsense"]))


def archive(pattern, folder):
    def build(pipeline):
        made = pipeline | ReadDocuments([pattern], KEYED, None)
        made.dead_letters | WriteDeadLetters(str(folder / "dead"))
        return {"paths": made.documents | WriteArchive(str(folder), 2 * DAY)}

    return [path for _, path in run(build)[0]["paths"]]


def replay(pattern):
    def build(pipeline):
        made = pipeline | ReadDocuments([pattern], KEYED, None)
        return {"documents": made.documents, "dead": made.dead_letters}

    results, counters = run(build)
    return [Document.from_bytes(data) for _, data in results["documents"]], counters


def files(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*.avro")}


def test_an_archive_replays_to_the_same_documents(tmp_path):
    source(tmp_path, [0, 1, 2])
    paths = archive(str(tmp_path / "*.jsonl"), tmp_path / "out")
    names = sorted(path.rpartition("/")[2] for path in paths)
    assert [name[: len("archive-19691230T000000Z-")] for name in names] == [
        "archive-19691230T000000Z-",
        "archive-19700101T000000Z-",
    ]
    original, counters = replay(str(tmp_path / "*.jsonl"))
    assert replay(str(tmp_path / "out" / "*.avro"))[0] == original
    assert len(original) == counters["records_read"] - 3 == 9
    dead = [
        line
        for path in (tmp_path / "out" / "dead").iterdir()
        for line in path.read_text().splitlines()
    ]
    assert [json.loads(line)["record"] for line in dead] == ["nonsense"] * 3


def test_an_archive_does_not_depend_on_the_order_of_its_source(tmp_path):
    for name, order in (("one", [0, 1, 2]), ("two", [2, 0, 1])):
        (tmp_path / name).mkdir()
        source(tmp_path / name, order)
        archive(str(tmp_path / name / "*.jsonl"), tmp_path / name / "out")
    one = files(tmp_path / "one" / "out")
    assert len(one) == 2
    assert one == files(tmp_path / "two" / "out")
    archive(str(tmp_path / "one" / "out" / "*.avro"), tmp_path / "again")
    assert files(tmp_path / "again") == one


def test_shards_are_aligned_to_the_epoch():
    def start(time):
        return shard_start(Document("a", time, "x").to_bytes(), 2 * DAY)[0]

    assert [start(time) for time in (-1, 0, 2 * DAY - 1, 2 * DAY)] == [-2 * DAY, 0, 0, 2 * DAY]


def test_an_empty_source_makes_no_archive(tmp_path):
    (tmp_path / "a.jsonl").touch()
    assert archive(str(tmp_path / "a.jsonl"), tmp_path / "out") == []
    assert not (tmp_path / "out").exists()


def test_documents_of_one_time_and_id_keep_their_order_and_no_other():
    def document(text, place):
        return Document("a", 5, text, arrived=place).to_bytes()

    early, late = document("z", 3), document("b", 90)
    assert ranked([late, early]) == [document("z", 0), document("b", 1)]
    assert ranked([document("z", 40), document("b", 7)]) == [document("b", 0), document("z", 1)]
