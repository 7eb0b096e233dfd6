"""The options of all programs and those of Beam, where Beam is imported anyway."""

from __future__ import annotations

import argparse

from apache_beam.options.pipeline_options import PipelineOptions

from beam_topics.pipelines.cli.arguments import all_groups


class ProgramOptions(PipelineOptions):
    """The options of all programs, so that Beam knows them and shows them with a job."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse.ArgumentParser) -> None:
        for group in all_groups():
            group.add(parser)


def add_beam_options(parser: argparse.ArgumentParser) -> None:
    """Add all of Beam's own options to a parser; the help leaves them out."""
    own = len(parser._actions)
    for group in PipelineOptions.__subclasses__():
        if group.__module__.startswith("apache_beam."):
            group._add_argparse_args(parser)
    for action in parser._actions[own:]:
        action.help = argparse.SUPPRESS
