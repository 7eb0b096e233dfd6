"""The codecs of Avro blocks, each with an upper limit on the size of its result.

A few compressed bytes can stand for gigabytes, so every codec stops as soon as its result exceeds
``limit`` bytes.

>>> import zlib
>>> engine = zlib.compressobj(wbits=-15)
>>> packed = engine.compress(bytes(1000)) + engine.flush()
>>> len(CODECS["deflate"](packed, 1000))
1000
>>> CODECS["deflate"](packed, 999)
Traceback (most recent call last):
    ...
model.reading.codecs.LimitError: it unpacks to more than 999 bytes
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import Any

import cramjam

from model.errors import DamagedDataError

# The memory limit of the xz decoder, which needs 65 MB for data of the highest level.
_XZ_MEMORY = 2**27
# The smallest buffer for an unpacked zstandard block, and the factor by which it grows.
_ZSTANDARD_ROOM = 2**16
_GROWTH = 4


class LimitError(DamagedDataError):
    """The data, damaged or not, exceed a limit that protects the process that reads them."""


def _null(payload: bytes, limit: int) -> bytes:
    return _within(payload, limit)


def _deflate(payload: bytes, limit: int) -> bytes:
    engine = zlib.decompressobj(wbits=-15)
    data = _within(engine.decompress(payload, limit + 1), limit)
    if not engine.eof:
        raise DamagedDataError("the compressed data end too early")
    return data


def _snappy(payload: bytes, limit: int) -> bytes:
    """Unpack snappy data, which four bytes of CRC-32 of the result follow."""
    _check_size(cramjam.snappy.decompress_raw_len(payload[:-4]), limit)
    data = bytes(cramjam.snappy.decompress_raw(payload[:-4]))
    if zlib.crc32(data) != int.from_bytes(payload[-4:], "big"):
        raise DamagedDataError("its checksum is wrong")
    return data


def _bzip2(payload: bytes, limit: int) -> bytes:
    return _streams(bz2.BZ2Decompressor, payload, limit)


def _xz(payload: bytes, limit: int) -> bytes:
    return _streams(lambda: lzma.LZMADecompressor(memlimit=_XZ_MEMORY), payload, limit)


def _streams(engine_of: Callable[[], Any], payload: bytes, limit: int) -> bytes:
    """Unpack one compressed stream after the other."""
    data = bytearray()
    while payload:
        engine = engine_of()
        data += engine.decompress(payload, limit + 1 - len(data))
        _check_size(len(data), limit)
        if not engine.eof:
            raise DamagedDataError("the compressed data end too early")
        payload = engine.unused_data
    return bytes(data)


def _zstandard(payload: bytes, limit: int) -> bytes:
    """Unpack into a buffer of a given size, and into a larger one if that is too small.

    A frame need not say its size.
    """
    room = min(limit, max(_ZSTANDARD_ROOM, _GROWTH * len(payload)))
    while True:
        buffer = bytearray(room)
        try:
            return bytes(memoryview(buffer)[: cramjam.zstd.decompress_into(payload, buffer)])
        except cramjam.DecompressionError as error:
            if "whole buffer" not in str(error):
                raise
            _check_size(room + 1, limit)
        room = min(limit, _GROWTH * room)


def _within(data: bytes, limit: int) -> bytes:
    _check_size(len(data), limit)
    return data


def _check_size(size: int, limit: int) -> None:
    if size > limit:
        raise LimitError(f"it unpacks to more than {limit} bytes")


# Each function takes the payload of a block and a limit in bytes. It raises LimitError, or any
# exception for damaged data.
CODECS: dict[str, Callable[[bytes, int], bytes]] = {
    "null": _null,
    "deflate": _deflate,
    "snappy": _snappy,
    "bzip2": _bzip2,
    "xz": _xz,
    "zstandard": _zstandard,
}
