"""The options of a command line, for tests of what takes them."""

from apache_beam.options.pipeline_options import PipelineOptions

from beam_topics.pipelines.cli.arguments import all_groups
from beam_topics.pipelines.cli.groups import OptionGroup, parsed
from beam_topics.pipelines.graphs.beam_options import add_beam_options


def given_by(*flags):
    """Return options that have those of all programs, and Beam's."""
    options = parsed(flags, [*all_groups(), OptionGroup("Beam", add_beam_options)])
    options.beam = PipelineOptions(list(flags))
    return options
