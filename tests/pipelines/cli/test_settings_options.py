"""Names of options: one parser has those of all settings, of the groups, and of Beam."""

import argparse
from dataclasses import dataclass

import pytest

from model.compositions import Choice
from model.kinds import Kinds
from model.options import Record, option
from pipelines.cli.all_groups import all_groups
from pipelines.cli.command import parser_for
from pipelines.cli.settings_options import add_choice
from pipelines.graphs.beam_options import add_beam_options


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
    add_choice(parser, Choice("shape", "what is drawn", Kinds(*kinds), "whole"))
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
    with pytest.raises(argparse.ArgumentError, match="conflicting option string: --window"):
        add_choice(parser, Choice("shape", "what is drawn", Kinds(Windowed), "windowed"))
