"""Options of coverage, classifiers and comparisons.

:mod:`pipelines.cli.options` has the other options of inference.
"""

from __future__ import annotations

import argparse

from model.inference.coverage import RETRAIN_BELOW
from model.inference.features import FEATURES
from model.inference.fitting import FitSettings
from model.inference.model_cache import MODEL_CACHE_MB
from pipelines.cli import values
from pipelines.cli.groups import OptionGroup


class TrainingDocumentsOptions(OptionGroup):
    """Training documents."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--training",
            type=values.patterns,
            help="gibbs1: documents that the model learned: paths or globs, with commas",
        )


class ModelCacheOptions(OptionGroup):
    """Models in memory."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--model_cache_mb",
            type=values.positive,
            default=MODEL_CACHE_MB,
            help=(
                "megabytes of models that a worker keeps in memory; more keys need more, or their"
                " models are read again (the counter models_loaded)"
            ),
        )


class CoverageOptions(OptionGroup):
    """Coverage."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--coverage",
            help=(
                "folder for the coverage reports, one for each window; without it they are only"
                " logged and counted"
            ),
        )
        parser.add_argument(
            "--coverage_window", type=values.duration, default="1d", help="event time in one report"
        )


class RetrainOptions(OptionGroup):
    """Retraining."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--retrain_below",
            type=values.number,
            default=RETRAIN_BELOW,
            help="share of known distinct words below which a report has the retrain signal",
        )


class FitOptions(OptionGroup):
    """Classifier."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        default = FitSettings()
        tried = ",".join(f"{value:g}" for value in default.variances)
        text = (
            "features of a document: square roots of the counts of its words, or the counts, as in"
            " Yao et al."
        )
        parser.add_argument("--features", choices=FEATURES, default=default.features, help=text)
        parser.add_argument(
            "--sample",
            type=values.positive,
            help="size of a uniform sample of the documents to fit to; without it, all",
        )
        parser.add_argument(
            "--prior_variances",
            type=values.numbers,
            default=tried,
            help="values of sigma squared, with commas, among which held-out pairs choose",
        )
        parser.add_argument(
            "--held_out_share",
            type=values.number,
            default=default.held_out,
            help="share of the pairs that is held out to choose sigma squared and the temperature",
        )
        parser.add_argument(
            "--fit_iterations",
            type=values.positive,
            default=default.iterations,
            help="largest number of iterations of L-BFGS in each fit",
        )
        parser.add_argument(
            "--fit_tolerance",
            type=values.number,
            default=default.tolerance,
            help="relative decrease of the loss at which L-BFGS ends",
        )


class CompareOptions(OptionGroup):
    """Comparison."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--methods",
            type=values.names,
            default="gibbs2,gibbs3,gibbs3-s,variational",
            help="methods to compare, with commas",
        )
        parser.add_argument(
            "--reference", default="gibbs2", help="method with which the others are compared"
        )
        parser.add_argument(
            "--mass",
            type=values.number,
            default=0.8,
            help="F1 compares the smallest sets of topics that hold this share",
        )
