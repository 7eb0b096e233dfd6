"""Options of the pipelines, in groups (:mod:`pipelines.cli.groups`).

A pipeline lists the groups that it has. :mod:`pipelines.cli.command` parses its command line, and
:mod:`pipelines.cli.settings_from_options` makes checked settings of it. The docstring of a group is
its title in the help. No two groups have an option of the same name, because all of them are in one
namespace, but for one that is declared as shared.
"""

from __future__ import annotations

import argparse

from model.compositions import placements
from model.evaluation.settings import EvaluationSettings
from model.inference import METHOD
from model.inference.settings import LabelSettings
from model.learner_log.options import RunSettings
from model.learners import LEARNER
from model.publishing.choice_settings import PublishSettings
from model.publishing.store_settings import StoreSettings, VersionSettings
from model.settings import SequenceSettings, TokeniserSettings
from pipelines.cli import values
from pipelines.cli.groups import OptionGroup
from pipelines.cli.keeping import KEEP_HELP, keep
from pipelines.cli.program_settings import (
    ArchiveSettings,
    DemoSettings,
    EvaluationInputSettings,
    EventSettings,
    FigureSettings,
    MixtureSettings,
    ShowSettings,
    TrendSettings,
)
from pipelines.cli.settings_options import add_choice, add_options, declares
from pipelines.service.settings import LimitSettings, ServiceSettings

# Options that name what workers write, through Beam's file systems. The model store has file
# systems of its own.
OUTPUTS = ("archive", "output", "dead_letters", "coverage", "trends", "events", "json")


@declares(TokeniserSettings)
class TokeniserOptions(OptionGroup):
    """Words."""


@declares(SequenceSettings)
class SequenceOptions(OptionGroup):
    """Minibatches."""


class LearnerOptions(OptionGroup):
    """Learner."""

    CHOICE = LEARNER

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        add_choice(parser, LEARNER)


@declares(StoreSettings)
class StoreOptions(OptionGroup):
    """Model store."""


class KeepOptions(OptionGroup):
    """Expiry."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument("--keep", type=keep, metavar="RULES", help=KEEP_HELP)


class BaseVersionOptions(OptionGroup):
    """Comparison."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--base_version", help="version to compare with (where it is absent: the parent)"
        )


@declares(RunSettings, PublishSettings, EventSettings)
class TrainingOptions(OptionGroup):
    """Running."""


@declares(ServiceSettings)
class ServiceOptions(OptionGroup):
    """Service."""


@declares(LimitSettings)
class LimitOptions(OptionGroup):
    """Limits of requests."""


@declares(VersionSettings)
class ModelVersionOptions(OptionGroup):
    """Which model."""


class MethodOptions(OptionGroup):
    """Method."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        add_options(parser, [METHOD.option()])


class InferenceOptions(OptionGroup):
    """Inference."""

    CHOICE = METHOD

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        add_options(parser, (placement.option for placement in placements(METHOD)))


@declares(LabelSettings)
class StreamOptions(OptionGroup):
    """Labelling."""


@declares(MixtureSettings, TrendSettings)
class OutputOptions(OptionGroup):
    """Output."""


@declares(FigureSettings)
class FigureOptions(OptionGroup):
    """Figures."""


@declares(EvaluationInputSettings, EvaluationSettings)
class EvaluationOptions(OptionGroup):
    """Evaluation."""


@declares(ShowSettings)
class ShowOptions(OptionGroup):
    """Display."""


class LabelledOptions(OptionGroup):
    """Labelled documents."""

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


class ReportOptions(OptionGroup):
    """Report."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument("--title", default="Topics", help="title of the page")
        parser.add_argument(
            "--input_profile", help="file of look --json about what was learned, for the page"
        )
        parser.add_argument(
            "--follow",
            type=values.duration,
            nargs="?",
            const="10s",
            help="write the page anew for each new version; how often to look for one",
        )


class ExportOptions(OptionGroup):
    """Content."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--words_per_topic",
            type=values.positive,
            help="csv, parquet and json: words of each topic; without it, all with a count",
        )
        parser.add_argument(
            "--graph_versions",
            type=values.positive,
            default=12,
            help="dot: most versions (default: 12)",
        )
        parser.add_argument(
            "--freeze",
            type=values.topics,
            default=(),
            help="seeds: ids of topics, with commas; without it, all",
        )


class TextOptions(OptionGroup):
    """Text."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument("--text", action="append", help="a text; without it, standard input")
        parser.add_argument(
            "--most_topics",
            type=values.positive,
            default=3,
            help="topics of each text (default: 3)",
        )


class TopicOptions(OptionGroup):
    """Topics."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--topic_ids",
            type=values.topics,
            default=(),
            help="the numbers of topics, with commas",
        )


class CatalogueOptions(OptionGroup):
    """Catalogue."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument("--topic_name", help="name of these topics; empty: by their words")
        parser.add_argument("--topic_note", help="note on these topics")
        parser.add_argument("--topic_colour", help="colour of these topics, #rrggbb; empty: none")
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
            "--split_words",
            help="show these words of one topic as a topic of its own, with commas; with the id of"
            " such a part, its words from now on (empty: it is gone)",
        )
        parser.add_argument(
            "--name_topics",
            type=values.switch,
            nargs="?",
            const=True,
            help="name all topics that nobody named, by --documents with --mixtures",
        )
        parser.add_argument(
            "--namer", help="module:function of yours that names a topic (model/reporting/namer.py)"
        )
        parser.add_argument(
            "--roll_back",
            help="make an earlier catalogue the newest one: the digits it begins with",
        )


class TrendFileOptions(OptionGroup):
    """Trends."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--rows",
            type=values.patterns,
            help="trends that infer or stream wrote: folders, paths or globs, with commas",
        )
        parser.add_argument(
            "--trends_group", help="only the rows of this group; without it, all are added up"
        )


@declares(DemoSettings)
class DemoOptions(OptionGroup):
    """Demo."""


@declares(ArchiveSettings)
class ArchiveOptions(OptionGroup):
    """Archive."""
