"""The options of a command line, for tests of what takes them."""

from apache_beam.options.pipeline_options import PipelineOptions

from pipelines.cli.arguments import all_groups
from pipelines.cli.groups import OptionGroup, parsed
from pipelines.graphs.beam_options import add_beam_options


def given_by(*flags):
    """Return options that have those of all programs, and Beam's."""
    options = parsed(flags, [*all_groups(), OptionGroup("Beam", add_beam_options)])
    options.beam = PipelineOptions(list(flags))
    return options
