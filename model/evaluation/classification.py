"""Topic proportions as features: the accuracy of a linear support vector machine.

Proportions are scaled to [0, 1] by the training documents, C is 1, and classes are separated one
against the rest. This needs scikit-learn (``pip install 'beam-topics[evaluation]'``). Mixtures of a
published model are inferred by ``gibbs3``.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence

import numpy as np

from beam_topics.model.arrays import FloatArray
from beam_topics.model.documents.block import Block
from beam_topics.model.errors import OptionError
from beam_topics.model.evaluation.held_out import labelled
from beam_topics.model.inference import Gibbs3, PublishedModel, inference_for
from beam_topics.model.inference.features import numbered
from beam_topics.model.inference.mixture_blocks import inferred
from beam_topics.model.snapshot import Snapshot


def check_classifier(option: str, given: object) -> None:
    """Check that scikit-learn is installed.

    Args:
        option: the option that needs it.
        given: the option's value.

    Raises:
        OptionError: it is not installed.
    """
    if importlib.util.find_spec("sklearn") is None:
        raise OptionError(
            option,
            given,
            "nothing unless scikit-learn is installed",
            "Run: pip install scikit-learn. Or leave it out.",
        )


def svm_accuracy(
    train: FloatArray, train_labels: Sequence[str], test: FloatArray, test_labels: Sequence[str]
) -> float:
    """Return the share of the test documents whose label is predicted.

    Args:
        train: float64[D, T], proportions of the training documents.
        train_labels: the label of each training document.
        test: float64[D, T], proportions of the test documents.
        test_labels: the label of each test document.

    Raises:
        OptionError: scikit-learn is not installed.
        ValueError: the training documents have fewer than two labels.
    """
    check_classifier("--classify", "svm")
    from sklearn.svm import LinearSVC

    least, most = train.min(axis=0), train.max(axis=0)
    width = np.where(most > least, most - least, 1.0)
    machine = LinearSVC(C=1.0, dual=False).fit((train - least) / width, list(train_labels))
    return float(machine.score((test - least) / width, list(test_labels)))


def classification_figures(
    snapshot: Snapshot, training: Block, test: Block
) -> dict[str, float | None]:
    """Return ``svm_accuracy``; documents without a label are left out.

    It is None where no test document has a label, or the training documents have fewer than
    two labels.
    """
    parts = [labelled(training), labelled(test)]
    labels = [list(map(str, part.labels)) for part in parts]
    if len(set(labels[0])) < 2 or not labels[1]:
        return {"svm_accuracy": None}
    settings = Gibbs3()
    prepared = inference_for(settings).prepare(settings, PublishedModel(snapshot, ""))
    train, held_out = (
        inferred(settings, prepared, numbered(snapshot, part), "").proportions for part in parts
    )
    return {"svm_accuracy": svm_accuracy(train, labels[0], held_out, labels[1])}
