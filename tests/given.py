"""The options of a command line, for tests of what takes them."""

from apache_beam.options.pipeline_options import PipelineOptions

from beam_topics.pipelines.cli.arguments import all_groups
from beam_topics.pipelines.cli.command import parser_for
from beam_topics.pipelines.cli.groups import Options
from beam_topics.pipelines.graphs.beam_options import add_beam_options


def given_by(*flags):
    """Return options that have those of all programs, and Beam's."""
    parser = parser_for("x", "", all_groups(), {})
    add_beam_options(parser)
    options = parser.parse_known_args(list(flags), Options())[0]
    options.beam = PipelineOptions(list(flags))
    return options
