"""Frozen topics: a file for ``--seeds`` in which topics of a model keep their words.

    "space": "orbit^9362144 nasa^8120331 launch^4401920"

Each topic has the same number of prior tokens, :data:`~model.learners.particles.seeds.MOST_TOKENS`
for all together, in proportion to P(w | z). A learner that begins with them moves P(w | z) by at
most n_z / (n_z + s_z) in total variation. Here n_z are the tokens that the topic learns and s_z its
prior tokens (:mod:`model.learners.particles.seeds`). The other topics learn as ever.

The file has the words that cover :data:`COVER` of P(w | z), the most probable first, and for all
topics together at most :data:`MOST_WORDS`, because seeded words never leave the vocabulary.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from model.errors import OptionError
from model.exports import Exported
from model.learners.particles.seeds import MOST_TOKENS
from model.records import FloatArray, LongArray

COVER = 0.999
MOST_WORDS = 20_000


def to_seeds(exported: Exported, topics: Sequence[int] = ()) -> bytes:
    """Return the file.

    Args:
        exported: the model.
        topics: the ids of the topics, in the order that they shall have; all if there is none.

    Raises:
        OptionError: the version has no such topic, or it is named twice, or two have one name.
    """
    snapshot, ids = exported.snapshot, exported.ids
    wanted = list(topics) or ids
    names = [exported.names.get(topic, f"topic {topic}").replace(": ", " ") for topic in wanted]
    for topic in wanted:
        if topic not in ids or wanted.count(topic) > 1:
            allowed = f"ids of topics of version {exported.manifest.version}, each once"
            raise OptionError("--freeze", topic, allowed, "pipelines.show lists them.")
    for name in names:
        if names.count(name) > 1:
            remedy = "Rename one: python -m pipelines.topics."
            raise OptionError("--freeze", name, "topics with names of their own", remedy)
    rows = np.arange(len(snapshot.words))
    weight = snapshot.rows(rows) + snapshot.prior.shares(rows)
    shares = (weight / weight.sum(axis=0)).T[[ids.index(topic) for topic in wanted]]
    kept = _kept(shares)
    lines = []
    for name, share in zip(names, shares, strict=True):
        tokens = np.floor(share * (MOST_TOKENS // len(wanted))).astype(np.int64)
        own = [row for row in _covering(share).tolist() if kept[row] and tokens[row]]
        words = " ".join(f"{snapshot.words[row]}^{tokens[row]}" for row in own)
        # A string of JSON is one of YAML.
        lines.append(f"{json.dumps(name)}: {json.dumps(words, ensure_ascii=False)}\n")
    return "".join(lines).encode()


def _covering(share: FloatArray) -> LongArray:
    """Return the rows of the most probable words that cover a topic, int64."""
    order = np.argsort(-share, kind="stable")
    covered = np.cumsum(share[order])
    return order[: int(np.searchsorted(covered, COVER * covered[-1])) + 1]


def _kept(shares: FloatArray) -> npt.NDArray[np.bool_]:
    """Return which words the file may have, bool[W]: the most probable ones in any topic."""
    best = np.zeros(shares.shape[1])
    for share in shares:
        rows = _covering(share)
        best[rows] = np.maximum(best[rows], share[rows])
    kept = np.zeros(len(best), bool)
    kept[np.argsort(-best, kind="stable")[:MOST_WORDS]] = True
    return kept & (best > 0)
