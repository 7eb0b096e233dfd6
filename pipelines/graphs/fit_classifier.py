"""The graph of ``beam-topics fit_classifier``, and what it shows."""

from __future__ import annotations

from collections.abc import Mapping

import apache_beam as beam

from beam_topics.model.errors import OptionError
from beam_topics.model.inference.base import FitSettings
from beam_topics.model.inference.classifier import Classifier, ClassifierStore
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.options import InputSettings
from beam_topics.pipelines.cli.settings_from_options import inference_settings_of
from beam_topics.pipelines.cli.stored import opened
from beam_topics.pipelines.cli.terminal import console, figure_table
from beam_topics.pipelines.graphs.execute import run
from beam_topics.pipelines.graphs.outputs import write_dead_letters
from beam_topics.pipelines.graphs.sources.files import files_of_model
from beam_topics.transforms.fit import FitClassifier


def build_fit(pipeline: beam.Pipeline, options: Options) -> None:
    """Build the graph: read, pair documents with mixtures, fit, store."""
    store, manifest = opened(options)
    fit = FitClassifier(
        store.root,
        manifest.key,
        manifest.version,
        settings=settings_of(options, FitSettings),
        inference=inference_settings_of(options),
        trust=options.get("trust") or "",
        sign=options.sign or "",
    )
    documents, dead = files_of_model(
        pipeline, options, manifest, settings_of(options, InputSettings).input
    )
    _ = documents | "Fit classifier" >> fit
    write_dead_letters([dead], options)


def fit_and_show(options: Options) -> None:
    """Run the graph, then print what it fitted.

    Raises:
        OptionError: there was nothing to fit to.
    """
    store, chosen = opened(options)
    key, version = chosen.key, chosen.version
    # The newest version is looked up once, here: another may come meanwhile.
    options.model_version = version
    classifiers = ClassifierStore(store.root, store.signatures)
    before = classifiers.newest(key, version)

    def show(counted: Mapping[str, int]) -> None:
        digest = classifiers.newest(key, version)
        # Not every runner counts; on one that does not, a new classifier is the sign.
        if digest is None or (not counted.get("pairs") and digest == before):
            remedy = "Give documents like those that it was learned from."
            raise OptionError(
                "--input",
                ",".join(settings_of(options, InputSettings).input),
                "documents of this model, with words that it knows",
                remedy,
            )
        _show_classifier(classifiers.get(key, digest), digest)

    run(build_fit, options, show)


def _show_classifier(classifier: Classifier, digest: str) -> None:
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
