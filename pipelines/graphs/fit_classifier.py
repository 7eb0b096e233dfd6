"""The graph of ``pipelines.fit_classifier``, and what it shows."""

from __future__ import annotations

from collections.abc import Mapping

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from model.errors import OptionError
from model.inference.classifier import Classifier
from model.inference.fitting import FitSettings
from model.publishing.classifier_store import ClassifierStore
from model.publishing.store import ModelStore
from pipelines.cli.inference_options import FitOptions
from pipelines.cli.input_options import InputOptions
from pipelines.cli.options import ModelVersionOptions, StoreOptions
from pipelines.cli.settings_from_options import inference_settings_of
from pipelines.cli.terminal import console, figure_table
from pipelines.graphs.execute import run
from pipelines.graphs.learning import write_dead_letters
from pipelines.graphs.sources import files_of_model
from transforms.fit import FitClassifier


def fit_settings_of(options: PipelineOptions) -> FitSettings:
    """Return the checked settings of the fit."""
    given = options.view_as(FitOptions)
    return FitSettings(
        features=given.features,
        variances=given.prior_variances,
        held_out=given.held_out_share,
        iterations=given.fit_iterations,
        tolerance=given.fit_tolerance,
    )


def build(pipeline: beam.Pipeline, options: PipelineOptions) -> None:
    """Build the graph: read, pair documents with mixtures, fit, store."""
    which, store = options.view_as(ModelVersionOptions), options.view_as(StoreOptions).model_store
    manifest = ModelStore(store).manifest(which.model_key, which.model_version)
    fit = FitClassifier(
        store,
        manifest.key,
        manifest.version,
        settings=fit_settings_of(options),
        inference=inference_settings_of(options),
        most=options.view_as(FitOptions).sample,
    )
    documents, dead = files_of_model(
        pipeline, options, manifest, options.view_as(InputOptions).input
    )
    _ = documents | "Fit classifier" >> fit
    write_dead_letters([dead], options)


def fit_and_show(options: PipelineOptions) -> None:
    """Run the graph, then print what it fitted.

    Raises:
        OptionError: there was nothing to fit to.
    """
    which, store = options.view_as(ModelVersionOptions), options.view_as(StoreOptions).model_store
    # The newest version is looked up once, here: another may come meanwhile.
    version = which.model_version = (
        ModelStore(store).manifest(which.model_key, which.model_version).version
    )
    classifiers = ClassifierStore(store)
    before = classifiers.newest(which.model_key, version)

    def show(counted: Mapping[str, int]) -> None:
        digest = classifiers.newest(which.model_key, version)
        # Not every runner counts; on one that does not, a new classifier is the sign.
        if digest is None or (not counted.get("pairs") and digest == before):
            remedy = "Give documents like those that it was learned from."
            raise OptionError(
                "--input",
                options.view_as(InputOptions).input,
                "documents of this model, with words that it knows",
                remedy,
            )
        _show(classifiers.get(which.model_key, digest), digest)

    run(build, options, show)


def _show(classifier: Classifier, digest: str) -> None:
    made = classifier.provenance
    rows = [
        (f"{variance:g}", loss, "chosen" if variance == made.variance else "")
        for variance, loss in made.held_out_loss
    ]
    out = console()
    out.print(figure_table("Held-out cross-entropy", ("sigma^2", "nats", ""), rows))
    out.print(
        f"classifier {digest[:16]} of version {made.version}: {made.pairs:,} pairs,"
        f" {len(classifier.rows):,} words,",
        end=" ",
    )
    out.print(f"temperature {classifier.temperature:.3f}, {made.iterations} iterations")
