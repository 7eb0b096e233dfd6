"""Runs that could use less than half of their input, in every pipeline that reads.

They end with status 3, the reason, an example and the remedy.
"""

import json

import apache_beam as beam
import fake_learner
import pytest
from apache_beam.metrics.execution import MetricKey, MetricResult
from apache_beam.metrics.metricbase import MetricName
from given import given_by

from beam_topics.model.errors import LostMinibatchesError, OptionError, RefusedInputError
from beam_topics.model.reading.refused import refused
from beam_topics.pipelines import archive, evaluate, fit_classifier, infer, stream, train
from beam_topics.pipelines.graphs import execute
from beam_topics.pipelines.graphs import execute as running

DEAD = "dead\x1b"
assert fake_learner  # It registers itself.


def record(number, **others):
    words = ["ship", "harbour", "sailor"] if number % 2 else ["judge", "court", "verdict"]
    return {
        "id": f"d{number}",
        "timestamp": f"2001-01-{1 + number % 28:02d}",
        "text": " ".join(words * 3),
        **others,
    }


def write(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A model store, which none of the runs changes."""
    folder = tmp_path_factory.mktemp("trained")
    path = write(folder / "good.jsonl", map(record, range(40)))
    given = [
        f"--input={path}",
        f"--model_store={folder / 'models'}",
        f"--dead_letters={folder / 'dead'}",
    ]
    assert (
        train.main(
            [
                *given,
                "--learner=fake",
                "--topics=3",
                "--window=7d",
                "--publish_every=14d",
                "--minibatch_size=5",
            ]
        )
        == 0
    )
    return folder / "models"


@pytest.fixture
def lacking(tmp_path):
    """Records without the field that the options name."""
    others = (
        {"id": f"x{number}", "timestamp": "2001-01-31", "headline": "A ship \x1b[2J came in"}
        for number in range(9)
    )
    return write(tmp_path / "lacking.jsonl", others)


@pytest.fixture
def mixed(tmp_path):
    """Nine records of twenty-nine are good, and more than half of the others have one reason."""
    bad = [{**record(number), "text": None} for number in range(9, 21)] + [
        {**record(number), "timestamp": "1/2/2001"} for number in range(8)
    ]
    return write(tmp_path / "mixed.jsonl", [*bad, *map(record, range(9))])


def command(name, source, store, folder):
    own = [f"--input={source}", f"--dead_letters={folder / DEAD}"]
    model = f"--model_store={store}"
    figures = f"--json={folder / 'figures.jsonl'}"
    new = f"--model_store={folder / 'new'}"
    learner = ["--learner=fake", "--topics=3", "--window=7d"]
    return {
        "archive": (archive, [*own, f"--output={folder / 'archive'}"]),
        "train": (train, [*own, new, *learner]),
        "stream": (stream, [*own, new, *learner, f"--output={folder / 'mixtures'}"]),
        "infer": (infer, [*own, model, f"--output={folder / 'mixtures'}", "--inference_sweeps=4"]),
        "fit_classifier": (
            fit_classifier,
            [*own, model],
        ),
        "evaluate": (
            evaluate,
            [
                f"--held_out={source}",
                *own[1:],
                model,
                figures,
            ],
        ),
    }[name]


PIPELINES = ["archive", "train", "stream", "infer", "fit_classifier", "evaluate"]


@pytest.mark.parametrize("name", PIPELINES)
def test_a_wrong_field_ends_with_three_and_the_remedy(name, lacking, store, tmp_path, capsys):
    pipeline, argv = command(name, lacking, store, tmp_path)
    assert pipeline.main(argv) == 3
    error = capsys.readouterr().err
    assert (
        "9 of 9 records could not be used. The most frequent reason is missing_text (9):\n" in error
    )
    assert (
        f"  {lacking}:1: the record has no field 'text'; it has 'id', 'timestamp', 'headline'. Name"
        " the text with --text_field.\n" in error
    )
    assert (
        '  {"id": "x0", "timestamp": "2001-01-31", "headline": "A ship \\u001b[2J came in"}\n'
        in error
    )
    assert (
        f"python -m beam_topics.pipelines.{name}: no record could be used (see above), so nothing"
        " was learned"
        f" or written from this input. Each record that was refused is in {tmp_path}/dead�, with"
        " its reason.\n" in error
    )
    assert "\x1b" not in error


@pytest.mark.parametrize("name", PIPELINES)
def test_what_came_of_the_others_is_there_and_shown(name, mixed, store, tmp_path, capsys):
    pipeline, argv = command(name, mixed, store, tmp_path)
    assert pipeline.main(argv) == 3
    captured = capsys.readouterr()
    assert (
        "20 of 29 records could not be used. The most frequent reason is missing_text (12):"
        in captured.err
    )
    assert (
        "less than half of the records could be used (see above). What was learned and written from"
        " them stays." in captured.err
    )
    if name in ("fit_classifier", "evaluate"):
        assert {
            "fit_classifier": "9 pairs",
            "evaluate": "3 versions",
        }[name] in captured.out
    written = {"archive": "archive", "train": "new", "stream": "mixtures", "infer": "mixtures"}.get(
        name
    )
    assert written is None or any((tmp_path / written).iterdir())


def test_half_of_the_records_are_enough(tmp_path, capsys):
    path = write(tmp_path / "half.jsonl", [record(1), record(2, text=None)])
    assert (
        archive.main(
            [f"--input={path}", f"--output={tmp_path / 'a'}", f"--dead_letters={tmp_path / 'd'}"]
        )
        == 0
    )
    assert "could not be used" not in capsys.readouterr().err


def test_letters_of_earlier_runs_are_not_taken_for_examples(lacking, store, tmp_path, capsys):
    (tmp_path / DEAD).mkdir()
    old = {"source": "a:1", "reason": "missing_text", "detail": "old", "record": "{}"}
    (tmp_path / DEAD / "dead-letters-0.jsonl").write_text(json.dumps(old) + "\n")
    pipeline, argv = command("archive", lacking, store, tmp_path)
    assert pipeline.main(argv) == 3
    assert "old" not in capsys.readouterr().err


def result_of(counted):
    """What a runner that hands on no examples says of a job."""

    class Result(beam.runners.runner.PipelineResult):
        def wait_until_finish(self, duration=None):
            self._state = "DONE"

        def metrics(self):
            return self

        def query(self, filter):
            counters = [
                MetricResult(MetricKey(step, MetricName("beam_topics", name)), count, count)
                for step, counts in counted.items()
                for name, count in counts.items()
            ]
            return {"counters": counters}

    return Result("RUNNING")


def end_of(monkeypatch, counted, then=lambda counted: None):
    result = result_of(counted if "Read" in counted else {"Read": counted})
    monkeypatch.setattr(beam.Pipeline, "run", lambda pipeline: result)
    running.run(
        lambda pipeline, options: None,
        given_by("--runner=FnApiRunner", "--dead_letters=d"),
        then,
    )


def test_a_runner_that_hands_on_no_examples(monkeypatch, capsys):
    with pytest.raises(RefusedInputError):
        end_of(monkeypatch, {"records_read": 2, "dead_not_json": 2})
    error = capsys.readouterr().err
    assert "2 of 2 records could not be used. The most frequent reason is not_json (2):" in error
    assert "  This runner passes on no example; the dead letters hold all records." in error


def test_one_input_of_several(monkeypatch, capsys):
    """The documents of --held_out are all refused; those of --coherence_with are many, and good."""
    others = {"Read coherence_with": {"records_read": 1000}, "Write": {"dead_letters_written": 3}}
    with pytest.raises(RefusedInputError, match="no record could be used"):
        end_of(monkeypatch, {"Read": {"records_read": 3, "dead_not_json": 3}} | others)
    assert "3 of 3 records could not be used." in capsys.readouterr().err


def test_a_file_that_is_refused_as_a_whole_is_told_though_the_run_succeeds(tmp_path, capsys):
    write(tmp_path / "a.jsonl", map(record, range(5)))
    (tmp_path / "b.csv").write_text("id,timestamp,body\n1,2,A ship came in\n")
    assert (
        archive.main(
            [
                f"--input={tmp_path}/*.*",
                f"--output={tmp_path / 'a'}",
                f"--dead_letters={tmp_path / 'd'}",
            ]
        )
        == 0
    )
    error = capsys.readouterr().err
    assert "Files that were refused as a whole: 1.\n" in error
    assert (
        f"  {tmp_path}/b.csv: the file has no field 'text'; it has 'id', 'timestamp', 'body'. Name"
        " the text with --text_field.\n" in error
    )


def test_reasons_that_need_no_example(monkeypatch, capsys):
    with pytest.raises(RefusedInputError):
        end_of(monkeypatch, {"records_read": 9, "dead_repeated_id": 8})
    assert (
        "have the same id and other texts. Name another field with --id_field, use"
        " --id_from=place, or learn the newest of each with --on_repeat=last."
        in capsys.readouterr().err
    )


def test_copies_and_replaced_documents_end_no_run(monkeypatch):
    seen = []
    end_of(monkeypatch, {"records_read": 9, "dead_copy": 6, "dead_replaced": 2}, seen.append)
    assert len(seen) == 1


def test_what_comes_then_is_left_out_only_where_nothing_was_used(monkeypatch):
    seen = []
    with pytest.raises(RefusedInputError, match="less than half of the records could be used"):
        end_of(monkeypatch, {"records_read": 9, "dead_not_json": 8}, seen.append)
    assert [counted["records_read"] for counted in seen] == [9]
    with pytest.raises(RefusedInputError, match="no record could be used"):
        end_of(monkeypatch, {"records_read": 9, "dead_not_json": 9}, seen.append)
    assert len(seen) == 1


def test_lost_minibatches_are_worse_than_refused_records(monkeypatch):
    def lost(counted):
        raise LostMinibatchesError("lost")

    with pytest.raises(LostMinibatchesError):
        end_of(monkeypatch, {"records_read": 9, "dead_not_json": 8}, lost)


def test_the_folder_of_the_dead_letters_is_named():
    options = given_by("--dead_letters=gs://bucket/dead")
    assert options.dead_letters == "gs://bucket/dead"
    found = refused({"records_read": 1, "dead_nul": 1}, ())
    assert "is in gs://bucket/dead, with its reason." in str(execute.error_of(found, options))


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            ["--id_from=place", "--id_field=n"],
            (
                "--id_field: 'n' was given; allowed is nothing with --id_from=place. Leave one of"
                " the two out."
            ),
        ),
        (
            ["--time_from=order", "--timestamp_field=t"],
            (
                "--timestamp_field: 't' was given; allowed is nothing with --time_from=order. Leave"
                " one of the two out."
            ),
        ),
        (
            ["--time_from=order", "--timestamp_format=ms"],
            "--timestamp_format: 'ms' was given; allowed is nothing with --time_from=order.",
        ),
        (
            ["--format=avro", "--encoding=latin-1"],
            "--encoding: 'latin-1' was given; allowed is nothing with files of avro, which say how",
        ),
    ],
)
def test_options_that_would_be_ignored_are_refused(flags, message, lacking, tmp_path, capsys):
    assert (
        archive.main(
            [
                f"--input={lacking}",
                f"--output={tmp_path / 'a'}",
                f"--dead_letters={tmp_path / 'd'}",
                *flags,
            ]
        )
        == 2
    )
    assert message in capsys.readouterr().err


def test_an_option_error_has_status_two():
    assert (OptionError.exit_status, RefusedInputError.exit_status) == (2, 3)
