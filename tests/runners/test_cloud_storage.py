"""The model store's battery and all pipelines with gs:// on a published Cloud Storage server."""

import json
import urllib.error
import urllib.request

import fake_learner
import pytest
from apache_beam.io.filesystems import FileSystems
from blob_battery import Battery
from runners.cloud_storage import binary, environment, serving
from runners.conftest import or_skip

from beam_topics.model.publishing import gcs
from beam_topics.model.publishing.local_files import blobs_at
from beam_topics.model.publishing.store import ModelStore
from beam_topics.pipelines import archive, evaluate, infer, show, stream, train

BUCKET = "gs://bucket"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gcs")
    with or_skip():
        program = binary()
    with serving(program, folder, "bucket") as address, pytest.MonkeyPatch.context() as patch:
        for name, value in environment(address, folder).items():
            patch.setenv(name, value)
        gcs._client.cache_clear()
        yield address
    gcs._client.cache_clear()


@pytest.fixture
def root(server, request):
    return f"{BUCKET}/{request.node.name}"


@pytest.fixture
def rounds():
    return 200


class TestBlobs(Battery):
    """The same as in tests/model/publishing/test_gcs.py."""


@pytest.mark.parametrize(
    ("method", "rest"), [("GET", ""), ("GET", "&alt=media"), ("DELETE", ""), ("PATCH", "")]
)
def test_the_server_keeps_its_promise(server, root, method, rest):
    """Without this, the tests above would prove nothing about reading and writing on condition."""
    blobs_at(root).create("file", b"1")
    name = f"{root}/file".removeprefix(f"{BUCKET}/").replace("/", "%2F")
    request = urllib.request.Request(
        f"{server}/storage/v1/b/bucket/o/{urllib.request.quote(name, safe='%')}"
        f"?ifGenerationMatch=7{rest}",
        method=method,
    )
    with pytest.raises(urllib.error.HTTPError, match="412"):
        urllib.request.urlopen(request)


def rows(folder):
    (found,) = FileSystems.match([f"{folder}/*.jsonl"])
    for file in found.metadata_list:
        with FileSystems.open(file.path) as stream:
            yield from map(json.loads, stream.read().splitlines())


def records(count):
    words = ["ship", "sailed", "harbour", "judge", "court", "verdict"]
    for number in range(count):
        text = " ".join(words[(number * step) % 3 + 3 * (number % 2)] for step in range(1, 9))
        yield {
            "id": f"d{number}",
            "timestamp": number * 40_000,
            "text": text,
            "label": str(number % 2),
        }


def test_all_pipelines_with_everything_in_a_bucket(root, capsys):
    fake_learner.FAILURES.at = []
    with FileSystems.create(f"{root}/raw/one.jsonl") as stream_of_raw:
        stream_of_raw.write(
            "".join(json.dumps(record) + "\n" for record in records(60)).encode() + b"no json\n"
        )
    place = {
        name: f"{root}/{name}"
        for name in ("archive", "dead", "models", "mixtures", "live", "labelled", "figures.jsonl")
    }
    dead = f"--dead_letters={place['dead']}"
    learning = [
        "--window=7d",
        "--publish_every=14d",
        "--learner=fake",
        "--topics=3",
        "--minibatch_size=5",
        "--checkpoint_tokens=60",
    ]
    read = f"--input={place['archive']}/*.avro"
    assert (
        archive.main(
            [
                f"--input={root}/raw/*.jsonl",
                f"--output={place['archive']}",
                dead,
            ]
        )
        == 0
    )
    assert train.main([read, f"--model_store={place['models']}", dead, *learning]) == 0
    assert (
        infer.main(
            [read, f"--model_store={place['models']}", f"--output={place['mixtures']}", dead]
        )
        == 0
    )
    assert (
        stream.main(
            [
                read,
                f"--model_store={place['live']}",
                f"--output={place['labelled']}",
                dead,
                *learning,
            ]
        )
        == 0
    )
    evaluation = [
        f"--held_out={root}/raw/*.jsonl",
        f"--model_store={place['models']}",
        dead,
        f"--json={place['figures.jsonl']}",
    ]
    assert evaluate.main([*evaluation]) == 0
    assert show.main([f"--model_store={place['models']}"]) == 0
    versions = ModelStore(place["models"]).manifests("")
    assert len(versions) >= 2 and ModelStore(place["live"]).manifests("") == versions
    assert {row["model_version"] for row in rows(place["mixtures"])} == {versions[-1].version}
    assert sorted(row["id"] for row in rows(place["labelled"])) == sorted(
        record["id"] for record in records(60)
    )
    assert [row["reason"] for row in rows(place["dead"])] == ["not_json"]
    assert versions[-1].version in capsys.readouterr().out


def test_going_on_from_a_checkpoint_in_a_bucket(root):
    with FileSystems.create(f"{root}/raw/one.jsonl") as stream_of_raw:
        stream_of_raw.write("".join(json.dumps(record) + "\n" for record in records(60)).encode())
    flags = [
        f"--input={root}/raw/*.jsonl",
        f"--dead_letters={root}/dead",
        "--window=7d",
        "--publish_every=14d",
        "--learner=fake",
    ]
    flags += ["--topics=3", "--minibatch_size=5", "--checkpoint_tokens=60"]
    assert train.main([*flags, f"--model_store={root}/whole"]) == 0
    whole = ModelStore(f"{root}/whole").manifests("")
    fake_learner.FAILURES.at = [whole[-1].sequence - 1]
    with pytest.raises(fake_learner.StepFailed):
        train.main([*flags, f"--model_store={root}/broken"])
    assert train.main([*flags, f"--model_store={root}/broken", "--resume_from=latest"]) == 0
    assert ModelStore(f"{root}/broken").manifests("") == whole
