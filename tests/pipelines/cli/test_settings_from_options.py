import os
import re
from pathlib import Path

import pytest
from apache_beam.io.filesystems import FileSystems
from given import given_by

from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.errors import OptionError
from beam_topics.model.inference import Gibbs3, inference_names
from beam_topics.model.learners import (
    LEARNER,
    BatchGibbs,
    Gibbs,
    InitialBatch,
    NoBirths,
    Residual,
    StreamSchedule,
)
from beam_topics.model.reading.settings import FieldNames, ParseSettings, ReadSettings
from beam_topics.model.settings.compositions import placements
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.pipelines import archive, infer
from beam_topics.pipelines.cli.command import parser_for
from beam_topics.pipelines.cli.groups import settings_of
from beam_topics.pipelines.cli.help import every_section
from beam_topics.pipelines.cli.option_files import tokeniser_settings_of
from beam_topics.pipelines.cli.options import (
    EventSettings,
    InferenceOptions,
    MethodOptions,
    kafka_topic,
)
from beam_topics.pipelines.cli.settings_from_options import (
    inference_settings_of,
    learner_settings_of,
    read_settings_of,
)
from beam_topics.pipelines.graphs.runners import check_outputs


def sequence_settings_of(given):
    return settings_of(given, SequenceSettings)


def words_of(text):
    return set(re.findall(r"[\w-]+", text))


def test_defaults_are_those_of_the_settings():
    assert read_settings_of(given_by()) == ReadSettings()
    assert tokeniser_settings_of(given_by()) == TokeniserSettings()
    assert sequence_settings_of(given_by()) == SequenceSettings()
    assert learner_settings_of(given_by()) == Gibbs()
    assert inference_settings_of(given_by()) == Gibbs3()


def test_the_help_names_all_methods():
    sections = every_section([MethodOptions, InferenceOptions], ())
    told = {option.name: text for _, lines in sections for option, text in lines}
    assert words_of(told["method"]) >= set(inference_names())


def test_the_options_of_learners_and_of_the_other_groups_have_names_of_their_own():
    others = {
        group: {action.dest for action in parser_for("x", "", [group], {})._actions}
        for group in (MethodOptions, InferenceOptions)
    }
    own = {LEARNER.name, *(place.option.name for place in placements(LEARNER))}
    assert not any(own & names - {"help"} for names in others.values())


def test_values_reach_the_settings():
    made = learner_settings_of(
        given_by(
            "--learner=particle-filter",
            "--topics=7",
            "--particles=6",
            "--islands=3",
            "--resampling=residual",
            "--ess=4.5",
            "--chains=3",
        )
    )
    assert (made.topics, made.particles, made.islands) == (7, 6, 3)
    assert (made.resampling, made.initial) == (Residual(4.5), InitialBatch(chains=3))
    made = learner_settings_of(given_by("--births=off", "--moves=9"))
    assert made.schedule == StreamSchedule(moves=9, births=NoBirths())
    assert learner_settings_of(given_by("--learner=batch-gibbs", "--chains=3")) == BatchGibbs(
        chains=3
    )
    assert (
        sequence_settings_of(given_by("--window=2d", "--minibatch_size=10")).window
        == 172_800_000_000
    )
    forms = tokeniser_settings_of(given_by("--word_forms=names, emoji,names")).word_forms
    assert forms == ("emoji", "names")
    assert tokeniser_settings_of(given_by("--strip=mail")).strip == ("mail",)
    listed = tokeniser_settings_of(given_by("--strip=mail"), {"stop_words_file": ("a", "b")})
    assert (listed.strip, listed.stop_words, listed.stop_list) == (("mail",), "file", ("a", "b"))
    assert inference_settings_of(given_by("--inference_from=last")) == Gibbs3(states="last")
    given = given_by(
        "--id_field=i",
        "--timestamp_field=t",
        "--text_field=x",
        "--label_field=l",
        "--key_field=k",
        "--max_document_mb=1",
    )
    assert read_settings_of(given) == ReadSettings(
        ParseSettings(FieldNames("i", "t", "x", "l", "k"), 2**20)
    )


@pytest.mark.parametrize(
    ("make", "flag", "message"),
    [
        (learner_settings_of, "--topics=0", "--topics: 0 was given; allowed is 1 or more"),
        (
            learner_settings_of,
            "--learner=lda",
            "--learner: 'lda' was given; allowed is one of gibbs, ",
        ),
        (
            learner_settings_of,
            "--alpha=0",
            "--alpha: 0.0 was given; allowed is a finite number above 0",
        ),
        (
            learner_settings_of,
            "--learner=particle-filter --islands=3",
            "--islands: 3 was given; allowed is a divisor of --particles",
        ),
        (
            learner_settings_of,
            "--learner=particle-filter --resampling=residuum",
            "--resampling: 'residuum' was given; allowed is one of residual, multinomial",
        ),
        (
            learner_settings_of,
            "--learner=infvoc --kappa=1.5",
            "--kappa: 1.5 was given; allowed is a number from 0 to 1. Learning",
        ),
        (
            learner_settings_of,
            "--learner=infvoc --tau0=-1",
            "--tau0: -1.0 was given; allowed is 0 or more",
        ),
        (
            learner_settings_of,
            "--learner=infvoc --remainder=rest",
            "--remainder: 'rest' was given; allowed is one of share, printed",
        ),
        (
            learner_settings_of,
            "--vocabulary=hash",
            "--vocabulary: 'hash' was given; allowed is one of growing, given.",
        ),
        (learner_settings_of, "--vocabulary=given", "Give the words with --vocabulary_file"),
        (
            learner_settings_of,
            "--vocabulary_file=absent.txt",
            (
                "--vocabulary_file=absent.txt belongs to --vocabulary=given; --vocabulary=growing"
                " is chosen. Leave it out, or give --voc"
            ),
        ),
        (
            learner_settings_of,
            "--schedule=batch",
            "--schedule: 'batch' was given; allowed is one of stream, archive.",
        ),
        (
            learner_settings_of,
            "--truncation=20",
            (
                "--truncation=20 belongs to --learner=infvoc; --learner=gibbs is"
                " chosen. Leave it out, or give --learner=infvoc"
            ),
        ),
        (sequence_settings_of, "--minibatch_size=0", "--minibatch_size: 0 was given"),
        (tokeniser_settings_of, "--stop_words=xx", "--stop_words: 'xx' was given"),
        (tokeniser_settings_of, "--stemmer=latin", "--stemmer: 'latin' was given"),
        (
            tokeniser_settings_of,
            "--max_word_length=1",
            "--max_word_length: 1 was given; allowed is 2 or more",
        ),
        (inference_settings_of, "--inference_sweeps=-1", "--inference_sweeps: -1 was given"),
        (
            inference_settings_of,
            "--method=variational --inference_sweeps=3",
            "--inference_sweeps=3 belongs to --method=gibbs2, gibbs1 or",
        ),
        (inference_settings_of, "--method=magic", "--method: 'magic' was given"),
    ],
)
def test_a_wrong_setting_names_its_flag(make, flag, message):
    with pytest.raises(OptionError) as error:
        make(given_by(*flag.split()))
    assert message in str(error.value)


def test_a_given_vocabulary_is_read_in_order_without_repetition(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("ship\nharbour\n\nship\n judge \n", encoding="utf-8")
    made = learner_settings_of(given_by("--vocabulary=given", f"--vocabulary_file={path}"))
    assert made.vocabulary.words == ("ship", "harbour", "judge")


def test_a_vocabulary_that_cannot_be_read(tmp_path):
    with pytest.raises(
        OptionError, match=r"--vocabulary_file: .* allowed is a UTF-8 text file, one word a line"
    ):
        learner_settings_of(
            given_by("--vocabulary=given", f"--vocabulary_file={tmp_path / 'absent'}")
        )


def test_a_word_list_is_cut_as_the_documents_are(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("\ufeffShips\nthe\nship's\nAnchor\nships\n", encoding="utf-8")
    given = "--learner=infvoc", "--reorder_every=2"
    made = learner_settings_of(given_by(*given, f"--word_list={path}", "--stemmer=english"))
    assert made.word_list == ("anchor", "ship")
    assert made.canonical() != learner_settings_of(given_by(*given)).canonical()


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"the\n", "at least one word that the tokeniser keeps"), (b"\xff", "a UTF-8 text file")],
)
def test_a_word_list_that_is_of_no_use(tmp_path, content, told):
    path = tmp_path / "words.txt"
    path.write_bytes(content)
    with pytest.raises(OptionError, match=f"--word_list: .* allowed is .*{told}"):
        learner_settings_of(given_by("--learner=infvoc", f"--word_list={path}"))


def test_outputs_on_known_file_systems():
    check_outputs(
        {"output": "folder", "dead_letters": "/a/b", "coverage": "gs://bucket/seen", "json": None}
    )


@pytest.mark.parametrize("name", ["output", "dead_letters", "coverage", "json"])
def test_an_output_on_a_file_system_that_nobody_knows(name):
    told = (
        rf"--{name}: 'ftp://x/y' was given; allowed is a path on a file system that is installed,"
        r" and ftp:// is not. Correct the part"
    )
    with pytest.raises(OptionError, match=told):
        check_outputs({name: "ftp://x/y"})


@pytest.mark.parametrize(
    ("name", "path", "why"),
    [
        ("output", "file", "{}/file is a file."),
        ("dead_letters", "file/below", "{}/file is a file."),
        ("json", "folder", "{}/folder is a folder."),
        ("coverage", "locked/below/it", "{}/locked may not be written by this user."),
    ],
)
def test_an_output_that_cannot_be_made(tmp_path, monkeypatch, name, path, why):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "locked").mkdir()
    may = os.access
    # Root may write everything.
    monkeypatch.setattr(
        os,
        "access",
        lambda place, mode: (
            may(place, mode) and not (mode == os.W_OK and Path(place).name == "locked")
        ),
    )
    given = str(tmp_path / path)
    with pytest.raises(OptionError) as error:
        check_outputs({name: given})
    what = "a file" if name == "json" else "a folder"
    assert (
        str(error.value)
        == f"--{name}: '{given}' was given; allowed is {what} that is there, or can be made."
        f" {why.format(tmp_path)} Name another."
    )
    check_outputs({name: given}, local=False)


def test_outputs_that_can_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    check_outputs(
        {
            "output": str(tmp_path),
            "dead_letters": str(tmp_path / "a/b"),
            "json": str(tmp_path / "file"),
            "coverage": "new",
        }
    )


def test_a_coverage_folder_that_nobody_can_write_is_refused_before_the_run(tmp_path, capsys):
    given = [
        "--input=none.jsonl",
        f"--model_store={tmp_path}",
        f"--output={tmp_path}/m",
        f"--dead_letters={tmp_path}/dead",
    ]
    assert infer.main([*given, "--coverage=foo://x/y"]) == 2
    assert (
        "--coverage: 'foo://x/y' was given; allowed is a path on a file system that is installed"
        in capsys.readouterr().err
    )


def test_cloud_storage_without_what_beam_needs_for_it(monkeypatch, tmp_path, capsys):
    (tmp_path / "a.jsonl").write_text("{}")
    find = FileSystems.get_filesystem

    def without_gcp(path):
        if path.startswith("gs://"):
            raise ValueError("no such file system")
        return find(path)

    monkeypatch.setattr(FileSystems, "get_filesystem", without_gcp)
    given = [
        f"--input={tmp_path}/a.jsonl",
        "--output=gs://bucket/archive",
        f"--dead_letters={tmp_path}/dead",
    ]
    assert archive.main(given) == 2
    assert capsys.readouterr().err.endswith("gs:// is not. Run: pip install 'apache-beam[gcp]'.\n")


@pytest.mark.parametrize(("given", "topic"), [("kafka:seen", "seen"), ("seen", None), (None, None)])
def test_events_go_to_a_folder_or_to_a_topic(given, topic):
    assert kafka_topic(given) == topic
    if topic:
        check_outputs({"events": given})


def test_events_go_to_a_webhook_and_no_other_output_does():
    check_outputs({"events": "http://localhost:1/x"})
    with pytest.raises(OptionError, match=r"--trends: .* and https:// is not"):
        check_outputs({"trends": "https://a/x"})
    with pytest.raises(OptionError, match=r"--events: .* and ftp:// is not\. Correct the part"):
        check_outputs({"events": "ftp://a/x"})
    with pytest.raises(OptionError, match="allowed is https://, or http://localhost"):
        EventSettings("http://a/x")


def test_events_without_a_topic_are_refused():
    with pytest.raises(OptionError, match="--events: 'kafka:' was given; .* --events=kafka:topics"):
        EventSettings("kafka:")
