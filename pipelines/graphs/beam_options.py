"""The options of all programs and those of Beam, where Beam is imported anyway."""

from __future__ import annotations

import argparse
from typing import Any

from apache_beam.options.pipeline_options import PipelineOptions

from pipelines.cli.all_groups import all_groups


class ProgramOptions(PipelineOptions):
    """The options of all programs, so that Beam knows them and shows them with a job."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse.ArgumentParser) -> None:
        for group in all_groups():
            group._add_argparse_args(parser)


def add_beam_options(parser: argparse.ArgumentParser) -> None:
    """Add all of Beam's own options to a parser; the help leaves them out."""
    own = len(parser._actions)
    for group in PipelineOptions.__subclasses__():
        if group.__module__.startswith("apache_beam."):
            group._add_argparse_args(parser)
    for action in parser._actions[own:]:
        action.help = argparse.SUPPRESS


def given_options(options: PipelineOptions) -> dict[str, Any]:
    """Return the options of all programs and of Beam that have another value than their default."""
    given: dict[str, Any] = options.get_all_options(drop_default=True)
    return given
