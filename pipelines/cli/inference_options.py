"""Options of coverage, classifiers and comparisons.

:mod:`pipelines.cli.options` has the other options of inference.
"""

from __future__ import annotations

import argparse

from apache_beam.options.pipeline_options import PipelineOptions

from model.inference.coverage import RETRAIN_BELOW
from model.inference.features import FEATURES
from model.inference.fitting import FitSettings
from pipelines.cli import values


class TrainingDocumentsOptions(PipelineOptions):
    """Training documents."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--training",
            type=values.patterns,
            help="gibbs1: what the model was learned from: paths or globs, with commas",
        )


class CoverageOptions(PipelineOptions):
    """Coverage."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--coverage",
            help=(
                "folder for the reports, one for each window; without it they are logged and"
                " counted only"
            ),
        )
        parser.add_argument(
            "--coverage_window", type=values.duration, default="1d", help="event time in one report"
        )


class RetrainOptions(PipelineOptions):
    """Retraining."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--retrain_below",
            type=values.number,
            default=RETRAIN_BELOW,
            help="share of known distinct words that gives the retrain signal",
        )


class FitOptions(PipelineOptions):
    """Classifier."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        default = FitSettings()
        tried = ",".join(f"{value:g}" for value in default.variances)
        text = (
            "what is known of a word's occurrences: their square root, or, as in Yao et al., their"
            " number"
        )
        parser.add_argument("--features", choices=FEATURES, default=default.features, help=text)
        parser.add_argument(
            "--sample",
            type=values.positive,
            help="fit to a uniform sample of so many documents; default: all",
        )
        parser.add_argument(
            "--prior_variances",
            type=values.numbers,
            default=tried,
            help="sigma squared: held-out pairs choose among these",
        )
        parser.add_argument(
            "--held_out_share",
            type=values.number,
            default=default.held_out,
            help="of the pairs, for that choice and tau",
        )
        parser.add_argument(
            "--fit_iterations",
            type=values.positive,
            default=default.iterations,
            help="of L-BFGS, at most, each time",
        )
        parser.add_argument(
            "--fit_tolerance",
            type=values.number,
            default=default.tolerance,
            help="relative fall that ends L-BFGS",
        )


class CompareOptions(PipelineOptions):
    """Comparison."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--methods",
            type=values.names,
            default="gibbs2,gibbs3,gibbs3-s,variational",
            help="names, with commas",
        )
        parser.add_argument(
            "--reference", default="gibbs2", help="the method that the others are measured against"
        )
        parser.add_argument(
            "--mass",
            type=values.number,
            default=0.8,
            help="F1 is of the smallest sets of topics that hold this share",
        )
