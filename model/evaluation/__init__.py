"""The quality of a model: nMI against labels, held-out perplexity, coverage of the vocabulary."""

from __future__ import annotations

from dataclasses import dataclass

from beam_topics.model.settings.options import Record, option


@dataclass(frozen=True)
class EvaluationSettings(Record):
    """How held-out documents are scored."""

    sweeps: int = option(5, "Gibbs sweeps before the nMI", name="evaluation_sweeps", least=0)
    check_documents: int = option(
        50, "number of documents, evenly spread, that are scored left to right; 0: none", least=0
    )
    check_tokens: int = option(
        200, "number of tokens of each of these documents, from its beginning", least=1
    )
    particles: int = option(
        10, "particles of left-to-right evaluation", name="check_particles", least=1
    )
    seed: int = option(1, "seed of the draws", name="evaluation_seed", least=0)
