"""Figures of one model version on documents that it has not learned, as a flat dictionary.

**nMI** follows May, Clemmer and Van Durme (2014): topics are fixed at P(w | z), and the test
documents get a first pass and five Gibbs sweeps. The cluster of a document is its most frequent
topic, the lower one of a tie. As the topics are fixed, documents do not influence each other, so
their order, which May et al. shuffled, has no effect.

nMI = I(labels; clusters) / mean of H(labels) and H(clusters), with the *arithmetic* mean. Other
means give other figures (the geometric mean never gives a smaller one), so papers are comparable
only where they use the same mean. nMI is 1 for equal partitions and 0 for independent ones.

>>> nmi(["sea", "sea", "land", "land"], [1, 1, 0, 0])
1.0

**Perplexity** is exp(-sum of ln p / tokens scored), with the probability p of each token given the
tokens before it. Only the mixture of a document is unknown, and no method looks ahead:

* *first moment* (Scott and Baldridge 2013): one pass with expected topic counts. It is
  deterministic and linear.
* *left to right* (Wallach et al. 2009): R particles, each of which draws all earlier topics again
  before every token. It is quadratic and serves as a check. The probability of a token is the mean
  over the particles. Here, particles are resampled after each token in proportion to the
  probability that they gave it; only then is the estimate of P(document) unbiased. In the paper's
  version, the particles after a token are not distributed as the topics given all tokens so far.
  Its limit for many particles was 10 % too high on a document of six tokens, 0.3 % on longer ones.

A word that the model does not know has a probability where the prior expects more words than the
model has (a growing vocabulary). Otherwise its tokens are left out, and counted as such.

**Accuracy** is that of a linear support vector machine with topic proportions as features, inferred
by ``gibbs3``. They are scaled to [0, 1] by the training documents, C is 1, and classes are
separated one against the rest. This needs scikit-learn (``pip install 'beam-topics[evaluation]'``).
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from beam_topics.model.arrays import FloatArray, IntArray
from beam_topics.model.documents.block import Block, bounds_of
from beam_topics.model.errors import OptionError
from beam_topics.model.evaluation.kernels import held_out
from beam_topics.model.inference.base import RETRAIN_BELOW, Gibbs3, PublishedModel, inference_for
from beam_topics.model.inference.features import numbered
from beam_topics.model.inference.mixtures import inferred
from beam_topics.model.kernels import random
from beam_topics.model.publishing.snapshot import Snapshot

Figures = dict[str, float | int | bool | None]

# Seed of the draws, and the sweeps before the nMI in May et al.
SEED, SWEEPS = 1, 5
# Left-to-right evaluation takes time quadratic in tokens, so few documents get it: some, evenly
# spread, each with its first tokens.
CHECK_DOCUMENTS, CHECK_TOKENS, CHECK_PARTICLES = 50, 200, 10


def evaluate(snapshot: Snapshot, documents: Block) -> Figures:
    """Return the figures of one snapshot.

    Returns:
        ``documents``, ``tokens``; ``labelled_documents``, ``nmi`` (None without labels);
        ``coverage``, the share of the distinct words that the model knows, and ``retrain`` where
        that is too little; ``scored_tokens``, ``left_out_tokens`` and ``first_moment_perplexity``;
        ``checked_tokens``, ``left_to_right_perplexity`` and ``first_moment_of_checked``, the last
        two of the same tokens. A perplexity is None where no token was scored.
    """
    documents = snapshot.joined(documents)
    alone = documents.documents()
    scored = sum((first_moment(snapshot, document) for document in alone), Score())
    with_label = labelled(documents)
    known = coverage(snapshot, documents)
    return {
        "documents": len(documents),
        "tokens": len(documents.tokens),
        "labelled_documents": len(with_label),
        "nmi": nmi(list(with_label.labels), clusters(snapshot, with_label))
        if len(with_label)
        else None,
        "coverage": known,
        "retrain": known is not None and known < RETRAIN_BELOW,
        "scored_tokens": scored.tokens,
        "left_out_tokens": scored.left_out,
        "first_moment_perplexity": scored.perplexity,
        **_check_left_to_right(snapshot, documents),
    }


def nmi(labels: Sequence[Hashable], clusters: Sequence[Hashable]) -> float:
    """Return the nMI of two partitions of the same documents; 1 where both have one part only.

    Raises:
        ValueError: there is no document, or the partitions have different lengths.
    """
    if len(labels) != len(clusters) or not len(labels):
        raise ValueError(
            "one label and one cluster for each of at least one document is needed, not"
            f" {len(labels)} and {len(clusters)}"
        )
    joint = np.zeros((len(set(labels)), len(set(clusters))))
    np.add.at(joint, (_numbers(labels), _numbers(clusters)), 1.0)
    return nmi_of_table(joint)


def nmi_of_table(joint: FloatArray) -> float:
    """Return the nMI of a contingency table: one row for each label, one column for each cluster.

    Args:
        joint: counts that are not negative, at least one of them positive, of shape (labels,
            clusters).
    """
    of_labels, of_clusters = _entropy(joint.sum(axis=1)), _entropy(joint.sum(axis=0))
    if of_labels + of_clusters == 0:
        return 1.0
    information = of_labels + of_clusters - _entropy(joint.ravel())
    return float(min(max(information / ((of_labels + of_clusters) / 2), 0.0), 1.0))


def main_topics(counts: npt.NDArray[Any]) -> list[int]:
    """Return the largest topic of each document, the cluster that it is in.

    Args:
        counts: [D, T], tokens or proportions. Documents without any are one cluster, -1.
    """
    return np.where(counts.any(axis=1), counts.argmax(axis=1), -1).tolist()


def _numbers(values: Sequence[Hashable]) -> list[int]:
    """Return the values as 0, 1, 2, ... in order of first use."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(value, len(numbers)) for value in values]


def _entropy(counts: FloatArray) -> float:
    """Return the entropy in nats."""
    shares = counts[counts > 0] / counts.sum()
    return float(-np.sum(shares * np.log(shares)))


def labelled(documents: Block) -> Block:
    """Return the documents that have a label."""
    return documents.take([row for row, one in enumerate(documents.labels) if one is not None])


def clusters(snapshot: Snapshot, documents: Block, seed: int = SEED) -> list[int]:
    """Return the most frequent topic of each document; -1 where no word is known."""
    counts = [_topic_counts(snapshot, one, seed) for one in documents.documents()]
    return main_topics(np.array(counts).reshape(len(counts), snapshot.topic_count))


def coverage(snapshot: Snapshot, documents: Block) -> float | None:
    """Return the share of the distinct words that the model knows; None without words."""
    words = documents.words
    return sum(snapshot.row_of(word) >= 0 for word in words) / len(words) if words else None


def _topic_counts(snapshot: Snapshot, document: Block, seed: int) -> Sequence[int]:
    phi, tokens = word_table(snapshot, document, unseen=False)
    key0, key1 = random.stream_key(seed, document.name(0))
    counts: Sequence[int] = held_out.sample_fixed(tokens, phi, snapshot.alpha, SWEEPS, key0, key1)
    return counts


def _check_left_to_right(snapshot: Snapshot, documents: Block) -> Figures:
    slow, fast = Score(), Score()
    many = CHECK_DOCUMENTS if len(documents) else 0
    checked = documents.take(np.unique(np.linspace(0, len(documents) - 1, many).astype(int)))
    for one in checked.documents():
        tokens = one.tokens[:CHECK_TOKENS]
        document = replace(one, tokens=tokens, offsets=bounds_of([len(tokens)]))
        slow += left_to_right(snapshot, document, CHECK_PARTICLES, SEED)
        fast += first_moment(snapshot, document)
    return {
        "checked_tokens": slow.tokens,
        "left_to_right_perplexity": slow.perplexity,
        "first_moment_of_checked": fast.perplexity,
    }


@dataclass(frozen=True, slots=True)
class Score:
    """The score of tokens; scores of documents are added.

    Attributes:
        log_probability: the sum of ln p.
        tokens: the number of tokens scored.
        left_out: the number of tokens left out.
    """

    log_probability: float = 0.0
    tokens: int = 0
    left_out: int = 0

    def __add__(self, other: Score) -> Score:
        return Score(
            self.log_probability + other.log_probability,
            self.tokens + other.tokens,
            self.left_out + other.left_out,
        )

    @property
    def perplexity(self) -> float | None:
        """The perplexity; None where no token was scored."""
        return math.exp(-self.log_probability / self.tokens) if self.tokens else None


def word_table(snapshot: Snapshot, document: Block, unseen: bool) -> tuple[FloatArray, IntArray]:
    """Return P(w | z) of a document's words.

    Args:
        snapshot: the model.
        document: the document.
        unseen: whether to include unknown words where the prior has a probability for them.

    Returns:
        float64[V, T], P(w | z); int32[n], the document's tokens as rows of that.
    """
    rows = snapshot.rows_of(document.words)
    scored = rows >= (-1 if unseen and snapshot.prior.unseen > 0.0 else 0)
    local = np.cumsum(scored, dtype=np.int32) - 1
    tokens = local[document.tokens[scored[document.tokens]]]
    sparse = snapshot.offsets, snapshot.topics, snapshot.counts
    base = np.append(snapshot.prior.base, 0.0)[rows[scored]]
    if (rows[scored] < 0).any():
        words = [word for word, row in zip(document.words, rows, strict=True) if row < 0]
        base[rows[scored] < 0] = snapshot.prior.unseen_base(words)
    table: FloatArray = held_out.dense_rows(rows[scored], *sparse, snapshot.prior.strength, base)
    table /= snapshot.normalisers
    return table, tokens


def first_moment(snapshot: Snapshot, document: Block, unseen: bool = True) -> Score:
    """Return the first-moment estimate.

    Args:
        snapshot: the model.
        document: the document.
        unseen: whether to score unknown words where the prior has a probability for them.
    """
    phi, tokens = word_table(snapshot, document, unseen)
    p = held_out.first_moment(tokens, phi, snapshot.alpha, float(snapshot.alpha.sum()))
    return _score(p, document)


def left_to_right(snapshot: Snapshot, document: Block, particles: int, seed: int) -> Score:
    """Return the left-to-right estimate.

    Args:
        snapshot: the model.
        document: the document.
        particles: the number of particles.
        seed: the seed; draws depend on (seed, key, document id) alone.
    """
    phi, tokens = word_table(snapshot, document, unseen=True)
    key0, key1 = random.stream_key(seed, document.name(0))
    p = held_out.left_to_right(
        tokens, phi, snapshot.alpha, float(snapshot.alpha.sum()), particles, key0, key1
    )
    return _score(p, document)


def _score(p: FloatArray, document: Block) -> Score:
    return Score(float(np.sum(np.log(p))), len(p), len(document.tokens) - len(p))


def check_classifier(given: object) -> None:
    """Check that scikit-learn is installed, which ``--classify`` needs.

    Args:
        given: the option's value.

    Raises:
        OptionError: it is not installed.
    """
    if importlib.util.find_spec("sklearn") is None:
        remedy = "Run: pip install scikit-learn. Or leave it out."
        raise OptionError("--classify", given, "nothing unless scikit-learn is installed", remedy)


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
    check_classifier("svm")
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
