"""Whole pipelines on synthetic documents.

The fake learner stands in for the real ones, so the tests are about the path to and from it.
"""

import json
import operator
import re
import shutil
from collections import Counter
from pathlib import Path

import fake_learner
import pytest

from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.publishing.version_events import records_of, summary_of
from beam_topics.pipelines import archive, evaluate, fit_classifier, infer, show, stream, train

SHIPS = ["ship", "sailed", "harbour", "sailor", "ocean", "wind"]
COURTS = ["judge", "court", "verdict", "lawyer", "witness", "trial"]
DAYS = 40
FLAGS = [
    "--window=7d",
    "--publish_every=14d",
    "--minibatch_size=5",
    "--learner=fake",
    "--topics=3",
    "--checkpoint_tokens=60",
]
GOOD, BAD, REPEATED = 60, 5, 1


def record(number, prefix="d", **others):
    topic = SHIPS if number % 2 else COURTS
    words = [topic[(number * step) % len(topic)] for step in range(1, 9)]
    day = 1 + number * DAYS // GOOD
    date = f"2001-{1 + day // 29:02d}-{1 + day % 28:02d}"
    return {
        "id": f"{prefix}{number}",
        "timestamp": date,
        "text": " ".join(words),
        "label": str(number % 2),
        **others,
    }


@pytest.fixture
def corpus(tmp_path):
    return write_corpus(tmp_path)


def write_corpus(folder):
    rows = [json.dumps(record(number)) for number in range(GOOD)]
    rows += [json.dumps(record(7, text="another text"))]
    rows += [
        "no json",
        json.dumps(record(0, text=" ")),
        json.dumps(record(1, id=None)),
        json.dumps(record(2, timestamp="never")),
        "[1]",
    ]
    path = folder / "corpus.jsonl"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def common(corpus, tmp_path, store="models"):
    return [
        f"--input={corpus}",
        f"--model_store={tmp_path / store}",
        f"--dead_letters={tmp_path / 'dead'}",
    ]


def lines(folder: Path):
    return [
        json.loads(line)
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


@pytest.fixture(scope="module")
def trained_once(tmp_path_factory):
    """The folder of a run over the corpus."""
    folder = tmp_path_factory.mktemp("trained")
    trained(write_corpus(folder), folder)
    return folder


@pytest.fixture
def known(trained_once, tmp_path):
    """A model store of the corpus, and the dead letters of the run that made it."""
    for name in ("models", "dead"):
        shutil.copytree(trained_once / name, tmp_path / name)
    return ModelStore(str(tmp_path / "models"))


def trained(corpus, tmp_path, *flags, store="models"):
    assert train.main([*common(corpus, tmp_path, store), *FLAGS, *flags]) == 0
    return ModelStore(str(tmp_path / store))


def test_training_publishes_versions_and_keeps_what_it_could_not_use(corpus, tmp_path, capsys):
    store = trained(corpus, tmp_path)
    versions = store.manifests("")
    assert len(versions) >= 3
    assert versions[-1].documents == GOOD
    reasons = Counter(row["reason"] for row in lines(tmp_path / "dead"))
    assert reasons == {
        "not_json": 1,
        "wrong_type": 1,
        "empty_text": 1,
        "missing_id": 1,
        "bad_timestamp": 1,
        "repeated_id": 1,
    }
    assert all(row["source"] for row in lines(tmp_path / "dead"))
    error = capsys.readouterr().err
    assert f"records_read {GOOD + BAD + REPEATED}" in error
    assert "up to 2001-" in error


def test_inference_labels_every_document_it_could_read(corpus, tmp_path, known):
    assert infer.main([*common(corpus, tmp_path), f"--output={tmp_path / 'mixtures'}"]) == 0
    rows = lines(tmp_path / "mixtures")
    assert len(rows) == GOOD + REPEATED
    newest = ModelStore(str(tmp_path / "models")).manifest("")
    for row in rows:
        assert row["model_version"] == newest.version
        shares = [one["share"] for one in row["topics"]]
        assert sum(shares) == pytest.approx(float(row["words_known"] > 0), abs=0.01)
        assert row["topic"] == next((one["topic"] for one in row["topics"]), None)


@pytest.mark.parametrize("method", ["gibbs1", "maxent"])
def test_every_way_to_label(corpus, tmp_path, method, capsys, known):
    if method == "maxent":
        assert fit_classifier.main([*common(corpus, tmp_path)]) == 0
        assert "chosen" in capsys.readouterr().out
    own = [f"--training={corpus}", "--inference_sweeps=4"] if method == "gibbs1" else []
    flags = [
        f"--output={tmp_path / 'mixtures'}",
        f"--method={method}",
        f"--coverage={tmp_path / 'coverage'}",
    ]
    assert infer.main([*common(corpus, tmp_path), *flags, *own, "--coverage_window=7d"]) == 0
    rows = lines(tmp_path / "mixtures")
    assert len(rows) == GOOD + REPEATED
    assert {row["method"] for row in rows} == {method}
    reports = lines(tmp_path / "coverage")
    assert sum(row["documents"] for row in reports) == GOOD + REPEATED
    assert not any(row["retrain"] for row in reports[:-1])
    assert "retrain signals; the lowest coverage, window to 2001-" in capsys.readouterr().err


def test_a_model_that_no_longer_speaks_the_language(corpus, tmp_path, capsys, known):
    path = tmp_path / "new.jsonl"
    path.write_text(json.dumps(record(3, text="ship ocean glacier moraine crevasse")) + "\n")
    assert (
        infer.main(
            [
                *common(path, tmp_path),
                f"--output={tmp_path / 'mixtures'}",
                f"--coverage={tmp_path / 'coverage'}",
            ]
        )
        == 0
    )
    (row,) = lines(tmp_path / "coverage")
    assert (row["word_share"], row["retrain"]) == (0.4, True)
    error = capsys.readouterr().err
    assert (
        "knows 40.0% of the distinct words and 40.0% of the tokens of 1 documents, below 70%:"
        " retrain" in error
    )
    assert "retrain 1" in error


def test_training_documents_are_for_gibbs1_alone(corpus, tmp_path, capsys, known):
    flags = [*common(corpus, tmp_path), f"--output={tmp_path / 'mixtures'}"]
    assert infer.main([*flags, "--method=gibbs1"]) == 2
    assert (
        "--training: None was given; allowed is with gibbs1, the files that the model was learned"
        " from" in capsys.readouterr().err
    )
    assert infer.main([*flags, f"--training={corpus}"]) == 2
    assert (
        "allowed is with gibbs3, nothing. Leave it out, or use gibbs1." in capsys.readouterr().err
    )
    unknown = tmp_path / "unknown.jsonl"
    unknown.write_text(json.dumps(record(3, text="moraine crevasse")) + "\n")
    assert infer.main([*flags, "--method=gibbs1", f"--training={unknown}"]) == 2
    error = capsys.readouterr().err
    assert '--training: "1 documents without a word of model ' in error
    assert (
        "allowed is the documents that it was learned from. Name their files, with --key_field as"
        " then." in error
    )


def test_a_classifier_needs_documents_that_the_model_knows(corpus, tmp_path, capsys, known):
    unknown = tmp_path / "unknown.jsonl"
    unknown.write_text(json.dumps(record(3, text="moraine crevasse")) + "\n")
    told = (
        "allowed is documents of this model, with words that it knows. Give documents like those"
        " that it was learned from."
    )
    assert fit_classifier.main(common(unknown, tmp_path)) == 2
    assert told in capsys.readouterr().err
    assert fit_classifier.main([*common(corpus, tmp_path)]) == 0
    # The classifier that is there already is not what this run fitted.
    assert fit_classifier.main(common(unknown, tmp_path)) == 2
    assert told in capsys.readouterr().err


def test_an_earlier_version_can_be_chosen_and_an_unknown_one_is_refused(
    corpus, tmp_path, capsys, known
):
    first = known.manifests("")[0]
    flags = [*common(corpus, tmp_path), f"--output={tmp_path / 'mixtures'}"]
    assert infer.main([*flags, f"--model_version={first.version}"]) == 0
    assert {row["model_version"] for row in lines(tmp_path / "mixtures")} == {first.version}
    capsys.readouterr()
    assert infer.main([*flags, "--model_version=7"]) == 2
    assert (
        "--model_version: '7' was given; allowed is latest, or a version" in capsys.readouterr().err
    )


@pytest.mark.parametrize("of_ten", [1, 5, 7, 9])
def test_a_model_with_one_flipped_byte_is_refused_before_anything_runs(
    corpus, tmp_path, capsys, known, of_ten
):
    store = known
    path = next((tmp_path / "models").glob(f"*/snapshots/{store.manifest('').snapshot}"))
    data = bytearray(path.read_bytes())
    data[len(data) * of_ten // 10] ^= 1
    path.write_bytes(data)
    capsys.readouterr()
    assert infer.main([*common(corpus, tmp_path), f"--output={tmp_path / 'mixtures'}"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    # The byte may be one of the header or of a column.
    assert re.search(f"{path.name} (is|was .*) damaged|of .*{path.name} cannot be unpacked", error)
    assert not (tmp_path / "mixtures").exists()


@pytest.mark.parametrize("before", ["prior", "wait", "dead_letter"])
def test_streaming_labels_or_dead_letters_every_record_exactly_once(
    corpus, tmp_path, before, capsys
):
    flags = [
        *common(corpus, tmp_path),
        *FLAGS,
        f"--output={tmp_path / 'mixtures'}",
        f"--before_first_model={before}",
    ]
    assert stream.main([*flags, f"--coverage={tmp_path / 'coverage'}"]) == 0
    labelled, dead = lines(tmp_path / "mixtures"), lines(tmp_path / "dead")
    assert len(labelled) + len(dead) == GOOD + BAD + REPEATED
    assert len({row["id"] for row in labelled}) == len(labelled)
    assert any(row["reason"] == "no_model" for row in dead) == (before == "dead_letter")
    assert any(row["model_version"] == "" for row in labelled) == (before == "prior")
    by_a_model = [row for row in labelled if row["model_version"]]
    reports = lines(tmp_path / "coverage")
    assert sum(row["documents"] for row in reports) == len(by_a_model)
    # The job trains the models that it labels with.
    assert {(row["retrain_below"], row["retrain"]) for row in reports} == {(None, False)}
    assert "retrain" not in capsys.readouterr().err
    assert {row["model_version"] for row in labelled} - {""} <= {
        manifest.version for manifest in ModelStore(str(tmp_path / "models")).manifests("")
    }


def test_the_model_and_the_events_of_a_stream_are_those_of_training(corpus, tmp_path, capsys):
    events = {name: f"--events={tmp_path / name}" for name in ("of-train", "of-stream")}
    assert train.main([*common(corpus, tmp_path), *FLAGS, events["of-train"]]) == 0
    told = capsys.readouterr().err
    given = [*common(corpus, tmp_path, "other"), *FLAGS, events["of-stream"]]
    assert stream.main([*given, f"--output={tmp_path / 'mixtures'}"]) == 0
    one, other = (ModelStore(str(tmp_path / name)).manifests("") for name in ("models", "other"))
    assert one == other
    wanted = [json.loads(record) for manifest in one for record in records_of(manifest)]
    assert wanted
    lines_of_versions = list(filter(None, map(summary_of, one)))
    assert sum(line in told for line in lines_of_versions) == min(10, len(lines_of_versions))
    by_name = operator.itemgetter("version", "number")
    for name in events:
        assert sorted(lines(tmp_path / name), key=by_name) == sorted(wanted, key=by_name)


def test_a_run_that_failed_and_goes_on_comes_to_the_same_versions(corpus, tmp_path, known):
    whole = known.manifests("")
    fake_learner.FAILURES.at = [whole[-1].sequence - 1]
    with pytest.raises(fake_learner.StepFailed):
        train.main([*common(corpus, tmp_path, "other"), *FLAGS])
    checkpoints = ModelStore(str(tmp_path / "other")).checkpoints("")
    assert checkpoints
    assert checkpoints[-1].sequence < whole[-1].sequence - 1
    store = trained(corpus, tmp_path, "--resume_from=latest", store="other")
    assert store.manifests("") == whole


def test_a_store_of_other_settings_is_refused_in_one_line(corpus, tmp_path, capsys, known):
    capsys.readouterr()
    assert train.main([*common(corpus, tmp_path), *FLAGS, "--alpha=0.5"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert '--alpha is "auto" there and 0.5 here' in error


def test_going_on_from_a_checkpoint_that_is_not_there(corpus, tmp_path, capsys):
    assert train.main([*common(corpus, tmp_path), *FLAGS, "--resume_from=12"]) == 2
    assert "--resume_from: '12' was given" in capsys.readouterr().err


def test_an_input_that_matches_nothing(tmp_path, capsys):
    assert train.main([*common(tmp_path / "absent*.jsonl", tmp_path), *FLAGS]) == 2
    assert "--input:" in capsys.readouterr().err
    assert not (tmp_path / "models").exists()


def test_one_model_for_each_key(tmp_path):
    path = tmp_path / "corpus.jsonl"
    rows = [record(number, language="en" if number % 3 else "de/at") for number in range(GOOD)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    store = trained(path, tmp_path, "--key_field=language")
    assert store.keys() == ["de/at", "en"]
    with path.open("a", encoding="utf-8") as more:
        more.write(json.dumps(record(3, "x", language="fr")) + "\n")
    flags = [*common(path, tmp_path), f"--output={tmp_path / 'mixtures'}", "--key_field=language"]
    assert infer.main(flags) == 0
    versions = {row["key"]: row["model_version"] for row in lines(tmp_path / "mixtures")}
    assert versions == {key: store.manifest(key).version for key in ("de/at", "en")}
    assert len(lines(tmp_path / "mixtures")) == GOOD
    (dead,) = lines(tmp_path / "dead")
    assert dead["reason"] == "unknown_key"
    assert dead["detail"] == "this run has no model for the key 'fr', but for 'de/at', 'en'"


def test_the_programs_for_one_model_take_documents_of_its_key_alone(tmp_path, capsys):
    path, figures = tmp_path / "corpus.jsonl", tmp_path / "figures.jsonl"
    rows = [record(number, language="en" if number % 3 else "de") for number in range(GOOD)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    trained(path, tmp_path, "--key_field=language")
    english = sum(row["language"] == "en" for row in rows)
    one = ["--key_field=language", "--model_key=en"]
    assert fit_classifier.main([*common(path, tmp_path), *one]) == 0
    assert f"{english:,} pairs" in capsys.readouterr().out
    where = [
        f"--held_out={path}",
        f"--model_store={tmp_path / 'models'}",
        f"--dead_letters={tmp_path / 'dead'}",
        f"--json={figures}",
    ]
    assert evaluate.main([*where, *one]) == 0
    *_, row = map(json.loads, figures.read_text().splitlines())
    assert (row["documents"], row["version"]) == (
        english,
        ModelStore(str(tmp_path / "models")).manifest("en").version,
    )
    letters = [row for row in lines(tmp_path / "dead") if row["reason"] == "unknown_key"]
    assert len({json.loads(row["record"])["id"] for row in letters}) == GOOD - english
    assert {row["detail"] for row in letters} == {
        "this run has no model for the key 'de', but for 'en'"
    }


def test_evaluation_prints_and_writes(corpus, tmp_path, capsys, known):
    store = known
    path = tmp_path / "figures.jsonl"
    flags = [
        f"--held_out={corpus}",
        f"--model_store={tmp_path / 'models'}",
        f"--dead_letters={tmp_path / 'dead'}",
        f"--json={path}",
    ]
    more = [f"--coherence_with={corpus}", f"--classify={corpus}", "--words=harbour,[red]never"]
    assert evaluate.main([*flags, *more]) == 0
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert {row["version"] for row in rows} == {
        manifest.version for manifest in store.manifests("")
    }
    assert all(0 <= row["nmi"] <= 1 and row["first_moment_perplexity"] > 1 for row in rows)
    assert all(row["npmi"] > 0 and 0 <= row["svm_accuracy"] <= 1 for row in rows)
    assert min(rows[-1]["ranks"]["harbour"].values()) <= 10
    text = capsys.readouterr().out
    assert "prequential" in text
    assert "harbour" in text and "[red]never" in text


def test_outputs_by_period_are_the_same_rows_in_fewer_files(corpus, tmp_path):
    source = [*common(corpus, tmp_path), *FLAGS]
    assert stream.main([*source, f"--output={tmp_path / 'bundles'}"]) == 0
    gathered = [
        *common(corpus, tmp_path, "other"),
        *FLAGS,
        f"--output={tmp_path / 'periods'}",
        f"--dead_letters={tmp_path / 'fewer'}",
    ]
    assert stream.main([*gathered, "--file_period=20d"]) == 0

    def rows(name):
        return sorted(map(str, lines(tmp_path / name)))

    assert rows("periods") == rows("bundles")
    assert rows("fewer") == rows("dead")


def test_a_replayed_archive_gives_the_same_model_as_its_files(corpus, tmp_path):
    into = [
        f"--output={tmp_path / 'archive'}",
        f"--dead_letters={tmp_path / 'dead'}",
    ]
    assert archive.main([f"--input={corpus}", *into]) == 0
    one = trained(tmp_path / "archive" / "*.avro", tmp_path)
    other = trained(tmp_path / "archive" / "*.avro", tmp_path, "--source=replay", store="other")
    assert len(one.manifests("")) >= 3
    assert one.manifests("") == other.manifests("")


def test_show_prints_topics_and_versions(corpus, tmp_path, capsys, known):
    store = known
    capsys.readouterr()
    assert show.main([f"--model_store={tmp_path / 'models'}", "--top_words=4"]) == 0
    text = capsys.readouterr().out
    assert store.manifest("").version in text
    assert "harbour" in text
    assert f"{len(store.manifests(''))} versions" in text


def test_an_archive_gives_the_same_model(corpus, tmp_path):
    assert (
        archive.main(
            [
                f"--input={corpus}",
                f"--output={tmp_path / 'archive'}",
                f"--dead_letters={tmp_path / 'dead'}",
            ]
        )
        == 0
    )
    assert len(list((tmp_path / "archive").glob("archive-*.avro"))) >= 2
    assert len(lines(tmp_path / "dead")) == BAD
    one = trained(corpus, tmp_path)
    other = trained(tmp_path / "archive" / "*.avro", tmp_path, store="other")
    assert one.manifests("") == other.manifests("")


def test_an_error_of_ours_in_a_worker_is_told_in_one_line_too(corpus, tmp_path, capsys):
    flags = [*common(corpus, tmp_path), *FLAGS, "--key_field=label"]
    assert train.main(flags) == 0
    capsys.readouterr()
    assert train.main([*flags, "--alpha=0.5"]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("python -m beam_topics.pipelines.train: ")
    assert '--alpha is "auto" there and 0.5 here' in last
    assert "while running" not in last
