"""Records of arrays that the Gibbs kernels take.

Notation: D documents, N tokens, V words, T topics. n_wt counts the tokens of word w in topic t,
n_t the tokens in topic t, n_td the tokens of document d in topic t. A model and its prior give
P(w | t) = (n_wt + s_t B(w)) / (n_t + s_t).

*Fixed* counts do not change while topics are sampled. They may be fractional. *Sampled* counts are
the integer counts of the tokens whose topics are drawn.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Documents(NamedTuple):
    """Documents with the topics of their tokens.

    Attributes:
        tokens: int32[N], the words; document d is ``tokens[offsets[d]:offsets[d + 1]]``.
        offsets: int64[D + 1].
        states: int32[N], the topics.
        in_documents: int32[D, T], n_td.
    """

    tokens: Any
    offsets: Any
    states: Any
    in_documents: Any


class Document(NamedTuple):
    """One document of n tokens.

    Attributes:
        tokens: int32[n], the words.
        states: int32[n], the topics.
        counts: int[T], n_td.
    """

    tokens: Any
    states: Any
    counts: Any


class SweepName(NamedTuple):
    """The name of a sweep, which determines its uniforms.

    Attributes:
        first: whether the tokens have no topics yet.
        first_document: number of the first document.
        sweep: number of the sweep.
        key0, key1: the stream key, see :func:`beam_topics.model.kernels.random.stream_key`.
    """

    first: bool
    first_document: int
    sweep: int
    key0: int
    key1: int


class SparseFixed(NamedTuple):
    """Fixed counts as sparse rows.

    Attributes:
        offsets: int64[V + 1], multiples of the block size.
        topics: int32[nnz]; within a row the counts descend.
        counts: float64[nnz], n_wt, with zeros up to a whole block.
        totals: float64[T], n_t + s_t.
        alpha: float64[T].
        strength: float64[T], s_t.
        base: float64[V], B(w).
    """

    offsets: Any
    topics: Any
    counts: Any
    totals: Any
    alpha: Any
    strength: Any
    base: Any


class PackedRows(NamedTuple):
    """Sampled counts as packed rows, see :mod:`beam_topics.model.inference.kernels.row_sums`.

    Attributes:
        begins: int64[V], the first entry of each row.
        entries: int32 or int64, ``count << bits | topic``.
        lengths: int32[V], the number of entries in each row.
        capacities: int32[V], the number of entries that each row has room for.
        end_of_rows: int64[1], the first entry behind all rows.
        bits: width of a topic number in an entry.
    """

    begins: Any
    entries: Any
    lengths: Any
    capacities: Any
    end_of_rows: Any
    bits: int


class SparseWorkspace(NamedTuple):
    """Scratch of SparseLDA.

    Attributes:
        coef: float64[T].
        uniforms: float64[>= n], one uniform for each token of a document.
        carried: float64[1], the smoothing sum at the token where a sweep stopped.
    """

    coef: Any
    uniforms: Any
    carried: Any


class SweepPosition(NamedTuple):
    """Where a sweep over documents stands, so that it can stop and continue.

    Attributes:
        progress: int64[2], the document and the token to continue with.
        carried: float64[1], the smoothing sum at that token.
    """

    progress: Any
    carried: Any
