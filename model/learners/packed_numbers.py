"""Non-negative integers in the narrowest type that holds them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from beam_topics.model.arrays import LongArray
from beam_topics.model.errors import DamagedDataError
from beam_topics.model.stored import wire

_SIZES = ("<u1", "<u2", "<u4", "<i8")


def pack_numbers(values: Any) -> bytes:
    """Return non-negative integers in the smallest of four types that holds them all.

    The first byte names the type.
    """
    array = np.asarray(values)
    top = int(array.max(initial=0))
    kind = next((k for k, size in enumerate(_SIZES[:3]) if top <= np.iinfo(np.dtype(size)).max), 3)
    return bytes([kind]) + wire.array_to_bytes(array, _SIZES[kind])


def unpack_numbers(data: bytes) -> LongArray:
    """Return the integers that :func:`pack_numbers` wrote, as a flat int64 array."""
    return numbers_of(data).astype(np.int64)


def numbers_of(data: bytes) -> npt.NDArray[Any]:
    """Return the integers in the type that was stored, without a copy.

    Raises:
        DamagedDataError: the first byte names no type, or the length does not fit it.
    """
    if not data or data[0] >= len(_SIZES):
        raise DamagedDataError("an array in a learner's state does not name its type")
    return wire.array_from_bytes(data[1:], _SIZES[data[0]])
