"""Names of options: one parser has those of all settings, of the groups, and of Beam."""

import argparse
from dataclasses import dataclass

import pytest
from given import given_by

from beam_topics.model.errors import OptionError
from beam_topics.model.learner_log.options import RunSettings
from beam_topics.model.publishing.settings import Publication
from beam_topics.model.reading.settings import ReadSettings
from beam_topics.model.settings.compositions import Choice
from beam_topics.model.settings.options import Kinds, Record, option
from beam_topics.pipelines.cli.arguments import all_groups
from beam_topics.pipelines.cli.command import parser_for
from beam_topics.pipelines.cli.groups import OptionGroup, check_settings, settings_of
from beam_topics.pipelines.cli.options import (
    InputSettings,
    OutputFileSettings,
    SequenceOptions,
    TokeniserOptions,
    TrainingOptions,
)
from beam_topics.pipelines.graphs.beam_options import add_beam_options


@dataclass(frozen=True)
class Whole(Record):
    kind = "whole"
    size: int = option(1, "its size", least=1)


@dataclass(frozen=True)
class Wider(Record):
    kind = "wider"
    size: int = option(5, "its size", unit="documents", least=5)


@dataclass(frozen=True)
class Broken(Record):
    kind = "broken"
    size: float = option(0.5, "its size", least=0)


@dataclass(frozen=True)
class Timed(Record):
    kind = "timed"
    size: int = option(1, "its size", unit="microseconds", least=1)


@dataclass(frozen=True)
class Windowed(Record):
    kind = "windowed"
    window: int = option(1, "a name that --window of SequenceOptions has", least=1)


def add(*kinds):
    parser = argparse.ArgumentParser()
    choice = Choice("shape", "what is drawn", Kinds(*kinds), "whole")
    OptionGroup("Shape", choice=choice).add(parser)
    return parser


def test_kinds_may_share_a_name_with_one_type_and_other_bounds():
    assert add(Whole, Wider).parse_args(["--size=7"]).size == 7


@pytest.mark.parametrize(
    ("other", "form"),
    [(Broken, "values of type float"), (Timed, "values of type int in microseconds")],
)
def test_a_name_with_two_types_or_two_spellings_is_refused(other, form):
    with pytest.raises(TypeError) as error:
        add(Whole, other)
    assert str(error.value) == (
        f"--size is declared with values of type int and with {form}. Options of one name have one"
        " type and one unit. Rename one of them."
    )


def test_no_two_groups_and_no_option_of_beam_have_one_name():
    # argparse refuses a name that is declared twice.
    parser = parser_for("x", "", all_groups(), {})
    add_beam_options(parser)
    names = {action.dest for action in parser._actions}
    assert {"window", "learner", "source", "runner"} <= names


def test_a_setting_with_the_name_of_a_groups_option_is_refused():
    parser = parser_for("x", "", all_groups(), {})
    shapes = OptionGroup(
        "Shape", choice=Choice("shape", "what is drawn", Kinds(Windowed), "windowed")
    )
    with pytest.raises(argparse.ArgumentError, match="conflicting option string: --window"):
        shapes.add(parser)


def test_what_is_not_given_has_the_default_of_the_record():
    assert settings_of(given_by(), RunSettings) == RunSettings()
    assert settings_of(given_by(), ReadSettings) == ReadSettings()


def test_a_record_is_made_of_what_is_given():
    run = settings_of(given_by("--publish_every=4windows", "--add_documents"), RunSettings)
    assert run == RunSettings(publish_every=Publication("windows", 4), add_documents=True)
    assert settings_of(given_by("--input=a,b"), InputSettings) == InputSettings(("a", "b"))
    assert (
        settings_of(given_by("--file_period=1h"), OutputFileSettings).file_period == 3_600_000_000
    )
    read = settings_of(given_by("--key_field=k", "--max_document_mb=3"), ReadSettings)
    assert (read.parse.fields.key, read.parse.max_document_bytes) == ("k", 3 * 2**20)


@pytest.mark.parametrize(("flag", "value"), [("", True), ("=true", True), ("=false", False)])
def test_an_option_that_may_stand_alone_takes_true_and_false(flag, value):
    assert settings_of(given_by(f"--add_documents{flag}"), RunSettings).add_documents is value


def test_values_of_all_groups_are_checked_but_files_are_not_read():
    wrong = given_by("--stop_words=file", "--stop_words_file=absent", "--checkpoint_tokens=0")
    check_settings(wrong, [TokeniserOptions, SequenceOptions])
    with pytest.raises(OptionError, match="^--checkpoint_tokens: 0 was given; allowed is 1 or"):
        check_settings(wrong, [TokeniserOptions, SequenceOptions, TrainingOptions])


@pytest.mark.parametrize(
    ("every", "start", "shown"),
    [
        (Publication("windows", 3), "7", "3windows"),
        (Publication("period", 90_000_000), "", "1min30s"),
    ],
)
def test_the_settings_of_a_run(every, start, shown):
    assert (str(every), RunSettings(every, resume_from=start).start) == (shown, start)
    assert RunSettings(every, resume_from=start, add_documents=True).start == (start or "latest")
