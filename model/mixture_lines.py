"""Mixtures as lines of JSON, many at a time.

A line is the canonical JSON (:mod:`model.wire`) of :func:`model.encoding.mixture_fields` with its
time in ISO 8601. Most of it is digits. The digits of all proportions come from one call of Arrow,
which takes a quarter of the time of Python's ``repr``. Both write the shortest decimal that reads
as the same number, and from .0001 to below 1 they spell it in the same way.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby

import numpy as np

from model import wire
from model.groups import as_they_are
from model.records import FloatArray, TopicMixture
from model.times import to_isos

# Mixtures whose numbers are written in one call, which bounds the memory of its arrays.
_TOGETHER = 1024
# A call of Arrow costs as much as some hundreds of numbers.
_FEW_NUMBERS = 500
_PLAIN_FROM, _PLAIN_BELOW = 1e-4, 1.0
# To search the largest of T numbers so often takes as long as to sort them.
_SEARCHES = 4

# The largest topics of a mixture: their places, or those of groups, and their shares.
_Largest = list[tuple[int, float]]

# As the encoder of canonical JSON writes a text.
_quoted = json.encoder.encode_basestring


def mixture_lines(mixtures: Sequence[TopicMixture], top_topics: int) -> Iterator[str]:
    """Yield a line for each mixture, without its end.

    Args:
        mixtures: The mixtures. Their topics and models may differ.
        top_topics: As of :func:`model.encoding.mixture_fields`.
    """
    for begin in range(0, len(mixtures), _TOGETHER):
        part = mixtures[begin : begin + _TOGETHER]
        digits = _digits([mixture.proportions for mixture in part])
        times = to_isos([mixture.timestamp for mixture in part])
        yield from map(_line, part, digits, times, largest_topics(part, top_topics))


def _line(mixture: TopicMixture, digits: str, time: str, largest: _Largest) -> str:
    """Return a line; its fields are in the order of their names."""
    none = "" if mixture.none is None else f'"none":{wire.canonical_json(mixture.none)},'
    shares = names = ""
    if mixture.names:
        shares = f'"top_shares":{wire.canonical_json([share for _, share in largest])},'
        listed = wire.canonical_json([mixture.names[group] for group, _ in largest])
        names = f'"topic_names":{listed},'
    ids = ids_of(mixture)
    topics = ",".join([str(ids[group]) for group, _ in largest])
    return (
        f'{{"id":{_quoted(mixture.id)},"key":{_quoted(mixture.key)},'
        f'"method":{_quoted(mixture.method)},"model_version":{_quoted(mixture.model_version)},'
        f'{none}"proportions":[{digits}],"timestamp":"{time}","tokens":{mixture.tokens},'
        f'{shares}"top_topics":[{topics}],{names}"words_known":{mixture.words_known}}}'
    )


def ids_of(mixture: TopicMixture) -> Sequence[int]:
    """Return the id of each group of a mixture, or of each topic where topics are no groups."""
    if mixture.groups is not None:
        return mixture.groups.ids
    return mixture.topic_ids or range(len(mixture.proportions))


def largest_topics(mixtures: Sequence[TopicMixture], most: int) -> Iterator[_Largest]:
    """Yield the largest topics or groups of each mixture, as :meth:`Groups.largest` does."""
    for (_, grouped), found in groupby(
        mixtures, lambda mixture: (len(mixture.proportions), mixture.groups is not None)
    ):
        if grouped:
            for mixture in found:
                groups = mixture.groups or as_they_are(ids_of(mixture))
                yield groups.largest(mixture.proportions, most)
        else:
            yield from _largest_places(np.stack([one.proportions for one in found]), most)


def _largest_places(proportions: FloatArray, most: int) -> Iterator[_Largest]:
    """Yield the largest places of each row with their values, ties by place."""
    if most * _SEARCHES > proportions.shape[1]:
        order = np.argsort(-proportions, axis=1, kind="stable")[:, :most]
    else:
        order, left = np.empty((len(proportions), most), np.int64), proportions.copy()
        for column in order.T:
            np.argmax(left, axis=1, out=column)
            np.put_along_axis(left, column[:, None], -1.0, axis=1)
    values = np.take_along_axis(proportions, order, axis=1)
    for places, shares in zip(order.tolist(), values.tolist(), strict=True):
        yield list(zip(places, shares, strict=True))


def _digits(rows: Sequence[FloatArray]) -> list[str]:
    """Return the numbers of each row as JSON, with commas between them."""
    sizes = [len(row) for row in rows]
    if sum(sizes) < _FEW_NUMBERS:
        return [",".join(map(float.__repr__, row.tolist())) for row in rows]
    # Imported here, because most programs write no mixtures.
    import pyarrow as pa
    import pyarrow.compute as pc

    values = np.concatenate(rows)
    texts = pc.cast(pa.array(values), pa.string())
    others = ~((values >= _PLAIN_FROM) & (values < _PLAIN_BELOW))
    if others.any():
        spelled = pa.array(list(map(float.__repr__, values[others].tolist())), pa.string())
        texts = pc.replace_with_mask(texts, pa.array(others), spelled)
    bounds = pa.array(list(accumulate(sizes, initial=0)), pa.int32())
    joined: list[str] = pc.binary_join(pa.ListArray.from_arrays(bounds, texts), ",").to_pylist()
    return joined
