"""``--source`` and ``--output``: what goes with what, and that each builds its graph."""

import json
from dataclasses import dataclass
from pathlib import Path

import apache_beam as beam
import fake_learner
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.portability.api import beam_runner_api_pb2

from beam_topics.model.errors import OptionError
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.reading.settings import ParseSettings
from beam_topics.model.settings.options import option
from beam_topics.model.settings.options import options_of as record_options_of
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.pipelines import archive, infer, stream, train
from beam_topics.pipelines.cli.command import UsageError, parse
from beam_topics.pipelines.graphs.sinks import write_mixtures
from beam_topics.pipelines.graphs.sources import read_source, source_settings_of
from beam_topics.pipelines.graphs.sources.base import SOURCES, SourceSettings
from beam_topics.transforms.read import ParseMessages
from beam_topics.transforms.sources.kafka import ReadKafka

BASE = ["--model_store=m", "--dead_letters=d"]
KAFKA = ["--source=kafka", "--kafka_servers=b:9", "--kafka_topic=posts"]
# No runner of ours is asked: the local one refuses streams without an end.
STREAMING = "--runner=PrismRunner"


def one_of_those_with(option):
    """The names of the sources with an option, as a message lists them."""
    names = [
        name
        for name, kind in SOURCES.items()
        if option in (one.name for one in record_options_of(kind))
    ]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def options_of(*flags, of=train):
    return parse([*BASE, STREAMING, *flags], "x", "", of.GROUPS, {})


def read(*flags, of=train):
    options = options_of(*flags, of=of)
    pipeline = beam.Pipeline(options=PipelineOptions([]))
    return read_source(pipeline, options, TokeniserSettings()), pipeline


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ([], "--input is missing. --source=files needs it, for example --input='data/*.jsonl.gz'."),
        (
            ["--source=replay"],
            "--input is missing. --source=replay needs it, for example --input='archive/*.avro'.",
        ),
        (KAFKA[:2], "--kafka_topic is missing. --source=kafka needs it"),
        (["--source=kafka", KAFKA[2]], "--kafka_servers is missing. --source=kafka needs it"),
    ],
)
def test_what_a_source_needs(flags, message):
    with pytest.raises(UsageError) as error:
        read(*flags)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            [*KAFKA, "--input=a"],
            (
                "--input: ['a'] was given; allowed is nothing with --source=kafka. Leave it out, or"
                " choose --source="
            ),
        ),
        (
            [*KAFKA, "--time_from=order"],
            (
                "--time_from: 'order' was given; allowed is nothing with --source=kafka. Leave it"
                " out, or choose"
            ),
        ),
        (
            ["--input=a", KAFKA[2]],
            (
                "--kafka_topic=posts belongs to --source=kafka; --source=files is chosen. Leave it"
                " out, or give --source=kafka."
            ),
        ),
        (
            ["--input=a", "--until=end"],
            f"--until=end belongs to --source={one_of_those_with('until')}; --source=files is",
        ),
        (
            ["--input=a", "--kafka_servers=b"],
            "--kafka_servers: 'b' was given; allowed is nothing with --source=files",
        ),
        (
            ["--source=replay", "--input=a", "--format=avro"],
            "--format: 'avro' was given; allowed is nothing with --source=replay",
        ),
        (
            ["--input=a", "--replay_speed=2x"],
            "--replay_speed=2.0 belongs to --source=replay; --source=files is chosen.",
        ),
        (
            [*KAFKA, "--encoding=latin-1"],
            (
                "--encoding: 'latin-1' was given; allowed is nothing with --source=kafka. Leave it"
                " out, or choose"
            ),
        ),
        (
            ["--source=replay", "--input=a", "--timestamp_format=ms"],
            "--timestamp_format: 'ms' was given; allowed is nothing with --source=replay",
        ),
        (
            ["--source=replay", "--input=a", "--id_from=place"],
            "--id_from: 'place' was given; allowed is nothing with --source=replay",
        ),
    ],
)
def test_what_a_source_does_not_have(flags, message):
    with pytest.raises(OptionError) as error:
        read(*flags)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        (
            "--replay_speed=fast",
            (
                "--replay_speed: 'fast' was given; allowed is a number above 0 with an x, such as"
                " 3600x"
            ),
        ),
        ("--replay_speed=0x", "--replay_speed: '0x' was given"),
        ("--idle_after=5", "--idle_after: '5' was given; allowed is a length of time"),
    ],
)
def test_values_of_the_wrong_form(flag, message):
    with pytest.raises(UsageError) as error:
        options_of(flag)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            ["--source=kafak"],
            f"--source: 'kafak' was given; allowed is one of {', '.join(SOURCES)}. ",
        ),
        (
            [*KAFKA, "--until=never"],
            "--until: 'never' was given; allowed is one of end, forever. Correct the spelling.",
        ),
    ],
)
def test_values_that_do_not_exist(flags, message):
    with pytest.raises(OptionError) as error:
        read(*flags, of=stream)
    assert message in str(error.value)


@pytest.fixture
def lines(monkeypatch):
    """A source that one file could add: the lines of a file, each a document."""
    monkeypatch.setattr(SOURCES, "_kinds", dict(SOURCES._kinds))

    @SOURCES.register
    @dataclass(frozen=True)
    class Lines(SourceSettings):
        """The lines of a file."""

        kind = "lines"
        needed = {"lines_file": "lines.txt"}
        is_log = False
        endless = "never"

        lines_file: str | None = option(None, "the file")

        def read(self, options, tokeniser, learning):
            rows = Path(self.lines_file).read_text().splitlines()
            messages = [
                json.dumps({"id": row, "timestamp": at, "text": row}).encode()
                for at, row in enumerate(rows)
            ]
            return ReadRows(messages, tokeniser)

    class ReadRows(beam.PTransform):
        def __init__(self, messages, tokeniser):
            super().__init__()
            self.messages, self.tokeniser = messages, tokeniser

        def expand(self, pipeline):
            parse = ParseMessages("lines", ParseSettings(), self.tokeniser)
            return pipeline | beam.Create(self.messages) | parse

    return Lines


def test_a_source_is_added_by_registering_a_record(lines, tmp_path, capsys):
    (tmp_path / "lines.txt").write_text("ship harbour\ncourt judge\n" * 2)
    given = [f"--model_store={tmp_path}/m", f"--dead_letters={tmp_path}/d"]
    flags = [f"--learner={fake_learner.Fake.kind}", "--topics=2"]
    assert train.main([*given, *flags, "--source=lines"]) == 2
    assert "--lines_file is missing. --source=lines needs it" in capsys.readouterr().err
    assert train.main([*given, *flags, "--input=x", f"--lines_file={tmp_path}"]) == 2
    assert "--lines_file=" in capsys.readouterr().err
    chosen = ["--source=lines", f"--lines_file={tmp_path}/lines.txt"]
    assert train.main([*given, *flags, *chosen]) == 0
    assert ModelStore(f"{tmp_path}/m").manifest("").documents == 2
    with pytest.raises(SystemExit):
        train.main(["--source=lines", "--help"])
    assert "--lines_file X" in capsys.readouterr().out


def test_an_archive_that_is_none_is_refused_before_anything_runs(tmp_path):
    (tmp_path / "a.avro").write_bytes(b"")
    with pytest.raises(
        OptionError,
        match=(
            r"allowed is files of an archive, archive-<start>-<content>\.avro, when --source=replay"
        ),
    ):
        read("--source=replay", f"--input={tmp_path}/*.avro")


def kafka_settings_of(*flags):
    options = options_of(*flags)
    return source_settings_of(options).settings(options, None)


def test_kafkas_settings():
    topic = kafka_settings_of(*KAFKA).topic
    assert (topic.start, topic.until, topic.idle_after, topic.max_delay) == (
        "earliest",
        "forever",
        60_000_000,
        None,
    )
    topic = kafka_settings_of(
        *KAFKA, "--kafka_start=latest", "--until=end", "--idle_after=5s", "--max_delay=1min"
    ).topic
    assert (topic.start, topic.until, topic.idle_after, topic.max_delay) == (
        "latest",
        "end",
        5_000_000,
        60_000_000,
    )
    assert topic.max_future == 24 * 3600 * 10**6
    assert kafka_settings_of(*KAFKA, "--max_future=1h").topic.max_future == 3600 * 10**6


def coders_of(proto):
    return {coder.spec.urn for coder in proto.components.coders.values()}


def transforms_of(proto):
    return {
        transform.unique_name: transform.spec.urn
        for transform in proto.components.transforms.values()
    }


def test_no_pickle_is_in_the_coders_of_a_kafka_graph():
    pipeline = beam.Pipeline(options=PipelineOptions([]))
    settings = kafka_settings_of(*KAFKA)
    made = pipeline | ReadKafka(settings, ParseSettings(), TokeniserSettings())
    proto = pipeline.to_runner_api()
    splittable = [
        beam_runner_api_pb2.ParDoPayload.FromString(t.spec.payload)
        for t in proto.components.transforms.values()
        if t.unique_name.endswith(("ReadKafka/Partitions", "/Poll/ParDo(KafkaDoFn)"))
    ]

    def urns(coder):
        found = proto.components.coders[coder]
        return [found.spec.urn, *(urn for part in found.component_coder_ids for urn in urns(part))]

    ranges = ["beam:coder:kv:v1", "beam:coder:bytes:v1", "beam:coder:varint:v1"]
    assert [urns(payload.restriction_coder_id) for payload in splittable] == [ranges, ranges]
    assert not made.documents.is_bounded
    for pcollection in made:
        assert pcollection.element_type is bytes


def written(*flags):
    options = options_of(*flags, of=stream)
    with beam.Pipeline(options=PipelineOptions([])) as pipeline:
        write_mixtures(pipeline | beam.Create([], reshuffle=False), options, streams=True)


@pytest.mark.parametrize(
    ("flags", "error", "message"),
    [
        (
            ["--output=kafka:o"],
            UsageError,
            "--kafka_servers is missing. --output=kafka:o needs it",
        ),
        (
            ["--kafka_servers=b", "--output=kafka:"],
            OptionError,
            "--output: 'kafka:' was given; allowed is a folder, or kafka: with the name",
        ),
        (
            ["--kafka_servers=b", "--output=kafka:o", "--output_format=avro"],
            OptionError,
            "--output_format: 'avro' was given; allowed is jsonl with --output=kafka:TOPIC.",
        ),
        (
            ["--output=m", "--trends_window=1h"],
            OptionError,
            "--trends_window: '1h' was given; allowed is nothing without --trends. Leave it out.",
        ),
    ],
)
def test_what_a_sink_needs_and_does_not_have(flags, error, message):
    with pytest.raises(error) as raised:
        written(*flags)
    assert message in str(raised.value)


def test_servers_may_be_the_sinks_alone(tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "a", "timestamp": 0, "text": "word"}))
    given = [f"--input={tmp_path}/a.jsonl", "--kafka_servers=b", "--output=kafka:o"]
    assert options_of(*given, of=stream).output == "kafka:o"
    assert read(*given, of=stream)[0].documents is not None


@pytest.mark.parametrize("pipeline", [train, stream, infer])
def test_each_pipeline_that_reads_has_the_sources(pipeline):
    assert options_of(*KAFKA, of=pipeline)


def test_the_archive_is_made_of_files(capsys):
    assert archive.main([*BASE[1:], "--output=a", "--source=kafka"]) == 2
    assert (
        "--source=kafka: python -m beam_topics.pipelines.archive has no such option, only other"
        " commands have" in capsys.readouterr().err
    )
