"""The Flex Template's description and image, without a service and without Docker."""

import json
import re
from pathlib import Path

import pytest

from beam_topics.pipelines import stream
from beam_topics.pipelines.cli.command import UsageError, parse, parser_for

ROOT = Path(__file__).parent.parent.parent
TEMPLATE = json.loads((ROOT / "docker" / "stream.json").read_text(encoding="utf-8"))
PARAMETERS = {parameter["name"]: parameter for parameter in TEMPLATE["parameters"]}
# As the launcher passes a template's parameters on, with what it adds.
LAUNCHED = [
    "--runner=DataflowRunner",
    "--project=my-project",
    "--region=europe-west1",
    "--temp_location=gs://bucket/tmp",
]
LAUNCHED += [
    "--template_location=gs://bucket/job",
    "--sdk_container_image=registry/beam-topics:1",
    "--streaming",
]
EXAMPLE = {
    "source": "kafka",
    "kafka_servers": "broker:9092",
    "kafka_topic": "documents",
    "model_store": "gs://bucket/models",
    "output": "gs://bucket/mixtures",
    "dead_letters": "gs://bucket/dead",
    "window": "1h30min",
    "publish_every": "4windows",
    "topics": "20",
    "threads": "4",
    "file_period": "1h",
    "add_documents": "true",
}


def parsed(values):
    argv = [f"--{name}={value}" for name, value in values.items()]
    return parse([*argv, *LAUNCHED], "stream", "", stream.GROUPS, stream.REQUIRED)


def test_every_parameter_is_an_option_of_the_pipeline():
    parser = parser_for("stream", "", stream.GROUPS, stream.REQUIRED)
    assert set(PARAMETERS) <= {action.dest for action in parser._actions}
    assert len(PARAMETERS) == len(TEMPLATE["parameters"])


@pytest.mark.parametrize("name", EXAMPLE)
def test_the_patterns_take_what_the_options_take(name):
    for pattern in PARAMETERS[name].get("regexes", ()):
        assert re.fullmatch(pattern, EXAMPLE[name])
        assert not re.fullmatch(pattern, "no such value")


def test_the_parameters_of_the_example_are_enough():
    found = parsed(EXAMPLE)
    assert (found.file_period, found.add_documents) == (3_600_000_000, True)


@pytest.mark.parametrize("name", sorted(stream.REQUIRED))
def test_what_the_pipeline_requires_the_template_requires(name):
    assert not PARAMETERS[name]["isOptional"]
    with pytest.raises(UsageError, match=f"--{name} is missing"):
        parsed({given: value for given, value in EXAMPLE.items() if given != name})


def test_the_image_has_the_sdk_that_submits_and_copies_what_is_there():
    lines = (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8").splitlines()
    (beam,) = (
        line
        for line in (ROOT / "requirements.txt").read_text().splitlines()
        if line.startswith("apache-beam")
    )
    (sdk,) = (line for line in lines if line.startswith("FROM apache/beam"))
    assert re.search(r":(\d+\.\d+)", sdk)[1] == re.search(r"==(\d+\.\d+)", beam)[1]
    copied = [
        word
        for line in lines
        if line.startswith("COPY") and "--from" not in line
        for word in line.split()[1:-1]
    ]
    assert all((ROOT / name.replace("${PIPELINE}", "stream")).exists() for name in copied)
    assert {
        "setup.py",
        "requirements.txt",
        "MANIFEST.in",
        "beam_topics",
    } <= set(copied)
