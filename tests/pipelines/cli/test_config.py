"""``--config``: options from a YAML file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.errors import OptionError
from beam_topics.model.learner_log.options import LearnOptions
from beam_topics.pipelines import train
from beam_topics.pipelines.cli import option_files as config
from beam_topics.pipelines.cli.arguments import all_groups, arranged, as_yaml
from beam_topics.pipelines.cli.command import parse
from beam_topics.pipelines.cli.groups import UsageError, names_of
from beam_topics.pipelines.cli.settings_from_options import learn_options_of

KNOWN = names_of(all_groups())


def file(tmp_path, text):
    path = tmp_path / "run.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def learning(*argv) -> LearnOptions:
    found = arranged(argv, "train", train.GROUPS)
    return learn_options_of(parse(found.argv, "train", "", train.GROUPS, {}))


def test_the_settings_are_those_of_the_command_line(tmp_path):
    path = file(
        tmp_path,
        "topics: 7\nwindow: 1d\npublish_every: 4windows\nmax_word_length: 9\nmoves: 5\n",
    )
    flags = [
        "--topics=7",
        "--window=1d",
        "--publish_every=4windows",
        "--max_word_length=9",
        "--moves=5",
    ]
    expected = learning("--model_store=m", *flags)
    assert learning("--model_store=m", f"--config={path}") == expected
    assert learning("--model_store=m", "--config", str(path)) == expected
    assert learning("--model_store=m", f"--config={path}").settings_digest == (
        expected.settings_digest
    )


def test_the_command_line_wins(tmp_path):
    path = file(tmp_path, "topics: 7\nwindow: 1d\n")
    for argv in ([f"--config={path}", "--topics=9"], ["--topics=9", f"--config={path}"]):
        found = learning("--model_store=m", *argv)
        assert found.settings.topics == 9 and found.sequence.window == 86_400_000_000


def test_values_are_text_whatever_yaml_would_make_of_them():
    text = "stop_words: no\nbegin: 2001-01-31\nlong: 1:30\nnumber: 0x10\nlist: [a, b]\n"
    assert config.options_of_text(text, "x") == {
        "stop_words": "no",
        "begin": "2001-01-31",
        "long": "1:30",
        "number": "0x10",
        "list": "a,b",
    }


def test_options_of_other_programs_are_left_out(tmp_path):
    path = file(tmp_path, "topics: 7\noutput: mixtures\n")
    assert arranged([f"--config={path}"], "train", train.GROUPS).argv == ["--topics=7"]


def test_options_of_beam_are_passed_on(tmp_path):
    path = file(tmp_path, "streaming: true\njob_name: mine\n")
    found = arranged([f"--config={path}"], "train", train.GROUPS).argv
    assert found == ["--streaming", "--job_name=mine"]


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        (
            "topisc: 7\n",
            UsageError,
            "{path}: 'topisc' is no option of any program. Did you mean topics?",
        ),
        (
            "zzzzz: 7\n",
            UsageError,
            "{path}: 'zzzzz' is no option of any program. Leave it out.",
        ),
        (
            "- topics\n",
            OptionError,
            "--config: '{path}' was given; allowed is a YAML file that maps names of options to"
            " values, as in: topics: 50. Correct the file.",
        ),
        (
            "topics:\n",
            OptionError,
            "--config: '{path}' was given; allowed is a value or a list of values for each name."
            " 'topics' has nothing.",
        ),
        (
            "topics: {a: 1}\n",
            OptionError,
            "--config: '{path}' was given; allowed is a value or a list of values for each name."
            " 'topics' has a dict.",
        ),
    ],
)
def test_a_wrong_file_is_refused(tmp_path, text, error, said):
    path = file(tmp_path, text)
    with pytest.raises(error) as raised:
        arranged([f"--config={path}"], "train", train.GROUPS)
    assert str(raised.value) == said.format(path=path)


def test_what_is_no_yaml_or_no_file_is_refused(tmp_path, capsys):
    with pytest.raises(OptionError, match="It is not YAML: "):
        config.read_config(str(file(tmp_path, "a: [b\n")), KNOWN)
    with pytest.raises(OptionError, match="a YAML file of options, UTF-8"):
        config.read_config(str(tmp_path / "absent.yaml"), KNOWN)
    assert train.main([f"--config={tmp_path / 'absent.yaml'}"]) == 2
    assert capsys.readouterr().err.startswith("python -m beam_topics.pipelines.train: --config: ")


@given(
    st.dictionaries(
        st.sampled_from(sorted(KNOWN)),
        st.text(st.characters(exclude_categories=["C", "Z"]) | st.just(" "), min_size=1),
        max_size=5,
    )
)
def test_what_is_written_is_read(options):
    assert (
        config.options_of_text(as_yaml(options, "A head.") + "{}" * (not options), "x") == options
    )
