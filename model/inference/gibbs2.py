"""Gibbs1 and Gibbs2 of Yao, Mimno and McCallum (2009): all new documents together, by Gibbs
sampling.

* ``gibbs2``: the model's counts are held, and the new documents' are added to them, so documents
  learn from one another.
* ``gibbs2-s``: the same with two passes, the paper's Gibbs2.S.
* ``gibbs1``: the model's counts are not held. The documents that it was learned from are read again
  (``--training``), their topics are drawn from the model, and then they and the new ones are swept
  over together: what a new model of all documents would say, with the topics' numbers kept. It is
  the reference that the others approach. (What the model's prior has learned, B and s_z, is held.)

A document's place among those of its kind, sorted by (time, id, content), names its uniforms, so
the order in which documents come does not matter. With ``learn_alpha`` each sweep of the burn-in
ends with steps of Minka's fixed point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from model.errors import OptionError
from model.inference.alpha import fit_alpha
from model.inference.base import TRAINING, PublishedModel, make_mixtures, posterior_mean, register
from model.inference.corpus import (
    CORPUS_STRIDE,
    Corpus,
    CorpusSampler,
    build_corpora,
    canonical_order,
    make_sampler,
)
from model.inference.sampling import GibbsSampling, GibbsSweeps
from model.kernels import random
from model.options import option
from model.records import FloatArray, TokenisedDocument, TopicMixture

# Sweeps over the training documents, beside the model's counts, that give their tokens topics to
# start from.
STARTING_SWEEPS = 5


@dataclass(frozen=True)
class CorpusGibbs(GibbsSampling):
    """Documents that are sampled together can tell alpha."""

    learn_alpha: bool = option(False, "fit alpha to the documents during the burn-in")


@dataclass(frozen=True)
class Gibbs2(GibbsSweeps, CorpusGibbs):
    """All documents together, in one batch."""

    kind = "gibbs2"


@dataclass(frozen=True)
class Gibbs2S(CorpusGibbs):
    """All documents together, in two passes."""

    kind = "gibbs2-s"


@dataclass(frozen=True)
class Gibbs1(GibbsSweeps, CorpusGibbs):
    """With the training documents sampled again."""

    kind = "gibbs1"


def run(
    settings: CorpusGibbs, sampler: CorpusSampler, new: Corpus, others: Sequence[Corpus] = ()
) -> FloatArray:
    """float64[D, T]: n_td of the new documents, the mean over the states that are kept;
    ``others`` have topics and are sampled too.
    """
    kept = np.zeros(new.in_documents.shape, np.int64)
    everything = [*others, new]
    sampler.sweep(new, 0, first=True)
    for sweep in range(settings.sweeps + 1):
        for corpus in everything if sweep else ():
            sampler.sweep(corpus, sweep)
        if settings.learn_alpha and sweep <= settings.burned:
            sampler.alpha = fit_alpha(
                np.concatenate([corpus.in_documents for corpus in everything]), sampler.alpha
            )
        if sweep > settings.sweeps - settings.kept:
            kept += new.in_documents
    return kept / settings.kept


@dataclass(frozen=True, eq=False)
class Prepared:
    """A model and how to use it."""

    settings: CorpusGibbs
    published: PublishedModel


@register(Gibbs2, Gibbs2S, needs_all_documents=True)
class Gibbs2Inference:
    """See the module's docstring."""

    needs_all_documents: bool
    needs: tuple[str, ...]

    def prepare(self, settings: CorpusGibbs, published: PublishedModel) -> Prepared:
        return Prepared(settings, published)

    def infer(
        self, prepared: Prepared, documents: Sequence[TokenisedDocument]
    ) -> list[TopicMixture]:
        order = canonical_order(documents)
        ordered = [documents[place] for place in order]
        keys = random.stream_key(prepared.settings.seed, ordered[0].key if ordered else "")
        new, counts, alpha = self._sample(prepared, ordered, keys)
        places = np.argsort(order)
        found = np.array([posterior_mean(row, alpha) for row in counts]).reshape(
            len(order), len(alpha)
        )[places]
        return make_mixtures(
            documents,
            prepared.published.version,
            prepared.settings.kind,
            found,
            np.diff(new.offsets)[places],
        )

    def _sample(
        self, prepared: Prepared, documents: Sequence[TokenisedDocument], keys: tuple[int, int]
    ) -> tuple[Corpus, FloatArray, FloatArray]:
        """The documents as a corpus, the mean n_td of each, and alpha."""
        rows, (new,) = build_corpora(prepared.published.snapshot, documents)
        sampler = make_sampler(
            prepared.published.snapshot, rows, [new], keys, prepared.settings.sampler
        )
        return new, run(prepared.settings, sampler, new), sampler.alpha


@register(Gibbs1, needs_all_documents=True, needs=(TRAINING,))
class Gibbs1Inference(Gibbs2Inference):
    """The model's own documents are sampled again."""

    def _sample(
        self, prepared: Prepared, documents: Sequence[TokenisedDocument], keys: tuple[int, int]
    ) -> tuple[Corpus, FloatArray, FloatArray]:
        snapshot, training = prepared.published.snapshot, prepared.published.training
        learned = [training[place] for place in canonical_order(training)]
        rows, (new, old) = build_corpora(snapshot, documents, learned)
        if len(new.tokens) and not len(old.tokens):
            known = (
                f"{len(learned)} documents without a word of model {prepared.published.version},"
                f" key {documents[0].key!r}"
            )
            raise OptionError(
                "--training",
                known,
                "the documents that it was learned from",
                "Name their files, with --key_field as then.",
            )
        sampler = make_sampler(snapshot, rows, [new, old], keys, prepared.settings.sampler)
        for sweep in range(STARTING_SWEEPS + 1):
            sampler.sweep(old, sweep, first=sweep == 0)
        # From here on the training documents speak for themselves.
        sampler.drop_model_counts()
        # Their further uniforms must not be those of the sweeps before.
        old.number += CORPUS_STRIDE
        return new, run(prepared.settings, sampler, new, [old]), sampler.alpha
