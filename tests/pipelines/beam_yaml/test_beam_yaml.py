"""The pipeline files of docs/yaml.md, run by Beam YAML, against the programs."""

import json
import re
from pathlib import Path

import apache_beam as beam
import pytest
import yaml
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.utils.timestamp import Timestamp

from beam_topics.model.errors import OptionError, RefusedInputError
from beam_topics.model.publishing.store import ModelStore
from beam_topics.pipelines import beam_yaml, infer, train
from beam_topics.pipelines.beam_yaml import LABELLING, LEARNING, line_of_row, names, parsed

yaml_transform = pytest.importorskip("apache_beam.yaml.yaml_transform")
pytest.importorskip("jinja2")

ROOT = Path(__file__).parents[3]
PROVIDER = Path(beam_yaml.__file__).with_name("provider.yaml")
THEMES = (("ship", "sea", "harbour", "sail"), ("court", "judge", "law", "jury"))
LEARN = {
    "window": "1d",
    "publish_every": "5d",
    "topics": 2,
    "initial": "none",
    "stop_words": "none",
    "learner": "incremental-gibbs",
}


def rows():
    return [
        {
            "id": f"d{n}",
            "timestamp": f"2020-01-{1 + n // 4:02d}T{n % 4:02d}:00:00Z",
            "text": " ".join(THEMES[n % 2][(n + k) % 4] for k in range(6)),
        }
        for n in range(60)
    ]


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "documents.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows()))
    return path


def run(steps, **options):
    """Run a pipeline in the way of ``python -m apache_beam.yaml.main``."""
    definition = {"pipeline": {"transforms": steps}, "providers": [{"include": str(PROVIDER)}]}
    text = json.dumps(definition)
    with beam.Pipeline(options=PipelineOptions(pickle_library="cloudpickle", **options)) as p:
        yaml_transform.expand_pipeline(p, text)


def read(lines):
    config = {"path": str(lines)}
    return {"type": "ReadFromJson", "name": "Read", "config": {**config, "lines": True}}


def step(type, store, options, input="Read"):
    config = {"model_store": str(store), "options": options}
    return {"type": type, "name": type, "input": input, "config": config}


def write(input, path):
    return {"type": "WriteToJson", "name": path.name, "input": input, "config": {"path": str(path)}}


def written(path):
    found = sorted(path.parent.glob(f"{path.name}*"))
    return [json.loads(line) for one in found for line in one.read_text().splitlines()]


def test_a_yaml_pipeline_trains_what_the_program_trains_and_labels_what_infer_labels(
    lines, tmp_path
):
    versions, refused = tmp_path / "versions", tmp_path / "refused"
    run([
        read(lines), step("TrainTopics", tmp_path / "yaml", LEARN),
        write("TrainTopics.versions", versions), write("TrainTopics.dead_letters", refused),
    ])  # fmt: skip
    argv = [f"--{name}={value}" for name, value in LEARN.items()]
    paths = {name: str(tmp_path / name) for name in ("program", "dead", "out")}
    assert train.main([f"--input={lines}", f"--model_store={paths['program']}",
                       f"--dead_letters={paths['dead']}", *argv]) == 0  # fmt: skip
    mine, theirs = ModelStore(str(tmp_path / "yaml")), ModelStore(paths["program"])
    assert [m.version for m in mine.manifests("")] == [m.version for m in theirs.manifests("")]
    assert {row["version"] for row in written(versions)} == {m.version for m in mine.manifests("")}
    assert written(refused) == []

    mixtures = tmp_path / "mixtures"
    run([
        read(lines), step("LabelTopics", tmp_path / "yaml", {"method": "gibbs3"}),
        write("LabelTopics.mixtures", mixtures), write("LabelTopics.dead_letters", refused),
    ])  # fmt: skip
    assert infer.main([f"--input={lines}", f"--model_store={paths['program']}",
                       f"--output={paths['out']}", f"--dead_letters={paths['dead']}",
                       "--format=jsonl"]) == 0  # fmt: skip
    wanted = {row["id"]: row for path in Path(paths["out"]).glob("mixtures-*")
              for row in map(json.loads, path.read_text().splitlines())}  # fmt: skip
    found = {row["id"]: row for row in written(mixtures)}
    assert found.keys() == wanted.keys() and len(found) == 60
    for id, row in found.items():
        assert row["topic"] == wanted[id]["topic"]
        # Beam writes a row within a row as a list.
        assert row["topics"] == [[one["topic"], one["share"]] for one in wanted[id]["topics"]]
        assert row["model_version"] == wanted[id]["model_version"]
        assert row["timestamp"] == wanted[id]["timestamp"]


def test_a_stream_is_learned_and_labelled_and_bad_rows_are_refused(lines, tmp_path):
    with lines.open("a") as file:
        file.write('{"id": "x", "timestamp": "2020-01-01T00:00:00Z", "text": ""}\n')
    mixtures, refused = tmp_path / "mixtures", tmp_path / "refused"
    run([
        read(lines), step("StreamTopics", tmp_path / "models", LEARN),
        write("StreamTopics.mixtures", mixtures), write("StreamTopics.dead_letters", refused),
        write("StreamTopics.events", tmp_path / "events"),
        write("StreamTopics.versions", tmp_path / "versions"),
    ])  # fmt: skip
    assert {row["id"] for row in written(mixtures)} == {row["id"] for row in rows()}
    (letter,) = written(refused)
    assert letter["reason"] == "empty_text" and json.loads(letter["record"])["source"] == "rows"
    assert len({row["model_version"] for row in written(mixtures)}) > 1


def test_the_pipelines_of_the_page_run(lines, tmp_path, monkeypatch):
    page = ROOT / "docs" / "yaml.md"
    monkeypatch.chdir(tmp_path)
    for text in re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL):
        with beam.Pipeline(options=PipelineOptions(pickle_library="cloudpickle")) as p:
            yaml_transform.expand_pipeline(p, text)
    assert len(written(tmp_path / "mixtures")) == 60 and written(tmp_path / "refused") == []
    assert ModelStore("models").latest("").snapshot


def test_the_step_of_the_readme_labels(lines, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run([read(lines), step("TrainTopics", "models", LEARN)])
    page = ROOT / "README.md"
    (text,) = re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL)
    mixtures = tmp_path / "mixtures"
    documents = {**read(lines), "name": "Documents"}
    run([documents, *yaml.safe_load(text), write("LabelTopics.mixtures", mixtures)])
    assert len(written(mixtures)) == 60


def test_rows_are_written_as_records():
    row = beam.Row(id=7, timestamp=Timestamp(0), text="é", extra=b"x")
    assert json.loads(line_of_row(row)) == {
        "id": 7, "timestamp": "1970-01-01T00:00:00.000000Z", "text": "é", "extra": "b'x'",
    }  # fmt: skip
    assert json.loads(line_of_row({"id": 1})) == {"id": 1}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            {"topcs": 3},
            "options of X: 'topcs' was given; allowed is the name of an option. Did you",
        ),
        ({"events": "here"}, "docs/yaml.md says which there are"),
        ({"dead_letters": "here"}, "docs/yaml.md says which there are"),
        ([1], "allowed is a mapping such as"),
    ],
)
def test_a_wrong_option_is_told(options, told):
    with pytest.raises(OptionError, match=told):
        parsed("X", LEARNING, "models", options)


def test_a_value_that_is_not_allowed_is_told_as_by_the_program():
    with pytest.raises(OptionError, match="--topics: 0 was given"):
        beam_yaml.TrainTopics("models", {"topics": 0})


def test_options_are_those_of_the_programs():
    assert {"topics", "window", "id_field", "key_field"} <= {*names(LEARNING)}
    assert {"method", "model_version", "label_field"} <= {*names(LABELLING)}


def test_a_job_that_learns_no_word_fails(tmp_path):
    wordless = [{**row, "text": "we are here"} for row in rows()]
    options = {**LEARN, "stop_words": "en"}
    with (
        pytest.raises(RefusedInputError, match="no word was learned, because none of 60 documents"),
        beam.Pipeline() as pipeline,
    ):
        made = beam_yaml.TrainTopics(str(tmp_path / "models"), options)
        _ = pipeline | beam.Create(wordless) | made
    assert not ModelStore(str(tmp_path / "models")).has_versions("")
