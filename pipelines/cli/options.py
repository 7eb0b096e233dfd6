"""Options of the pipelines, in groups, as Beam's ``PipelineOptions``.

A pipeline lists the groups that it has. :mod:`pipelines.cli.command` parses its command line, and
:mod:`pipelines.cli.settings_from_options` makes checked settings of it. The docstring of a group is
its title in the help. No two groups have an option of the same name, because Beam puts all of them
into one namespace.
"""

from __future__ import annotations

import argparse

from apache_beam.options.pipeline_options import PipelineOptions

from model.compositions import placements
from model.evaluation import EvaluationSettings
from model.inference import METHOD
from model.learners import LEARNER
from model.options import options_of
from model.publishing.choice import PublishSettings
from model.settings import SequenceSettings, TokeniserSettings
from pipelines.cli import values
from pipelines.cli.settings_options import add_choice, add_options

TOKENS_OF_A_CHECKPOINT = 2_000_000
# Options that name what workers write, through Beam's file systems. The model store has file
# systems of its own.
OUTPUTS = ("archive", "output", "dead_letters", "coverage", "trends", "events", "json")


class TokeniserOptions(PipelineOptions):
    """Words."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        add_options(parser, options_of(TokeniserSettings))


class SequenceOptions(PipelineOptions):
    """Minibatches."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        add_options(parser, options_of(SequenceSettings))


class LearnerOptions(PipelineOptions):
    """Learner."""

    CHOICE = LEARNER

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        add_choice(parser, LEARNER)


class StoreOptions(PipelineOptions):
    """Model store."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--model_store",
            help="folder, or gs://bucket/folder, for models and checkpoints",
        )


class TrainingOptions(PipelineOptions):
    """Running."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--publish_every",
            type=values.publication,
            default="1d",
            help="how often to publish a version: a length of event time, or 4windows",
        )
        add_options(parser, options_of(PublishSettings))
        parser.add_argument(
            "--checkpoint_tokens",
            type=values.positive,
            default=TOKENS_OF_A_CHECKPOINT,
            help="tokens to learn between two checkpoints",
        )
        parser.add_argument(
            "--events",
            help="folder for what the stream did: changes, topics and chains that were replaced",
        )
        adds = (
            "continue from the newest checkpoint; the input holds only documents that came after"
            " those that the model store has learned"
        )
        parser.add_argument(
            "--add_documents", type=values.switch, nargs="?", const=True, default=False, help=adds
        )
        again = (
            "repeat a run that was interrupted, with the same input: latest, or the number of a"
            " checkpoint"
        )
        parser.add_argument("--resume_from", help=again)
        parser.add_argument(
            "--threads",
            type=values.positive,
            default=1,
            help="threads of one learner; they change no result",
        )
        parser.add_argument(
            "--max_state_mb",
            type=values.positive,
            default=2048,
            help="largest size of a learner's state, in megabytes; a larger one ends the run",
        )


class ModelVersionOptions(PipelineOptions):
    """Which model."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--model_version", default="latest", help="version of the model, or latest"
        )
        parser.add_argument(
            "--model_key",
            default="",
            help="key of the model, where the store holds one for each --key_field",
        )


class MethodOptions(PipelineOptions):
    """Method."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        add_options(parser, [METHOD.option()])


class InferenceOptions(PipelineOptions):
    """Inference."""

    CHOICE = METHOD

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        add_options(parser, (placement.option for placement in placements(METHOD)))


class StreamOptions(PipelineOptions):
    """Labelling."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--before_first_model",
            choices=("prior", "wait", "dead_letter"),
            default="wait",
            help=(
                "a document that comes before the first model gets the prior's mixture, waits, or"
                " is a dead letter"
            ),
        )
        parser.add_argument(
            "--label_with",
            choices=("window", "latest"),
            default="window",
            help=(
                "window: the newest model before the end of the document's window; latest: the"
                " newest of all, which is not reproducible"
            ),
        )
        parser.add_argument(
            "--shards", type=values.positive, default=4, help="number of labellers for each key"
        )


class OutputOptions(PipelineOptions):
    """Output."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--top_topics",
            type=values.whole,
            default=3,
            help="number of largest topics that are listed beside the proportions",
        )
        parser.add_argument(
            "--trends", help="folder for documents, tokens and mean shares by window and topic"
        )
        parser.add_argument(
            "--trends_window", type=values.duration, help="event time in one row; 1d without it"
        )


class FigureOptions(PipelineOptions):
    """Figures."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--json", help="file for the figures, one JSON line for each row of the table"
        )


class PlotOptions(PipelineOptions):
    """Plot."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument("--plot", help="file for a plot of the figures, a .png or .svg")


class EvaluationOptions(PipelineOptions):
    """Evaluation."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--held_out",
            type=values.patterns,
            help="documents that the model has not learned: paths or globs, with commas",
        )
        parser.add_argument(
            "--coherence_with",
            type=values.patterns,
            help="documents whose word pairs give the coherence (PMI) of topics",
        )
        parser.add_argument(
            "--classify",
            type=values.patterns,
            help="labelled documents for a linear SVM, tested on those of --held_out",
        )
        parser.add_argument(
            "--words",
            type=values.words,
            default=(),
            help="words, with commas, whose rank in a topic is shown over the versions",
        )
        parser.add_argument(
            "--versions",
            type=values.positive,
            default=50,
            help="number of versions to evaluate, evenly spread, with the newest",
        )
        add_options(parser, options_of(EvaluationSettings))


class ShowOptions(PipelineOptions):
    """Display."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--top_words", type=values.positive, default=10, help="words shown for each topic"
        )


class ReportOptions(PipelineOptions):
    """Report."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--mixtures",
            type=values.patterns,
            help="mixtures that infer or stream wrote: folders, paths or globs, with commas",
        )
        parser.add_argument(
            "--documents",
            type=values.patterns,
            help="files of the documents, for their texts: paths or globs, with commas",
        )
        parser.add_argument("--title", default="Topics", help="title of the page")
        parser.add_argument(
            "--follow",
            type=values.duration,
            nargs="?",
            const="10s",
            help="write the page anew for each new version; how often to look for one",
        )


class CatalogueOptions(PipelineOptions):
    """Catalogue."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--topic_ids", type=values.wholes, default=(), help="numbers of topics, with commas"
        )
        parser.add_argument("--topic_name", help="name of these topics; empty: by their words")
        parser.add_argument("--topic_note", help="note on these topics")
        for flag, text in (
            ("--hide", "leave these topics out of lists; false shows them again"),
            ("--pin", "put these topics first in lists; false undoes it"),
        ):
            parser.add_argument(flag, type=values.switch, nargs="?", const=True, help=text)
        parser.add_argument(
            "--merge_into",
            type=values.whole,
            help="show these topics as parts of another; its own number takes a topic apart again",
        )
        parser.add_argument(
            "--roll_back",
            help="make an earlier catalogue the newest one: the digits it begins with",
        )


class DemoOptions(PipelineOptions):
    """Demo."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--folder",
            default="demo-run",
            help="output folder; files of an earlier demo there are removed",
        )


class ArchiveOptions(PipelineOptions):
    """Archive."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument("--archive", help="folder for the Avro files")
        parser.add_argument(
            "--shard_period", type=values.duration, default="30d", help="event time in one file"
        )
