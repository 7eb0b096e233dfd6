"""A ``gensim.models.LdaModel`` with the counts and the prior of a model.

Its parameters are lambda_zw = n_wz + s_z B(w), where ``eta`` holds the prior, so ``get_topics``
gives P(w | z) among the known words, and ``alpha`` is that of the model. gensim infers documents by
its own method. Its files hold pickles, which gensim writes and reads.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from model.errors import OptionError
from model.exports import Exported


def to_gensim(exported: Exported) -> Any:
    """Return the model.

    Raises:
        OptionError: gensim is not installed.
    """
    try:
        from gensim.corpora import Dictionary
        from gensim.models import LdaModel
    except ModuleNotFoundError as error:
        raise OptionError(
            "--format",
            "gensim",
            "nothing unless gensim is installed",
            "Run: pip install 'beam-topics[exports]'.",
        ) from error
    snapshot, every = exported.snapshot, np.arange(len(exported.snapshot.words))
    counts = snapshot.rows(every)
    words = Dictionary()
    words.token2id = {word: row for row, word in enumerate(snapshot.words)}
    words.id2token = dict(enumerate(snapshot.words))
    words.cfs = {row: round(total) for row, total in enumerate(counts.sum(axis=1))}
    words.num_docs, words.num_pos = exported.manifest.documents, exported.manifest.tokens
    found = LdaModel(
        id2word=words,
        num_topics=snapshot.topic_count,
        alpha=snapshot.alpha,
        eta=snapshot.prior.shares(every).T,
        dtype=np.float64,
        random_state=0,
    )
    found.state.sstats = np.ascontiguousarray(counts.T)
    found.state.numdocs = exported.manifest.documents
    found.sync_state()
    return found


def write_gensim(exported: Exported, path: Path) -> None:
    """Write the model as gensim does: some files whose names begin with ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    to_gensim(exported).save(str(path))
