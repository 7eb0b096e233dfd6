"""The quality of a model: nMI against labels, held-out perplexity, coverage of the vocabulary."""

from model.evaluation.held_out import EvaluationSettings, Figures, clusters, coverage, evaluate
from model.evaluation.nmi import nmi
from model.evaluation.perplexity import Score, first_moment, left_to_right

__all__ = [
    "EvaluationSettings",
    "Figures",
    "Score",
    "clusters",
    "coverage",
    "evaluate",
    "first_moment",
    "left_to_right",
    "nmi",
]
