"""Blocks, minibatches and mixtures of single documents, for tests."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.documents.minibatch import Minibatch
from beam_topics.model.inference import inference_for
from beam_topics.model.inference.features import numbered
from beam_topics.model.inference.mixtures import MixtureBlock, TopicMixture, inferred


def joined(documents: Sequence[Block]) -> Block:
    """Return blocks as one, which may have no document."""
    return Block.joined(list(documents)) if documents else Block.empty()


def one_word_lists(texts: Sequence[Sequence[str]]) -> Block:
    """Return lists of words as documents with the ids 0, 1, 2, ..."""
    return joined(
        [Block.of_words([Document(str(n), 0, "")], [words]) for n, words in enumerate(texts)]
    )


def minibatch_of(documents: Sequence[Block], sequence: int = 1, end: int = 1) -> Minibatch:
    """Return documents as a minibatch that closes its window."""
    return Minibatch.of_block(joined(documents), sequence, end, True)


def mixtures_of_documents(settings, published, documents, prepared=None) -> list[TopicMixture]:
    """Return the mixtures of blocks under a published model, without topic ids."""
    if prepared is None:
        prepared = inference_for(settings).prepare(settings, published)
    block = documents if isinstance(documents, Block) else joined(documents)
    if not len(block):
        return []
    found = numbered(published.snapshot, block)
    return list(inferred(settings, prepared, found, published.version).mixtures())


def mixture_block(
    mixtures: Sequence[TopicMixture],
    times: Sequence[int],
    labels: Sequence[str | None] | None = None,
    *,
    document_groups: Sequence[str | None] = (),
    topic_ids: Sequence[int] = (),
) -> MixtureBlock:
    """Return mixtures of one version as a block."""
    first = mixtures[0]
    documents = [
        Document(one.id, one.timestamp, "", label, one.key, group=group)
        for one, label, group in zip(
            mixtures,
            labels or [None] * len(mixtures),
            document_groups or [None] * len(mixtures),
            strict=True,
        )
    ]
    block = MixtureBlock.of(
        Block.of_words(documents, [["w"] * one.tokens for one in mixtures]),
        np.stack([one.proportions for one in mixtures]),
        np.array([one.words_known for one in mixtures], np.int64),
        model_version=first.model_version,
        method=first.method,
        times=np.array(times, np.int64),
    )
    none = np.array([] if first.none is None else [one.none for one in mixtures], np.float64)
    named = {"names": first.names, "groups": first.groups, "topic_ids": tuple(topic_ids)}
    return replace(block, none=none, **named)


def count_in(table, start, group, shares, *, tokens, words_known, named=None) -> None:
    """Count a document in a table of trends."""
    table.add(
        [start],
        np.array([shares], np.float64),
        tokens=np.array([tokens]),
        words_known=np.array([words_known]),
        groups=[group],
        named=[] if named is None else [named],
    )
